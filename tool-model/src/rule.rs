//! Constraints of `#[arg(..)]` on an argument.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A number written in an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A number with a fraction or an exponent.
    Float(f64),
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(int) => {
                i64::try_from(int).map(Value::from).or_else(|_| u64::try_from(int).map(Value::from)).unwrap_or_else(
                    #[expect(clippy::cast_precision_loss, reason = "JSON has no exact form for it either")]
                    |_| json!(int as f64),
                )
            }
            Number::Float(float) => json!(float),
        }
    }
}

/// A constraint of `#[arg(..)]`, shown in the schema and enforced when the tool is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// `min`: the smallest number allowed.
    Min(Number),
    /// `max`: the largest number allowed.
    Max(Number),
    /// `min_length`: characters of a string, items of an array, entries of a map.
    MinLength(u64),
    /// `max_length`: characters of a string, items of an array, entries of a map.
    MaxLength(u64),
    /// `pattern`: a regular expression that must match somewhere in the string.
    Pattern(&'static str),
    /// `one_of`: the allowed values, as the text of a JSON array.
    OneOf(&'static str),
}

impl Rule {
    /// Adds the JSON Schema keyword of the rule for the type.
    pub(crate) fn describe(&self, type_name: &str, keywords: &mut BTreeMap<String, Value>) {
        let length = |least: bool| match (type_name, least) {
            ("array", true) => "minItems",
            ("array", false) => "maxItems",
            ("object", true) => "minProperties",
            ("object", false) => "maxProperties",
            (_, true) => "minLength",
            (_, false) => "maxLength",
        };
        let (key, value): (&str, Value) = match *self {
            Self::Min(least) => ("minimum", least.into()),
            Self::Max(most) => ("maximum", most.into()),
            Self::MinLength(least) => (length(true), least.into()),
            Self::MaxLength(most) => (length(false), most.into()),
            Self::Pattern(pattern) => ("pattern", pattern.into()),
            Self::OneOf(values) => ("enum", serde_json::from_str(values).unwrap_or_default()),
        };
        if let (Some(Value::Array(known)), Value::Array(listed)) = (keywords.get_mut(key), &value) {
            // Keeps the listed variants of an enum. Building a dispatcher rejects unknown variants.
            if known.iter().any(|value| listed.contains(value)) {
                *known = listed.iter().filter(|value| known.contains(value)).cloned().collect();
                return;
            }
        }
        if let Some(known) = keywords.get(key).and_then(Value::as_f64)
            && let Some(new) = value.as_f64()
            && (if key.starts_with("min") { known > new } else { known < new })
        {
            // The type is stricter than the rule.
            return;
        }
        keywords.insert(key.to_owned(), value);
    }

    /// Returns `true` if the rule applies to values of a type.
    #[must_use]
    pub fn fits(&self, type_name: &str) -> bool {
        let types: &[&str] = match self {
            Self::Min(_) | Self::Max(_) => &["integer", "number", "any"],
            Self::MinLength(_) | Self::MaxLength(_) => &["string", "array", "object", "any"],
            Self::Pattern(_) => &["string", "any"],
            Self::OneOf(_) => return true,
        };
        types.contains(&type_name)
    }

    /// Returns the rule's name in `#[arg(..)]`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Min(_) => "min",
            Self::Max(_) => "max",
            Self::MinLength(_) => "min_length",
            Self::MaxLength(_) => "max_length",
            Self::Pattern(_) => "pattern",
            Self::OneOf(_) => "one_of",
        }
    }
}
