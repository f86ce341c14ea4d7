//! Builds with cargo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// Returns the directory of the benchmarks.
pub fn benches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("`report` is a folder of the benchmarks").to_owned()
}

/// Returns the target directory.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| benches().join("target"), PathBuf::from)
}

/// Returns a quiet cargo command.
pub fn cargo(words: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words).arg("--quiet").current_dir(benches()).env("CARGO_TERM_COLOR", "never");
    cargo
}

pub fn run(command: &mut Command) -> Outcome {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

/// Returns the output of a program.
pub fn output(command: &mut Command) -> Outcome<String> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Builds a program of this workspace with fillers. It is built alone, so that no other package affects its features.
pub fn program(package: &str, fillers: usize) -> Outcome<PathBuf> {
    run(cargo(&["build", "--release", "-p", package]).env("FILLERS", fillers.to_string()))?;
    let folder = target().join("programs");
    fs::create_dir_all(&folder)?;
    let copy = folder.join(format!("{package}-{fillers}"));
    fs::copy(target().join("release").join(package), &copy)?;
    Ok(copy)
}

/// Builds a program of a crate that may be missing from this checkout.
pub fn optional(package: &str) -> Outcome<Option<PathBuf>> {
    if !benches().join(package).join("Cargo.toml").exists() {
        return Ok(None);
    }
    run(&mut cargo(&["build", "--release", "-p", package]))?;
    Ok(Some(target().join("release").join(package)))
}
