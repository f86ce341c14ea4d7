//! Errors of building a dispatcher, a reload, a registration or a selection.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use tool_model::{ManifestError, registrations};

/// The error of a build, a reload, a registration or a selection, with all its problems.
pub struct BuildError {
    /// The start of the message.
    pub(crate) headline: &'static str,
    pub(crate) problems: Vec<BuildProblem>,
}

impl BuildError {
    /// Returns the problems.
    #[must_use]
    pub fn problems(&self) -> &[BuildProblem] {
        &self.problems
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        write!(f, "{}, {count} problem{}:", self.headline, if count == 1 { "" } else { "s" })?;
        for problem in &self.problems {
            write!(f, "\n- {problem}")?;
        }
        Ok(())
    }
}

/// Formats like [`Display`](fmt::Display), because `main` prints a returned error with `Debug`.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}

/// One problem: where, what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildProblem {
    /// The affected tools, if any.
    pub tools: Vec<String>,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl BuildProblem {
    pub(crate) fn of_tool(tool: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { tools: vec![tool.to_owned()], message: message.into(), remedy: remedy.into() }
    }

    pub(crate) fn general(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { tools: Vec::new(), message: message.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for BuildProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.tools.iter().take(3).map(|tool| format!("`{tool}`")).collect();
        if !shown.is_empty() {
            let more = self.tools.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            write!(f, "{}{more}: ", shown.join(", "))?;
        }
        write!(f, "{}; {}", self.message, self.remedy)
    }
}

/// Returns the problem of text that is not a manifest.
pub(crate) fn unreadable(error: &ManifestError) -> BuildProblem {
    BuildProblem::general(error.to_string(), "write the manifest again")
}

/// Returns the problem of a dispatcher without tools.
pub(crate) fn no_tools(has_manifest: bool) -> BuildProblem {
    // This crate has a `manual` class itself, so something is always linked.
    let manual =
        registrations().into_iter().filter(|tool| !tool.handler.starts_with(concat!(env!("CARGO_CRATE_NAME"), "::")));
    let manual: Vec<String> = manual.map(|tool| tool.name.to_owned()).collect();
    let (message, remedy) = if has_manifest {
        ("the manifest has no tools", "let the build script scan the crate that has them")
    } else if manual.is_empty() {
        (
            "no tools are linked",
            "if a dependency has them and is never named, the linker drops it: write `use krate as _;` with its name",
        )
    } else {
        ("all linked tools are of `manual` classes, and no instance is given", "add `.service(..)`")
    };
    let remedy = format!("{remedy}; if tools are registered later, add `.allow_empty()`");
    BuildProblem { tools: if has_manifest { Vec::new() } else { manual }, ..BuildProblem::general(message, remedy) }
}

/// Logs the problems that a lenient dispatcher skips. Returns an empty list.
pub(crate) fn skip(problems: Vec<BuildProblem>) -> Vec<BuildProblem> {
    for problem in problems {
        tracing::warn!("skipped: {problem}");
    }
    Vec::new()
}

/// Merges equal problems of several tools: what a class lacks, all its methods lack.
pub(crate) fn merge(problems: Vec<BuildProblem>) -> Vec<BuildProblem> {
    let mut merged: Vec<BuildProblem> = Vec::new();
    let mut indices: HashMap<(String, String), usize> = HashMap::new();
    for problem in problems {
        match indices.entry((problem.message.clone(), problem.remedy.clone())) {
            Entry::Occupied(known) => merged[*known.get()].tools.extend(problem.tools),
            Entry::Vacant(new) => {
                new.insert(merged.len());
                merged.push(problem);
            }
        }
    }
    merged
}

/// Returns the short name of a type in backticks, with its article: "an `Arc<Clock>`".
pub(crate) fn with_article(short: &str) -> String {
    let article = if short.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
    format!("{article} `{short}`")
}

/// Returns the name of a type without its modules: `Vec<app::Point>` as `Vec<Point>`.
pub(crate) fn short_type(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut word_start = 0;
    for c in name.chars() {
        if c == ':' {
            short.truncate(word_start);
            continue;
        }
        short.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            word_start = short.len();
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{short_type, with_article};

    #[test]
    fn articles_fit_their_types() {
        assert_eq!(
            ["Auther", "i32", "u8", "Clock"].map(with_article),
            ["an `Auther`", "an `i32`", "a `u8`", "a `Clock`"]
        );
    }

    #[test]
    fn shortens_type_names() {
        assert_eq!(short_type("alloc::vec::Vec<app::models::Point>"), "Vec<Point>");
        assert_eq!(short_type("u8"), "u8");
        assert_eq!(short_type("(a::B, &mut c::D)"), "(B, &mut D)");
    }
}
