//! The built-in file tools compared with `rg`, by the crate `files`. If that crate is missing, nothing is measured,
//! and the report says so.

use std::fs;
use std::process::Command;

use crate::Outcome;
use crate::cargo::{self, target};
use crate::figures::Figures;

/// The contenders of each case, in the order in which the crate prints them.
pub const WAYS: [&str; 3] = ["ours", "rg", "rg --sort path"];

pub fn run(quick: bool, figures: &mut Figures) -> Outcome {
    let Some(program) = cargo::optional("files")? else { return Ok(()) };
    let folder = target().join("files");
    fs::create_dir_all(&folder)?;
    let tree = folder.join("tree");
    cargo::run(Command::new(&program).arg("make").arg(&tree))?;
    let ripgrep = std::env::var("RG").unwrap_or_else(|_| "rg".to_owned());
    for line in cargo::output(Command::new(&program).arg("compare").arg(&tree).arg(ripgrep))?.lines() {
        let case = line.trim().split("  ").next().unwrap_or_default();
        for (way, milliseconds) in WAYS.into_iter().zip(milliseconds(line)) {
            figures.set(format!("files {way}"), case, milliseconds);
        }
    }
    if !quick {
        for line in cargo::output(Command::new(&program).arg("large").arg(&folder))?.lines() {
            if let (Some((case, _)), Some(milliseconds)) = (line.trim().split_once(": "), milliseconds(line).next()) {
                figures.set("files large", case, milliseconds);
            }
        }
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// Returns the numbers before each `ms`.
fn milliseconds(line: &str) -> impl Iterator<Item = f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let numbers: Vec<f64> = words
        .windows(2)
        .filter(|pair| pair[1].trim_end_matches(',') == "ms")
        .filter_map(|pair| pair[0].parse().ok())
        .collect();
    numbers.into_iter()
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn times_are_parsed_from_the_output() {
        let line = "  all files     12.5 ms  rg     9.1 ms x1.37  rg --sort path   20.0 ms x0.63  processor time x0.80";
        assert_eq!(milliseconds(line).collect::<Vec<_>>(), [12.5, 9.1, 20.0]);
        assert_eq!(milliseconds("  one at 1 GB: 3.5 ms, 8 MB read").collect::<Vec<_>>(), [3.5]);
    }
}
