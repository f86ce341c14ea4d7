//! The wording of single rules: lists of values, ranges, lengths and counts.

use serde_json::Value;

use super::path::shortened;
use super::schema::{Bound, Count, NumberRules, TextRules};

/// How many values or names a list shows.
const LONGEST_LIST: usize = 20;
const LONGEST_QUOTE: usize = 40;
const LONGEST_PHRASE: usize = 600;

/// A value as it is shown within a sentence.
pub(crate) fn quoted(value: &Value) -> String {
    shortened(value, LONGEST_QUOTE)
}

/// A phrase short enough for one line.
pub(super) fn one_line(phrase: String) -> String {
    match phrase.char_indices().nth(LONGEST_PHRASE) {
        None => phrase,
        Some(_) => phrase.chars().take(LONGEST_PHRASE - 1).chain(['…']).collect(),
    }
}

/// `` `a`, `b` ``
pub(crate) fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    list(&names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

/// `one of "asc", "desc"`
pub(crate) fn one_of_values<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let texts: Vec<String> = values.into_iter().map(quoted).collect();
    match texts.as_slice() {
        [] => "nothing".to_owned(),
        [only] => format!("exactly {only}"),
        several => format!("one of {}", list(several)),
    }
}

/// `"asc", "desc"`
pub(super) fn list_of_values(values: &[Value]) -> String {
    list(&values.iter().map(quoted).collect::<Vec<_>>())
}

/// Whether a list of so many values is shown in full.
pub(super) fn is_shown_in_full(values: &[Value]) -> bool {
    values.len() <= LONGEST_LIST
}

fn list(texts: &[String]) -> String {
    match texts.split_at_checked(LONGEST_LIST) {
        Some((shown, rest)) if !rest.is_empty() => format!("{}, … ({} more)", shown.join(", "), rest.len()),
        _ => texts.join(", "),
    }
}

/// `integer between 1 and 100`
pub(super) fn number(kind: &str, rules: &NumberRules) -> String {
    let range = range(rules).map(|range| format!(" {range}")).unwrap_or_default();
    let multiple = rules.multiple_of.map(|divisor| format!(" that is a multiple of {divisor}")).unwrap_or_default();
    format!("{kind}{range}{multiple}")
}

fn range(rules: &NumberRules) -> Option<String> {
    match (rules.least, rules.most) {
        (Some(least), Some(most)) if !least.exclusive && !most.exclusive => {
            Some(format!("between {} and {}", least.value, most.value))
        }
        (Some(least), Some(most)) => {
            Some(format!("{} and {}", at_least(least), at_most(most).trim_start_matches("of ")))
        }
        (least, most) => least.map(at_least).or_else(|| most.map(at_most)),
    }
}

fn at_least(bound: Bound) -> String {
    format!("{} {}", if bound.exclusive { "greater than" } else { "of at least" }, bound.value)
}

fn at_most(bound: Bound) -> String {
    format!("{} {}", if bound.exclusive { "less than" } else { "of at most" }, bound.value)
}

/// `string of at most 5 characters`
pub(super) fn length(rules: &TextRules) -> String {
    let characters = count(rules.length, "character", "characters");
    characters.map_or_else(|| "string".to_owned(), |characters| format!("string of {characters}"))
}

/// Everything that is demanded of a string.
pub(super) fn text(rules: &TextRules) -> String {
    let format = rules.format.map(|format| format!(" in the format {}", format.name())).unwrap_or_default();
    let pattern = rules.pattern.as_ref().map(|pattern| format!(" that matches `{pattern}`")).unwrap_or_default();
    format!("{}{format}{pattern}", length(rules))
}

/// `2 to 5 items`, `no items`; `None` where any number will do.
pub(super) fn count(count: Count, one: &str, many: &str) -> Option<String> {
    let noun = |count: u64| if count == 1 { one } else { many };
    match (count.least.filter(|least| *least > 0), count.most) {
        (None, None) => None,
        (None, Some(0)) => Some(format!("no {many}")),
        (Some(least), Some(most)) if least == most => Some(format!("exactly {least} {}", noun(least))),
        (Some(least), Some(most)) => Some(format!("{least} to {most} {many}")),
        (Some(least), None) => Some(format!("at least {least} {}", noun(least))),
        (None, Some(most)) => Some(format!("at most {most} {}", noun(most))),
    }
}

/// `array with 2 to 5 items`
pub(super) fn with_count(noun: String, number: Count, one: &str, many: &str) -> String {
    match count(number, one, many) {
        Some(count) => format!("{noun} with {count}"),
        None => noun,
    }
}
