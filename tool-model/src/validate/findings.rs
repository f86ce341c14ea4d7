//! What a check finds, and where.

use serde_json::Value;

use super::Violation;
use super::path::{Path, shortened};
use super::phrases;

const LONGEST_RECEIVED: usize = 80;

/// A value and its place.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) value: &'a Value,
    pub(super) path: &'a Path<'a>,
}

impl At<'_> {
    /// What is here is not what was expected.
    pub(super) fn unlike(self, expected: String) -> Violation {
        Violation {
            path: self.path.to_string(),
            received: Some(shortened(self.value, LONGEST_RECEIVED)),
            expected: phrases::one_line(expected),
        }
    }

    /// A property that should be here is not.
    pub(super) fn without(self, property: &str, expected: String) -> Violation {
        let path = Path::Property(self.path, property).to_string();
        Violation { path, received: None, expected: phrases::one_line(expected) }
    }
}

/// What a check has found so far.
pub(super) enum Findings {
    /// What is wrong, up to so many.
    Listed { violations: Vec<Violation>, most: usize },
    /// Only whether something is.
    Whether(bool),
}

impl Findings {
    pub(super) fn add(&mut self, violation: impl FnOnce() -> Violation) {
        match self {
            Self::Listed { violations, most } if violations.len() < *most => violations.push(violation()),
            Self::Listed { .. } => {}
            Self::Whether(wrong) => *wrong = true,
        }
    }

    /// Whether nothing found later could change the answer.
    pub(super) fn are_settled(&self) -> bool {
        match self {
            Self::Listed { violations, most } => violations.len() >= *most,
            Self::Whether(wrong) => *wrong,
        }
    }
}
