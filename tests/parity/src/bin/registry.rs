//! Scans every crate in cargo's registry on this machine, unmodified and then with everything annotated, and prints
//! statistics: `cargo run --release -p parity-tests --bin registry`. A panic ends it.

use std::time::Instant;
use std::{env, fs, io};

use parity_tests::registry::{ScanCounts, annotate, roots};

fn main() -> io::Result<()> {
    let roots = roots();
    let start = Instant::now();
    let mut counts = ScanCounts::default();
    for root in &roots {
        // If the scan hangs, the last line names the crate.
        eprintln!("{}", root.display());
        counts.scan(root);
    }
    println!("as they are, in {:.1} s: {counts}", start.elapsed().as_secs_f32());

    let copy = env::temp_dir().join(format!("annotated-{}", std::process::id()));
    let start = Instant::now();
    let mut counts = ScanCounts::default();
    for root in &roots {
        eprintln!("{} annotated", root.display());
        counts.scan(&annotate(root, &copy)?);
        fs::remove_dir_all(&copy)?;
    }
    println!("annotated, in {:.1} s: {counts}", start.elapsed().as_secs_f32());
    Ok(())
}
