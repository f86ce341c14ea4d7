//! Broken or hostile sources: each file is reported, and the tools of other files are still found.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tool_gen::{Diagnostic, ScanOutput};

// Several tools with one name.
mod clashes;
// Files that cannot be read or are too large.
mod files;
// `mod` items that lead nowhere, to two files or in cycles.
mod modules;
// Nesting that exhausts a stack.
mod nesting;
// Text that is not Rust.
mod syntax;

/// A tool that every crate here has, in its own file.
const GOOD: &str =
    "use tool_runtime::tool;\n\n/// Answers.\n#[tool(name = \"good.ping\")]\npub fn ping(host: &str) {}\n";

/// A crate in a temporary directory.
struct TestCrate {
    folder: TempDir,
}

impl TestCrate {
    /// Creates a crate with a valid tool in `good.rs`, and these items in its root.
    fn new(items: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let this = Self { folder };
        this.file("Cargo.toml", "[package]\nname = \"my-app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        this.file("src/good.rs", GOOD);
        this.file("src/lib.rs", format!("mod good;\n{items}"));
        this
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
    }

    fn root(&self) -> PathBuf {
        self.path("src/lib.rs")
    }

    /// Scans the crate and asserts that its valid tool is found.
    #[track_caller]
    fn scan(&self) -> ScanOutput {
        let scanned = tool_gen::scan(self.root()).run().unwrap_or_else(|error| panic!("the root can be read: {error}"));
        let good = scanned.manifest.get("good.ping").unwrap_or_else(|| panic!("the good tool: {scanned:?}"));
        assert_eq!(good.handler, "my_app::good::ping");
        scanned
    }
}

/// Returns the message about a file. Asserts that the message is a sentence and that the diagnostic names the file.
#[track_caller]
fn about<'a>(scanned: &'a ScanOutput, file: &str) -> &'a Diagnostic {
    let names =
        |diagnostic: &&Diagnostic| diagnostic.place.as_ref().is_some_and(|place| place.file.ends_with(Path::new(file)));
    let found = scanned.diagnostics.iter().find(names);
    let diagnostic = found.unwrap_or_else(|| panic!("nothing about {file}: {:#?}", scanned.diagnostics));
    assert!(diagnostic.message.len() > 10, "says what is wrong: {diagnostic}");
    assert!(diagnostic.to_string().contains(file), "names the file: {diagnostic}");
    assert!(diagnostic.to_string().len() < 2000, "can be read: {diagnostic}");
    diagnostic
}

/// Returns the message about a line of a file.
#[track_caller]
fn about_line<'a>(scanned: &'a ScanOutput, file: &str, line: usize) -> &'a Diagnostic {
    let diagnostic = about(scanned, file);
    let place = diagnostic.place.as_ref().expect("a place");
    assert_eq!(place.line, line, "{diagnostic}");
    diagnostic
}

#[track_caller]
fn says_nothing(scanned: &ScanOutput) {
    assert!(scanned.diagnostics.is_empty(), "{:#?}", scanned.diagnostics);
}
