//! Parsed schemas: every keyword typed, and grouped by the JSON type that it applies to.

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::Value;

use super::expectation::CountRange;
use super::format::StringFormat;
use super::number::ExactNumber;
use crate::compatibility::SourceFacts;

/// The definitions that a schema refers to, by name.
pub(crate) type Definitions = BTreeMap<String, Schema>;

#[derive(Debug)]
pub(crate) enum Schema {
    /// `true`
    Anything,
    /// `false`
    Nothing,
    Rules(Box<SchemaRules>),
}

/// An object schema. A group of rules applies to its own JSON type and accepts values of any other.
#[derive(Debug, Default)]
pub(crate) struct SchemaRules {
    /// The definition's name, or else its title.
    pub(crate) name: Option<String>,
    pub(crate) reference: Option<String>,
    pub(crate) kinds: Option<JsonTypes>,
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
    pub(crate) condition: Option<ConditionRules>,
    /// Facts that only the comparison of two manifests looks at.
    pub(crate) facts: Option<Box<SourceFacts>>,
}

#[derive(Debug, Default)]
pub(crate) struct NumberRules {
    pub(crate) least: Option<NumberLimit>,
    pub(crate) most: Option<NumberLimit>,
    pub(crate) multiple_of: Option<ExactNumber>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberLimit {
    pub(crate) value: ExactNumber,
    pub(crate) exclusive: bool,
}

#[derive(Debug, Default)]
pub(crate) struct TextRules {
    pub(crate) length: CountRange,
    pub(crate) pattern: Option<Regex>,
    pub(crate) format: Option<StringFormat>,
}

#[derive(Debug, Default)]
pub(crate) struct ArrayRules {
    pub(crate) count: CountRange,
    pub(crate) prefix: Vec<Schema>,
    /// The schema of every item after the prefix.
    pub(crate) items: Option<Schema>,
    pub(crate) contains: Option<ContainsRules>,
    pub(crate) unique: bool,
}

#[derive(Debug)]
pub(crate) struct ContainsRules {
    pub(crate) schema: Schema,
    pub(crate) count: CountRange,
}

#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    pub(crate) count: CountRange,
    pub(crate) properties: BTreeMap<String, Schema>,
    pub(crate) patterns: Vec<(Regex, Schema)>,
    /// The schema of the properties that neither `properties` nor `patterns` cover.
    pub(crate) additional: Option<Schema>,
    /// The schema of the properties that no schema for the same object covers.
    pub(crate) unevaluated: Option<Schema>,
    pub(crate) names: Option<Schema>,
    pub(crate) required: Vec<String>,
    pub(crate) dependent_required: BTreeMap<String, Vec<String>>,
    pub(crate) dependent_schemas: BTreeMap<String, Schema>,
}

#[derive(Debug)]
pub(crate) struct ConditionRules {
    pub(crate) when: Schema,
    pub(crate) then: Option<Schema>,
    pub(crate) otherwise: Option<Schema>,
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
    /// Returns `true` if there are no rules for objects.
    pub(crate) fn is_empty(&self) -> bool {
        let nameless = self.properties.is_empty()
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.unevaluated.is_none();
        let undemanding = self.required.is_empty() && self.dependent_required.is_empty();
        self.count.is_free() && nameless && undemanding && self.names.is_none() && self.dependent_schemas.is_empty()
    }
}

impl SchemaRules {
    /// Returns the JSON types that have rules, for a schema without `type`.
    pub(crate) fn kinds_ruled(&self) -> JsonTypes {
        let ruled = [
            (JsonTypes::STRING, self.text.is_empty()),
            (JsonTypes::NUMBER, self.number.is_empty()),
            (JsonTypes::ARRAY, self.array.is_empty()),
            (JsonTypes::OBJECT, self.object.is_empty()),
        ];
        ruled.iter().filter(|(_, is_empty)| !is_empty).fold(JsonTypes::default(), |kinds, (kind, _)| kinds.with(*kind))
    }

    pub(crate) fn is_only_a_type(&self) -> bool {
        self.kinds_ruled() == JsonTypes::default() && self.name.is_none()
    }

    /// Returns `true` if the schema is a `$ref`, with a type at most.
    pub(crate) fn is_only_a_reference(&self) -> bool {
        self.reference.is_some()
            && self.allowed.is_none()
            && self.says_nothing_itself()
            && self.in_place().next().is_none()
    }

    /// Returns the alternatives of a schema that has nothing else, a type aside.
    pub(crate) fn only_alternatives(&self) -> Option<&[Schema]> {
        let others = self.in_place().count() - self.any_of.len() - self.one_of.len();
        let plain = self.reference.is_none() && self.allowed.is_none() && self.says_nothing_itself() && others == 0;
        match (self.any_of.as_slice(), self.one_of.as_slice()) {
            (any, []) if plain && !any.is_empty() => Some(any),
            ([], one) if plain && !one.is_empty() => Some(one),
            _ => None,
        }
    }

    /// Returns `true` if the schema accepts every value.
    pub(crate) fn is_free(&self) -> bool {
        self.kinds.is_none()
            && self.allowed.is_none()
            && self.reference.is_none()
            && self.says_nothing_itself()
            && self.in_place().next().is_none()
    }

    /// Returns `true` if the schema has no rules besides types, values and subschemas.
    pub(crate) fn says_nothing_itself(&self) -> bool {
        self.number.is_empty() && self.text.is_empty() && self.array.is_empty() && self.object.is_empty()
    }

    /// Returns the subschemas that apply to the same value, not to a part of it.
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
pub(crate) struct JsonTypes(u8);

/// The JSON types, in the order in which messages list them.
const KINDS: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

impl JsonTypes {
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

    /// Returns the name of the only type in the set.
    pub(crate) fn name(self) -> &'static str {
        KINDS.get(self.0.trailing_zeros() as usize).copied().unwrap_or("value")
    }

    /// Returns every type that the value is an instance of.
    pub(crate) fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if ExactNumber::from(number).is_integer() => Self::INTEGER.with(Self::NUMBER),
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }
}
