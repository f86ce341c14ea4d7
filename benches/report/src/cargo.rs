//! Building, with cargo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// The folder of the benchmarks.
pub fn benches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("`report` is a folder of the benchmarks").to_owned()
}

/// Where everything is built and kept.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| benches().join("target"), PathBuf::from)
}

/// A cargo that says nothing unless something is wrong.
pub fn cargo(words: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words).arg("--quiet").current_dir(benches()).env("CARGO_TERM_COLOR", "never");
    cargo
}

pub fn run(command: &mut Command) -> Outcome {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

/// What a program prints.
pub fn output(command: &mut Command) -> Outcome<String> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// A program of this workspace with so many fillers, built alone, so that no other package chooses its features.
pub fn program(package: &str, fillers: usize) -> Outcome<PathBuf> {
    run(cargo(&["build", "--release", "-p", package]).env("FILLERS", fillers.to_string()))?;
    let folder = target().join("programs");
    fs::create_dir_all(&folder)?;
    let copy = folder.join(format!("{package}-{fillers}"));
    fs::copy(target().join("release").join(package), &copy)?;
    Ok(copy)
}

/// A program of a crate that this checkout may not have yet.
pub fn optional(package: &str) -> Outcome<Option<PathBuf>> {
    if !benches().join(package).join("Cargo.toml").exists() {
        return Ok(None);
    }
    run(&mut cargo(&["build", "--release", "-p", package]))?;
    Ok(Some(target().join("release").join(package)))
}
