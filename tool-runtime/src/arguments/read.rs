//! The one pass over the model's text.

use serde::de::{Error as _, IgnoredAny};
use serde_json::Error;

use super::place::{offset, string_end};
use super::verdict::BoundArgument;
use super::{Decode, Schemas, Undecodable};

/// What is wrong with a text, before it is put into words.
pub(crate) enum Problem {
    /// No JSON: why, where, and what stands there.
    Malformed { what: String, place: String, near: String },
    /// JSON, but no object.
    NotAnObject(String),
    /// An argument that the tool does not have.
    Unknown(String),
    /// An argument that stands twice.
    Duplicate(usize),
    /// A key that stands twice in one object inside an argument.
    NestedDuplicate { index: usize, key: String },
    /// A required argument that is not there.
    Missing(usize),
    /// A value that is not of the argument's type.
    Invalid { index: usize, start: usize, end: usize, error: Undecodable },
    /// A value of the right type that the argument's schema refuses.
    Refused { index: usize, start: usize, end: usize },
}

/// The advice for a number of which a type read only the digits before the point or the exponent.
pub(super) const WITHOUT_FRACTION: &str = "write it without a fraction or exponent";

/// How many unknown arguments are noted; a text of nothing else has millions.
const MANY: usize = 200;

/// A text and what is known of the tool it is for.
pub(crate) struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) schemas: &'a Schemas,
    pub(crate) allow_unknown: bool,
    /// Whether what is refused may be mended, unless the tool says otherwise.
    pub(crate) repair: bool,
}

/// Fills the slots, which stand in the order of the tool's arguments.
///
/// Everything wrong is found in the same pass: a value that cannot be decoded is stepped over.
#[inline]
pub(crate) fn read(reader: &Reader<'_>, slots: &mut [&mut dyn Decode]) -> Result<(), Vec<Problem>> {
    let mut pass = Pass { reader, text: reader.text, at: 0, start: 0, slots, filled: 0, seen: 0, problems: Vec::new() };
    if pass.object().is_some() && pass.filled < pass.slots.len() {
        pass.absent();
    }
    if pass.problems.is_empty() { Ok(()) } else { Err(pass.problems) }
}

/// The pass itself. Its methods give nothing back when the text ends it; the problem is noted by then.
struct Pass<'a, 's, 'd> {
    reader: &'a Reader<'a>,
    text: &'a str,
    at: usize,
    /// Where the value that was read last begins.
    start: usize,
    slots: &'s mut [&'d mut dyn Decode],
    filled: usize,
    /// A bit for each of the first arguments that has come; the others are asked.
    seen: u64,
    problems: Vec<Problem>,
}

