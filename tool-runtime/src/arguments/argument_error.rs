//! Argument errors, as applications and other machines see them.

use std::fmt;

use serde::{Deserialize, Serialize};
use tool_model::validate::{Constraint, Received, Violation, ViolationKind};

use super::message;
use crate::display::escape;

/// One thing that is wrong with a call's arguments.
///
/// Programs decide by [`kind`](Self::kind). The texts are for models and people and may change between versions.
///
/// As JSON it has `path`, `received`, `expected` and `kind`, and beside them `suggestions` or `constraint` if its kind
/// has such. JSON without a kind, or with an unknown one, is read as [`ArgumentErrorKind::Unrecognized`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ArgumentErrorJson", into = "ArgumentErrorJson")]
pub struct ArgumentError {
    /// The path of the value: `order.items[2].sku`. Empty for the arguments as a whole.
    pub path: String,
    /// The received value as JSON, shortened. `None` if it is missing or is not repeated.
    pub received: Option<String>,
    /// The expectation, as text.
    pub expected: String,
    /// The kind of error.
    pub kind: ArgumentErrorKind,
}

/// Kinds of argument errors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentErrorKind {
    /// The arguments are not valid JSON.
    Malformed,
    /// The arguments are JSON but not an object.
    NotAnObject,
    /// A required argument or property is absent.
    Missing,
    /// An argument or a property is not declared.
    Unknown {
        /// The declared names that are most like it.
        suggestions: Vec<String>,
    },
    /// An argument or a key was sent twice, or an argument under two of its names.
    Duplicate,
    /// A value breaks a constraint of its schema.
    Invalid {
        /// The constraint.
        constraint: Constraint,
    },
    /// The type refuses a value that its schema accepts.
    Undecodable,
    /// A value is too large or too deeply nested to be checked.
    TooComplex,
    /// A kind that this version does not know.
    Unrecognized,
}

impl From<&ViolationKind> for ArgumentErrorKind {
    fn from(kind: &ViolationKind) -> Self {
        match kind {
            ViolationKind::Malformed { .. } => Self::Malformed,
            ViolationKind::NotAnObject => Self::NotAnObject,
            ViolationKind::Missing { .. } => Self::Missing,
            ViolationKind::Unknown(name) => Self::Unknown { suggestions: name.suggestion.iter().cloned().collect() },
            ViolationKind::Duplicate | ViolationKind::DuplicateKey { .. } | ViolationKind::Alias { .. } => {
                Self::Duplicate
            }
            ViolationKind::RepeatedItem { .. } => Self::Invalid { constraint: Constraint::UniqueItems },
            ViolationKind::Invalid { constraint, .. } => Self::Invalid { constraint: *constraint },
            ViolationKind::Undecodable { .. } => Self::Undecodable,
            ViolationKind::TooComplex => Self::TooComplex,
            _ => Self::Unrecognized,
        }
    }
}

/// Writes the text of a violation.
impl From<Violation> for ArgumentError {
    fn from(violation: Violation) -> Self {
        let Violation { path, received, kind } = violation;
        let format = message::format();
        let received = match received {
            // Nothing was expected in the place of an undeclared name, so its value is of no use.
            _ if matches!(kind, ViolationKind::Unknown(_)) => None,
            Received::Nothing => None,
            Received::Value(value) => Some(value),
            Received::Secret => Some(format.secret()),
        };
        Self { path: path.to_string(), received, expected: format.expected(&kind), kind: (&kind).into() }
    }
}

/// Writes one line. Characters that are unsafe to print are escaped: the model chose the names and values.
impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let received = self.received.as_deref().map(escape);
        f.write_str(&message::format().line(&escape(&self.path), received.as_deref(), &escape(&self.expected)))
    }
}

/// The JSON form of an [`ArgumentError`].
#[derive(Serialize, Deserialize)]
struct ArgumentErrorJson {
    path: String,
    received: Option<String>,
    expected: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<KindName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    constraint: Option<Constraint>,
}

