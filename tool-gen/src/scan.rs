//! The scan of one or several crates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tool_model::Manifest;

use crate::source::{self, Sources};
use crate::tools::{self, Found};
use crate::{Cfg, Diagnostic, Error, Place, Result, Severity};

/// Room for the deepest text that is parsed, many times over. It costs nothing until it is used.
const STACK: usize = 256 << 20;

/// A scan to be made; see [`scan`](crate::scan).
#[derive(Clone, Debug)]
#[must_use = "a scan does nothing until it is run or written"]
pub struct Scan {
    roots: Vec<Root>,
    cfg: Option<Cfg>,
    with_facts: bool,
    progress: Option<Arc<AtomicUsize>>,
}

/// The root file of a crate.
#[derive(Clone, Debug)]
struct Root {
    path: PathBuf,
    /// The crate's features; if not said, those of the build script's environment, or else the default ones.
    features: Option<Vec<String>>,
}

/// What a scan has found.
#[derive(Clone, Debug, Default)]
pub struct Scanned {
    /// The tools.
    pub manifest: Manifest,
    /// What is wrong, and what could not be seen, in the order of files and lines.
    pub diagnostics: Vec<Diagnostic>,
    /// Where each tool stands, by its name.
    pub places: BTreeMap<String, Place>,
    /// Every file that was read or looked for: a change of any of them may change the manifest.
    pub files: Vec<PathBuf>,
}

impl Scan {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            roots: vec![Root { path: root.to_owned(), features: None }],
            cfg: None,
            with_facts: false,
            progress: None,
        }
    }

    /// Scans another crate into the same manifest, by its root file.
    pub fn and(mut self, root: impl AsRef<Path>) -> Self {
        self.roots.push(Root { path: root.as_ref().to_owned(), features: None });
        self
    }

    /// The features of the crate that was named last, instead of its default ones.
    pub fn features<F: Into<String>>(mut self, features: impl IntoIterator<Item = F>) -> Self {
        if let Some(root) = self.roots.last_mut() {
            root.features = Some(features.into_iter().map(Into::into).collect());
        }
        self
    }

    /// The configuration under which the sources are read, instead of the build script's or this machine's.
    pub fn cfg(mut self, cfg: Cfg) -> Self {
        self.cfg = Some(cfg);
        self
    }

    /// Adds facts that only the source shows to the schemas: the Rust types of numbers and strings, and serde's aliases.
    ///
    /// Such a manifest is for [`tool_model::compatibility::changes`] only. It is not the manifest of the program.
    pub fn with_facts(mut self) -> Self {
        self.with_facts = true;
        self
    }

    /// Counts the files as they are read, for whoever shows that something goes on.
    pub fn progress(mut self, files: Arc<AtomicUsize>) -> Self {
        self.progress = Some(files);
        self
    }

    /// Reads the sources.
    ///
    /// # Errors
    /// When a root cannot be read. What is wrong further inside is among the [diagnostics](Scanned::diagnostics).
    pub fn run(&self) -> Result<Scanned> {
        // The parser goes down one call for each level of nesting, and the main thread has little room for that.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("scan".to_owned()).stack_size(STACK);
            let scan = thread.spawn_scoped(scope, || self.run_here()).map_err(|error| Error::new(error.to_string()))?;
            scan.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn run_here(&self) -> Result<Scanned> {
        let cfg = self.cfg.clone().unwrap_or_else(Cfg::of_environment);
        let sources = Sources::counting(self.progress.clone());
        for root in &self.roots {
            let root = source::Root { path: &root.path, features: root.features.clone(), cfg: &cfg, scanned: true };
            sources.add_crate(&root).map_err(|diagnostic| Error::new(diagnostic.to_string()))?;
        }
        let mut found = tools::read(&sources, self.with_facts);
        found.sort_by(|a, b| (&a.name, &a.definition.handler).cmp(&(&b.name, &b.definition.handler)));
        for pair in found.windows(2).filter(|pair| pair[0].name == pair[1].name) {
            sources.report(duplicate(&pair[0], &pair[1]));
        }
        // Of two tools of one name the first stands, as in `Manifest::linked()`.
        let places = found.iter().rev().map(|tool| (tool.name.clone(), tool.place.clone())).collect();
        let manifest = found.into_iter().rev().map(|tool| (tool.name, tool.definition)).collect();
        let (mut diagnostics, mut files) = sources.finish();
        let position = |diagnostic: &Diagnostic| {
            diagnostic.place.as_ref().map(|place| (place.file.clone(), place.line, place.column))
        };
        diagnostics.sort_by_key(position);
        diagnostics.dedup();
        files.sort();
        files.dedup();
        Ok(Scanned { manifest, diagnostics, places, files })
    }
}

/// The model could not say which of the two it means.
fn duplicate(first: &Found, second: &Found) -> Diagnostic {
    let at = &first.place;
    if first.definition.handler == second.definition.handler && at == &second.place {
        return of_two_crates(&at.file);
    }
    let message = format!(
        "two tools are called `{}`: {} ({}:{}) and {}",
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

/// One for each file: all of its tools are there twice.
fn of_two_crates(file: &Path) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        message: "this file is a module of both the library and the program, and so are its tools".to_owned(),
        help: Some("declare it in the library only, and let main.rs use the library's".to_owned()),
        place: Some(Place { file: file.to_owned(), line: 0, column: 0, width: 0, text: String::new() }),
        compile_error: false,
    }
}
