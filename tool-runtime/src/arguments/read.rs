//! The argument reader: one pass over the text of the arguments.

use serde::de::IgnoredAny;
use tool_model::validate::{NearbyText, SyntaxError, ViolationKind};

use super::decode_error::message_of;
use super::location::{offset, string_end};
use super::schemas::{ArgumentSchemas, BoundArgument};
use super::slot::{Decode, DecodeFailure, Undecodable};

/// A problem with the text of the arguments.
pub(crate) enum ArgumentProblem {
    /// The text is not JSON; always [`ViolationKind::Malformed`].
    Malformed(ViolationKind),
    /// The text is JSON but not an object.
    NotAnObject,
    /// An argument that the tool does not have.
    Unknown(String),
    /// An argument that was sent under an alias.
    Alias { alias: String, index: usize, start: usize, end: usize },
    /// An argument that was sent twice.
    Duplicate(usize),
    /// A duplicate key in one object inside of an argument.
    NestedDuplicate { index: usize, key: String },
    /// A required argument that is absent.
    Missing(usize),
    /// A value that the argument's type refuses.
    Invalid { index: usize, start: usize, end: usize, error: Undecodable },
    /// A value of the right type that the argument's schema rejects.
    Refused { index: usize, start: usize, end: usize },
}

/// The number of unknown arguments that are collected; a hostile text may have millions.
const MANY: usize = 200;

/// The input of the argument reader: the text of the arguments, and the schemas of the tool.
pub(crate) struct ArgumentReader<'a> {
    pub(crate) text: &'a str,
    pub(crate) schemas: &'a ArgumentSchemas,
    pub(crate) allow_unknown: bool,
    /// `true` if invalid arguments may be repaired, unless the tool decides otherwise.
    pub(crate) repair: bool,
}

/// Fills the slots, which are in the order of the tool's arguments.
///
/// All problems are collected in the same pass: a value that cannot be decoded is skipped.
#[inline]
pub(crate) fn read(reader: &ArgumentReader<'_>, slots: &mut [&mut dyn Decode]) -> Result<(), Vec<ArgumentProblem>> {
    let mut pass =
        ReaderPass { reader, text: reader.text, at: 0, start: 0, slots, filled: 0, seen: 0, problems: Vec::new() };
    if pass.object().is_some() && pass.filled < pass.slots.len() {
        pass.absent();
    }
    if pass.problems.is_empty() { Ok(()) } else { Err(pass.problems) }
}

/// The state of one pass. Its methods return `None` after a problem that ends the pass, which is in `problems` by then.
struct ReaderPass<'a, 's, 'd> {
    reader: &'a ArgumentReader<'a>,
    text: &'a str,
    at: usize,
    /// The offset of the value that was read last.
    start: usize,
    slots: &'s mut [&'d mut dyn Decode],
    filled: usize,
    /// A bit for each of the first 64 arguments that was read. For others, the slot knows.
    seen: u64,
    problems: Vec<ArgumentProblem>,
}

