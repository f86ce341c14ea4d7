//! The scan of one or several crates.

use std::path::{Path, PathBuf};

use tool_model::Manifest;

use crate::{Cfg, Diagnostic, Error, Result};

/// A scan to be made; see [`scan`](crate::scan).
#[derive(Clone, Debug)]
#[must_use = "a scan does nothing until it is run or written"]
pub struct Scan {
    roots: Vec<Root>,
    cfg: Option<Cfg>,
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
    /// Every file that was read.
    pub files: Vec<PathBuf>,
}

impl Scan {
    pub(crate) fn new(root: &Path) -> Self {
        Self { roots: vec![Root { path: root.to_owned(), features: None }], cfg: None }
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

    /// Reads the sources.
    ///
    /// # Errors
    /// When a root cannot be read. What is wrong further inside is among the [diagnostics](Scanned::diagnostics).
    pub fn run(&self) -> Result<Scanned, Error> {
        Ok(Scanned::default())
    }
}
