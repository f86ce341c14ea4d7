//! JSON Schema keywords and sets of them.

use serde_json::Value;

/// The type of value that a keyword requires. Other values are ignored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueShape {
    /// One schema.
    Schema,
    /// An array of schemas.
    Schemas,
    /// An object with schemas as values.
    Named,
    Number,
    Text,
    Truth,
    List,
    Object,
    Any,
}

macro_rules! keywords {
    ($($keyword:ident $text:literal $shape:ident,)*) => {
        /// A JSON Schema keyword that is kept. Sorted by name, which is the order of writing.
        ///
        /// Other keywords have no effect and are dropped (`title`, `$comment`, `writeOnly`, `x-*`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Keyword {
            $($keyword,)*
        }

        impl Keyword {
            pub(crate) const ALL: &[Self] = &[$(Self::$keyword),*];

            pub(crate) fn from_name(text: &str) -> Option<Self> {
                Some(match text {
                    $($text => Self::$keyword,)*
                    _ => return None,
                })
            }

            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(Self::$keyword => $text,)*
                }
            }

            pub(crate) const fn shape(self) -> ValueShape {
                match self {
                    $(Self::$keyword => ValueShape::$shape,)*
                }
            }
        }
    };
}

keywords! {
    Defs "$defs" Named,
    Ref "$ref" Text,
    AdditionalProperties "additionalProperties" Schema,
    AllOf "allOf" Schemas,
    AnyOf "anyOf" Schemas,
    Const "const" Any,
    Contains "contains" Schema,
    Default "default" Any,
    DependentRequired "dependentRequired" Object,
    DependentSchemas "dependentSchemas" Named,
    Description "description" Text,
    Else "else" Schema,
    Enum "enum" List,
    Examples "examples" List,
    ExclusiveMaximum "exclusiveMaximum" Number,
    ExclusiveMinimum "exclusiveMinimum" Number,
    Format "format" Text,
    If "if" Schema,
    Items "items" Schema,
    MaxContains "maxContains" Number,
    MaxItems "maxItems" Number,
    MaxLength "maxLength" Number,
    MaxProperties "maxProperties" Number,
    Maximum "maximum" Number,
    MinContains "minContains" Number,
    MinItems "minItems" Number,
    MinLength "minLength" Number,
    MinProperties "minProperties" Number,
    Minimum "minimum" Number,
    MultipleOf "multipleOf" Number,
    Not "not" Schema,
    OneOf "oneOf" Schemas,
    Pattern "pattern" Text,
    PatternProperties "patternProperties" Named,
    PrefixItems "prefixItems" Schemas,
    Properties "properties" Named,
    PropertyNames "propertyNames" Schema,
    Required "required" List,
    Then "then" Schema,
    Type "type" Any,
    UnevaluatedItems "unevaluatedItems" Schema,
    UnevaluatedProperties "unevaluatedProperties" Schema,
    UniqueItems "uniqueItems" Truth,
}

impl Keyword {
    /// Returns `true` if the value has the type that the keyword requires. Remote tools also use older drafts, in which
    /// `exclusiveMinimum` is a boolean and `required` belongs to the property.
    pub(crate) fn takes(self, value: &Value) -> bool {
        match self.shape() {
            ValueShape::Any => true,
            ValueShape::Number => value.is_number(),
            ValueShape::Text => value.is_string(),
            ValueShape::Truth => value.is_boolean(),
            ValueShape::List | ValueShape::Schemas => value.is_array(),
            ValueShape::Named | ValueShape::Object => value.is_object(),
            ValueShape::Schema => value.is_object() || value.is_boolean(),
        }
    }
}

/// A set of keywords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeywordSet(u64);

impl KeywordSet {
    pub(crate) const fn from_list(list: &[Keyword]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < list.len() {
            bits |= 1 << list[at] as u64;
            at += 1;
        }
        Self(bits)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn contains(self, keyword: Keyword) -> bool {
        self.0 >> keyword as u64 & 1 == 1
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn insert(&mut self, keyword: Keyword) {
        self.0 |= 1 << keyword as u64;
    }

    pub(crate) fn remove(&mut self, keyword: Keyword) {
        self.0 &= !(1 << keyword as u64);
    }

    /// Returns the keywords in alphabetical order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Keyword> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let keyword = Keyword::ALL.get(rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(*keyword)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_and_found() {
        let texts: Vec<&str> = Keyword::ALL.iter().map(|keyword| keyword.text()).collect();
        assert!(texts.is_sorted());
        assert!(Keyword::ALL.iter().all(|&keyword| Keyword::from_name(keyword.text()) == Some(keyword)));
        let set = KeywordSet::from_list(&[Keyword::Type, Keyword::Ref, Keyword::Items]);
        assert_eq!(set.iter().map(Keyword::text).collect::<Vec<_>>(), ["$ref", "items", "type"]);
        assert_eq!(KeywordSet::default().iter().count(), 0);
    }
}
