//! Validation of JSON values against JSON Schema, with violations that a model can act on.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use serde_json::json;
//! use tool_model::validate::{Validator, ViolationKind};
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {
//!         "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
//!         "order": { "$ref": "#/$defs/Order" }
//!     },
//!     "required": ["order"],
//!     "additionalProperties": false
//! });
//! let defs = BTreeMap::from([("Order".to_owned(), json!({ "enum": ["asc", "desc"] }))]);
//! let validator = Validator::new(&schema, &defs)?;
//!
//! assert!(validator.is_valid(&json!({ "limit": 10, "order": "asc" })));
//!
//! let violations = validator.check(&json!({ "limit": 0, "ordr": "asc" }), "query");
//! let texts: Vec<_> = violations.iter().map(|violation| format!("{}: {}", violation.path, violation.kind)).collect();
//! assert_eq!(
//!     texts,
//!     [
//!         r#"query.order: missing, expected one of "asc", "desc""#,
//!         "query.limit: integer between 1 and 100",
//!         "query.ordr: unknown property; did you mean `order`?",
//!     ]
//! );
//! assert_eq!(violations[1].received.as_str(), Some("0"));
//! assert!(matches!(violations[0].kind, ViolationKind::Missing { .. }));
//! # Ok::<(), tool_model::validate::SchemaError>(())
//! ```
//!
//! The schemas are JSON Schema 2020-12 with `$ref` to `#/$defs/NAME` only. [`Validator::new`] rejects a keyword that it
//! cannot enforce; annotations and unknown keywords are ignored.

mod array;
mod branch;
pub(crate) mod check;
mod combine;
mod cycle;
pub(crate) mod describe;
pub(crate) mod equality;
pub(crate) mod expectation;
mod findings;
pub(crate) mod format;
mod keywords;
mod message;
mod narrowing;
pub(crate) mod number;
mod object;
pub(crate) mod path;
mod plain;
pub(crate) mod read;
mod scalar;
pub(crate) mod schema;
mod violation;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use check::Checker;
use describe::Describer;
pub use expectation::{
    ArrayForm, CountRange, Expectation, NameList, NumberBound, NumberRange, ObjectForm, TextForm, ValueList,
};
pub use narrowing::narrows_its_type;
pub use path::{PathStep, ValuePath};
pub use plain::is_plain;
use read::ParsedSchema;
use schema::{Definitions, Schema};
pub use violation::{
    Constraint, DecodeReason, NearbyText, Received, SyntaxError, UnknownName, Violation, ViolationKind,
};

/// A parsed schema that checks values.
#[derive(Debug)]
pub struct Validator {
    schema: Schema,
    definitions: Definitions,
}

impl Validator {
    /// Parses a schema. A `$ref` to `#/$defs/NAME` is looked up in `defs` and in the schema's own `$defs`.
    ///
    /// # Errors
    ///
    /// Returns the first keyword that cannot be enforced: an unknown `$ref`, a pattern that does not compile, a value of
    /// the wrong type, an unsupported keyword, or a definition that only refers to itself.
    pub fn new(schema: &Value, defs: &BTreeMap<String, Value>) -> Result<Self, SchemaError> {
        let ParsedSchema { schema, definitions, errors } = ParsedSchema::new(schema, defs);
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(Self { schema, definitions }),
        }
    }

    /// Parses a schema like [`new`](Self::new), but skips the keywords that cannot be enforced and returns them.
    ///
    /// # Errors
    ///
    /// Returns a definition that only refers to itself: a check against it would never end.
    pub fn as_far_as_possible(
        schema: &Value,
        defs: &BTreeMap<String, Value>,
    ) -> Result<(Self, Vec<SchemaError>), SchemaError> {
        let ParsedSchema { schema, definitions, errors } = ParsedSchema::new(schema, defs);
        match cycle::find(&definitions) {
            Some(circle) => Err(circle),
            None => Ok((Self { schema, definitions }, errors)),
        }
    }

    /// Returns all violations. `path` is the root of their paths, such as the argument's name.
    ///
    /// A value that takes too long to check is rejected as [`ViolationKind::TooComplex`].
    #[must_use]
    pub fn check(&self, value: &Value, path: &str) -> Vec<Violation> {
        Checker::new(&self.definitions).violations(&self.schema, value, path, usize::MAX)
    }

    /// Returns all violations, as [`check`](Self::check) does, and also rejects undeclared properties of objects with
    /// declared ones.
    ///
    /// The schemas of some types are more open than the types, for example `Duration`, `Range` and `Result`.
    #[must_use]
    pub fn check_closed(&self, value: &Value, path: &str) -> Vec<Violation> {
        Checker::new(&self.definitions).closed().violations(&self.schema, value, path, usize::MAX)
    }

    /// Returns at most `limit` violations, without suggestions for listed values. For untrusted values and schemas: the
    /// work is bounded, however long the value and the lists of the schema are.
    #[must_use]
    pub fn check_first(&self, limit: usize, value: &Value, path: &str) -> Vec<Violation> {
        Checker::new(&self.definitions).without_suggestions().violations(&self.schema, value, path, limit)
    }

    /// Returns `true` if there are no violations. Faster than [`check`](Self::check).
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        Checker::new(&self.definitions).accepts(&self.schema, value)
    }
}

/// A schema keyword that cannot be enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The keyword's JSON pointer: `#/properties/limit/minimum`.
    pub path: String,
    /// The reason.
    pub message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for SchemaError {}

/// Describes a schema on one line: `integer between 1 and 100`, `array of string`, `object Order`, `any value`.
///
/// Keywords that [`Validator::new`] rejects are left out.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use serde_json::json;
/// use tool_model::validate::describe;
///
/// let defs = BTreeMap::from([("Order".to_owned(), json!({ "type": "object" }))]);
/// let orders = json!({ "type": "array", "items": { "$ref": "#/$defs/Order" } });
/// assert_eq!(describe(&orders, &defs), "array of object Order");
/// let name = json!({ "type": ["string", "null"], "maxLength": 5 });
/// assert_eq!(describe(&name, &defs), "string of at most 5 characters or null");
/// ```
#[must_use]
pub fn describe(schema: &Value, defs: &BTreeMap<String, Value>) -> String {
    message::one_line(expectation(schema, defs).to_string())
}

/// Returns the values that a schema accepts, as data.
///
/// Keywords that [`Validator::new`] rejects are left out.
#[must_use]
pub fn expectation(schema: &Value, defs: &BTreeMap<String, Value>) -> Expectation {
    let ParsedSchema { schema, definitions, .. } = ParsedSchema::new(schema, defs);
    Describer::new(&definitions).schema(&schema)
}
