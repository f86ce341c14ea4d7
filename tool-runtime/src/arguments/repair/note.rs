//! What was mended, for people to see.

use std::fmt;

use serde::Serialize;

use super::super::verdict::shorten;
use crate::display::escape;
use crate::redact::Redaction;

/// How many repairs a result lists.
const KEPT: usize = 200;

/// One thing that was mended in a call's arguments before it ran.
///
/// A result lists them in its [metadata](crate::ToolResult::metadata) under `repairs`, at most two hundred. What came
/// for an argument that is secret, or holds a secret, is not repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// Where: `order.items[2].sku`. Empty for the arguments as a whole.
    pub path: String,
    /// What came, shortened.
    pub from: String,
    /// What it was mended to, shortened. Empty for what was left out.
    pub to: String,
    /// What was wrong with it.
    pub why: RepairReason,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        let to = if self.to.is_empty() { "left out" } else { &self.to };
        write!(f, "{} → {to} ({})", self.from, self.why)
    }
}

/// Why something was mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairReason {
    /// The arguments stood in a code fence.
    CodeFence,
    /// The arguments were not quite JSON: a comma before a closing bracket, single quotes, names without quotes,
    /// Python's `True`, `False` and `None`, a line break inside of a text.
    Syntax,
    /// A number, a truth value, a list or an object stood in quotes.
    Quoted,
    /// An integer was written as a decimal: with a fraction of zero, or with an exponent.
    Fraction,
    /// `null` stood for something that can be left out.
    Null,
    /// One of several words was written in other letters, such as `HIGH` for `high`.
    Case,
    /// A list of one was sent as what it holds.
    Single,
}

impl fmt::Display for RepairReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CodeFence => "stood in a code fence",
            Self::Syntax => "was not quite JSON",
            Self::Quoted => "stood in quotes",
            Self::Fraction => "was not written as an integer",
            Self::Null => "stood for nothing",
            Self::Case => "was written in other letters",
            Self::Single => "was no list",
        })
    }
}

/// The repairs of one call so far.
pub(super) struct Notes<'a> {
    redaction: &'a Redaction,
    repairs: Vec<Repair>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(redaction: &'a Redaction) -> Self {
        Self { redaction, repairs: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.repairs.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.repairs.len()
    }

    /// Takes back what was noted since there were so many.
    pub(super) fn split_off(&mut self, len: usize) -> Vec<Repair> {
        self.repairs.split_off(len)
    }

    /// Notes again what was taken back.
    pub(super) fn extend(&mut self, repairs: Vec<Repair>) {
        self.repairs.extend(repairs);
        self.repairs.truncate(KEPT);
    }

    /// Notes a repair of the arguments as a whole.
    pub(super) fn add_whole(&mut self, from: &str, to: &str, why: RepairReason) {
        self.push(self.redaction.may_hold_secrets(), String::new(), from, to, why);
    }

    /// Notes a repair of an argument.
    pub(super) fn add(&mut self, argument: &str, from: &str, to: &str, why: RepairReason) {
        self.add_inside(argument, argument.to_owned(), from, to, why);
    }

    /// Notes a repair inside of an argument.
    pub(super) fn add_inside(&mut self, argument: &str, path: String, from: &str, to: &str, why: RepairReason) {
        // The keys of a secret are part of it.
        let path = if self.redaction.is_secret(argument) { argument.to_owned() } else { path };
        self.push(self.redaction.may_hold_secret(argument), path, from, to, why);
    }

    /// What comes beyond the last that is kept is not even looked at.
    fn push(&mut self, is_secret: bool, path: String, from: &str, to: &str, why: RepairReason) {
        if self.repairs.len() >= KEPT {
            return;
        }
        // The text is the model's: it may hold characters that do not show.
        let show = |text: &str| match is_secret && !text.is_empty() {
            true => "a secret".to_owned(),
            false => escape(&shorten(text.trim())).into_owned(),
        };
        let path = escape(&path).into_owned();
        self.repairs.push(Repair { path, from: show(from), to: show(to), why });
    }

    pub(super) fn into_repairs(self) -> Vec<Repair> {
        self.repairs
    }
}
