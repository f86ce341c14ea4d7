//! Expectations: the values that a schema accepts, as data.

use serde_json::Value;

use super::path::shortened;
use super::schema::{JsonTypes, NumberRules, TextRules};

/// The number of values or names that a list keeps.
const LONGEST_LIST: usize = 20;
/// The number of characters of a value that is quoted in a sentence.
const LONGEST_QUOTE: usize = 40;

/// The values that a schema accepts. Its [`Display`](std::fmt::Display) form is one line for a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expectation {
    /// Any value.
    Anything,
    /// No value.
    Nothing,
    /// A part that was left out to keep the description short.
    Omitted,
    /// A definition inside of itself.
    Recursion(String),
    /// Listed values.
    Values(ValueList),
    /// `null`
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number(NumberRange),
    /// A string.
    Text(TextForm),
    /// An array.
    Array {
        /// The items.
        items: ArrayForm,
        /// The number of items.
        count: CountRange,
    },
    /// An object.
    Object {
        /// The properties.
        properties: ObjectForm,
        /// The number of properties.
        count: CountRange,
    },
    /// A value of one of several types.
    Types(Vec<Expectation>),
    /// A value that meets all of these.
    All(Vec<Expectation>),
    /// A value that meets one of these, or equals one of the values, which are JSON.
    OneOf {
        /// The alternatives.
        alternatives: Vec<Expectation>,
        /// The alternatives that are values.
        values: Vec<String>,
    },
    /// A value that meets exactly one of these two; the received one meets both.
    OnlyOne(Box<Expectation>, Box<Expectation>),
    /// A value or `null`.
    OrNull(Box<Expectation>),
    /// A value that is not one of the excluded.
    Except {
        /// The values to choose from; `None` for any.
        from: Option<Box<Expectation>>,
        /// The excluded values.
        excluded: Box<Expectation>,
    },
    /// A number of items.
    ItemCount(CountRange),
    /// A number of properties.
    PropertyCount(CountRange),
    /// A number of items of one form.
    MatchingItems {
        /// The number of items.
        count: CountRange,
        /// The form.
        item: Box<Expectation>,
    },
    /// A property's name.
    PropertyName(Box<Expectation>),
    /// A value that the type can read.
    Decodable,
    /// Another value than the received one, which the schema accepts and the type does not.
    Another(Box<Expectation>),
}

/// Values as JSON, each of at most 40 characters, and the number of those that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValueList {
    /// The first values.
    pub shown: Vec<String>,
    /// The number of further values.
    pub omitted: usize,
}

/// Names, and the number of those that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NameList {
    /// The first names.
    pub shown: Vec<String>,
    /// The number of further names.
    pub omitted: usize,
}

/// A range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NumberRange {
    /// `true` for integers only.
    pub is_integer: bool,
    /// The lower bound.
    pub least: Option<NumberBound>,
    /// The upper bound.
    pub most: Option<NumberBound>,
    /// The divisor, as JSON.
    pub multiple_of: Option<String>,
}

/// A bound of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NumberBound {
    /// The bound, as JSON.
    pub value: String,
    /// `true` if the bound itself is outside of the range.
    pub is_exclusive: bool,
}

/// A number of characters, items or properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CountRange {
    /// The least number.
    pub least: Option<u64>,
    /// The greatest number.
    pub most: Option<u64>,
}

/// The form of a string.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextForm {
    /// The number of characters.
    pub length: CountRange,
    /// The format, such as `uuid`.
    pub format: Option<&'static str>,
    /// The pattern.
    pub pattern: Option<String>,
}

/// The items of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayForm {
    /// Any items.
    Any,
    /// No items.
    Empty,
    /// Items of one form.
    Of(Box<Expectation>),
    /// Items by their position.
    Tuple {
        /// The first items.
        items: Vec<Expectation>,
        /// `true` if more may follow.
        is_open: bool,
    },
}

