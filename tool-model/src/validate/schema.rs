//! A schema as it is checked: every keyword read, typed and grouped by the kind of value it looks at.

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::Value;

use super::format::Format;
use super::number::Number;
use crate::compatibility::SourceFacts;

/// The definitions that a schema reaches, by name.
pub(crate) type Definitions = BTreeMap<String, Schema>;

#[derive(Debug)]
pub(crate) enum Schema {
    /// `true`
    Anything,
    /// `false`
    Nothing,
    Rules(Box<Rules>),
}

/// An object schema. A group of rules looks only at its own kind of value and lets every other pass.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// The definition's name, else the title: what an object is called.
    pub(crate) name: Option<String>,
    pub(crate) reference: Option<String>,
    pub(crate) kinds: Option<Kinds>,
    /// From `enum` and `const`.
    pub(crate) allowed: Option<Vec<Value>>,
    pub(crate) number: NumberRules,
    pub(crate) text: TextRules,
    pub(crate) array: ArrayRules,
    pub(crate) object: ObjectRules,
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    pub(crate) not: Option<Schema>,
    pub(crate) condition: Option<Condition>,
    /// Facts that only the comparison of two manifests looks at.
    pub(crate) facts: Option<Box<SourceFacts>>,
}

#[derive(Debug, Default)]
pub(crate) struct NumberRules {
    pub(crate) least: Option<Bound>,
    pub(crate) most: Option<Bound>,
    pub(crate) multiple_of: Option<Number>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) value: Number,
    pub(crate) exclusive: bool,
}

#[derive(Debug, Default)]
pub(crate) struct TextRules {
    pub(crate) length: Count,
    pub(crate) pattern: Option<Regex>,
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Default)]
pub(crate) struct ArrayRules {
    pub(crate) count: Count,
    pub(crate) prefix: Vec<Schema>,
    /// Every item after the prefix.
    pub(crate) items: Option<Schema>,
    pub(crate) contains: Option<Contains>,
    pub(crate) unique: bool,
}

#[derive(Debug)]
pub(crate) struct Contains {
    pub(crate) schema: Schema,
    pub(crate) count: Count,
}

#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    pub(crate) count: Count,
    pub(crate) properties: BTreeMap<String, Schema>,
    pub(crate) patterns: Vec<(Regex, Schema)>,
    /// Every property that neither `properties` nor `patterns` know.
    pub(crate) additional: Option<Schema>,
    /// Every property that neither this schema nor one that holds for the same object knows.
    pub(crate) unevaluated: Option<Schema>,
    pub(crate) names: Option<Schema>,
    pub(crate) required: Vec<String>,
    pub(crate) dependent_required: BTreeMap<String, Vec<String>>,
    pub(crate) dependent_schemas: BTreeMap<String, Schema>,
}

#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) when: Schema,
    pub(crate) then: Option<Schema>,
    pub(crate) otherwise: Option<Schema>,
}

/// How many characters, items or properties.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Count {
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
}

impl Count {
    pub(crate) fn admits(self, count: usize) -> bool {
        let count = count as u64;
        self.least.is_none_or(|least| count >= least) && self.most.is_none_or(|most| count <= most)
    }

    pub(crate) fn is_free(self) -> bool {
        self == Self::default()
    }
}

impl NumberRules {
    pub(crate) fn is_empty(&self) -> bool {
        self.least.is_none() && self.most.is_none() && self.multiple_of.is_none()
    }
}

impl TextRules {
    pub(crate) fn is_empty(&self) -> bool {
        self.length.is_free() && self.pattern.is_none() && self.format.is_none()
    }
}

impl ArrayRules {
    pub(crate) fn is_empty(&self) -> bool {
        let shapeless = self.prefix.is_empty() && self.items.is_none() && self.contains.is_none();
        self.count.is_free() && shapeless && !self.unique
    }
}

