//! Scans every crate in cargo's registry on this machine and prints what was found: `cargo run -p parity-tests --bin registry`.

use std::time::Instant;

use parity_tests::registry::{Counts, roots};

fn main() {
    let start = Instant::now();
    let mut counts = Counts::default();
    for root in roots() {
        // The last line names the crate if the scan does not come back.
        eprintln!("{}", root.display());
        counts.scan(&root);
    }
    print!("{counts}");
    println!("in {:.1} s", start.elapsed().as_secs_f32());
}
