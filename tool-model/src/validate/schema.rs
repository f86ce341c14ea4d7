//! A schema as it is checked: every keyword read, typed and grouped by the kind of value it looks at.

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::Value;

use super::format::Format;
use super::number::Number;

/// The definitions that a schema reaches, by name.
pub(super) type Definitions = BTreeMap<String, Schema>;

#[derive(Debug)]
pub(super) enum Schema {
    /// `true`
    Anything,
    /// `false`
    Nothing,
    Rules(Box<Rules>),
}

/// An object schema. A group of rules looks only at its own kind of value and lets every other pass.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The definition's name, else the title: what an object is called.
    pub(super) name: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) kinds: Option<Kinds>,
    /// From `enum` and `const`.
    pub(super) allowed: Option<Vec<Value>>,
    pub(super) number: NumberRules,
    pub(super) text: TextRules,
    pub(super) array: ArrayRules,
    pub(super) object: ObjectRules,
    pub(super) all_of: Vec<Schema>,
    pub(super) any_of: Vec<Schema>,
    pub(super) one_of: Vec<Schema>,
    pub(super) not: Option<Schema>,
    pub(super) condition: Option<Condition>,
}

#[derive(Debug, Default)]
pub(super) struct NumberRules {
    pub(super) least: Option<Bound>,
    pub(super) most: Option<Bound>,
    pub(super) multiple_of: Option<Number>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) value: Number,
    pub(super) exclusive: bool,
}

#[derive(Debug, Default)]
pub(super) struct TextRules {
    pub(super) length: Count,
    pub(super) pattern: Option<Regex>,
    pub(super) format: Option<Format>,
}

#[derive(Debug, Default)]
pub(super) struct ArrayRules {
    pub(super) count: Count,
    pub(super) prefix: Vec<Schema>,
    /// Every item after the prefix.
    pub(super) items: Option<Schema>,
    pub(super) contains: Option<Contains>,
    pub(super) unique: bool,
}

#[derive(Debug)]
pub(super) struct Contains {
    pub(super) schema: Schema,
    pub(super) count: Count,
}

#[derive(Debug, Default)]
pub(super) struct ObjectRules {
    pub(super) count: Count,
    pub(super) properties: BTreeMap<String, Schema>,
    pub(super) patterns: Vec<(Regex, Schema)>,
    /// Every property that neither `properties` nor `patterns` know.
    pub(super) additional: Option<Schema>,
    pub(super) names: Option<Schema>,
    pub(super) required: Vec<String>,
    pub(super) dependent_required: BTreeMap<String, Vec<String>>,
    pub(super) dependent_schemas: BTreeMap<String, Schema>,
}

#[derive(Debug)]
pub(super) struct Condition {
    pub(super) when: Schema,
    pub(super) then: Option<Schema>,
    pub(super) otherwise: Option<Schema>,
}

/// How many characters, items or properties.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Count {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

impl Count {
    pub(super) fn admits(self, count: usize) -> bool {
        let count = count as u64;
        self.least.is_none_or(|least| count >= least) && self.most.is_none_or(|most| count <= most)
    }

    pub(super) fn is_free(self) -> bool {
        self == Self::default()
    }
}

impl NumberRules {
    pub(super) fn is_empty(&self) -> bool {
        self.least.is_none() && self.most.is_none() && self.multiple_of.is_none()
    }
}

impl TextRules {
    pub(super) fn is_empty(&self) -> bool {
        self.length.is_free() && self.pattern.is_none() && self.format.is_none()
    }
}

impl ArrayRules {
    pub(super) fn is_empty(&self) -> bool {
        let shapeless = self.prefix.is_empty() && self.items.is_none() && self.contains.is_none();
        self.count.is_free() && shapeless && !self.unique
    }
}

impl ObjectRules {
    /// Whether nothing is said about which properties there are.
    pub(super) fn is_empty(&self) -> bool {
        let nameless = self.properties.is_empty() && self.patterns.is_empty() && self.additional.is_none();
        let undemanding = self.required.is_empty() && self.dependent_required.is_empty();
        self.count.is_free() && nameless && undemanding && self.names.is_none() && self.dependent_schemas.is_empty()
    }
}

impl Rules {
    /// The kinds of value that some rule looks at, for a schema that does not name its types.
    pub(super) fn kinds_ruled(&self) -> Kinds {
        let ruled = [
            (Kinds::STRING, self.text.is_empty()),
            (Kinds::NUMBER, self.number.is_empty()),
            (Kinds::ARRAY, self.array.is_empty()),
            (Kinds::OBJECT, self.object.is_empty()),
        ];
        ruled.iter().filter(|(_, is_empty)| !is_empty).fold(Kinds::default(), |kinds, (kind, _)| kinds.with(*kind))
    }

    pub(super) fn is_only_a_type(&self) -> bool {
        self.kinds_ruled() == Kinds::default() && self.name.is_none()
    }

    /// The schemas that look at the same value as this one, not at a part of it.
    pub(super) fn in_place(&self) -> impl Iterator<Item = &Schema> {
        let condition = self.condition.iter();
        self.all_of
            .iter()
            .chain(&self.any_of)
            .chain(&self.one_of)
            .chain(&self.not)
            .chain(self.object.dependent_schemas.values())
            .chain(condition.flat_map(|c| [Some(&c.when), c.then.as_ref(), c.otherwise.as_ref()].into_iter().flatten()))
    }
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Kinds(u8);

/// In the order in which they are listed to the reader.
const KINDS: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

impl Kinds {
    pub(super) const STRING: Self = Self(1);
    pub(super) const INTEGER: Self = Self(1 << 1);
    pub(super) const NUMBER: Self = Self(1 << 2);
    pub(super) const BOOLEAN: Self = Self(1 << 3);
    pub(super) const ARRAY: Self = Self(1 << 4);
    pub(super) const OBJECT: Self = Self(1 << 5);
    pub(super) const NULL: Self = Self(1 << 6);

    pub(super) fn named(name: &str) -> Option<Self> {
        KINDS.iter().position(|kind| *kind == name).map(|index| Self(1 << index))
    }

    pub(super) fn all_names() -> String {
        KINDS.join(", ")
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn each(self) -> impl Iterator<Item = Self> {
        (0..KINDS.len()).map(|index| Self(1 << index)).filter(move |kind| self.has(*kind))
    }

    /// The name of the only kind in the set.
    pub(super) fn name(self) -> &'static str {
        KINDS.get(self.0.trailing_zeros() as usize).copied().unwrap_or("value")
    }

    /// Every type that the value is an instance of.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if Number::from(number).is_integer() => Self::INTEGER.with(Self::NUMBER),
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }
}
