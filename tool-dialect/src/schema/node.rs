//! One schema, laid out by keyword.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tool_model::Argument;

use super::keyword::{Keyword, Keywords};
use super::types::Types;

static NOTHING: Value = Value::Null;

/// One schema: what it says under each keyword, without a copy. Keywords that say nothing are not in it, and those
/// whose value makes no sense.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    pub(crate) types: Types,
    pub(crate) description: Option<&'a str>,
    /// Whether a `null` that fits was taken out, to be said in the provider's way; its forms below `anyOf` count no
    /// more.
    pub(crate) without_null: bool,
    /// All keywords but `type` and `description`.
    pub(crate) said: Keywords,
    values: [&'a Value; Keyword::ALL.len()],
}

/// What can stand beside a `$ref` without changing what fits.
const BESIDE_A_REFERENCE: Keywords = Keywords::of(&[Keyword::Ref, Keyword::Default, Keyword::Examples]);

impl<'a> Node<'a> {
    pub(crate) fn new() -> Self {
        let values = [&NOTHING; Keyword::ALL.len()];
        Self { types: Types::NONE, description: None, without_null: false, said: Keywords::default(), values }
    }

    pub(crate) fn read(schema: &'a Value) -> Self {
        match schema {
            Value::Object(object) => Self::of_map(object),
            Value::Bool(false) => {
                let mut node = Self::new();
                static ANYTHING: Value = Value::Bool(true);
                node.set(Keyword::Not, &ANYTHING);
                node
            }
            _ => Self::new(),
        }
    }

    pub(crate) fn of_map(schema: &'a Map<String, Value>) -> Self {
        let mut node = Self::new();
        for (key, value) in schema {
            match Keyword::of(key) {
                Some(Keyword::Type) => node.types = Types::read(value),
                Some(Keyword::Description) => node.description = value.as_str(),
                // A tuple in the older drafts.
                Some(Keyword::Items) if value.is_array() => node.set(Keyword::PrefixItems, value),
                Some(keyword) if keyword.takes(value) => node.set(keyword, value),
                _ => {}
            }
        }
        node
    }

    pub(crate) fn of_argument(argument: &'a Argument) -> Self {
        let mut node = Self::of_keywords(&argument.keywords);
        node.types = Types::named(&argument.type_name);
        node.description = argument.description.as_deref();
        node
    }

    fn of_keywords(keywords: &'a BTreeMap<String, Value>) -> Self {
        let mut node = Self::new();
        for (key, value) in keywords {
            match Keyword::of(key) {
                Some(Keyword::Items) if value.is_array() => node.set(Keyword::PrefixItems, value),
                Some(keyword) if keyword.takes(value) => node.set(keyword, value),
                _ => {}
            }
        }
        node
    }

    pub(crate) fn set(&mut self, keyword: Keyword, value: &'a Value) {
        self.said.insert(keyword);
        self.values[keyword as usize] = value;
    }

    pub(crate) fn remove(&mut self, keyword: Keyword) {
        self.said.remove(keyword);
    }

    pub(crate) fn get(&self, keyword: Keyword) -> Option<&'a Value> {
        self.said.contains(keyword).then(|| self.values[keyword as usize])
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

    /// Whether a list of names, such as `required`, has this one.
    pub(crate) fn requires(&self, name: &str) -> bool {
        self.list(Keyword::Required).is_some_and(|names| names.iter().any(|required| required == name))
    }

    /// Whether one of its values to choose from can come: it is of the right type, and no `null` that was taken out.
    pub(crate) fn can_be(&self, value: &Value) -> bool {
        !(self.without_null && value.is_null()) && (self.types.is_none() || self.types.take(value))
    }

    /// Whether it refers and says nothing else of what fits.
    pub(crate) fn only_refers(&self) -> bool {
        self.said.without(BESIDE_A_REFERENCE).is_empty()
    }

    /// The type that follows from the other keywords, where `type` is not said.
    pub(crate) fn infer_type(&mut self) {
        if !self.types.is_none() {
            return;
        }
        if let Some(values) = self.list(Keyword::Enum) {
            self.types = Types::of_values(values);
        } else if let Some(value) = self.get(Keyword::Const) {
            self.types = Types::of_value(value);
        } else if self.said.meets(Keywords::of(&[Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf])) {
            // The forms say it.
        } else if self.said.contains(Keyword::Properties) {
            self.types = Types::OBJECT;
        } else if self.said.contains(Keyword::Items) || self.said.contains(Keyword::PrefixItems) {
            self.types = Types::ARRAY;
        }
    }

    /// Puts the annotations of a place over what its type says.
    pub(crate) fn annotated_by(mut self, place: &Self) -> Self {
        self.description = place.description.or(self.description);
        for keyword in [Keyword::Default, Keyword::Examples] {
            if let Some(value) = place.get(keyword) {
                self.set(keyword, value);
            }
        }
        self
    }

    /// Takes out a `null` that fits, and says whether there was one. Where a single form is left, the node becomes it.
    pub(crate) fn split_null(&mut self) -> bool {
        if self.without_null {
            return false;
        }
        let has_others = self.types.without(Types::NULL) != Types::NONE;
        let mut found = self.types.has(Types::NULL) && has_others;
        if found {
            self.types = self.types.without(Types::NULL);
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
        let beside = Keywords::of(&[Keyword::Default, Keyword::Examples]);
        let mut rest = self.said.without(beside);
        rest.remove(keyword);
        self.types.is_none() && rest.is_empty()
    }

    /// The same as a value of its own, without some keywords.
    pub(crate) fn to_map(&self, leaving_out: Keywords) -> Map<String, Value> {
        let mut map: Map<String, Value> = self
            .said
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

    /// Whether nothing is said of what fits.
    pub(crate) fn is_any(&self) -> bool {
        const ANNOTATIONS: Keywords = Keywords::of(&[Keyword::Default, Keyword::Examples, Keyword::Defs]);
        self.types.is_none() && self.said.without(ANNOTATIONS).is_empty()
    }
}

/// Whether only `null` fits.
pub(crate) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null") || schema.get("const").is_some_and(Value::is_null)
}