/// The properties of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectForm {
    /// Any properties.
    Any,
    /// The properties of a named definition.
    Named(String),
    /// Properties with one possible value each, as JSON.
    Tagged(Vec<(String, String)>),
    /// These properties, and maybe others.
    Required(NameList),
    /// Values of one form.
    Of(Box<Expectation>),
}

/// Returns a value as JSON, shortened for a sentence.
pub(crate) fn quoted(value: &Value) -> String {
    shortened(value, LONGEST_QUOTE)
}

impl Expectation {
    pub(super) fn values<'a>(values: impl IntoIterator<Item = &'a Value>) -> Self {
        Self::Values(ValueList::new(values))
    }

    pub(super) fn number(kind: JsonTypes, rules: &NumberRules) -> Self {
        let bound = |bound: super::schema::NumberLimit| NumberBound {
            value: bound.value.to_string(),
            is_exclusive: bound.exclusive,
        };
        Self::Number(NumberRange {
            is_integer: kind == JsonTypes::INTEGER,
            least: rules.least.map(bound),
            most: rules.most.map(bound),
            multiple_of: rules.multiple_of.map(|divisor| divisor.to_string()),
        })
    }

    pub(super) fn text(rules: &TextRules) -> Self {
        Self::Text(TextForm {
            length: rules.length,
            format: rules.format.map(|format| format.name()),
            pattern: rules.pattern.as_ref().map(|pattern| pattern.as_str().to_owned()),
        })
    }

    /// Returns `true` if the text offers a choice somewhere, so that it needs brackets inside of a longer text.
    pub(super) fn has_choice(&self) -> bool {
        match self {
            Self::Values(values) => values.len() > 1,
            Self::Types(types) => types.len() > 1 || types.iter().any(Self::has_choice),
            Self::OneOf { .. } | Self::OnlyOne(..) | Self::OrNull(_) => true,
            Self::All(parts) => parts.iter().any(Self::has_choice),
            Self::Except { from, excluded } => {
                from.as_deref().is_some_and(Self::has_choice)
                    || !matches!(**excluded, Self::Values(_)) && excluded.has_choice()
            }
            Self::Array { items: ArrayForm::Of(item), .. } | Self::MatchingItems { item, .. } => item.has_choice(),
            Self::Array { items: ArrayForm::Tuple { items, .. }, .. } => items.iter().any(Self::has_choice),
            Self::Object { properties: ObjectForm::Of(value), .. } | Self::Another(value) => value.has_choice(),
            _ => false,
        }
    }

    /// Returns `true` if the text begins with a list of alternatives.
    pub(super) fn begins_with_list(&self) -> bool {
        match self {
            Self::Values(values) => values.len() > 1,
            Self::OneOf { .. } => true,
            Self::OrNull(inner) | Self::Another(inner) => inner.begins_with_list(),
            Self::Except { from, .. } => from.as_deref().is_some_and(Self::begins_with_list),
            Self::All(parts) | Self::Types(parts) => parts.first().is_some_and(Self::begins_with_list),
            _ => false,
        }
    }
}

impl ValueList {
    pub(super) fn new<'a>(values: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut values = values.into_iter();
        let shown = values.by_ref().take(LONGEST_LIST).map(quoted).collect();
        Self { shown, omitted: values.count() }
    }

    fn len(&self) -> usize {
        self.shown.len() + self.omitted
    }
}

impl NameList {
    /// Creates a list of the first names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = names.into_iter();
        let shown = names.by_ref().take(LONGEST_LIST).map(str::to_owned).collect();
        Self { shown, omitted: names.count() }
    }

    /// Returns `true` if there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }
}

impl CountRange {
    pub(crate) fn admits(self, count: usize) -> bool {
        let count = count as u64;
        self.least.is_none_or(|least| count >= least) && self.most.is_none_or(|most| count <= most)
    }

    pub(crate) fn is_free(self) -> bool {
        self == Self::default()
    }
}
