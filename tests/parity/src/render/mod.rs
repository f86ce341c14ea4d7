//! Writes a project as source text.

mod definitions;
mod files;
mod functions;
mod names;
mod types;

use std::collections::BTreeMap;

use crate::model::Project;

/// The text of a project.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files by their path below `src`.
    pub files: BTreeMap<String, String>,
    /// The functions and classes by the path of their handlers, to show what a difference is about.
    pub items: BTreeMap<String, Item>,
}

/// An annotated item.
#[derive(Clone, Debug)]
pub struct Item {
    /// The file it stands in, below `src`.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// The source of a project. Spelling is chosen at random, by the same seed in the same way.
#[must_use]
pub fn render(project: &Project, seed: u64, crate_name: &str) -> Sources {
    files::write(project, seed, crate_name)
}