impl Pass<'_, '_, '_> {
    fn object(&mut self) -> Option<()> {
        match self.next_byte() {
            // Models send nothing at all for a tool that takes nothing.
            None => return Some(()),
            Some(b'{') => self.at += 1,
            Some(_) => {
                self.problems.push(not_an_object(self.text));
                return None;
            }
        }
        if self.next_byte() == Some(b'}') {
            return self.end();
        }
        let mut expected = 0;
        loop {
            // Models mostly keep the order they were shown.
            let index = if self.at_key(expected) { Some(expected) } else { self.key()? };
            self.colon()?;
            match index {
                Some(index) => {
                    self.start = self.at;
                    self.value(index)?;
                    expected = index + 1;
                }
                None => self.skip()?,
            }
            let next = match self.next_byte() {
                Some(next @ (b',' | b'}')) => next,
                _ => self.resume(index)?,
            };
            if next == b'}' {
                return self.end();
            }
            self.at += 1;
            self.next_byte();
        }
    }

    /// A type may stop in the middle of a value, as that of 128-bit integers does at the point of `1.5`: then the value
    /// is not of that type. Anything else is no JSON.
    #[cold]
    fn resume(&mut self, index: Option<usize>) -> Option<u8> {
        let stopped = self.at;
        self.at = self.start;
        let rest = &self.text[self.start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        match (index, values.next()) {
            (Some(index), Some(Ok(_))) if self.start + values.byte_offset() > stopped => {
                let start = self.start;
                self.at = start + values.byte_offset();
                let error = serde_json::Error::custom(WITHOUT_FRACTION);
                self.problems.push(Problem::Invalid { index, start, end: self.at, error: error.into() });
                match self.next_byte() {
                    Some(next @ (b',' | b'}')) => Some(next),
                    _ => self.malformed("expected `,` or `}`"),
                }
            }
            _ => {
                self.at = stopped;
                self.malformed("expected `,` or `}`")
            }
        }
    }

    /// Steps over space; the byte behind it.
    #[inline]
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Steps over the key of an argument, if it stands here to the letter.
    #[inline]
    fn at_key(&mut self, index: usize) -> bool {
        let Some(argument) = self.reader.schemas.arguments.get(index) else { return false };
        let name = argument.name.as_bytes();
        let Some(rest) = self.text.as_bytes().get(self.at..) else { return false };
        let here = rest.len() > name.len() + 1
            && rest[0] == b'"'
            && rest[name.len() + 1] == b'"'
            && rest[1..=name.len()] == *name;
        if here {
            self.at += name.len() + 2;
        }
        here
    }

    /// Steps over any key. The index of its argument; nothing inside for one that is unknown.
    #[expect(clippy::option_option, reason = "the outer one ends the pass")]
    fn key(&mut self) -> Option<Option<usize>> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) != Some(&b'"') {
            return self.malformed("expected an argument's name in double quotes");
        }
        let close = string_end(bytes, self.at);
        if close - self.at < 2 || bytes.get(close - 1) != Some(&b'"') {
            return self.malformed("this name has no closing quote");
        }
        let key = match serde_json::from_str::<String>(&self.text[self.at..close]) {
            Ok(key) => key,
            Err(error) => return self.malformed(&without_place(&error)),
        };
        self.at = close;
        let index = self.reader.schemas.arguments.iter().position(|argument| argument.name == key);
        if index.is_none() && !self.reader.allow_unknown && self.problems.len() < MANY {
            self.problems.push(Problem::Unknown(key));
        }
        Some(index)
    }

    #[inline]
    fn colon(&mut self) -> Option<()> {
        if self.next_byte() != Some(b':') {
            return self.malformed("expected `:`");
        }
        self.at += 1;
        self.next_byte();
        Some(())
    }

    fn value(&mut self, index: usize) -> Option<()> {
        let start = self.at;
        // A shim has a slot for each of its registration's arguments.
        let (Some(slot), Some(argument)) = (self.slots.get_mut(index), self.reader.schemas.arguments.get(index)) else {
            return self.skip();
        };
        let bit = 1_u64.checked_shl(index as u32).unwrap_or(0);
        if self.seen & bit != 0 || (bit == 0 && (slot.is_filled() || already_wrong(&self.problems, index))) {
            self.problems.push(Problem::Duplicate(index));
            return self.skip();
        }
        self.seen |= bit;
        if argument.is_untried() {
            self.reader.schemas.try_type(argument, &mut **slot);
        }
        if let Err(error) = slot.decode(self.text, &mut self.at) {
            self.at = start;
            self.skip()?;
            self.problems.push(Problem::Invalid { index, start, end: self.at, error });
            return Some(());
        }
        self.filled += 1;
        if !self.accepted(argument, start) {
            self.problems.push(Problem::Refused { index, start, end: self.at });
        } else if !argument.free_form.is_nowhere()
            && let Some(key) = argument.free_form.duplicate(&self.text[start..self.at])
        {
            self.problems.push(Problem::NestedDuplicate { index, key });
        }
        Some(())
    }

    /// Whether a decoded value is also what the manifest says of the argument.
    #[inline]
    fn accepted(&self, argument: &BoundArgument, start: usize) -> bool {
        let Some(&first) = self.text.as_bytes().get(start) else { return false };
        // `null` is for the type to judge.
        let form = argument.first_byte.is_none_or(|expected| first == expected || first == b'n');
        form && (!argument.is_checked() || self.reader.schemas.accepts(argument, &self.text[start..self.at]))
    }

    /// Steps over a value without keeping it. However deep it is nested, this does not recurse.
    fn skip(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                self.at += values.byte_offset();
                Some(())
            }
            Some(Err(error)) => {
                self.at += offset(rest, error.line(), error.column());
                self.malformed(&without_place(&error))
            }
            None => self.malformed("a value is missing"),
        }
    }

    /// Behind the closing brace there is nothing.
    fn end(&mut self) -> Option<()> {
        self.at += 1;
        match self.next_byte() {
            None => Some(()),
            Some(_) => self.malformed("unexpected text after the arguments' closing `}`"),
        }
    }

    #[cold]
    fn malformed<T>(&mut self, what: &str) -> Option<T> {
        self.problems.push(malformed(self.text, self.at, what));
        None
    }

    /// Fills what was not sent.
    fn absent(&mut self) {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.is_filled() || already_wrong(&self.problems, index) {
                continue;
            }
            let Some(argument) = self.reader.schemas.arguments.get(index) else { continue };
            let filled = match &argument.default {
                Some(default) => slot.decode(default, &mut 0).is_ok(),
                None => !argument.demanded && slot.absent(),
            };
            if !filled {
                self.problems.push(Problem::Missing(index));
            }
        }
    }
}

fn already_wrong(problems: &[Problem], index: usize) -> bool {
    problems.iter().any(|problem| match problem {
        Problem::Invalid { index: other, .. } | Problem::Refused { index: other, .. } => *other == index,
        _ => false,
    })
}

#[cold]
fn malformed(text: &str, at: usize, what: &str) -> Problem {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
    let mut start = at.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let near: String = text[start..].chars().take(20).collect();
    Problem::Malformed { what: what.to_owned(), place: format!("line {line}, column {column}"), near }
}

#[cold]
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
