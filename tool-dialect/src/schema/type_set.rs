//! Sets of JSON types.

use serde_json::Value;

/// A set of JSON types; empty if a schema has no `type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

const NAMES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

impl TypeSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ARRAY: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(1 << 1);
    pub(crate) const INTEGER: Self = Self(1 << 2);
    pub(crate) const NULL: Self = Self(1 << 3);
    pub(crate) const NUMBER: Self = Self(1 << 4);
    pub(crate) const OBJECT: Self = Self(1 << 5);
    pub(crate) const STRING: Self = Self(1 << 6);

    pub(crate) fn named(name: &str) -> Self {
        match name {
            "array" => Self::ARRAY,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "null" => Self::NULL,
            "number" => Self::NUMBER,
            "object" => Self::OBJECT,
            "string" => Self::STRING,
            _ => Self::NONE,
        }
    }

    /// Reads the value of `type`: one name or a list.
    pub(crate) fn read(value: &Value) -> Self {
        match value {
            Value::String(name) => Self::named(name),
            Value::Array(names) => names.iter().fold(Self::NONE, |types, name| types.or(Self::read(name))).plain(),
            _ => Self::NONE,
        }
    }

    pub(crate) fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() => Self::NUMBER,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Returns `true` if a value has one of these types.
    pub(crate) fn take(self, value: &Value) -> bool {
        let own = Self::from_value(value);
        let is_whole = || value.as_f64().is_some_and(|number| number.fract() == 0.0);
        self.has(own)
            || (own == Self::INTEGER && self.has(Self::NUMBER))
            || (own == Self::NUMBER && self.has(Self::INTEGER) && is_whole())
    }

    /// Returns the intersection. Every integer is a number.
    pub(crate) fn both(self, other: Self) -> Self {
        let wide = |types: Self| if types.has(Self::NUMBER) { types.or(Self::INTEGER) } else { types };
        Self(wide(self).0 & wide(other).0).plain()
    }

    /// Returns the types of all values.
    pub(crate) fn from_values(values: &[Value]) -> Self {
        values.iter().fold(Self::NONE, |types, value| types.or(Self::from_value(value))).plain()
    }

    /// Removes `integer` if `number` is in the set, which includes it.
    fn plain(self) -> Self {
        if self.has(Self::NUMBER) { self.without(Self::INTEGER) } else { self }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_union(self) -> bool {
        self.0.count_ones() > 1
    }

    /// Returns the name of a single type.
    pub(crate) fn name(self) -> &'static str {
        NAMES.get(self.0.trailing_zeros() as usize).copied().unwrap_or("any")
    }

    /// Returns the types one by one, sorted by name.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        (0..NAMES.len()).map(|at| Self(1 << at)).filter(move |one| self.has(*one))
    }
}
