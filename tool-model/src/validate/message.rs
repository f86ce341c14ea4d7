//! Messages: the one place where violations and expectations become English text.

use std::fmt::{Display, Formatter, Result};

use super::expectation::{
    ArrayForm, CountRange, Expectation, NameList, NumberBound, NumberRange, ObjectForm, TextForm, ValueList,
};
use super::violation::{Constraint, DecodeReason, NearbyText, SyntaxError, UnknownName, ViolationKind};

/// The number of characters that a description may have.
const LONGEST_DESCRIPTION: usize = 600;

impl Display for ViolationKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Malformed { error, line, column, near } => {
                write!(f, "the arguments are not valid JSON: {error} at line {line}, column {column}{near}")
            }
            Self::NotAnObject => f.write_str("a JSON object with the arguments by name"),
            Self::Missing { expected, required_by } => {
                let mut text = expected.to_string();
                if let Some(name) = required_by {
                    text.push_str(&format!(", required because `{name}` is given"));
                }
                write!(f, "missing, expected {}", one_line(text))
            }
            Self::Unknown(name) => f.write_str(&one_line(unknown(name))),
            Self::Duplicate => f.write_str("sent twice; send it once"),
            Self::Alias { name } => write!(f, "another name for `{name}`, which is sent too; send only `{name}`"),
            Self::DuplicateKey { key: Some(key) } => write!(f, "duplicate key {key:?} in one object; send it once"),
            Self::DuplicateKey { key: None } => f.write_str("duplicate key in one object; send it once"),
            Self::RepeatedItem { first: Some(first) } => write!(f, "unique item; it repeats `{first}`"),
            Self::RepeatedItem { first: None } => f.write_str("unique item; it repeats an earlier one"),
            Self::Invalid { constraint, expected, suggestion, reason } => {
                let mut text = expected.to_string();
                if *constraint == Constraint::Forbidden {
                    text.push_str("; leave it out");
                }
                if let Some(suggestion) = suggestion {
                    text.push_str(&format!("; did you mean {suggestion}?"));
                }
                f.write_str(&one_line(text))?;
                reason.iter().try_for_each(|reason| write!(f, " ({reason})"))
            }
            Self::Undecodable { reason: Some(reason) } => write!(f, "cannot be read: {reason}"),
            Self::Undecodable { reason: None } => f.write_str("cannot be read"),
            Self::TooComplex => f.write_str("a smaller or less deeply nested value: this one is too much to check"),
        }
    }
}

fn unknown(name: &UnknownName) -> String {
    let subject = if name.is_argument { "unknown argument" } else { "unknown property" };
    let nothing = if name.is_argument { "this tool takes none" } else { "none is allowed here" };
    match &name.suggestion {
        Some(suggestion) => format!("{subject}; did you mean `{suggestion}`?"),
        None if !name.known.is_empty() => format!("{subject}; known are {}", name.known),
        None if !name.patterns.is_empty() => format!("{subject}; names must match one of {}", name.patterns),
        None => format!("{subject}; {nothing}"),
    }
}

impl Display for DecodeReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Fraction => "write it without a fraction or exponent",
            Self::Beyond64Bits => "it is beyond 64 bits",
            Self::EnumForm => {
                "an enum is written as the name of a variant, or as an object with that name as its only key"
            }
            Self::Excess => "there is more than the type reads; leave out what is here and behind",
            Self::Message(message) => message,
        })
    }
}

impl Display for SyntaxError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::NameExpected => "expected an argument's name in double quotes",
            Self::NameUnclosed => "an argument's name has no closing quote",
            Self::ColonExpected => "expected `:`",
            Self::SeparatorExpected => "expected `,` or `}`",
            Self::ValueMissing => "a value is missing",
            Self::TrailingText => "unexpected text after the arguments' closing `}`",
            Self::Parser(message) => message,
        })
    }
}

impl Display for NearbyText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::End => f.write_str(", at the end"),
            Self::Text(text) => write!(f, ", near {text:?}"),
            Self::Secret => Ok(()),
        }
    }
}

/// Writes what a schema accepts: `integer between 1 and 100`, `array of string`, `object Order`, `any value`.
impl Display for Expectation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Anything => f.write_str("any value"),
            Self::Nothing => f.write_str("nothing"),
            Self::Omitted => f.write_str("…"),
            Self::Recursion(name) => f.write_str(name),
            Self::Values(values) => match values.shown.as_slice() {
                [] => f.write_str("nothing"),
                [only] => write!(f, "exactly {only}"),
                _ => write!(f, "one of {values}"),
            },
            Self::Null => f.write_str("null"),
            Self::Boolean => f.write_str("boolean"),
            Self::Number(range) => range.fmt(f),
            Self::Text(form) => form.fmt(f),
            Self::Array { items, count } => with_count(f, items, *count, "item", "items"),
            Self::Object { properties, count } => with_count(f, properties, *count, "property", "properties"),
            Self::Types(types) => {
                let mut texts: Vec<_> = types.iter().map(ToString::to_string).collect();
                let last = texts.pop().unwrap_or_default();
                if texts.is_empty() { f.write_str(&last) } else { write!(f, "{} or {last}", texts.join(", ")) }
            }
            Self::All(parts) => f.write_str(&join(parts, " and ")),
            Self::OneOf { alternatives, values } => {
                let texts: Vec<_> =
                    alternatives.iter().map(ToString::to_string).chain(values.iter().cloned()).collect();
                write!(f, "one of: {}", texts.join("; "))
            }
            Self::OnlyOne(first, second) => write!(f, "only one of: {first}; {second} (this fits both)"),
            Self::OrNull(inner) => write!(f, "{inner} or null"),
            Self::Except { from, excluded } => {
                match from {
                    Some(from) => write!(f, "{from} other than ")?,
                    None => f.write_str("anything but ")?,
                }
                match &**excluded {
                    Self::Values(values) => values.fmt(f),
                    other => bracketed(f, other),
                }
            }
            Self::ItemCount(range) => f.write_str(&count(*range, "item", "items").unwrap_or_default()),
            Self::PropertyCount(range) => f.write_str(&count(*range, "property", "properties").unwrap_or_default()),
            Self::MatchingItems { count: range, item } => {
                let count = count(*range, "item that fits", "items that fit").unwrap_or_default();
                write!(f, "{count}: {item}")
            }
            Self::PropertyName(name) => write!(f, "property name that fits: {name}"),
            Self::Decodable => f.write_str("a value that can be read"),
            Self::Another(inner) => {
                f.write_str("another ")?;
                bracketed(f, inner)
            }
        }
    }
}

