//! The generator over sources of the registry, compared with parsing all files and with a search for the attribute.

use std::fs;
use std::process::Command;

use crate::cargo::{self, target};
use crate::figures::Figures;
use crate::{Outcome, valgrind};

pub const WAYS: [&str; 3] = ["parse", "search", "scan"];
/// Percentages of files that have a tool.
pub const PERCENT: [usize; 2] = [1, 100];

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    cargo::run(&mut cargo::cargo(&["build", "--release", "-p", "scan"]))?;
    let program = target().join("release/scan");
    for percent in PERCENT {
        let folder = target().join("scanned");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let megabytes = if quick { "5" } else { "20" };
        cargo::run(Command::new(&program).arg("make").arg(&folder).args([megabytes, &percent.to_string()]))?;
        for way in WAYS {
            let taken = valgrind::instructions(Command::new(&program).arg(way).arg(&folder))?;
            figures.set(format!("scan {percent}"), way, taken / 1e6);
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}
