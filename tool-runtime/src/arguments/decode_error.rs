//! Reasons why a type refused a value, from the errors of `serde_json`.
//!
//! `serde_json::Error` has a category, a line and a column. Everything else is in its English text, which this file alone
//! looks at. A change of that text costs a more precise message and nothing else.

use serde_json::Error;
use tool_model::validate::{
    Constraint, DecodeReason, Expectation, NumberRange, PathStep, ValuePath, Violation, ViolationKind,
};
use tool_model::{LONGEST_EXCERPT, shorten};

use super::location::{number_at, offset, path_of_error, unfinished_number};
use super::number::beyond_64_bits;

/// A type's refusal of a value that is valid JSON.
pub(super) struct DecodeError<'t> {
    /// The path below the argument.
    pub(super) steps: Vec<PathStep>,
    /// The number that was refused where an integer was expected.
    pub(super) number: Option<&'t str>,
    pub(super) reason: DecodeReason,
}

impl<'t> DecodeError<'t> {
    /// Reads an error; `is_described` is `false` for a type without a schema, which may be an enum.
    pub(super) fn new(text: &'t str, error: &Error, is_described: bool) -> Self {
        if error.line() == 0 {
            return Self { steps: Vec::new(), number: None, reason: own_reason(error) };
        }
        let stop = offset(text, error.line(), error.column());
        let unfinished = || unfinished_number(text, stop).map(|number| (number, DecodeReason::Fraction));
        let complaint = Complaint::of_error(error);
        let number = match complaint {
            Complaint::ValueExpected if is_described => unfinished(),
            Complaint::Trailing | Complaint::SeparatorExpected => unfinished(),
            Complaint::Float => refused_float(text, stop),
            _ => None,
        };
        let (number, reason) = match (number, complaint) {
            (Some((number, reason)), _) => (Some(number), reason),
            (None, Complaint::ValueExpected) => (None, DecodeReason::EnumForm),
            (None, Complaint::Trailing | Complaint::TrailingComma) => (None, DecodeReason::Excess),
            (None, _) => (None, own_reason(error)),
        };
        Self { steps: path_of_error(text, error.line(), error.column()), number, reason }
    }

    /// Creates the refusal of a number that a 128-bit integer has read up to its point or exponent.
    pub(super) fn fraction() -> Self {
        Self { steps: Vec::new(), number: None, reason: DecodeReason::Fraction }
    }

    /// Creates the violation below a root, such as an argument's name.
    pub(super) fn into_violation(self, root: &str) -> Violation {
        let path = ValuePath { root: root.to_owned(), steps: self.steps };
        let Some(number) = self.number else {
            return Violation::new(path, ViolationKind::Undecodable { reason: Some(self.reason) });
        };
        let range = NumberRange { is_integer: true, least: None, most: None, multiple_of: None };
        let kind = ViolationKind::Invalid {
            constraint: Constraint::Decoding,
            expected: Expectation::Number(range),
            suggestion: None,
            reason: Some(self.reason),
        };
        Violation::new(path, kind).with_received(shorten(number, 80))
    }
}

/// Creates the violation by arguments that a type refuses together.
#[cold]
pub(crate) fn refused_by_type(text: &str, error: &Error) -> Violation {
    DecodeError::new(text, error, true).into_violation("")
}

/// Creates the reason that a type gives in its own words.
pub(super) fn own_reason(error: &Error) -> DecodeReason {
    DecodeReason::Message(shorten(&message_of(error), LONGEST_EXCERPT).into_owned())
}

/// Complaints of `serde_json` that have a more precise reason.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Complaint {
    /// No value of the type begins here.
    ValueExpected,
    /// The type has read only a part of the value.
    Trailing,
    TrailingComma,
    SeparatorExpected,
    /// A float where the type takes none.
    Float,
    Other,
}

impl Complaint {
    fn of_error(error: &Error) -> Self {
        match message_of(error).as_str() {
            "expected value" => Self::ValueExpected,
            "trailing characters" => Self::Trailing,
            "trailing comma" => Self::TrailingComma,
            "expected `,` or `]`" | "expected `,` or `}`" => Self::SeparatorExpected,
            message if message.starts_with("invalid type: floating point") => Self::Float,
            _ => Self::Other,
        }
    }
}

/// Returns the integer at an offset that a type refused as a float, and why it is one: `serde_json` reads integers of 64
/// bits, and everything else as a float.
fn refused_float(text: &str, offset: usize) -> Option<(&str, DecodeReason)> {
    let number = number_at(text, offset)?;
    if beyond_64_bits(number).is_some() {
        return Some((number, DecodeReason::Beyond64Bits));
    }
    let is_whole = number.parse::<f64>().is_ok_and(|float| float.fract() == 0.0);
    is_whole.then_some((number, DecodeReason::Fraction))
}

/// Returns the message of an error without its position, which is relative to one argument.
pub(super) fn message_of(error: &Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&position).map(str::to_owned).unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) -> Complaint {
        Complaint::of_error(&serde_json::from_str::<T>(text).unwrap_err())
    }

    #[derive(Debug, serde::Deserialize)]
    enum UnitVariant {
        #[serde(rename = "up")]
        _Up,
    }

    #[test]
    fn recognizes_the_complaints_of_serde_json() {
        assert_eq!(complaint::<UnitVariant>("[1]"), Complaint::ValueExpected);
        assert_eq!(complaint::<i128>("1.5"), Complaint::Trailing);
        assert_eq!(complaint::<Vec<i128>>("[1.5]"), Complaint::SeparatorExpected);
        assert_eq!(complaint::<Vec<i64>>("[1,]"), Complaint::TrailingComma);
        assert_eq!(complaint::<i64>("1.5"), Complaint::Float);
        assert_eq!(complaint::<i64>("true"), Complaint::Other);
    }

    #[test]
    fn a_message_has_no_position() {
        let error = serde_json::from_str::<Vec<i64>>("[1, at]").unwrap_err();
        assert_eq!(message_of(&error), "expected value");
        let error = <Error as serde::de::Error>::custom("no room at line 3");
        assert_eq!(message_of(&error), "no room at line 3");
    }
}
