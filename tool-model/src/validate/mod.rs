//! Everything that is wrong with a value, at once and in words that a model can act on.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use serde_json::json;
//! use tool_model::validate::Validator;
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
//! let found: Vec<_> = violations.iter().map(|v| (&*v.path, v.received.as_deref(), &*v.expected)).collect();
//! assert_eq!(
//!     found,
//!     [
//!         ("query.order", None, r#"one of "asc", "desc""#),
//!         ("query.limit", Some("0"), "integer between 1 and 100"),
//!         ("query.ordr", Some(r#""asc""#), "unknown property; did you mean `order`?"),
//!     ]
//! );
//! # Ok::<(), tool_model::validate::SchemaError>(())
//! ```
//!
//! The schemas are JSON Schema 2020-12 with `$ref` to `#/$defs/NAME` only. What could not be enforced is refused by
//! [`Validator::new`] instead of being ignored, except for annotations and unknown keywords.

mod array;
mod branch;
pub(crate) mod check;
mod combine;
mod cycle;
pub(crate) mod describe;
pub(crate) mod equality;
mod findings;
pub(crate) mod format;
mod keywords;
mod narrowing;
pub(crate) mod number;
mod object;
pub(crate) mod path;
pub(crate) mod phrases;
mod plain;
pub(crate) mod read;
mod scalar;
pub(crate) mod schema;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use check::Checker;
use describe::Describer;
pub use narrowing::narrows_its_type;
pub use plain::is_plain;
use read::Reading;
use schema::{Definitions, Schema};

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Where: `order.items[2].sku`; empty for the value itself. A property whose name is not a plain identifier is
    /// written `["odd name"]`.
    pub path: String,
    /// What came, as JSON of at most 80 characters; `None` where a property is missing.
    pub received: Option<String>,
    /// What was expected: `integer between 1 and 100`, `one of "asc", "desc"`, `at least 2 items`.
    pub expected: String,
}

/// A schema read once to check many values.
#[derive(Debug)]
pub struct Validator {
    schema: Schema,
    definitions: Definitions,
}

impl Validator {
    /// Reads a schema; `defs` are the schemas that `#/$defs/NAME` refers to, besides the schema's own `$defs`.
    ///
    /// # Errors
    ///
    /// The first keyword that could not be enforced: an unknown `$ref`, a pattern that does not compile, a value of
    /// the wrong type, an unsupported keyword, or a definition that only refers to itself.
    pub fn new(schema: &Value, defs: &BTreeMap<String, Value>) -> Result<Self, SchemaError> {
        let Reading { schema, definitions, errors } = Reading::of(schema, defs);
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(Self { schema, definitions }),
        }
    }

    /// As [`new`](Self::new), but what could not be enforced is left out of the check, and named.
    ///
    /// # Errors
    ///
    /// A definition that only refers to itself: to check against it would never end.
    pub fn as_far_as_possible(
        schema: &Value,
        defs: &BTreeMap<String, Value>,
    ) -> Result<(Self, Vec<SchemaError>), SchemaError> {
        let Reading { schema, definitions, errors } = Reading::of(schema, defs);
        match cycle::find(&definitions) {
            Some(circle) => Err(circle),
            None => Ok((Self { schema, definitions }, errors)),
        }
    }

    /// Everything that is wrong with the value; `path` is what its place is called, such as the argument's name.
    ///
    /// A value that would take unreasonably long to check is refused as a whole.
    #[must_use]
    pub fn check(&self, value: &Value, path: &str) -> Vec<Violation> {
        Checker::new(&self.definitions).violations(&self.schema, value, path, usize::MAX)
    }

    /// Checks as [`check`](Self::check) does, and refuses properties that an object of named properties does not name.
    ///
    /// The schemas of some types are more open than the types: those of `Duration`, `Range` and `Result`, for example.
    #[must_use]
    pub fn check_closed(&self, value: &Value, path: &str) -> Vec<Violation> {
        Checker::new(&self.definitions).closed().violations(&self.schema, value, path, usize::MAX)
    }

    /// The first things that are wrong with the value, at most so many. For what a stranger has sent: the work is
    /// bounded, however long the value and the lists of the schema are, and nothing is guessed of what was meant.
    #[must_use]
    pub fn check_first(&self, most: usize, value: &Value, path: &str) -> Vec<Violation> {
        Checker::new(&self.definitions).plainly().violations(&self.schema, value, path, most)
    }

    /// Whether nothing is wrong with the value; quicker than [`check`](Self::check).
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        Checker::new(&self.definitions).accepts(&self.schema, value)
    }
}

/// A keyword that cannot be enforced, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Where in the schema: `#/properties/limit/minimum`.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for SchemaError {}

/// What a schema accepts, on one line: `integer between 1 and 100`, `array of string`, `object Order`, `any value`.
///
/// A keyword that [`Validator::new`] would refuse is left out.
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
    let Reading { schema, definitions, .. } = Reading::of(schema, defs);
    phrases::one_line(Describer::new(&definitions).schema(&schema))
}