impl ReaderPass<'_, '_, '_> {
    fn object(&mut self) -> Option<()> {
        match self.next_byte() {
            // Models send an empty text for a tool without arguments.
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
            // Models mostly keep the order of the definition.
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

    /// Continues behind a value that was not read to its end. A type may stop in the middle: 128-bit integers stop at the
    /// point of `1.5`. Then the value is invalid for the type; anything else is malformed JSON.
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
                let error = Undecodable(Box::new(DecodeFailure::Fraction));
                self.problems.push(ArgumentProblem::Invalid { index, start, end: self.at, error });
                match self.next_byte() {
                    Some(next @ (b',' | b'}')) => Some(next),
                    _ => self.malformed(SyntaxError::SeparatorExpected),
                }
            }
            _ => {
                self.at = stopped;
                self.malformed(SyntaxError::SeparatorExpected)
            }
        }
    }

    /// Skips white space and returns the byte behind it.
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

    /// Skips the key of an argument if it is here, byte for byte.
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

    /// Skips any key and returns the index of its argument; `Some(None)` for an unknown one.
    #[expect(clippy::option_option, reason = "the outer `None` ends the pass")]
    fn key(&mut self) -> Option<Option<usize>> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) != Some(&b'"') {
            return self.malformed(SyntaxError::NameExpected);
        }
        let close = string_end(bytes, self.at);
        if close - self.at < 2 || bytes.get(close - 1) != Some(&b'"') {
            return self.malformed(SyntaxError::NameUnclosed);
        }
        let key = match serde_json::from_str::<String>(&self.text[self.at..close]) {
            Ok(key) => key,
            Err(error) => return self.malformed(SyntaxError::Parser(message_of(&error))),
        };
        let start = std::mem::replace(&mut self.at, close);
        let index = self.reader.schemas.arguments.iter().position(|argument| argument.name == key);
        if index.is_none() {
            self.unknown_key(key, start);
        }
        Some(index)
    }

    /// Notes a key that is no argument's name. An alias is replaced before the arguments are read again.
    #[cold]
    fn unknown_key(&mut self, key: String, start: usize) {
        if self.problems.len() >= MANY {
            return;
        }
        match self.reader.schemas.aliased(&key) {
            Some(index) => self.problems.push(ArgumentProblem::Alias { alias: key, index, start, end: self.at }),
            None if !self.reader.allow_unknown => self.problems.push(ArgumentProblem::Unknown(key)),
            None => {}
        }
    }

    #[inline]
    fn colon(&mut self) -> Option<()> {
        if self.next_byte() != Some(b':') {
            return self.malformed(SyntaxError::ColonExpected);
        }
        self.at += 1;
        self.next_byte();
        Some(())
    }

    fn value(&mut self, index: usize) -> Option<()> {
        let start = self.at;
        // A shim has a slot for each argument of its registration.
        let (Some(slot), Some(argument)) = (self.slots.get_mut(index), self.reader.schemas.arguments.get(index)) else {
            return self.skip();
        };
        let bit = 1_u64.checked_shl(index as u32).unwrap_or(0);
        if self.seen & bit != 0 || (bit == 0 && (slot.is_filled() || already_wrong(&self.problems, index))) {
            self.problems.push(ArgumentProblem::Duplicate(index));
            return self.skip();
        }
        self.seen |= bit;
        if argument.is_untried() {
            self.reader.schemas.try_type(argument, &mut **slot);
        }
        if let Err(error) = slot.decode(self.text, &mut self.at) {
            self.at = start;
            self.skip()?;
            self.problems.push(ArgumentProblem::Invalid { index, start, end: self.at, error });
            return Some(());
        }
        self.filled += 1;
        if !self.accepted(argument, start) {
            self.problems.push(ArgumentProblem::Refused { index, start, end: self.at });
        } else if !argument.free_form.is_nowhere()
            && let Some(key) = argument.free_form.duplicate(&self.text[start..self.at])
        {
            self.problems.push(ArgumentProblem::NestedDuplicate { index, key });
        }
        Some(())
    }

    /// Returns `true` if a decoded value is also valid by the argument's schema.
    #[inline]
    fn accepted(&self, argument: &BoundArgument, start: usize) -> bool {
        let Some(&first) = self.text.as_bytes().get(start) else { return false };
        // The type decides about `null`.
        let form = argument.first_byte.is_none_or(|expected| first == expected || first == b'n');
        form && (!argument.is_checked() || self.reader.schemas.accepts(argument, &self.text[start..self.at]))
    }

    /// Skips a value. This does not recurse, however deep the value is nested.
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
                self.malformed(SyntaxError::Parser(message_of(&error)))
            }
            None => self.malformed(SyntaxError::ValueMissing),
        }
    }

    /// Checks that nothing follows the closing brace.
    fn end(&mut self) -> Option<()> {
        self.at += 1;
        match self.next_byte() {
            None => Some(()),
            Some(_) => self.malformed(SyntaxError::TrailingText),
        }
    }

    #[cold]
    fn malformed<T>(&mut self, error: SyntaxError) -> Option<T> {
        self.problems.push(malformed(self.text, self.at, error));
        None
    }

    /// Fills the slots of absent arguments.
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
                self.problems.push(ArgumentProblem::Missing(index));
            }
        }
    }
}

fn already_wrong(problems: &[ArgumentProblem], index: usize) -> bool {
    problems.iter().any(|problem| match problem {
        ArgumentProblem::Invalid { index: other, .. }
        | ArgumentProblem::Refused { index: other, .. }
        | ArgumentProblem::Alias { index: other, .. } => *other == index,
        _ => false,
    })
}

#[cold]
fn malformed(text: &str, at: usize, error: SyntaxError) -> ArgumentProblem {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
    let mut start = at.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let near = match text[start..].chars().take(20).collect::<String>() {
        end if end.is_empty() => NearbyText::End,
        near => NearbyText::Text(near),
    };
    ArgumentProblem::Malformed(ViolationKind::Malformed { error, line, column, near })
}

#[cold]
fn not_an_object(text: &str) -> ArgumentProblem {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => ArgumentProblem::NotAnObject,
        Err(error) => {
            let at = offset(text, error.line(), error.column());
            malformed(text, at, SyntaxError::Parser(message_of(&error)))
        }
    }
}
