//! Whether a tool is selected.

use std::collections::HashSet;

use regex_lite::Regex;
use tool_model::ToolDefinition;

use super::Selection;
use crate::Problem;
use crate::guard;

/// A selection that is ready to be asked.
pub(super) struct Matcher {
    selection: Selection,
    names: Option<Names>,
    hidden: Names,
    patterns: Vec<Regex>,
    any_of: Option<Vec<Matcher>>,
}

impl Matcher {
    pub(super) fn new(selection: Selection, problems: &mut Vec<Problem>) -> Self {
        let names = selection.names.as_ref().map(|names| Names::new(names));
        let hidden = Names::new(&selection.hide);
        let mut patterns: Vec<Regex> = selection.name_glob.iter().map(|glob| regex_of_glob(glob)).collect();
        if let Some(pattern) = &selection.name_pattern {
            // As one alternative, so that `a|b` begins at the start in both.
            match Regex::new(&format!("^(?:{pattern})")) {
                Ok(regex) if Regex::new(pattern).is_ok() => patterns.push(regex),
                _ => {
                    let why = Regex::new(pattern).err().map(|error| format!(": {error}")).unwrap_or_default();
                    let message = format!("`name_pattern` {pattern:?} is no regular expression{why}");
                    problems.push(Problem::general(message, "mend it, or use `name_glob`"));
                }
            }
        }
        let any_of = selection.any_of.as_ref().map(|all| {
            let mut part = |part: &Selection| {
                if part.case.is_some() || part.prefix.is_some() || !part.rename.is_empty() {
                    let message = "a selection under `any_of` gives names";
                    problems.push(Problem::general(message, "say `prefix`, `rename` and `case` outside"));
                }
                Self::new(part.clone(), problems)
            };
            all.iter().map(&mut part).collect()
        });
        Self { selection, names, hidden, patterns, any_of }
    }

    pub(super) fn takes(&self, name: &str, tool: &ToolDefinition) -> bool {
        let Selection { tags, category, predicate, .. } = &self.selection;
        self.names.as_ref().is_none_or(|names| names.has(name))
            && !self.hidden.has(name)
            && tags.iter().all(|tag| tool.tags.contains(tag))
            && category.as_ref().is_none_or(|category| tool.category.as_ref() == Some(category))
            && self.patterns.iter().all(|pattern| pattern.is_match(name))
            && self.selection.has_flags(tool)
            && self.any_of.as_ref().is_none_or(|any| any.iter().any(|one| one.takes(name, tool)))
            && predicate.as_ref().is_none_or(|says| guard::catch(|| says(name, tool)).unwrap_or(false))
    }

    /// The names that are said to the letter: each should exist.
    pub(super) fn said(&self) -> impl Iterator<Item = &str> {
        let selected = self.names.iter().flat_map(|names| &names.exact);
        let inside = self.any_of.iter().flatten().flat_map(|one| one.said().collect::<Vec<_>>());
        selected.chain(&self.hidden.exact).map(String::as_str).chain(inside)
    }

    pub(super) fn selection(&self) -> &Selection {
        &self.selection
    }
}

/// Names, and forms of names.
struct Names {
    exact: HashSet<String>,
    globs: Vec<Regex>,
}

impl Names {
    fn new(names: &[String]) -> Self {
        let (globs, exact): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| name.contains(['*', '?']));
        Self {
            exact: exact.into_iter().cloned().collect(),
            globs: globs.into_iter().map(|glob| regex_of_glob(glob)).collect(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.exact.contains(name) || self.globs.iter().any(|glob| glob.is_match(name))
    }
}

/// Everything but `*` and `?` stands for itself, so that it cannot but be valid; one that is too large matches nothing.
fn regex_of_glob(glob: &str) -> Regex {
    let mut pattern = String::from("^(?s:");
    for c in glob.chars() {
        match c {
            // Several in a row say no more than one.
            '*' if pattern.ends_with(".*") => {}
            '*' => pattern.push_str(".*"),
            '?' => pattern.push('.'),
            other => pattern.push_str(&regex_lite::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    pattern.push_str(")$");
    Regex::new(&pattern).unwrap_or_else(|_| Regex::new("$^a").expect("matches nothing"))
}
