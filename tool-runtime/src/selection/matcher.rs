//! The matching of tools against a selection.

use std::collections::HashSet;

use regex_lite::Regex;
use tool_model::ToolDefinition;

use super::{Selection, SelectionCriteria};
use crate::diagnostics::BuildProblem;
use crate::panics;

/// A selection with its patterns compiled.
pub(super) struct ToolMatcher {
    selection: Selection,
    names: Option<NamePatterns>,
    hidden: NamePatterns,
    pattern: Option<Regex>,
    any_of: Option<Vec<ToolMatcher>>,
}

impl ToolMatcher {
    pub(super) fn new(selection: Selection, problems: &mut Vec<BuildProblem>) -> Self {
        let criteria = &selection.criteria;
        let names = criteria.names.as_ref().map(|names| NamePatterns::new(names));
        let hidden = NamePatterns::new(&criteria.hide);
        let mut pattern = None;
        if let Some(source) = &criteria.name_pattern {
            // In a group, so that both alternatives of `a|b` match at the start. The source is compiled alone as well:
            // it must not close the group.
            match (Regex::new(source), Regex::new(&format!("^(?:{source})"))) {
                (Ok(_), Ok(regex)) => pattern = Some(regex),
                (Err(error), _) | (_, Err(error)) => {
                    let message = format!("`name_pattern` {source:?} is not a valid regular expression: {error}");
                    problems.push(BuildProblem::general(message, "correct it, or use `name_glob`"));
                }
            }
        }
        let any_of = criteria.any_of.as_ref().map(|all| {
            let mut alternative = |selection: &Selection| {
                let SelectionCriteria { case, prefix, rename, rename_arguments, .. } = &selection.criteria;
                let renames = !rename.is_empty() || !rename_arguments.is_empty();
                if renames || case.is_some() || prefix.is_some() {
                    let message = "a selection under `any_of` renames tools";
                    problems.push(BuildProblem::general(
                        message,
                        "set `prefix`, `rename` and `case` on the outer selection",
                    ));
                }
                Self::new(selection.clone(), problems)
            };
            all.iter().map(&mut alternative).collect()
        });
        Self { selection, names, hidden, pattern, any_of }
    }

    /// Returns `true` if a tool matches every criterion.
    pub(super) fn matches(&self, name: &str, tool: &ToolDefinition) -> bool {
        let SelectionCriteria { tags, category, name_glob, .. } = &self.selection.criteria;
        let predicate = &self.selection.predicate;
        self.names.as_ref().is_none_or(|names| names.matches(name))
            && !self.hidden.matches(name)
            && tags.iter().all(|tag| tool.tags.contains(tag))
            && category.as_ref().is_none_or(|category| tool.category.as_ref() == Some(category))
            && name_glob.as_ref().is_none_or(|glob| matches_glob(glob, name))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
            && self.selection.has_flags(tool)
            && self.any_of.as_ref().is_none_or(|any| any.iter().any(|one| one.matches(name, tool)))
            && predicate.as_ref().is_none_or(|predicate| panics::catch(|| predicate(name, tool)).unwrap_or(false))
    }

    /// Returns the names without wildcards, each of which must exist.
    pub(super) fn exact_names(&self) -> impl Iterator<Item = &str> {
        let selected = self.names.iter().flat_map(|names| &names.exact);
        let inside = self.any_of.iter().flatten().flat_map(|one| one.exact_names().collect::<Vec<_>>());
        selected.chain(&self.hidden.exact).map(String::as_str).chain(inside)
    }

    pub(super) fn criteria(&self) -> &SelectionCriteria {
        &self.selection.criteria
    }
}

/// Exact names and globs.
struct NamePatterns {
    exact: HashSet<String>,
    globs: Vec<String>,
}

impl NamePatterns {
    fn new(names: &[String]) -> Self {
        let (globs, exact): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| name.contains(['*', '?']));
        Self { exact: exact.into_iter().cloned().collect(), globs: globs.into_iter().cloned().collect() }
    }

    fn matches(&self, name: &str) -> bool {
        self.exact.contains(name) || self.globs.iter().any(|glob| matches_glob(glob, name))
    }
}

/// Returns `true` if a name matches a glob: `*` matches any characters, `?` matches one.
///
/// The time is at most proportional to the product of both lengths, since only the last `*` is ever retried.
fn matches_glob(glob: &str, name: &str) -> bool {
    let (mut glob, mut name) = (glob.chars(), name.chars());
    // The rest of the glob after the last `*`, and the position in the name where it was tried.
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
            // The `*` consumes one more character.
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

    /// Matches a short glob through a regular expression.
    fn by_regex(glob: &str, name: &str) -> bool {
        let part = |c: char| match c {
            '*' => ".*".to_owned(),
            '?' => ".".to_owned(),
            other => regex_lite::escape(other.encode_utf8(&mut [0; 4])),
        };
        let pattern: String = glob.chars().map(part).collect();
        Regex::new(&format!("^(?s:{pattern})$")).unwrap().is_match(name)
    }

    /// A regular expression of this size does not compile, and tools hidden by it would be offered.
    #[test]
    fn matches_globs_of_any_size() {
        let (long, name) = ("a?".repeat(1_000_000), "ab".repeat(1_000_000));
        assert!(Regex::new(&long.replace('?', ".")).is_err());
        assert!(matches_glob(&long, &name) && matches_glob(&format!("*{long}*"), &name));
        assert!(!matches_glob(&long, &name[1..]) && !matches_glob(&format!("{long}?"), &name));
        assert!(NamePatterns::new(&[long]).matches(&name));
    }

    proptest! {
        #![proptest_config(properties(2_000))]

        #[test]
        fn a_glob_matches_like_the_equivalent_regular_expression(glob in "[ab.é*?]{0,8}", name in "[ab.é]{0,8}") {
            prop_assert_eq!(matches_glob(&glob, &name), by_regex(&glob, &name));
        }
    }
}
