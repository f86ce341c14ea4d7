//! The one pass over the model's text.

use serde::de::IgnoredAny;
use serde_json::Error;

use super::duplicate::nested_duplicate;
use super::place::{offset, string_end};
use super::{Decode, Schemas};

/// What is wrong with a text, before it is put into words.
pub(crate) enum Problem {
    /// No JSON; the message says where.
    Malformed(String),
    /// JSON, but no object.
    NotAnObject(String),
    /// An argument that the tool does not have.
    Unknown(String),
    /// An argument that stands twice.
    Duplicate(String),
    /// A required argument that is not there.
    Missing(usize),
    /// A value that is not of the argument's type.
    Invalid { index: usize, start: usize, end: usize, error: Error },
    /// A value of the right type that the argument's schema refuses.
    Refused { index: usize, start: usize, end: usize },
}

/// A text and what is known of the tool it is for.
pub(crate) struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) schemas: &'a Schemas,
    pub(crate) allow_unknown: bool,
}

/// Fills the slots, which stand in the order of the tool's arguments.
///
/// Everything wrong is found in the same pass: a value that cannot be decoded is stepped over.
pub(crate) fn read(reader: &Reader<'_>, slots: &mut [&mut dyn Decode]) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    if let Err(fatal) = read_object(reader, slots, &mut problems) {
        problems.push(fatal);
        return Err(problems);
    }
    for (index, slot) in slots.iter_mut().enumerate() {
        if !slot.is_filled() && !already_wrong(&problems, index) && !fill_absent(reader, index, *slot) {
            problems.push(Problem::Missing(index));
        }
    }
    if problems.is_empty() && reader.schemas.free_form {
        problems.extend(nested_duplicate(reader.text).map(Problem::Duplicate));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn read_object(reader: &Reader<'_>, slots: &mut [&mut dyn Decode], problems: &mut Vec<Problem>) -> Result<(), Problem> {
    let text = reader.text;
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, 0);
    match bytes.get(at) {
        // Models send nothing at all for a tool that takes nothing.
        None => return Ok(()),
        Some(b'{') => {}
        Some(_) => return Err(not_an_object(text)),
    }
    at = skip_space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return end(text, at + 1);
    }
    let mut expected = 0;
    loop {
        let index = read_key(reader, &mut at, expected)?;
        if let Ok(index) = index {
            expected = index + 1;
        }
        read_value(reader, index, &mut at, slots, problems)?;
        at = skip_space(bytes, at);
        match bytes.get(at) {
            Some(b',') => at = skip_space(bytes, at + 1),
            Some(b'}') => return end(text, at + 1),
            _ => return Err(malformed(text, at, "expected `,` or `}`")),
        }
    }
}

/// The index of the argument whose key stands at `at`, or the key. Models mostly keep the order they were shown.
fn read_key(reader: &Reader<'_>, at: &mut usize, expected: usize) -> Result<Result<usize, String>, Problem> {
    let text = reader.text;
    let bytes = text.as_bytes();
    if bytes.get(*at) != Some(&b'"') {
        return Err(malformed(text, *at, "expected an argument's name in double quotes"));
    }
    let close = string_end(bytes, *at);
    if bytes.get(close - 1) != Some(&b'"') || close - *at < 2 {
        return Err(malformed(text, *at, "this name has no closing quote"));
    }
    let raw = &text[*at + 1..close - 1];
    let arguments = &reader.schemas.arguments;
    let index = if arguments.get(expected).is_some_and(|argument| argument.name == raw) {
        Ok(expected)
    } else if raw.contains('\\') {
        let key: String =
            serde_json::from_str(&text[*at..close]).map_err(|error| malformed(text, *at, &without_place(&error)))?;
        arguments.iter().position(|argument| argument.name == key).ok_or(key)
    } else {
        arguments.iter().position(|argument| argument.name == raw).ok_or_else(|| raw.to_owned())
    };
    *at = skip_space(bytes, close);
    if bytes.get(*at) != Some(&b':') {
        return Err(malformed(text, *at, "expected `:`"));
    }
    *at = skip_space(bytes, *at + 1);
    Ok(index)
}

fn read_value(
    reader: &Reader<'_>,
    index: Result<usize, String>,
    at: &mut usize,
    slots: &mut [&mut dyn Decode],
    problems: &mut Vec<Problem>,
) -> Result<(), Problem> {
    let start = *at;
    let index = match index {
        Ok(index) => index,
        Err(key) => {
            skip_value(reader.text, at)?;
            if !reader.allow_unknown {
                problems.push(Problem::Unknown(key));
            }
            return Ok(());
        }
    };
    // A shim has a slot for each of its registration's arguments.
    let (Some(slot), Some(argument)) = (slots.get_mut(index), reader.schemas.arguments.get(index)) else {
        return skip_value(reader.text, at);
    };
    if slot.is_filled() || already_wrong(problems, index) {
        skip_value(reader.text, at)?;
        problems.push(Problem::Duplicate(argument.name.to_owned()));
        return Ok(());
    }
    match slot.decode(reader.text, at) {
        Ok(()) => {
            if argument.checked && !reader.schemas.accepts(argument, &reader.text[start..*at]) {
                problems.push(Problem::Refused { index, start, end: *at });
            }
        }
        Err(error) => {
            *at = start;
            skip_value(reader.text, at)?;
            problems.push(Problem::Invalid { index, start, end: *at, error });
        }
    }
    Ok(())
}

fn fill_absent(reader: &Reader<'_>, index: usize, slot: &mut dyn Decode) -> bool {
    match reader.schemas.arguments.get(index).and_then(|argument| argument.default.as_deref()) {
        Some(default) => slot.decode(default, &mut 0).is_ok(),
        None => slot.absent(),
    }
}

fn already_wrong(problems: &[Problem], index: usize) -> bool {
    problems.iter().any(|problem| match problem {
        Problem::Invalid { index: other, .. } | Problem::Refused { index: other, .. } => *other == index,
        _ => false,
    })
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Steps over a value without keeping it. However deep it is nested, this does not recurse.
fn skip_value(text: &str, at: &mut usize) -> Result<(), Problem> {
    let rest = &text[*at..];
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => {
            *at += values.byte_offset();
            Ok(())
        }
        Some(Err(error)) => {
            Err(malformed(text, *at + offset(rest, error.line(), error.column()), &without_place(&error)))
        }
        None => Err(malformed(text, *at, "a value is missing")),
    }
}

fn end(text: &str, at: usize) -> Result<(), Problem> {
    let at = skip_space(text.as_bytes(), at);
    if at == text.len() { Ok(()) } else { Err(malformed(text, at, "unexpected text after the arguments' closing `}`")) }
}

fn malformed(text: &str, at: usize, what: &str) -> Problem {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
    let mut start = at.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let near: String = text[start..].chars().take(20).collect();
    let near = if near.is_empty() { "at the end".to_owned() } else { format!("near {near:?}") };
    Problem::Malformed(format!("{what} (line {line}, column {column}, {near})"))
}

fn not_an_object(text: &str) -> Problem {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Problem::NotAnObject(super::verdict::shorten(text.trim())),
        Err(error) => malformed(text, offset(text, error.line(), error.column()), &without_place(&error)),
    }
}

/// The message of an error without its place, which is relative to one argument.
pub(super) fn without_place(error: &Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    }
}
