//! Scans of one or several crates, and writing their manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tool_model::Manifest;

use crate::filter::ToolFilter;
use crate::source::SourceTree;
use crate::tools::FoundTool;
use crate::{Cfg, Diagnostic, Error, Result, Severity, SourcePlace, source, tools};

/// Stack size of the scanning thread: many times the need of the deepest text that is parsed. Unused pages cost
/// nothing.
const STACK: usize = 256 << 20;

/// The file name of a manifest.
pub const FILE_NAME: &str = "tools_calls.json";

/// A scan that is configured and not yet run; see [`scan`](crate::scan).
#[derive(Clone, Debug)]
#[must_use = "a scan does nothing until it is run or written"]
pub struct Scan {
    roots: Vec<ScanRoot>,
    with: Vec<String>,
    cfg: Option<Cfg>,
    with_facts: bool,
    allow_empty: bool,
    progress: Option<Arc<AtomicUsize>>,
}

/// The root file of a crate to scan.
#[derive(Clone, Debug)]
struct ScanRoot {
    path: PathBuf,
    /// The crate's features. `None` means those of the build script's environment, or else the default features.
    features: Option<Vec<String>>,
}

/// The output of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanOutput {
    /// The manifest of the tools.
    pub manifest: Manifest,
    /// Errors and warnings, in the order of files and lines.
    pub diagnostics: Vec<Diagnostic>,
    /// The place of each tool, by name.
    pub places: BTreeMap<String, SourcePlace>,
    /// The tools whose documentation says that they are for tests.
    pub for_tests: BTreeSet<String>,
    /// The arguments that are marked `#[arg(any)]`, by tool and name.
    pub accepted_any: BTreeSet<(String, String)>,
    /// Every file that was read or looked for. A change of any of them may change the manifest.
    pub files: Vec<PathBuf>,
}

