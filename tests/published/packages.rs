//! The library crates, packaged as for crates.io: their metadata and files, and a program that uses only the packages.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use cargo_metadata::{Metadata, MetadataCommand, Package};
use tempfile::TempDir;
use test_packages::run;

/// The variable that enables the test which builds the packages. It takes minutes.
const BUILD: &str = "PACKAGED_QUICKSTART";

/// The files that every package needs besides its code.
const FILES: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// The longest README of a library crate, in lines.
const README_LINES: usize = 60;

/// The manifest of a workspace with the quickstart; the packages replace those of crates.io.
const PROJECT: &str = r#"
[workspace]
resolver = "3"
members = ["quickstart-*", "everything"]

[profile.dev]
debug = false

[patch.crates-io]
"#;

/// The manifest of a package that depends on every library crate.
const EVERYTHING: &str = r#"
[package]
name = "everything"
version = "0.1.0"
edition = "2024"

[dependencies]
"#;

static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    let command = MetadataCommand::new().no_deps().other_options(["--offline".to_owned()]).exec();
    command.expect("cargo describes the workspace")
});

/// The packages of the library crates and of the quickstart, unpacked outside the checkout.
struct UnpackedPackages {
    directory: TempDir,
}

impl UnpackedPackages {
    fn new() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let mut package = cargo(METADATA.workspace_root.as_std_path());
        package.args(["package", "--quiet", "--offline", "--no-verify", "--allow-dirty", "--package", "quickstart"]);
        package.args(libraries().flat_map(|library| ["--package", library.name.as_str()]));
        run(package.arg("--target-dir").arg(directory.path())).expect("the packages are complete");
        for library in METADATA.packages.iter().filter(|package| package.name == "quickstart").chain(libraries()) {
            let archive = format!("package/{}-{}.crate", library.name, library.version);
            // With new modification times, or cargo would use the results of an earlier version in the same target directory.
            run(Command::new("tar").current_dir(directory.path()).args(["-xzmf", &archive])).expect("an archive");
        }
        Self { directory }
    }

    fn package(&self, package: &Package) -> PathBuf {
        self.directory.path().join(format!("{}-{}", package.name, package.version))
    }
}

/// Returns the packages that can be published.
fn libraries() -> impl Iterator<Item = &'static Package> {
    METADATA.packages.iter().filter(|package| package.publish.is_none())
}

/// Returns all files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a readable directory");
    let entries = entries.map(|entry| entry.expect("a readable directory").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn cargo(directory: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(directory);
    cargo
}

#[test]
fn everything_but_tests_and_examples_can_be_published() {
    for package in &METADATA.packages {
        let directory = package.manifest_path.strip_prefix(&METADATA.workspace_root).expect("a member");
        assert_eq!(package.publish.is_none(), directory.as_str().starts_with("tool-"), "{directory}");
    }
}

#[test]
fn every_library_describes_itself() {
    for library in libraries() {
        let name = &library.name;
        assert!(library.description.as_ref().is_some_and(|text| text.ends_with('.')), "{name}: description");
        assert!(!library.keywords.is_empty(), "{name}: keywords");
        assert!(!library.categories.is_empty(), "{name}: categories");
        assert!(library.repository.is_some() && library.license.is_some(), "{name}: repository, licence");
        assert_eq!(library.metadata["docs"]["rs"]["all-features"], true, "{name}: [package.metadata.docs.rs]");
    }
}

#[test]
fn every_package_has_its_sources_a_short_readme_and_licences() {
    let unpacked = UnpackedPackages::new();
    for library in libraries() {
        let package = unpacked.package(library);
        for file in FILES {
            let path = package.join(file);
            assert!(path.metadata().is_ok_and(|file| file.is_file() && file.len() > 0), "{}", path.display());
        }
        // Cargo leaves out a directory with a `Cargo.toml` of its own, such as a template.
        for source in files(library.manifest_path.with_file_name("src").as_std_path()) {
            let path = source.strip_prefix(&METADATA.workspace_root).expect("a file of the workspace");
            let path = package.join(path.components().skip(1).collect::<PathBuf>());
            assert!(path.is_file(), "{} is not packaged", source.display());
        }
        let readme = fs::read_to_string(package.join("README.md")).expect("text");
        assert!(readme.lines().count() <= README_LINES, "{}: {} lines", library.name, readme.lines().count());
        assert!(readme.contains("```"), "{}: a README without code", library.name);
    }
}

/// Builds the quickstart and all library crates from nothing but the packages, and runs the quickstart. Shares the target
/// directory of the workspace, so that dependencies are not built again.
#[test]
fn the_quickstart_builds_outside_the_checkout() {
    if std::env::var_os(BUILD).is_none() {
        eprintln!("skipped: set {BUILD}=required to build the packages");
        return;
    }
    let unpacked = UnpackedPackages::new();
    let project = unpacked.directory.path();
    let mut manifest = String::from(PROJECT);
    let mut dependencies = String::from(EVERYTHING);
    for library in libraries() {
        let (name, version) = (&library.name, &library.version);
        writeln!(manifest, "{name} = {{ path = \"{name}-{version}\" }}").expect("text");
        writeln!(dependencies, "{name} = \"{version}\"").expect("text");
    }
    let write = |path: &str, text: &str| fs::write(project.join(path), text).expect("a writable directory");
    fs::create_dir_all(project.join("everything/src")).expect("a writable directory");
    write("Cargo.toml", &manifest);
    write("everything/Cargo.toml", &dependencies);
    write("everything/src/lib.rs", "");
    // The same versions of other crates as in the workspace, which are on this machine.
    fs::copy(METADATA.workspace_root.join("Cargo.lock"), project.join("Cargo.lock")).expect("a lock file");

    let target = METADATA.target_directory.as_str();
    let mut build = cargo(project);
    run(build.args(["build", "--quiet", "--offline", "--workspace", "--target-dir", target])).expect("it builds");
    let mut start = cargo(project);
    let output = run(start.args(["run", "--quiet", "--offline", "--package", "quickstart", "--target-dir", target]));
    let output = output.expect("the quickstart runs");
    assert!(output.contains("metrics."), "{output}");
}
