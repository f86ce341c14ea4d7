//! One schema, indexed by keyword.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tool_model::Argument;

use super::keyword::{Keyword, KeywordSet};
use super::type_set::TypeSet;

static NOTHING: Value = Value::Null;

/// A schema with its values indexed by keyword, borrowed. Unknown keywords and invalid values are left out.
#[derive(Clone)]
pub(crate) struct SchemaNode<'a> {
    pub(crate) types: TypeSet,
    pub(crate) description: Option<&'a str>,
    /// `true` if `null` was split off, to be written in the provider's way. Its alternatives in `anyOf` are ignored
    /// from then on.
    pub(crate) without_null: bool,
    /// All keywords except `type` and `description`.
    pub(crate) keywords: KeywordSet,
    values: [&'a Value; Keyword::ALL.len()],
}

/// The siblings of a `$ref` that do not change which values are valid.
const BESIDE_A_REFERENCE: KeywordSet = KeywordSet::from_list(&[Keyword::Ref, Keyword::Default, Keyword::Examples]);

impl<'a> SchemaNode<'a> {
    pub(crate) fn new() -> Self {
        let values = [&NOTHING; Keyword::ALL.len()];
        Self { types: TypeSet::NONE, description: None, without_null: false, keywords: KeywordSet::default(), values }
    }

    pub(crate) fn read(schema: &'a Value) -> Self {
        match schema {
            Value::Object(object) => Self::from_map(object),
            Value::Bool(false) => {
                let mut node = Self::new();
                static ANYTHING: Value = Value::Bool(true);
                node.set(Keyword::Not, &ANYTHING);
                node
            }
            _ => Self::new(),
        }
    }

    pub(crate) fn from_map(schema: &'a Map<String, Value>) -> Self {
        let mut node = Self::new();
        for (key, value) in schema {
            match Keyword::from_name(key) {
                Some(Keyword::Type) => node.types = TypeSet::read(value),
                Some(Keyword::Description) => node.description = value.as_str(),
                // A tuple, in older drafts.
                Some(Keyword::Items) if value.is_array() => node.set(Keyword::PrefixItems, value),
                Some(keyword) if keyword.takes(value) => node.set(keyword, value),
                _ => {}
            }
        }
        node
    }

    pub(crate) fn from_argument(argument: &'a Argument) -> Self {
        let mut node = Self::from_keywords(&argument.keywords);
        node.types = TypeSet::named(&argument.type_name);
        node.description = argument.description.as_deref();
        node
    }

    fn from_keywords(keywords: &'a BTreeMap<String, Value>) -> Self {
        let mut node = Self::new();
        for (key, value) in keywords {
            match Keyword::from_name(key) {
                Some(Keyword::Items) if value.is_array() => node.set(Keyword::PrefixItems, value),
                Some(keyword) if keyword.takes(value) => node.set(keyword, value),
                _ => {}
            }
        }
        node
    }

    pub(crate) fn set(&mut self, keyword: Keyword, value: &'a Value) {
        self.keywords.insert(keyword);
        self.values[keyword as usize] = value;
    }

    pub(crate) fn remove(&mut self, keyword: Keyword) {
        self.keywords.remove(keyword);
    }

