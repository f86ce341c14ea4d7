//! Where the manifest goes in a build script.

use std::path::{Path, PathBuf};

use crate::{Diagnostic, Error, Result, Scan, Scanned, Severity};

/// The name of the manifest's file.
pub const FILE_NAME: &str = "tools_calls.json";

impl Scan {
    /// In a build script: writes the manifest to `OUT_DIR`, where `tool_runtime::manifest!()` takes it from, and tells
    /// Cargo which files it depends on.
    ///
    /// What could not be seen becomes a warning of Cargo's. So does source that does not compile: rustc explains that
    /// better than a build script that failed before it came to run.
    ///
    /// # Errors
    /// When the sources cannot be read, when two tools have one name, or when the file cannot be written.
    pub fn write_to_out_dir(&self) -> Result {
        let Some(folder) = std::env::var_os("OUT_DIR").map(PathBuf::from) else {
            return Err(Error::new(
                "OUT_DIR is not set: `write_to_out_dir` is for build scripts; elsewhere use `write_to`",
            ));
        };
        let scanned = self.run()?;
        for line in instructions(&scanned) {
            println!("{line}");
        }
        scanned.write_despite_compile_errors(&folder.join(FILE_NAME)).map(drop)
    }

    /// Writes the manifest to a file, if that changes it. Gives back whether it did.
    ///
    /// # Errors
    /// When anything is wrong with the sources, and when the file cannot be written. Then nothing is.
    pub fn write_to(&self, path: impl AsRef<Path>) -> Result<bool> {
        let scanned = self.run()?;
        scanned.refuse_if(|diagnostic| diagnostic.severity == Severity::Error)?;
        scanned.save(path.as_ref())
    }
}

impl Scanned {
    fn write_despite_compile_errors(&self, path: &Path) -> Result<bool> {
        self.refuse_if(|diagnostic| diagnostic.severity == Severity::Error && !diagnostic.compile_error)?;
        self.save(path)
    }

    fn save(&self, path: &Path) -> Result<bool> {
        self.manifest.save(path).map_err(|error| Error::new(error.to_string()))
    }

    fn refuse_if(&self, wrong: impl Fn(&Diagnostic) -> bool) -> Result {
        let wrong: Vec<String> =
            self.diagnostics.iter().filter(|diagnostic| wrong(diagnostic)).map(ToString::to_string).collect();
        if wrong.is_empty() { Ok(()) } else { Err(Error::new(wrong.join("\n"))) }
    }
}

/// What Cargo is told.
fn instructions(scanned: &Scanned) -> Vec<String> {
    // A line break would end the instruction.
    let line = |text: String| text.replace(['\n', '\r'], " ");
    let files = scanned.files.iter().map(|file| format!("cargo::rerun-if-changed={}", file.display()));
    let warned = scanned
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Warning || diagnostic.compile_error);
    files.chain(warned.map(|diagnostic| format!("cargo::warning={}", line(diagnostic.to_string())))).collect()
}
