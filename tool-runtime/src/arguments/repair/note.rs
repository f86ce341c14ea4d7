//! What was mended, for people to see.

use std::fmt;

use serde::Serialize;
use tool_model::ToolDefinition;

use super::super::verdict::shorten;
use crate::redact::{may_hold_secret, may_hold_secrets};

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
    definition: &'a ToolDefinition,
    repairs: Vec<Repair>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(definition: &'a ToolDefinition) -> Self {
        Self { definition, repairs: Vec::new() }
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
        let definition = self.definition;
        self.push(|| may_hold_secrets(definition), String::new(), from, to, why);
    }

    /// Notes a repair of an argument.
    pub(super) fn add(&mut self, argument: &str, from: &str, to: &str, why: RepairReason) {
        self.add_inside(argument, argument.to_owned(), from, to, why);
    }

    /// Notes a repair inside of an argument.
    pub(super) fn add_inside(&mut self, argument: &str, path: String, from: &str, to: &str, why: RepairReason) {
        let definition = self.definition;
        // The keys of a secret are part of it.
        let is_secret = definition.arguments.get(argument).is_none_or(tool_model::Argument::is_secret);
        let path = if is_secret { argument.to_owned() } else { path };
        self.push(|| may_hold_secret(argument, definition), path, from, to, why);
    }

    /// What comes beyond the last that is kept is not even looked at.
    fn push(&mut self, is_secret: impl FnOnce() -> bool, path: String, from: &str, to: &str, why: RepairReason) {
        if self.repairs.len() >= KEPT {
            return;
        }
        let is_secret = is_secret();
        let show =
            |text: &str| if is_secret && !text.is_empty() { "a secret".to_owned() } else { shorten(text.trim()) };
        self.repairs.push(Repair { path, from: show(from), to: show(to), why });
    }

    pub(super) fn into_repairs(self) -> Vec<Repair> {
        self.repairs
    }
}