fn join(parts: &[Expectation], separator: &str) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

/// Writes `(integer or null)`: inside of a longer text the choice would otherwise reach too far.
fn bracketed(f: &mut Formatter<'_>, inner: &Expectation) -> Result {
    if inner.has_choice() { write!(f, "({inner})") } else { inner.fmt(f) }
}

impl Display for ArrayForm {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Any => f.write_str("array"),
            Self::Empty => f.write_str("empty array"),
            Self::Of(item) => {
                f.write_str("array of ")?;
                bracketed(f, item)
            }
            Self::Tuple { items, is_open } => {
                let rest = if *is_open { ", …" } else { "" };
                write!(f, "array [{}{rest}]", join(items, ", "))
            }
        }
    }
}

impl Display for ObjectForm {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Any => f.write_str("object"),
            Self::Named(name) => write!(f, "object {name}"),
            Self::Tagged(tags) => {
                let tags: Vec<_> = tags.iter().map(|(name, value)| format!("`{name}` {value}")).collect();
                write!(f, "object with {}", tags.join(" and "))
            }
            Self::Required(names) => write!(f, "object with {names}"),
            Self::Of(value) => {
                f.write_str("object of ")?;
                bracketed(f, value)
            }
        }
    }
}

/// Writes `integer between 1 and 100`.
impl Display for NumberRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.is_integer { "integer" } else { "number" })?;
        match (&self.least, &self.most) {
            (Some(least), Some(most)) if !least.is_exclusive && !most.is_exclusive => {
                write!(f, " between {} and {}", least.value, most.value)?;
            }
            (Some(least), Some(most)) => {
                let preposition = if least.is_exclusive { "" } else { "of " };
                write!(f, " {preposition}{} and {}", at_least(least), at_most(most))?;
            }
            (Some(only), None) => {
                write!(f, " {}{}", if only.is_exclusive { "" } else { "of " }, at_least(only))?;
            }
            (None, Some(only)) => {
                write!(f, " {}{}", if only.is_exclusive { "" } else { "of " }, at_most(only))?;
            }
            (None, None) => {}
        }
        self.multiple_of.iter().try_for_each(|divisor| write!(f, " that is a multiple of {divisor}"))
    }
}

fn at_least(bound: &NumberBound) -> String {
    format!("{} {}", if bound.is_exclusive { "greater than" } else { "at least" }, bound.value)
}

fn at_most(bound: &NumberBound) -> String {
    format!("{} {}", if bound.is_exclusive { "less than" } else { "at most" }, bound.value)
}

/// Writes `string of at most 5 characters in the format uuid`.
impl Display for TextForm {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("string")?;
        count(self.length, "character", "characters").iter().try_for_each(|length| write!(f, " of {length}"))?;
        self.format.iter().try_for_each(|format| write!(f, " in the format {format}"))?;
        self.pattern.iter().try_for_each(|pattern| write!(f, " that matches `{pattern}`"))
    }
}

/// Writes `"asc", "desc"`.
impl Display for ValueList {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        list(f, self.shown.iter().map(|value| value.as_str()), self.omitted)
    }
}

/// Writes `` `a`, `b` ``.
impl Display for NameList {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        list(f, self.shown.iter().map(|name| format!("`{name}`")), self.omitted)
    }
}

fn list(f: &mut Formatter<'_>, texts: impl Iterator<Item = impl Display>, omitted: usize) -> Result {
    for (index, text) in texts.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        text.fmt(f)?;
    }
    if omitted > 0 { write!(f, ", … ({omitted} more)") } else { Ok(()) }
}

/// Returns `2 to 5 items`, or `None` if the range has no bounds.
fn count(range: CountRange, one: &str, many: &str) -> Option<String> {
    let noun = |count: u64| if count == 1 { one } else { many };
    match (range.least.filter(|least| *least > 0), range.most) {
        (None, None) => None,
        (None, Some(0)) => Some(format!("no {many}")),
        (Some(least), Some(most)) if least == most => Some(format!("exactly {least} {}", noun(least))),
        (Some(least), Some(most)) => Some(format!("{least} to {most} {many}")),
        (Some(least), None) => Some(format!("at least {least} {}", noun(least))),
        (None, Some(most)) => Some(format!("at most {most} {}", noun(most))),
    }
}

fn with_count(f: &mut Formatter<'_>, form: &impl Display, range: CountRange, one: &str, many: &str) -> Result {
    form.fmt(f)?;
    count(range, one, many).iter().try_for_each(|count| write!(f, " with {count}"))
}

/// Shortens a description to one line.
pub(super) fn one_line(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_DESCRIPTION) {
        let cut = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
        text.truncate(cut);
        text.push('…');
    }
    text
}
