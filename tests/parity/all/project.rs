//! A temporary package of a few files.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use tool_gen::{Diagnostic, Scan, ScanOutput};

pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    /// Creates a package `app` with these additional tables in its `Cargo.toml`, and a library with this text.
    pub(crate) fn new(tables: &str, library: &str) -> Self {
        let project = Self { folder: tempfile::tempdir().expect("a folder") };
        let package = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        project.with("Cargo.toml", format!("{package}{tables}\n")).with("src/lib.rs", library)
    }

    pub(crate) fn with(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn library(&self) -> Scan {
        tool_gen::scan(self.path("src/lib.rs"))
    }

    #[track_caller]
    pub(crate) fn scan(&self) -> ScanOutput {
        self.library().run().expect("the root can be read")
    }
}

/// All diagnostics, one per line.
pub(crate) fn messages(scanned: &ScanOutput) -> String {
    scanned.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}

/// The only diagnostic.
#[track_caller]
pub(crate) fn only_diagnostic(scanned: &ScanOutput) -> &Diagnostic {
    let [diagnostic] = scanned.diagnostics.as_slice() else { panic!("one thing: {}", messages(scanned)) };
    diagnostic
}