impl Scan {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            roots: vec![ScanRoot { path: root.to_owned(), features: None }],
            with: Vec::new(),
            cfg: None,
            with_facts: false,
            allow_empty: false,
            progress: None,
        }
    }

    /// Adds another crate to the scan, by its root file. Its tools go into the same manifest.
    pub fn and(mut self, root: impl AsRef<Path>) -> Self {
        self.roots.push(ScanRoot { path: root.as_ref().to_owned(), features: None });
        self
    }

    /// Includes all tools of a crate, or those of one class: `tool-builtins` or `tool-builtins::Files`. The crate is a
    /// dependency of a scanned crate, or a scanned crate itself, and its `manual` classes are included as well.
    ///
    /// An application lists the tools of the services that it passes to its dispatcher:
    ///
    /// ```no_run
    /// // build.rs
    /// fn main() -> tool_gen::Result {
    ///     tool_gen::scan("src/main.rs").with("tool-builtins::Files").write_to_out_dir()
    /// }
    /// ```
    pub fn with(mut self, tools: impl Into<String>) -> Self {
        self.with.push(tools.into());
        self
    }

    /// Sets the features of the crate that was added last, instead of its default features.
    pub fn features<F: Into<String>>(mut self, features: impl IntoIterator<Item = F>) -> Self {
        if let Some(root) = self.roots.last_mut() {
            root.features = Some(features.into_iter().map(Into::into).collect());
        }
        self
    }

    /// Sets the configuration that `#[cfg]`s are evaluated with, instead of the build script's or this machine's.
    pub fn cfg(mut self, cfg: Cfg) -> Self {
        self.cfg = Some(cfg);
        self
    }

    /// Adds facts to the schemas that only the source shows: the Rust types of numbers and strings, and serde's
    /// aliases.
    ///
    /// The manifest is then for [`tool_model::compatibility::changes`] only. It differs from the program's manifest.
    pub fn with_facts(mut self) -> Self {
        self.with_facts = true;
        self
    }

    /// Allows to write a manifest without tools. Otherwise writing fails: in most cases the tools are in another crate,
    /// which is added with [`and`](Self::and).
    pub fn allow_empty(mut self) -> Self {
        self.allow_empty = true;
        self
    }

    /// Sets a counter that is incremented for each file that is read, for progress bars.
    pub fn progress(mut self, files: Arc<AtomicUsize>) -> Self {
        self.progress = Some(files);
        self
    }

    /// Runs the scan.
    ///
    /// # Errors
    /// Returns an error if a root file cannot be read. Problems further inside are
    /// [diagnostics](ScanOutput::diagnostics).
    pub fn run(&self) -> Result<ScanOutput> {
        on_large_stack(|| self.run_here())
    }

    fn run_here(&self) -> Result<ScanOutput> {
        let sources = SourceTree::with_progress(self.progress.clone());
        let mut filter = self.add_roots(&sources)?;
        self.with.iter().try_for_each(|text| filter.add_named(text, &sources))?;
        let mut found = tools::read(&sources, &filter, self.with_facts);
        found.sort_by(|a, b| (&a.name, &a.definition.handler).cmp(&(&b.name, &b.definition.handler)));
        for pair in found.windows(2).filter(|pair| pair[0].name == pair[1].name) {
            sources.report(duplicate(&pair[0], &pair[1]));
        }
        // Of two tools with one name the first is kept, as in `Manifest::linked()`.
        let places = found.iter().rev().map(|tool| (tool.name.clone(), tool.place.clone())).collect();
        let for_tests = found.iter().filter(|tool| tool.is_for_tests).map(|tool| tool.name.clone()).collect();
        let accepted = |tool: &FoundTool| -> Vec<(String, String)> {
            tool.accepted_any.iter().map(|argument| (tool.name.clone(), argument.clone())).collect()
        };
        let accepted_any = found.iter().flat_map(accepted).collect();
        let manifest = found.into_iter().rev().map(|tool| (tool.name, tool.definition)).collect();
        let (mut diagnostics, mut files) = sources.finish();
        let position = |diagnostic: &Diagnostic| {
            diagnostic.place.as_ref().map(|place| (place.file.clone(), place.line, place.column))
        };
        diagnostics.sort_by_key(position);
        diagnostics.dedup();
        if diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error) {
            filter.check()?;
        }
        files.sort();
        files.dedup();
        Ok(ScanOutput { manifest, diagnostics, places, for_tests, accepted_any, files })
    }

    /// Adds the crates. Returns the filter that includes their tools.
    fn add_roots(&self, sources: &SourceTree) -> Result<ToolFilter> {
        let mut filter = ToolFilter::default();
        let cfg = self.cfg.clone().unwrap_or_else(Cfg::from_environment);
        for root in &self.roots {
            let root =
                source::CrateRoot { path: &root.path, features: root.features.clone(), cfg: &cfg, scanned: true };
            let added = sources.add_crate(&root).map_err(|diagnostic| Error::new(diagnostic.to_string()))?;
            filter.add_crate(&sources.scope(added).path);
        }
        Ok(filter)
    }

    /// Lists the `impl` blocks and traits that could become tool classes, and says of each method whether it fits.
    ///
    /// `instances` are concrete types of generic classes, such as `Replica<SqliteStorage>`. Without one, the only type
    /// of the crate that implements the bound is taken.
    ///
    /// # Errors
    /// Returns an error if a root file cannot be read, or if an instance is not a type.
    #[cfg(feature = "cli")]
    pub fn adopt(
        &self,
        dependencies: &crate::adopt::DependencySources,
        instances: &[String],
    ) -> Result<crate::adopt::AdoptReport> {
        on_large_stack(|| {
            let sources = SourceTree::with_progress(self.progress.clone()).with_resolved(dependencies.packages.clone());
            self.add_roots(&sources)?;
            let classes = crate::adopt::read(&sources, dependencies, instances)?;
            let (diagnostics, _) = sources.finish();
            Ok(crate::adopt::AdoptReport { classes, diagnostics })
        })
    }

    /// Writes the manifest to `OUT_DIR`, where `tool_runtime::manifest!()` reads it, and prints `rerun-if-changed`
    /// lines. For build scripts.
    ///
    /// Warnings become warnings of Cargo. So do errors that rustc reports too, because rustc explains them better than
    /// a failed build script.
    ///
    /// # Errors
    /// Returns an error if the sources cannot be read, if two tools have the same name, if the settings of an argument
    /// contradict its type, if there are no tools (see [`allow_empty`](Self::allow_empty)), or if the file cannot be
    /// written.
    pub fn write_to_out_dir(&self) -> Result {
        let Some(directory) = std::env::var_os("OUT_DIR").map(PathBuf::from) else {
            return Err(Error::new(
                "OUT_DIR is not set: `write_to_out_dir` is for build scripts; use `write_to` elsewhere",
            ));
        };
        let scanned = self.run()?;
        for line in instructions(&scanned) {
            println!("{line}");
        }
        scanned.refuse_if(|diagnostic| diagnostic.severity == Severity::Error && !diagnostic.compile_error)?;
        self.refuse_empty(&scanned)?;
        scanned.save(&directory.join(FILE_NAME)).map(drop)
    }

    /// Fails if there are no tools. A tool that does not compile counts: rustc reports it.
    fn refuse_empty(&self, scanned: &ScanOutput) -> Result {
        if self.allow_empty || !scanned.manifest.is_empty() || !scanned.diagnostics.is_empty() {
            return Ok(());
        }
        let roots: Vec<String> = self.roots.iter().map(|root| root.path.display().to_string()).collect();
        Err(Error::new(format!(
            "there are no tools in {}; scan the crate that has them with `.and(..)`, name a `manual` class with `.with(..)`, \
             or write `.allow_empty()` if there are none",
            roots.join(", ")
        )))
    }

    /// Writes the manifest to a file if that changes the file. Returns `true` if it did.
    ///
    /// Use it in a program that keeps a manifest beside the sources, as `tool-gen write` does:
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
    /// Returns an error if the sources have an error or no tools, or the file cannot be written. The file is then
    /// unchanged.
    pub fn write_to(&self, path: impl AsRef<Path>) -> Result<bool> {
        let scanned = self.run()?;
        scanned.refuse_if(|diagnostic| diagnostic.severity == Severity::Error)?;
        self.refuse_empty(&scanned)?;
        scanned.save(path.as_ref())
    }
}

