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
    /// It is for programs of your own that keep a manifest beside the sources, as `tool-gen write` does:
    ///
    /// ```no_run
    /// # fn main() -> tool_gen::Result {
    /// if tool_gen::scan("src/lib.rs").write_to(tool_gen::FILE_NAME)? {
    ///     println!("the manifest has changed: commit it");
    /// }
    /// # Ok(())
    /// # }
    /// ```
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

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const TOOL: &str = "/// Say it.\n#[tool_runtime::tool]\npub fn say(word: String) -> String { word }\n";

    /// A crate, and where its manifest goes.
    fn package() -> (TempDir, Scan, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"talk\"\nedition = \"2024\"\n").unwrap();
        fs::write(folder.path().join("src/lib.rs"), TOOL).unwrap();
        let scan = crate::scan(folder.path().join("src/lib.rs"));
        let manifest = folder.path().join("made/for/it").join(FILE_NAME);
        (folder, scan, manifest)
    }

    #[test]
    fn a_manifest_is_written_if_that_changes_it() {
        let (folder, scan, manifest) = package();
        assert!(scan.write_to(&manifest).unwrap());
        let first = fs::read_to_string(&manifest).unwrap();
        assert_eq!(first, scan.run().unwrap().manifest.to_json());
        assert!(first.contains("\"handler\": \"talk::say\""), "{first}");
        assert!(!scan.write_to(&manifest).unwrap());

        fs::write(folder.path().join("src/lib.rs"), TOOL.replace("Say it", "Say it again")).unwrap();
        assert!(scan.write_to(&manifest).unwrap());
        assert!(fs::read_to_string(&manifest).unwrap().contains("Say it again."));
    }

    #[test]
    fn where_anything_is_wrong_the_manifest_stays_as_it_was() {
        let (folder, scan, manifest) = package();
        scan.write_to(&manifest).unwrap();
        let before = fs::read_to_string(&manifest).unwrap();
        for (added, message, compiles) in [
            (
                "/// Another.\n#[tool_runtime::tool(name = \"say\")]\npub fn other() {}",
                "two tools are called `say`",
                true,
            ),
            ("/// Wrong.\n#[tool_runtime::tool(nmae = \"x\")]\npub fn other() {}", "unknown key `nmae`", false),
        ] {
            fs::write(folder.path().join("src/lib.rs"), format!("{TOOL}{added}")).unwrap();
            let error = scan.write_to(&manifest).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            assert_eq!(fs::read_to_string(&manifest).unwrap(), before, "{message}");
            // The control: a build script leaves to rustc what rustc refuses, and writes what it has.
            let beside = folder.path().join("beside.json");
            let written = scan.run().unwrap().write_despite_compile_errors(&beside);
            assert_eq!(written.is_err(), compiles, "{message}");
        }
        fs::remove_dir_all(folder.path().join("src")).unwrap();
        assert!(scan.write_to(&manifest).is_err());
        assert_eq!(fs::read_to_string(&manifest).unwrap(), before);
    }
}
