//! The collected violations of one check.

use serde_json::Value;

use super::expectation::Expectation;
use super::path::{PathCursor, shortened};
use super::violation::{Constraint, Violation, ViolationKind};

/// The number of characters of a received value that a violation keeps.
const LONGEST_RECEIVED: usize = 80;

/// A value and its path.
#[derive(Clone, Copy)]
pub(super) struct ValueAt<'a> {
    pub(super) value: &'a Value,
    pub(super) path: &'a PathCursor<'a>,
}

impl ValueAt<'_> {
    /// Creates the violation of a constraint by this value.
    pub(super) fn invalid(self, constraint: Constraint, expected: Expectation) -> Violation {
        self.violation(ViolationKind::invalid(constraint, expected))
    }

    /// Creates a violation by this value.
    pub(super) fn violation(self, kind: ViolationKind) -> Violation {
        Violation::new(self.path.to_path(), kind).with_received(shortened(self.value, LONGEST_RECEIVED))
    }

    /// Creates the violation of a property that this object lacks.
    pub(super) fn missing(self, property: &str, expected: Expectation, required_by: Option<&str>) -> Violation {
        let path = PathCursor::Property(self.path, property).to_path();
        Violation::new(path, ViolationKind::Missing { expected, required_by: required_by.map(str::to_owned) })
    }
}

/// The result of a check so far.
pub(super) enum Findings {
    /// The violations, at most `limit` of them.
    List { violations: Vec<Violation>, limit: usize },
    /// `true` if there is a violation.
    Flag(bool),
}

impl Findings {
    pub(super) fn add(&mut self, violation: impl FnOnce() -> Violation) {
        match self {
            Self::List { violations, limit } if violations.len() < *limit => violations.push(violation()),
            Self::List { .. } => {}
            Self::Flag(found) => *found = true,
        }
    }

    /// Returns `true` if no further violation could change the result.
    pub(super) fn are_settled(&self) -> bool {
        match self {
            Self::List { violations, limit } => violations.len() >= *limit,
            Self::Flag(found) => *found,
        }
    }
}