impl ObjectRules {
    /// Whether nothing is said about which properties there are.
    pub(crate) fn is_empty(&self) -> bool {
        let nameless = self.properties.is_empty()
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.unevaluated.is_none();
        let undemanding = self.required.is_empty() && self.dependent_required.is_empty();
        self.count.is_free() && nameless && undemanding && self.names.is_none() && self.dependent_schemas.is_empty()
    }
}

impl Rules {
    /// The kinds of value that some rule looks at, for a schema that does not name its types.
    pub(crate) fn kinds_ruled(&self) -> Kinds {
        let ruled = [
            (Kinds::STRING, self.text.is_empty()),
            (Kinds::NUMBER, self.number.is_empty()),
            (Kinds::ARRAY, self.array.is_empty()),
            (Kinds::OBJECT, self.object.is_empty()),
        ];
        ruled.iter().filter(|(_, is_empty)| !is_empty).fold(Kinds::default(), |kinds, (kind, _)| kinds.with(*kind))
    }

    pub(crate) fn is_only_a_type(&self) -> bool {
        self.kinds_ruled() == Kinds::default() && self.name.is_none()
    }

    /// Whether nothing stands beside the `$ref` but a type.
    pub(crate) fn is_only_a_reference(&self) -> bool {
        self.reference.is_some()
            && self.allowed.is_none()
            && self.says_nothing_itself()
            && self.in_place().next().is_none()
    }

    /// The alternatives, if nothing stands beside them but a type.
    pub(crate) fn only_alternatives(&self) -> Option<&[Schema]> {
        let others = self.in_place().count() - self.any_of.len() - self.one_of.len();
        let plain = self.reference.is_none() && self.allowed.is_none() && self.says_nothing_itself() && others == 0;
        match (self.any_of.as_slice(), self.one_of.as_slice()) {
            (any, []) if plain && !any.is_empty() => Some(any),
            ([], one) if plain && !one.is_empty() => Some(one),
            _ => None,
        }
    }

    /// Returns `true` if the schema takes every value.
    pub(crate) fn is_free(&self) -> bool {
        self.kinds.is_none()
            && self.allowed.is_none()
            && self.reference.is_none()
            && self.says_nothing_itself()
            && self.in_place().next().is_none()
    }

    /// Returns `true` if the schema has no rules besides types, values and other schemas.
    pub(crate) fn says_nothing_itself(&self) -> bool {
        self.number.is_empty() && self.text.is_empty() && self.array.is_empty() && self.object.is_empty()
    }

    /// The schemas that look at the same value as this one, not at a part of it.
    pub(crate) fn in_place(&self) -> impl Iterator<Item = &Schema> {
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
pub(crate) struct Kinds(u8);

/// In the order in which they are listed to the reader.
const KINDS: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

impl Kinds {
    pub(crate) const STRING: Self = Self(1);
    pub(crate) const INTEGER: Self = Self(1 << 1);
    pub(crate) const NUMBER: Self = Self(1 << 2);
    pub(crate) const BOOLEAN: Self = Self(1 << 3);
    pub(crate) const ARRAY: Self = Self(1 << 4);
    pub(crate) const OBJECT: Self = Self(1 << 5);
    pub(crate) const NULL: Self = Self(1 << 6);
    pub(crate) const ALL: Self = Self((1 << KINDS.len()) - 1);

    pub(crate) fn named(name: &str) -> Option<Self> {
        KINDS.iter().position(|kind| *kind == name).map(|index| Self(1 << index))
    }

    pub(crate) fn all_names() -> String {
        KINDS.join(", ")
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        (0..KINDS.len()).map(|index| Self(1 << index)).filter(move |kind| self.has(*kind))
    }

    /// The name of the only kind in the set.
    pub(crate) fn name(self) -> &'static str {
        KINDS.get(self.0.trailing_zeros() as usize).copied().unwrap_or("value")
    }

    /// Every type that the value is an instance of.
    pub(crate) fn of(value: &Value) -> Self {
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
