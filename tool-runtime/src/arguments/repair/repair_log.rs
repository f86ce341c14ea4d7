//! Repairs, as results, journals and people see them.

use std::fmt;

use serde::Serialize;

use tool_model::shorten;
use tool_model::validate::ValuePath;

use super::super::message;
use crate::display::escape;
use crate::redact::Redaction;

/// The number of repairs that a result lists.
const KEPT: usize = 200;

/// One repair of a call's arguments before it ran.
///
/// A result lists its repairs in its [metadata](crate::ToolResult::metadata) under `repairs`, at most two hundred. The
/// values of an argument that is or holds a secret are not repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// The path of the value: `order.items[2].sku`. Empty for the arguments as a whole.
    pub path: String,
    /// The received value, shortened.
    pub from: String,
    /// The repaired value, shortened. Empty if the value was removed.
    pub to: String,
    /// The reason for the repair.
    pub why: RepairReason,
}

impl Repair {
    /// Creates the repair of a call that named its tool by an alias.
    pub(crate) fn tool_alias(alias: &str, name: &str) -> Self {
        let show = |text: &str| escape(&shorten(text, 80)).into_owned();
        Self { path: String::new(), from: show(alias), to: show(name), why: RepairReason::Alias }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        let to = if self.to.is_empty() { "removed" } else { &self.to };
        write!(f, "{} → {to} ({})", self.from, self.why)
    }
}

/// Reasons for repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairReason {
    /// The arguments were inside a code fence.
    CodeFence,
    /// The arguments were not strict JSON: a trailing comma, single quotes, names without quotes, Python's `True`, `False`
    /// and `None`, or a line break inside a string.
    Syntax,
    /// A number, a boolean, an array or an object was in quotes.
    Quoted,
    /// An integer was written as a decimal: with a fraction of zero, or with an exponent.
    Fraction,
    /// `null` was sent for an absent value.
    Null,
    /// A listed string was written in another case, such as `HIGH` for `high`.
    Case,
    /// An array of one item was sent as that item.
    Single,
    /// A list whose items must differ had an item more than once.
    Repeated,
    /// An argument was sent under an alias, or a tool called by one.
    Alias,
}

impl fmt::Display for RepairReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CodeFence => "was in a code fence",
            Self::Syntax => "was not strict JSON",
            Self::Quoted => "was in quotes",
            Self::Fraction => "was not written as an integer",
            Self::Null => "stood for an absent value",
            Self::Case => "was written in another case",
            Self::Single => "was not an array",
            Self::Repeated => "had repeated items",
            Self::Alias => "is another name for it",
        })
    }
}

/// The repairs of one call so far.
pub(super) struct RepairLog<'a> {
    redaction: &'a Redaction,
    repairs: Vec<Repair>,
}

impl<'a> RepairLog<'a> {
    pub(super) fn new(redaction: &'a Redaction) -> Self {
        Self { redaction, repairs: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.repairs.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.repairs.len()
    }

    /// Removes and returns the repairs behind the first `len`.
    pub(super) fn split_off(&mut self, len: usize) -> Vec<Repair> {
        self.repairs.split_off(len)
    }

    /// Adds repairs that were removed by [`split_off`](Self::split_off).
    pub(super) fn extend(&mut self, repairs: Vec<Repair>) {
        self.repairs.extend(repairs);
        self.repairs.truncate(KEPT);
    }

    /// Records a repair of the arguments as a whole.
    pub(super) fn add_whole(&mut self, from: &str, to: &str, why: RepairReason) {
        self.push(self.redaction.may_hold_secrets(), &ValuePath::default(), from, to, why);
    }

    /// Records a repair of an argument.
    pub(super) fn add(&mut self, argument: &str, from: &str, to: &str, why: RepairReason) {
        self.add_inside(argument, ValuePath::new(argument), from, to, why);
    }

    /// Records that an argument was sent under an alias. Names are no secrets.
    pub(super) fn add_alias(&mut self, argument: &str, alias: &str) {
        self.push(false, &ValuePath::new(argument), alias, argument, RepairReason::Alias);
    }

    /// Records a repair inside of an argument.
    pub(super) fn add_inside(&mut self, argument: &str, mut path: ValuePath, from: &str, to: &str, why: RepairReason) {
        // The keys of a secret are part of it.
        if self.redaction.is_secret(argument) {
            path.truncate_to_argument();
        }
        self.push(self.redaction.may_hold_secret(argument), &path, from, to, why);
    }

    /// Records a repair, unless there are enough.
    fn push(&mut self, is_secret: bool, path: &ValuePath, from: &str, to: &str, why: RepairReason) {
        if self.repairs.len() >= KEPT {
            return;
        }
        // The model wrote the text: it may hold characters that are unsafe to print.
        let show = |text: &str| match is_secret && !text.is_empty() {
            true => message::format().secret(),
            false => escape(&shorten(text.trim(), 80)).into_owned(),
        };
        let path = escape(&path.to_string()).into_owned();
        self.repairs.push(Repair { path, from: show(from), to: show(to), why });
    }

    pub(super) fn into_repairs(self) -> Vec<Repair> {
        self.repairs
    }
}
