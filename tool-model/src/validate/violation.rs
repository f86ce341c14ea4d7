//! Violations of schemas and types, as data.

use serde::{Deserialize, Serialize};

use super::expectation::{Expectation, NameList};
use super::path::ValuePath;

/// One thing that is wrong with a value or with a call's arguments.
///
/// A violation is data. Its text is the [`Display`](std::fmt::Display) form of its [`kind`](Self::kind), which may
/// change between versions: decide by the kind, never by the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The place of the value.
    pub path: ValuePath,
    /// The value that was found there.
    pub received: Received,
    /// The rule that the value breaks.
    pub kind: ViolationKind,
}

/// The value that a violation is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// There is no value, or it is not repeated.
    Nothing,
    /// The value as JSON of at most 80 characters.
    Value(String),
    /// The value is a secret.
    Secret,
}

impl Received {
    /// Returns the value as JSON, unless it is absent or secret.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Value(value) => Some(value),
            Self::Nothing | Self::Secret => None,
        }
    }
}

/// Kinds of violations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ViolationKind {
    /// The arguments are not valid JSON.
    Malformed {
        /// The syntax error.
        error: SyntaxError,
        /// Its line, from 1.
        line: usize,
        /// Its column in bytes, from 1.
        column: usize,
        /// The text that begins there.
        near: NearbyText,
    },
    /// The arguments are JSON but not an object.
    NotAnObject,
    /// A required argument or property is absent.
    Missing {
        /// The values that it takes.
        expected: Expectation,
        /// The property whose presence requires it (`dependentRequired`).
        required_by: Option<String>,
    },
    /// An argument or a property is not declared.
    Unknown(UnknownName),
    /// An argument was sent twice.
    Duplicate,
    /// An argument was sent under an alias and under another of its names.
    Alias {
        /// The name of the argument.
        name: String,
    },
    /// An object inside of an argument has a key twice.
    DuplicateKey {
        /// The key, unless it is secret.
        key: Option<String>,
    },
    /// An item repeats an earlier one (`uniqueItems`).
    RepeatedItem {
        /// The place of the earlier item, unless it is secret.
        first: Option<ValuePath>,
    },
    /// A value breaks a rule of its schema or of its type.
    Invalid {
        /// The rule.
        constraint: Constraint,
        /// The values that would be valid.
        expected: Expectation,
        /// The valid value, as JSON, that is most like the received one.
        suggestion: Option<String>,
        /// The type's own reason. It may repeat the value.
        reason: Option<DecodeReason>,
    },
    /// The type refuses a value that its schema accepts.
    Undecodable {
        /// The type's own reason. It may repeat the value.
        reason: Option<DecodeReason>,
    },
    /// The value is too large or too deeply nested to be checked.
    TooComplex,
}

/// An argument or property that is not declared, with the names that are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownName {
    /// `true` for an argument of the tool, `false` for a property inside of one.
    pub is_argument: bool,
    /// The declared name that is most like it.
    pub suggestion: Option<String>,
    /// The declared names.
    pub known: NameList,
    /// The patterns that names may match (`patternProperties`).
    pub patterns: NameList,
}

/// The rule that an invalid value breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Constraint {
    /// The JSON type.
    Type,
    /// The listed values (`enum`, `const`).
    Values,
    /// The range of a number, or its divisor (`multipleOf`).
    Range,
    /// The length of a string.
    Length,
    /// The format of a string.
    Format,
    /// The pattern of a string.
    Pattern,
    /// The number of items.
    ItemCount,
    /// The number of properties.
    PropertyCount,
    /// The number of items that match a schema (`contains`).
    Contains,
    /// Items must differ (`uniqueItems`).
    UniqueItems,
    /// The names of properties (`propertyNames`).
    PropertyName,
    /// The alternatives (`anyOf`, `oneOf`).
    Alternatives,
    /// The excluded values (`not`).
    Exclusion,
    /// No value is allowed here (`false`).
    Forbidden,
    /// A rule of the argument's type that its schema does not state.
    Decoding,
    /// A constraint that this version does not know.
    #[serde(other)]
    Unrecognized,
}

/// The reason why a type refuses a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeReason {
    /// An integer was written with a fraction or an exponent.
    Fraction,
    /// An integer does not fit into 64 bits.
    Beyond64Bits,
    /// An enum was written neither as a variant's name nor as an object with that name as its only key.
    EnumForm,
    /// The type reads only a part of the value.
    Excess,
    /// The type's own message.
    Message(String),
}

/// Syntax errors in the text of a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntaxError {
    /// An argument's name in double quotes is missing.
    NameExpected,
    /// An argument's name has no closing quote.
    NameUnclosed,
    /// The colon behind an argument's name is missing.
    ColonExpected,
    /// The comma or closing brace behind a value is missing.
    SeparatorExpected,
    /// A value is missing.
    ValueMissing,
    /// Text follows the closing brace.
    TrailingText,
    /// An error of the JSON parser.
    Parser(String),
}

/// The text at a syntax error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NearbyText {
    /// The text ends here.
    End,
    /// The next characters.
    Text(String),
    /// The next characters may be secret.
    Secret,
}

impl Violation {
    /// Creates a violation without a received value.
    #[must_use]
    pub fn new(path: ValuePath, kind: ViolationKind) -> Self {
        Self { path, received: Received::Nothing, kind }
    }

    /// Sets the received value.
    #[must_use]
    pub fn with_received(mut self, received: impl Into<String>) -> Self {
        self.received = Received::Value(received.into());
        self
    }

    /// Removes everything that may repeat a secret value: the received value, suggestions derived from it, and the
    /// words of its type.
    pub fn hide_value(&mut self) {
        if self.received != Received::Nothing {
            self.received = Received::Secret;
        }
        match &mut self.kind {
            ViolationKind::Invalid { suggestion, reason, .. } => (*suggestion, *reason) = (None, None),
            ViolationKind::Undecodable { reason } => *reason = None,
            ViolationKind::Malformed { near: near @ NearbyText::Text(_), .. } => *near = NearbyText::Secret,
            _ => {}
        }
    }

    /// Removes everything that may repeat a key of a secret object, besides [`hide_value`](Self::hide_value): the path
    /// below the argument, the key itself, and suggestions derived from it.
    pub fn hide_keys(&mut self) {
        self.hide_value();
        self.path.truncate_to_argument();
        match &mut self.kind {
            ViolationKind::DuplicateKey { key } => *key = None,
            ViolationKind::RepeatedItem { first } => *first = None,
            ViolationKind::Unknown(name) => name.suggestion = None,
            _ => {}
        }
    }
}

impl ViolationKind {
    /// Creates the violation of a rule by a value.
    #[must_use]
    pub fn invalid(constraint: Constraint, expected: Expectation) -> Self {
        Self::Invalid { constraint, expected, suggestion: None, reason: None }
    }
}