impl ScanOutput {
    /// Returns warnings about tools that a model should not be offered as they are: those without a description, which is
    /// most of what a model knows when it chooses a tool, and those whose documentation says that they are for tests.
    ///
    /// Build scripts print them. `tool-gen lint` finds more that a model could miss.
    #[must_use]
    pub fn advice(&self) -> Vec<Diagnostic> {
        let warning = |name: &str, message: String, help: &str| Diagnostic {
            severity: Severity::Warning,
            message,
            help: Some(help.to_owned()),
            place: self.places.get(name).cloned(),
            compile_error: false,
        };
        let undescribed =
            self.manifest.iter().filter(|(_, tool)| tool.description.trim().is_empty()).map(|(name, _)| {
                let message = format!("`{name}` has no description, so the model does not know what it does");
                warning(name, message, "add a doc comment, or `description = \"..\"`")
            });
        let for_tests = self.for_tests.iter().map(|name| {
            let message = format!("`{name}` is offered to models, but its documentation says that it is for tests");
            warning(name, message, "exclude it with `#[tool(skip)]`, or reword its documentation")
        });
        undescribed.chain(for_tests).collect()
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

/// Runs the work on a thread of its own: the parser recurses for each level of nesting, and the main thread has a small
/// stack.
fn on_large_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("scan".to_owned()).stack_size(STACK);
        let scan = thread.spawn_scoped(scope, work).map_err(|error| Error::new(error.to_string()))?;
        scan.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Reports two tools with one name: a model could not choose between them.
fn duplicate(first: &FoundTool, second: &FoundTool) -> Diagnostic {
    let at = &first.place;
    if first.definition.handler == second.definition.handler && at == &second.place {
        return duplicate_file(&at.file);
    }
    let message = format!(
        "two tools have the name `{}`: {} ({}:{}) and {}",
        first.name,
        first.definition.handler,
        at.file.display(),
        at.line,
        second.definition.handler
    );
    Diagnostic {
        severity: Severity::Error,
        message,
        help: Some("rename one with `#[tool(name = \"..\")]` or `prefix`".to_owned()),
        place: Some(second.place.clone()),
        compile_error: false,
    }
}

/// Reports a file once: all of its tools are duplicates.
fn duplicate_file(file: &Path) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        message: "this file is a module of both the library and the binary, which duplicates its tools".to_owned(),
        help: Some("declare it in the library only, and use the library in main.rs".to_owned()),
        place: Some(SourcePlace { file: file.to_owned(), line: 0, column: 0, width: 0, text: String::new() }),
        compile_error: false,
    }
}

/// Returns the lines that a build script prints for Cargo.
fn instructions(scanned: &ScanOutput) -> Vec<String> {
    // A line break would end the instruction.
    let line = |text: String| text.replace(['\n', '\r'], " ");
    let files = scanned.files.iter().map(|file| format!("cargo::rerun-if-changed={}", file.display()));
    let warned = scanned.diagnostics.iter().filter(|found| found.severity == Severity::Warning && !found.compile_error);
    let advice = scanned.advice();
    let warnings = warned.chain(&advice).map(|found| found.to_string()).chain(left_to_rustc(&scanned.diagnostics));
    files.chain(warnings.map(|warning| format!("cargo::warning={}", line(warning)))).collect()
}

