//! The files of a package with tools, for `new` and `init`.

mod dependencies;
mod module;

use std::path::{Path, PathBuf};

use cargo_metadata::{MetadataCommand, Package, Target, TargetKind};
use clap::Args;
use serde::Serialize;

use self::dependencies::CrateSource;
use super::arguments::OutputFormat;
use super::exit::{CommandFailure, FailureContext, Result};
use super::packages::metadata_failure;
use super::terminal::{GREEN, display_path, print_json, print_status, styled};

const BUILD_SCRIPT: &str = include_str!("template/build.rs");
const TOOLS: &str = include_str!("template/tools.rs");
/// The root file of a new package.
pub(super) const MAIN: &str = include_str!("template/main.rs");
/// The workflow of `new --ci`.
pub(super) const WORKFLOW: &str = include_str!("template/ci.yml");

/// The origin of the library crates in Cargo.toml.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Dependencies")]
pub(super) struct SourceChoice {
    /// Depend on the crates in this checkout. The default, if `tool-gen` was built from one that still exists
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,

    /// Depend on the published crates
    #[arg(long, conflicts_with = "path")]
    published: bool,
}

impl SourceChoice {
    /// Returns an error if `--path` is not a checkout.
    pub(super) fn check(&self) -> Result {
        CrateSource::choose(self.path.as_deref(), self.published).map(drop)
    }
}

/// The changes of a package, before they are written.
#[derive(Debug, Default)]
pub(super) struct StarterPlan {
    files: Vec<(PathBuf, String)>,
    next: Vec<String>,
    /// The root file to scan and the manifest to write, if the tools are new.
    manifest: Option<(PathBuf, PathBuf)>,
}

/// The result for `--format json`.
#[derive(Serialize)]
struct JsonStarter<'a> {
    written: Vec<String>,
    next: &'a [String],
}

impl StarterPlan {
    /// Plans what the package of this Cargo.toml lacks. Existing files are kept, except for added dependencies and a
    /// `mod` item.
    pub(super) fn new(cargo_toml: &Path, choice: &SourceChoice) -> Result<Self> {
        let package = package(cargo_toml)?;
        let root = root(&package)?;
        let source = CrateSource::choose(choice.path.as_deref(), choice.published)?;
        let mut plan = Self::default();
        let manifest = read(cargo_toml)?;
        let extended = dependencies::add(&manifest, &source)
            .map_err(|message| CommandFailure::new(format!("{}: {message}", display_path(cargo_toml))))?;
        plan.replace(cargo_toml, &manifest, extended);
        plan.add_tools(&root, cargo_toml)?;
        plan.add_build_script(&package, cargo_toml, &root)?;
        Ok(plan)
    }

    fn replace(&mut self, file: &Path, before: &str, after: String) {
        if before != after {
            self.files.push((file.to_owned(), after));
        }
    }

    /// Adds the module `tools` and its declaration in the root file.
    fn add_tools(&mut self, root: &CrateRoot, cargo_toml: &Path) -> Result {
        let directory = root.file.parent().unwrap_or(Path::new(""));
        let places = [directory.join("tools.rs"), directory.join("tools").join("mod.rs")];
        match places.iter().find(|file| file.exists()) {
            None => {
                self.files.push((places[0].clone(), TOOLS.to_owned()));
                let manifest = cargo_toml.with_file_name(tool_gen::FILE_NAME);
                self.manifest = (!manifest.exists()).then(|| (root.file.clone(), manifest));
            }
            Some(file) if read(file)?.contains("tool_runtime") => {}
            Some(file) => {
                return Err(CommandFailure::new(format!("{} exists and has no tools", display_path(file)))
                    .help("rename it, or annotate it: `tool-gen adopt` lists code that could become tools"));
            }
        }
        let text = read(&root.file)?;
        let declared = module::declare(&text, "tools", root.is_library)
            .map_err(|message| CommandFailure::new(format!("{}: {message}", display_path(&root.file))))?;
        self.replace(&root.file, &text, declared);
        Ok(())
    }

