//! What a whole schema accepts, in words.

use std::cell::{Cell, RefCell};

use serde_json::Value;

use super::phrases;
use super::schema::{ArrayRules, Definitions, Kinds, ObjectRules, Rules, Schema};

/// The largest number of schemas that one description looks into.
const MOST_SCHEMAS: u32 = 64;

/// Puts a schema into words; used for one description only.
pub(crate) struct Describer<'a> {
    definitions: &'a Definitions,
    remaining: Cell<u32>,
    /// The schemas that are being written. Inside of itself a recursive definition is only named.
    open: RefCell<Vec<*const Rules>>,
}

impl<'a> Describer<'a> {
    pub(crate) fn new(definitions: &'a Definitions) -> Self {
        Self { definitions, remaining: Cell::new(MOST_SCHEMAS), open: RefCell::default() }
    }

    /// Describes a part of these rules.
    pub(super) fn inside(self, rules: &Rules) -> Self {
        self.open.borrow_mut().push(rules);
        self
    }

    pub(crate) fn schema(&self, schema: &Schema) -> String {
        match schema {
            Schema::Anything => "any value".to_owned(),
            Schema::Nothing => "nothing".to_owned(),
            Schema::Rules(rules) if self.is_open(rules) => rules.name.clone().unwrap_or_else(|| "…".to_owned()),
            Schema::Rules(_) if !self.may_look_further() => "…".to_owned(),
            Schema::Rules(rules) => self.rules(rules),
        }
    }

    fn is_open(&self, rules: &Rules) -> bool {
        self.open.borrow().iter().any(|open| std::ptr::eq(*open, rules))
    }

    fn may_look_further(&self) -> bool {
        let remaining = self.remaining.get();
        self.remaining.set(remaining.saturating_sub(1));
        remaining > 0
    }

    pub(crate) fn rules(&self, rules: &Rules) -> String {
        self.open.borrow_mut().push(rules);
        let text = self.write(rules);
        self.open.borrow_mut().pop();
        text
    }

    fn write(&self, rules: &Rules) -> String {
        if let Some(allowed) = &rules.allowed {
            return phrases::one_of_values(allowed);
        }
        let mut parts = self.parts_from_elsewhere(rules);
        // Beside a `$ref` the type alone says nothing new.
        if parts.is_empty() || !rules.is_only_a_type() {
            parts.splice(0..0, self.own(rules));
        }
        match &rules.not {
            Some(not) if parts.is_empty() => format!("anything but {}", self.excluded(not)),
            Some(not) => format!("{} other than {}", parts.join(" and "), self.excluded(not)),
            None if parts.is_empty() => "any value".to_owned(),
            None => parts.join(" and "),
        }
    }

    /// Describes the schema of a `not`: listed values as they are.
    fn excluded(&self, schema: &Schema) -> String {
        match self.allowed(schema) {
            Some(values) => phrases::list_of_values(values),
            None => bracketed(self.schema(schema)),
        }
    }

    fn parts_from_elsewhere(&self, rules: &Rules) -> Vec<String> {
        let referred = rules.reference.as_ref().and_then(|name| self.definitions.get(name));
        let mut parts: Vec<_> = referred.into_iter().chain(&rules.all_of).map(|schema| self.schema(schema)).collect();
        for alternatives in [&rules.any_of, &rules.one_of] {
            if !alternatives.is_empty() {
                parts.push(self.alternatives(alternatives));
            }
        }
        parts.retain(|part| part != "any value");
        parts
    }

