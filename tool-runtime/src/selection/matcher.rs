//! Whether a tool is selected.

use std::collections::HashSet;

use regex_lite::Regex;
use tool_model::ToolDefinition;

use super::Selection;
use crate::diagnostics::BuildProblem;
use crate::panics;

/// A selection that is ready to be asked.
pub(super) struct Matcher {
    selection: Selection,
    names: Option<Names>,
    hidden: Names,
    pattern: Option<Regex>,
    any_of: Option<Vec<Matcher>>,
}

impl Matcher {
    pub(super) fn new(selection: Selection, problems: &mut Vec<BuildProblem>) -> Self {
        let names = selection.names.as_ref().map(|names| Names::new(names));
        let hidden = Names::new(&selection.hide);
        let mut pattern = None;
        if let Some(said) = &selection.name_pattern {
            // As one alternative, so that `a|b` begins at the start in both.
            match Regex::new(&format!("^(?:{said})")) {
                Ok(regex) if Regex::new(said).is_ok() => pattern = Some(regex),
                _ => {
                    let why = Regex::new(said).err().map(|error| format!(": {error}")).unwrap_or_default();
                    let message = format!("`name_pattern` {said:?} is no regular expression{why}");
                    problems.push(BuildProblem::general(message, "correct it, or use `name_glob`"));
                }
            }
        }
        let any_of = selection.any_of.as_ref().map(|all| {
            let mut part = |part: &Selection| {
                if part.case.is_some() || part.prefix.is_some() || !part.rename.is_empty() {
                    let message = "a selection under `any_of` gives names";
                    problems.push(BuildProblem::general(message, "say `prefix`, `rename` and `case` outside"));
                }
                Self::new(part.clone(), problems)
            };
            all.iter().map(&mut part).collect()
        });
        Self { selection, names, hidden, pattern, any_of }
    }

    pub(super) fn takes(&self, name: &str, tool: &ToolDefinition) -> bool {
        let Selection { tags, category, name_glob, predicate, .. } = &self.selection;
        self.names.as_ref().is_none_or(|names| names.has(name))
            && !self.hidden.has(name)
            && tags.iter().all(|tag| tool.tags.contains(tag))
            && category.as_ref().is_none_or(|category| tool.category.as_ref() == Some(category))
            && name_glob.as_ref().is_none_or(|glob| matches_glob(glob, name))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
            && self.selection.has_flags(tool)
            && self.any_of.as_ref().is_none_or(|any| any.iter().any(|one| one.takes(name, tool)))
            && predicate.as_ref().is_none_or(|says| panics::catch(|| says(name, tool)).unwrap_or(false))
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
    globs: Vec<String>,
}

impl Names {
    fn new(names: &[String]) -> Self {
        let (globs, exact): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| name.contains(['*', '?']));
        Self { exact: exact.into_iter().cloned().collect(), globs: globs.into_iter().cloned().collect() }
    }

    fn has(&self, name: &str) -> bool {
        self.exact.contains(name) || self.globs.iter().any(|glob| matches_glob(glob, name))
    }
}

/// Returns `true` if a name has the form of a glob: `*` stands for any characters, `?` for one, the rest for itself.
///
/// It takes time in proportion to the product of both lengths at most: only the last `*` has ever to be tried again.
fn matches_glob(glob: &str, name: &str) -> bool {
    let (mut glob, mut name) = (glob.chars(), name.chars());
    // Behind the last `*`, and where in the name it was tried.
    let mut last_star = None;
    loop {
        let mut ahead = glob.clone();
        let found = match (ahead.next(), name.clone().next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                last_star = Some((ahead.clone(), name.clone()));
                glob = ahead;
                continue;
            }
            (Some('?'), Some(_)) => true,
            (Some(wanted), Some(c)) => wanted == c,
            _ => false,
        };
        if found {
            glob = ahead;
            name.next();
        } else if let Some((behind, tried)) = &mut last_star {
            // The `*` takes one more.
            if tried.next().is_none() {
                return false;
            }
            (glob, name) = (behind.clone(), tried.clone());
        } else {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::properties;

    /// The same in other words, for short globs.
    fn by_regex(glob: &str, name: &str) -> bool {
        let part = |c: char| match c {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            other => regex_lite::escape(other.encode_utf8(&mut [0; 4])),
        };
        let pattern: String = glob.chars().map(part).collect();
        Regex::new(&format!("^(?s:{pattern})$")).unwrap().is_match(name)
    }

    /// A regular expression of this size is refused, and what is hidden by it would be shown.
    #[test]
    fn a_glob_is_never_too_large() {
        let (long, name) = ("a?".repeat(1_000_000), "ab".repeat(1_000_000));
        assert!(Regex::new(&long.replace('?', ".")).is_err());
        assert!(matches_glob(&long, &name) && matches_glob(&format!("*{long}*"), &name));
        assert!(!matches_glob(&long, &name[1..]) && !matches_glob(&format!("{long}?"), &name));
        assert!(Names::new(&[long]).has(&name));
    }

    proptest! {
        #![proptest_config(properties(2_000))]

        #[test]
        fn a_glob_matches_what_its_regular_expression_does(glob in "[ab.é*?]{0,8}", name in "[ab.é]{0,8}") {
            prop_assert_eq!(matches_glob(&glob, &name), by_regex(&glob, &name));
        }
    }
}