    fn add_build_script(&mut self, package: &Package, cargo_toml: &Path, root: &CrateRoot) -> Result {
        let directory = cargo_toml.parent().unwrap_or(Path::new(""));
        let relative = root.file.strip_prefix(directory).unwrap_or(&root.file).to_string_lossy().replace('\\', "/");
        let script = BUILD_SCRIPT.replace("src/main.rs", &relative);
        let existing = package.targets.iter().find(|target| target.is_custom_build());
        let file = existing.map_or_else(|| directory.join("build.rs"), |target| target.src_path.clone().into());
        if !file.exists() {
            self.files.push((file, script));
        } else if !read(&file)?.contains("tool_gen") {
            self.next.push(format!(
                "add to `main` in {}: `tool_gen::scan(\"{relative}\").write_to_out_dir()?;`",
                display_path(&file)
            ));
        }
        if existing.is_none() && dependencies::disables_build_script(&read(cargo_toml)?) {
            self.next.push(format!("remove `build = false` from {}", display_path(cargo_toml)));
        }
        Ok(())
    }

    /// Adds a file that replaces the one that `cargo new` has written.
    pub(super) fn with_file(mut self, file: PathBuf, text: &str) -> Self {
        self.files.retain(|(other, _)| *other != file);
        self.files.push((file, text.to_owned()));
        self
    }

    pub(super) fn next(mut self, step: impl Into<String>) -> Self {
        self.next.push(step.into());
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes the files and prints the result.
    pub(super) fn write(mut self, format: OutputFormat) -> Result {
        for (file, text) in &self.files {
            if let Some(directory) = file.parent() {
                std::fs::create_dir_all(directory).context(|| format!("create {}", directory.display()))?;
            }
            std::fs::write(file, text).context(|| format!("write {}", file.display()))?;
        }
        let mut written: Vec<String> = self.files.iter().map(|(file, _)| display_path(file)).collect();
        if let Some((root, manifest)) = self.manifest.take() {
            match tool_gen::scan(root).write_to(&manifest) {
                Ok(_) => written.push(display_path(&manifest)),
                // The sources that were there before may have errors.
                Err(error) => self.next.insert(0, format!("run `tool-gen write`, once this is corrected: {error}")),
            }
        }
        match format {
            OutputFormat::Json => print_json(&JsonStarter { written, next: &self.next })?,
            OutputFormat::Text => {
                for file in written {
                    print_status(format_args!("{} {file} written", styled(GREEN, "✓")));
                }
                self.next.iter().for_each(|step| print_status(format_args!("next: {step}")));
            }
        }
        Ok(())
    }
}

/// The root file of a library or a binary.
#[derive(Debug)]
struct CrateRoot {
    file: PathBuf,
    is_library: bool,
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).context(|| format!("read {}", file.display()))
}

/// Returns the package of a Cargo.toml.
fn package(cargo_toml: &Path) -> Result<Package> {
    let metadata = MetadataCommand::new().manifest_path(cargo_toml).no_deps().exec().map_err(metadata_failure)?;
    let found = metadata.packages.into_iter().find(|package| package.manifest_path.as_std_path() == cargo_toml);
    found.ok_or_else(|| {
        CommandFailure::new(format!("{} is a workspace without a package", display_path(cargo_toml)))
            .help("pass the package's Cargo.toml with `--manifest-path`")
    })
}

/// Returns the root of the library, or of the binary if there is no library.
fn root(package: &Package) -> Result<CrateRoot> {
    let library = |target: &&Target| target.kind.iter().any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib));
    // Every file in src/bin is a binary of its own, so it cannot have modules beside it.
    let binary = |target: &&Target| target.is_bin() && !target.src_path.components().any(|part| part.as_str() == "bin");
    let found = package.targets.iter().find(library).or_else(|| package.targets.iter().find(binary));
    let target = found.ok_or_else(|| {
        CommandFailure::new(format!("package `{}` has neither src/lib.rs nor src/main.rs", package.name))
            .help("add one of them, or create a package with `tool-gen new`")
    })?;
    Ok(CrateRoot { file: target.src_path.clone().into(), is_library: library(&target) })
}
