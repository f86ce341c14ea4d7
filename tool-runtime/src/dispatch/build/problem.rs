//! What keeps a dispatcher from being built.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use tool_model::ManifestError;

/// All that is wrong with what a builder was given, with a new manifest, with new tools or with a selection.
pub struct BuildError {
    /// What cannot be done, as the start of a sentence.
    pub(crate) headline: &'static str,
    pub(crate) problems: Vec<BuildProblem>,
}

impl BuildError {
    /// Each problem by itself.
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

/// As [`Display`](fmt::Display): `main` shows an error it returns by its `Debug`.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}

/// TurnCall thing that is wrong: where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildProblem {
    /// The tools it concerns, if any.
    pub tools: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
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

/// A text that is no manifest.
pub(crate) fn unreadable(error: &ManifestError) -> BuildProblem {
    BuildProblem::general(error.to_string(), "write the manifest again")
}

/// What a lenient dispatcher makes of problems: it says them, and goes on without the tools they concern.
pub(crate) fn skip(problems: Vec<BuildProblem>) -> Vec<BuildProblem> {
    for problem in problems {
        tracing::warn!("skipped: {problem}");
    }
    Vec::new()
}

/// TurnCall entry for each problem, with all the tools it concerns: what a class lacks, all its methods lack.
pub(crate) fn merge(problems: Vec<BuildProblem>) -> Vec<BuildProblem> {
    let mut merged: Vec<BuildProblem> = Vec::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for problem in problems {
        match places.entry((problem.message.clone(), problem.remedy.clone())) {
            Entry::Occupied(known) => merged[*known.get()].tools.extend(problem.tools),
            Entry::Vacant(new) => {
                new.insert(merged.len());
                merged.push(problem);
            }
        }
    }
    merged
}

/// A type's name without its modules, as one would write it: `Vec<app::Point>` as `Vec<Point>`.
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
    use super::short_type;

    #[test]
    fn types_are_shown_as_one_writes_them() {
        assert_eq!(short_type("alloc::vec::Vec<app::models::Point>"), "Vec<Point>");
        assert_eq!(short_type("u8"), "u8");
        assert_eq!(short_type("(a::B, &mut c::D)"), "(B, &mut D)");
    }
}
