//! Programs that differ only in library and number of tools: the compile cost of a tool is the slope between two
//! programs.
//!
//! All are packages of one workspace, so that their dependencies are built once. Cargo's compiler invocation for each
//! is recorded, and measured by repeating it without cargo.

pub mod record;
mod sources;

use std::fs;
use std::path::PathBuf;

pub use sources::SPECIMENS;

use crate::Outcome;
use crate::cargo::{self, benches, target};

/// Numbers of tools in the two programs.
pub const COUNTS: [usize; 2] = [50, 300];
/// Number of additional tools in the larger program.
pub const SPAN: f64 = (COUNTS[1] - COUNTS[0]) as f64;

/// The build mode.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BuildMode {
    Check,
    Debug,
    Release,
}

impl BuildMode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }

    fn cargo(self) -> &'static [&'static str] {
        match self {
            Self::Check => &["check", "--workspace"],
            Self::Debug => &["build", "--workspace"],
            Self::Release => &["build", "--workspace", "--release"],
        }
    }
}

pub fn folder() -> PathBuf {
    target().join("specimens")
}

pub fn package(name: &str, count: usize) -> String {
    format!("{name}-{count}")
}

/// Returns the binary that `BuildMode::Release` built.
pub fn program(name: &str, count: usize) -> PathBuf {
    folder().join("target/release").join(package(name, count))
}

/// Writes the sources, with the versions of this workspace.
pub fn write() -> Outcome {
    let mut members = Vec::new();
    for specimen in &SPECIMENS {
        for count in COUNTS {
            let package = package(specimen.name, count);
            let source = folder().join(&package).join("src");
            fs::create_dir_all(&source)?;
            let manifest = format!(
                "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{}\n",
                specimen.dependencies.replace("RUNTIME", &benches().join("../tool-runtime").display().to_string())
            );
            replace(source.with_file_name("Cargo.toml"), &manifest)?;
            replace(source.join("main.rs"), &specimen.source(count))?;
            members.push(format!("{package:?}"));
        }
    }
    replace(
        folder().join("Cargo.toml"),
        &format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n", members.join(", ")),
    )?;
    if !folder().join("Cargo.lock").exists() {
        fs::copy(benches().join("Cargo.lock"), folder().join("Cargo.lock"))?;
    }
    Ok(())
}

/// Writes a file only if it changed, so that cargo does not rebuild.
fn replace(path: PathBuf, text: &str) -> Outcome {
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    Ok(fs::write(path, text)?)
}

/// Builds all programs and records the compiler invocations.
pub fn build(mode: BuildMode) -> Outcome {
    write()?;
    let mut build = cargo::cargo(mode.cargo());
    build.current_dir(folder()).env("CARGO_TARGET_DIR", folder().join("target")).env("CARGO_INCREMENTAL", "0");
    cargo::run(record::recording(&mut build, mode)?)
}
