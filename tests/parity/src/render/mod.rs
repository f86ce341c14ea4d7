//! Renders a project as source text.

mod definitions;
mod files;
mod functions;
mod names;
mod types;

use std::collections::BTreeMap;

use crate::model::Project;

/// The source text of a project.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files by their path below `src`.
    pub files: BTreeMap<String, String>,
    /// The functions and classes by handler path, to show the source of a difference.
    pub items: BTreeMap<String, Item>,
}

/// An annotated item.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its file, below `src`.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// Renders a project. Spelling is random, but deterministic for a seed.
#[must_use]
pub fn render(project: &Project, seed: u64, crate_name: &str) -> Sources {
    files::write(project, seed, crate_name)
}