/// Names the places of errors that rustc reports, without repeating them.
fn left_to_rustc(diagnostics: &[Diagnostic]) -> Option<String> {
    let places = diagnostics.iter().filter(|found| found.compile_error).filter_map(|found| found.place.as_ref());
    let places: Vec<String> =
        places.map(|place| format!("{}:{}:{}", place.file.display(), place.line, place.column)).collect();
    (!places.is_empty()).then(|| format!("the manifest lacks what does not compile: {}", places.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const TOOL: &str = "/// Say it.\n#[tool_runtime::tool]\npub fn say(word: String) -> String { word }\n";

    /// Returns a crate in a temporary directory, its scan, and the path of its manifest.
    fn package() -> (TempDir, Scan, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("src")).unwrap();
        fs::write(directory.path().join("Cargo.toml"), "[package]\nname = \"talk\"\nedition = \"2024\"\n").unwrap();
        fs::write(directory.path().join("src/lib.rs"), TOOL).unwrap();
        let scan = crate::scan(directory.path().join("src/lib.rs"));
        let manifest = directory.path().join("made/for/it").join(FILE_NAME);
        (directory, scan, manifest)
    }

    #[test]
    fn writes_a_manifest_only_if_it_changes() {
        let (directory, scan, manifest) = package();
        assert!(scan.write_to(&manifest).unwrap());
        let first = fs::read_to_string(&manifest).unwrap();
        assert_eq!(first, scan.run().unwrap().manifest.to_json());
        assert!(first.contains("\"handler\": \"talk::say\""), "{first}");
        assert!(!scan.write_to(&manifest).unwrap());

        fs::write(directory.path().join("src/lib.rs"), TOOL.replace("Say it", "Say it again")).unwrap();
        assert!(scan.write_to(&manifest).unwrap());
        assert!(fs::read_to_string(&manifest).unwrap().contains("Say it again."));
    }

    #[test]
    fn writes_no_empty_manifest_unless_it_is_allowed() {
        let (directory, scan, manifest) = package();
        fs::write(directory.path().join("src/lib.rs"), "pub fn say() {}").unwrap();
        let error = scan.write_to(&manifest).unwrap_err().to_string();
        assert!(error.contains("there are no tools in ") && error.contains("lib.rs"), "{error}");
        assert!(!manifest.exists());
        assert!(scan.clone().allow_empty().write_to(&manifest).unwrap());
    }

    #[test]
    fn a_build_script_warns_about_tools_without_a_description_and_for_tests() {
        let (directory, scan, _) = package();
        let warned = |text: &str| instructions(&scan.run().unwrap()).iter().any(|line| line.contains(text));
        assert!(!warned("cargo::warning"));
        fs::write(directory.path().join("src/lib.rs"), TOOL.replace("/// Say it.\n", "")).unwrap();
        assert!(warned("`say` has no description"));
        let for_tests = TOOL.replace("/// Say it.", "/// Say it.\n///\n/// Only for use in tests.");
        fs::write(directory.path().join("src/lib.rs"), for_tests).unwrap();
        assert!(warned("`say` is offered to models, but its documentation says that it is for tests"));
    }

    #[test]
    fn reports_settings_that_the_type_behind_an_alias_contradicts() {
        let (directory, scan, manifest) = package();
        let tool = "type Byte = u8;\n/// Say it.\n#[tool_runtime::tool]\npub fn say(#[arg(default = 300)] \
                    first: Byte, #[arg(pattern = \"x\")] second: Byte, #[arg(one_of = [\"a\"])] third: Byte) {}\n";
        fs::write(directory.path().join("src/lib.rs"), tool).unwrap();
        let error = scan.write_to(&manifest).unwrap_err().to_string();
        for message in [
            "the default of `first` is invalid: `first`: got 300, expected",
            "`pattern` has no effect on `second`, which is of type integer",
            "`one_of` of `third` lists an invalid value",
        ] {
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn keeps_the_manifest_if_the_sources_have_an_error() {
        let (directory, scan, manifest) = package();
        scan.write_to(&manifest).unwrap();
        let before = fs::read_to_string(&manifest).unwrap();
        for (added, message, compiles) in [
            (
                "/// Another.\n#[tool_runtime::tool(name = \"say\")]\npub fn other() {}",
                "two tools have the name `say`",
                true,
            ),
            ("/// Wrong.\n#[tool_runtime::tool(nmae = \"x\")]\npub fn other() {}", "unknown key `nmae`", false),
        ] {
            fs::write(directory.path().join("src/lib.rs"), format!("{TOOL}{added}")).unwrap();
            let error = scan.write_to(&manifest).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            assert_eq!(fs::read_to_string(&manifest).unwrap(), before, "{message}");
            // The control: a build script leaves to rustc what rustc rejects, and writes the manifest.
            let is_own = |diagnostic: &Diagnostic| !diagnostic.compile_error;
            assert_eq!(scan.run().unwrap().refuse_if(is_own).is_err(), compiles, "{message}");
        }
        fs::remove_dir_all(directory.path().join("src")).unwrap();
        assert!(scan.write_to(&manifest).is_err());
        assert_eq!(fs::read_to_string(&manifest).unwrap(), before);
    }
}