    pub(crate) fn get(&self, keyword: Keyword) -> Option<&'a Value> {
        self.keywords.contains(keyword).then(|| self.values[keyword as usize])
    }

    pub(crate) fn list(&self, keyword: Keyword) -> Option<&'a [Value]> {
        self.get(keyword)?.as_array().map(Vec::as_slice)
    }

    pub(crate) fn map(&self, keyword: Keyword) -> Option<&'a Map<String, Value>> {
        self.get(keyword)?.as_object()
    }

    pub(crate) fn integer(&self, keyword: Keyword) -> Option<u64> {
        self.get(keyword)?.as_u64()
    }

    /// Returns `true` if `required` lists this name.
    pub(crate) fn requires(&self, name: &str) -> bool {
        self.list(Keyword::Required).is_some_and(|names| names.iter().any(|required| required == name))
    }

    /// Returns `true` if an `enum` value is possible: it has the right type and is not a `null` that was split off.
    pub(crate) fn can_be(&self, value: &Value) -> bool {
        !(self.without_null && value.is_null()) && (self.types.is_none() || self.types.take(value))
    }

    /// Returns `true` if the schema is a reference without further constraints.
    pub(crate) fn only_refers(&self) -> bool {
        self.keywords.without(BESIDE_A_REFERENCE).is_empty()
    }

    /// Infers the type from the other keywords, if `type` is missing.
    pub(crate) fn infer_type(&mut self) {
        if !self.types.is_none() {
            return;
        }
        if let Some(values) = self.list(Keyword::Enum) {
            self.types = TypeSet::from_values(values);
        } else if let Some(value) = self.get(Keyword::Const) {
            self.types = TypeSet::from_value(value);
        } else if self.keywords.intersects(KeywordSet::from_list(&[Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf])) {
            // The alternatives define the type.
        } else if self.keywords.contains(Keyword::Properties) {
            self.types = TypeSet::OBJECT;
        } else if self.keywords.contains(Keyword::Items) || self.keywords.contains(Keyword::PrefixItems) {
            self.types = TypeSet::ARRAY;
        }
    }

    /// Overrides the annotations of a type with those of the place of use.
    pub(crate) fn annotated_by(mut self, place: &Self) -> Self {
        self.description = place.description.or(self.description);
        for keyword in [Keyword::Default, Keyword::Examples] {
            if let Some(value) = place.get(keyword) {
                self.set(keyword, value);
            }
        }
        self
    }

    /// Splits off `null` and returns `true` if it was valid. If a single alternative remains, it replaces the node.
    pub(crate) fn split_null(&mut self) -> bool {
        if self.without_null {
            return false;
        }
        let has_others = self.types.without(TypeSet::NULL) != TypeSet::NONE;
        let mut found = self.types.has(TypeSet::NULL) && has_others;
        if found {
            self.types = self.types.without(TypeSet::NULL);
        }
        if self.types.is_none()
            && self.list(Keyword::Enum).is_some_and(|values| values.contains(&NOTHING) && values.len() > 1)
        {
            found = true;
        }
        for keyword in [Keyword::AnyOf, Keyword::OneOf] {
            let Some(forms) = self.list(keyword) else { continue };
            if !forms.iter().any(is_null) || forms.iter().all(is_null) {
                continue;
            }
            found = true;
            let mut others = forms.iter().filter(|form| !is_null(form));
            if let (Some(only), None) = (others.next(), others.next())
                && self.says_only(keyword)
            {
                *self = Self::read(only).annotated_by(self);
                return true;
            }
        }
        self.without_null = found;
        found
    }

    fn says_only(&self, keyword: Keyword) -> bool {
        let beside = KeywordSet::from_list(&[Keyword::Default, Keyword::Examples]);
        let mut rest = self.keywords.without(beside);
        rest.remove(keyword);
        self.types.is_none() && rest.is_empty()
    }

    /// Returns the schema as a map, without the given keywords.
    pub(crate) fn to_map(&self, leaving_out: KeywordSet) -> Map<String, Value> {
        let mut map: Map<String, Value> = self
            .keywords
            .without(leaving_out)
            .iter()
            .map(|keyword| (keyword.text().to_owned(), self.values[keyword as usize].clone()))
            .collect();
        let types: Vec<Value> = self.types.each().map(|one| Value::from(one.name())).collect();
        match types.len() {
            0 => {}
            1 => drop(map.insert("type".to_owned(), self.types.name().into())),
            _ => drop(map.insert("type".to_owned(), Value::Array(types))),
        }
        if let Some(description) = self.description {
            map.insert("description".to_owned(), description.into());
        }
        map
    }

    /// Returns `true` if every value is valid.
    pub(crate) fn is_any(&self) -> bool {
        const ANNOTATIONS: KeywordSet = KeywordSet::from_list(&[Keyword::Default, Keyword::Examples, Keyword::Defs]);
        self.types.is_none() && self.keywords.without(ANNOTATIONS).is_empty()
    }
}

/// Returns `true` if only `null` is valid.
pub(crate) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null") || schema.get("const").is_some_and(Value::is_null)
}