/// The name of an [`ArgumentErrorKind`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindName {
    Malformed,
    NotAnObject,
    Missing,
    Unknown,
    Duplicate,
    Invalid,
    Undecodable,
    TooComplex,
    #[serde(other)]
    Unrecognized,
}

impl From<ArgumentErrorJson> for ArgumentError {
    fn from(json: ArgumentErrorJson) -> Self {
        let ArgumentErrorJson { path, received, expected, kind, suggestions, constraint } = json;
        let kind = match kind {
            Some(KindName::Malformed) => ArgumentErrorKind::Malformed,
            Some(KindName::NotAnObject) => ArgumentErrorKind::NotAnObject,
            Some(KindName::Missing) => ArgumentErrorKind::Missing,
            Some(KindName::Unknown) => ArgumentErrorKind::Unknown { suggestions },
            Some(KindName::Duplicate) => ArgumentErrorKind::Duplicate,
            Some(KindName::Invalid) => {
                ArgumentErrorKind::Invalid { constraint: constraint.unwrap_or(Constraint::Unrecognized) }
            }
            Some(KindName::Undecodable) => ArgumentErrorKind::Undecodable,
            Some(KindName::TooComplex) => ArgumentErrorKind::TooComplex,
            Some(KindName::Unrecognized) | None => ArgumentErrorKind::Unrecognized,
        };
        Self { path, received, expected, kind }
    }
}

impl From<ArgumentError> for ArgumentErrorJson {
    fn from(error: ArgumentError) -> Self {
        let ArgumentError { path, received, expected, kind } = error;
        let (mut suggestions, mut constraint) = (Vec::new(), None);
        let kind = match kind {
            ArgumentErrorKind::Malformed => Some(KindName::Malformed),
            ArgumentErrorKind::NotAnObject => Some(KindName::NotAnObject),
            ArgumentErrorKind::Missing => Some(KindName::Missing),
            ArgumentErrorKind::Unknown { suggestions: nearest } => {
                suggestions = nearest;
                Some(KindName::Unknown)
            }
            ArgumentErrorKind::Duplicate => Some(KindName::Duplicate),
            ArgumentErrorKind::Invalid { constraint: broken } => {
                constraint = Some(broken);
                Some(KindName::Invalid)
            }
            ArgumentErrorKind::Undecodable => Some(KindName::Undecodable),
            ArgumentErrorKind::TooComplex => Some(KindName::TooComplex),
            ArgumentErrorKind::Unrecognized => None,
        };
        Self { path, received, expected, kind, suggestions, constraint }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_every_kind_as_it_was_written() {
        for kind in [
            ArgumentErrorKind::Malformed,
            ArgumentErrorKind::NotAnObject,
            ArgumentErrorKind::Missing,
            ArgumentErrorKind::Unknown { suggestions: vec!["limit".to_owned()] },
            ArgumentErrorKind::Unknown { suggestions: Vec::new() },
            ArgumentErrorKind::Duplicate,
            ArgumentErrorKind::Invalid { constraint: Constraint::Range },
            ArgumentErrorKind::Undecodable,
            ArgumentErrorKind::TooComplex,
            ArgumentErrorKind::Unrecognized,
        ] {
            let error = ArgumentError { path: "a".to_owned(), received: None, expected: "x".to_owned(), kind };
            let json = serde_json::to_string(&error).unwrap();
            assert_eq!(serde_json::from_str::<ArgumentError>(&json).unwrap(), error, "{json}");
        }
    }

    #[test]
    fn reads_json_of_other_versions() {
        let read = |json| serde_json::from_value::<ArgumentError>(json).unwrap().kind;
        let old = json!({"path": "a", "received": null, "expected": "missing, expected string"});
        assert_eq!(read(old), ArgumentErrorKind::Unrecognized);
        let newer = json!({"path": "a", "received": null, "expected": "x", "kind": "upside_down", "more": 1});
        assert_eq!(read(newer), ArgumentErrorKind::Unrecognized);
        let newer = json!({"path": "a", "received": null, "expected": "x", "kind": "invalid", "constraint": "colour"});
        assert_eq!(read(newer), ArgumentErrorKind::Invalid { constraint: Constraint::Unrecognized });
    }
}