    /// The schema's own type and its rules; `None` if it has none.
    fn own(&self, rules: &Rules) -> Option<String> {
        let kinds = rules.kinds.unwrap_or_else(|| rules.kinds_ruled());
        let words = kinds.each().filter(|kind| *kind != Kinds::INTEGER || !kinds.has(Kinds::NUMBER));
        let mut words: Vec<_> = words.map(|kind| self.kind(kind, rules)).collect();
        let last = words.pop()?;
        Some(if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) })
    }

    fn kind(&self, kind: Kinds, rules: &Rules) -> String {
        match kind {
            Kinds::STRING => phrases::text(&rules.text),
            Kinds::INTEGER | Kinds::NUMBER => phrases::number(kind.name(), &rules.number),
            Kinds::ARRAY => self.array(&rules.array),
            Kinds::OBJECT => self.object(rules.name.as_deref(), &rules.object),
            _ => kind.name().to_owned(),
        }
    }

    fn array(&self, rules: &ArrayRules) -> String {
        let array = match &rules.items {
            _ if !rules.prefix.is_empty() => self.tuple(rules),
            None | Some(Schema::Anything) => "array".to_owned(),
            Some(Schema::Nothing) => "empty array".to_owned(),
            Some(items) => format!("array of {}", bracketed(self.schema(items))),
        };
        phrases::with_count(array, rules.count, "item", "items")
    }

    /// `array [string, integer, …]`
    fn tuple(&self, rules: &ArrayRules) -> String {
        let mut items: Vec<_> = rules.prefix.iter().map(|schema| self.schema(schema)).collect();
        if rules.possible_count().most.is_none_or(|most| most > rules.prefix.len() as u64) {
            items.push("…".to_owned());
        }
        format!("array [{}]", items.join(", "))
    }

    fn object(&self, name: Option<&str>, rules: &ObjectRules) -> String {
        if let Some(name) = name {
            return format!("object {name}");
        }
        let tags: Vec<_> =
            rules.required.iter().filter_map(|name| Some((name, self.only_value(rules, name)?))).collect();
        let object = match &rules.additional {
            _ if !tags.is_empty() => {
                let tags: Vec<_> =
                    tags.iter().map(|(name, value)| format!("`{name}` {}", phrases::quoted(value))).collect();
                format!("object with {}", tags.join(" and "))
            }
            _ if !rules.required.is_empty() => {
                format!("object with {}", phrases::names(rules.required.iter().map(String::as_str)))
            }
            Some(values @ Schema::Rules(_)) if rules.properties.is_empty() => {
                format!("object of {}", bracketed(self.schema(values)))
            }
            _ => "object".to_owned(),
        };
        phrases::with_count(object, rules.count, "property", "properties")
    }

    fn only_value<'r>(&'r self, rules: &'r ObjectRules, name: &str) -> Option<&'r Value> {
        match self.allowed(rules.properties.get(name)?)? {
            [only] => Some(only),
            _ => None,
        }
    }

    /// `one of: object Order; string`; values are listed as values, and `X or null` is said so.
    pub(super) fn alternatives(&self, schemas: &[Schema]) -> String {
        let mut texts = Vec::new();
        let mut values = Vec::new();
        for schema in schemas {
            match self.allowed(schema) {
                Some(allowed) => values.extend(allowed),
                None => texts.push(self.schema(schema)),
            }
        }
        match (texts.as_slice(), values.as_slice()) {
            ([], values) => phrases::one_of_values(values.iter().copied()),
            ([only], []) => only.clone(),
            ([only], [Value::Null]) if !only.starts_with("one of") => format!("{only} or null"),
            (texts, values) => {
                let values = values.iter().map(|value| phrases::quoted(value));
                format!("one of: {}", texts.iter().cloned().chain(values).collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// The only values that the schema accepts, if it lists them.
    pub(crate) fn allowed<'s>(&'s self, schema: &'s Schema) -> Option<&'s [Value]> {
        let Schema::Rules(rules) = schema else { return None };
        if let Some(allowed) = &rules.allowed {
            return Some(allowed);
        }
        if rules.kinds == Some(Kinds::NULL) {
            return Some(&[Value::Null]);
        }
        let referred = rules.reference.as_ref().and_then(|name| self.definitions.get(name))?;
        if self.may_look_further() { self.allowed(referred) } else { None }
    }
}

/// `(integer or null)`, where the words around it would otherwise be read as part of it.
fn bracketed(text: String) -> String {
    let has_alternatives = [" or ", "one of", "; "].iter().any(|mark| text.contains(mark));
    if has_alternatives { format!("({text})") } else { text }
}
