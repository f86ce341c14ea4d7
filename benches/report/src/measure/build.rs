//! Dependencies of a library, and time of a clean build.

use std::fs;

use crate::cargo::{self, target};
use crate::figures::Figures;
use crate::specimens::{self, SPECIMENS};
use crate::{Outcome, processor};

pub fn run(figures: &mut Figures) -> Outcome {
    specimens::write()?;
    for specimen in &SPECIMENS {
        let package = specimens::package(specimen.name, specimens::COUNTS[0]);
        let mut tree = cargo::cargo(&["tree", "-p", &package, "--edges", "normal,build", "--prefix", "none"]);
        let tree = cargo::output(tree.args(["--format", "{p}"]).current_dir(specimens::folder()))?;
        let mut packages: Vec<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
        packages.sort_unstable();
        packages.dedup();
        figures.set("dependencies", specimen.title, packages.len() as f64 - 1.0);

        let folder = target().join("cold");
        let mut build = cargo::cargo(&["build", "-p", &package]);
        build.current_dir(specimens::folder()).env("CARGO_TARGET_DIR", &folder).env("CARGO_INCREMENTAL", "0");
        let seconds = processor::seconds(&mut build)?;
        figures.set("cold build", specimen.title, seconds);
        fs::remove_dir_all(&folder)?;
        figures.save()?;
        eprintln!("  {}: {seconds:.0} s", specimen.name);
    }
    Ok(())
}
