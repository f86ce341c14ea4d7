//! Descriptions of whole schemas.

use std::cell::{Cell, RefCell};

use serde_json::Value;

use super::expectation::{ArrayForm, CountRange, Expectation, NameList, ObjectForm, quoted};
use super::schema::{ArrayRules, Definitions, JsonTypes, ObjectRules, Schema, SchemaRules};

/// The number of schemas that one description looks into.
const MOST_SCHEMAS: u32 = 64;

/// Describes one schema as an [`Expectation`].
pub(crate) struct Describer<'a> {
    definitions: &'a Definitions,
    remaining: Cell<u32>,
    /// The schemas under description. Inside of itself a recursive definition is only named.
    open: RefCell<Vec<*const SchemaRules>>,
}

impl<'a> Describer<'a> {
    pub(crate) fn new(definitions: &'a Definitions) -> Self {
        Self { definitions, remaining: Cell::new(MOST_SCHEMAS), open: RefCell::default() }
    }

    /// Starts inside of these rules, so that a reference back to them is only named.
    pub(super) fn inside(self, rules: &SchemaRules) -> Self {
        self.open.borrow_mut().push(rules);
        self
    }

    pub(crate) fn schema(&self, schema: &Schema) -> Expectation {
        match schema {
            Schema::Anything => Expectation::Anything,
            Schema::Nothing => Expectation::Nothing,
            Schema::Rules(rules) if self.is_open(rules) => {
                rules.name.clone().map_or(Expectation::Omitted, Expectation::Recursion)
            }
            Schema::Rules(_) if !self.may_look_further() => Expectation::Omitted,
            Schema::Rules(rules) => self.rules(rules),
        }
    }

    fn is_open(&self, rules: &SchemaRules) -> bool {
        self.open.borrow().iter().any(|open| std::ptr::eq(*open, rules))
    }

    fn may_look_further(&self) -> bool {
        let remaining = self.remaining.get();
        self.remaining.set(remaining.saturating_sub(1));
        remaining > 0
    }

    pub(crate) fn rules(&self, rules: &SchemaRules) -> Expectation {
        self.open.borrow_mut().push(rules);
        let expectation = self.all_rules(rules);
        self.open.borrow_mut().pop();
        expectation
    }

    fn all_rules(&self, rules: &SchemaRules) -> Expectation {
        if let Some(allowed) = &rules.allowed {
            return Expectation::values(allowed);
        }
        let mut parts = self.composed(rules);
        // Beside a `$ref` the type alone adds nothing.
        if parts.is_empty() || !rules.is_only_a_type() {
            parts.splice(0..0, self.own(rules));
        }
        let all = match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(Expectation::All(parts)),
        };
        match &rules.not {
            Some(not) => Expectation::Except { from: all.map(Box::new), excluded: Box::new(self.excluded(not)) },
            None => all.unwrap_or(Expectation::Anything),
        }
    }

    /// Describes the schema of a `not`; listed values stay a list.
    fn excluded(&self, schema: &Schema) -> Expectation {
        match self.allowed(schema) {
            Some(values) => Expectation::values(values),
            None => self.schema(schema),
        }
    }

    /// Describes the schemas that the rules are composed of: `$ref`, `allOf`, `anyOf`, `oneOf`.
    fn composed(&self, rules: &SchemaRules) -> Vec<Expectation> {
        let referred = rules.reference.as_ref().and_then(|name| self.definitions.get(name));
        let mut parts: Vec<_> = referred.into_iter().chain(&rules.all_of).map(|schema| self.schema(schema)).collect();
        for alternatives in [&rules.any_of, &rules.one_of] {
            if !alternatives.is_empty() {
                parts.push(self.alternatives(alternatives));
            }
        }
        parts.retain(|part| *part != Expectation::Anything);
        parts
    }

    /// Describes the schema's own types and their rules; `None` if it has none.
    fn own(&self, rules: &SchemaRules) -> Option<Expectation> {
        let kinds = rules.kinds.unwrap_or_else(|| rules.kinds_ruled());
        let kinds = kinds.each().filter(|kind| *kind != JsonTypes::INTEGER || !kinds.has(JsonTypes::NUMBER));
        let mut types: Vec<_> = kinds.map(|kind| self.kind(kind, rules)).collect();
        match types.len() {
            0 | 1 => types.pop(),
            _ => Some(Expectation::Types(types)),
        }
    }

    fn kind(&self, kind: JsonTypes, rules: &SchemaRules) -> Expectation {
        match kind {
            JsonTypes::STRING => Expectation::text(&rules.text),
            JsonTypes::INTEGER | JsonTypes::NUMBER => Expectation::number(kind, &rules.number),
            JsonTypes::ARRAY => Expectation::Array { items: self.array(&rules.array), count: rules.array.count },
            JsonTypes::OBJECT => self.object(rules.name.as_deref(), &rules.object),
            JsonTypes::BOOLEAN => Expectation::Boolean,
            _ => Expectation::Null,
        }
    }

    fn array(&self, rules: &ArrayRules) -> ArrayForm {
        match &rules.items {
            _ if !rules.prefix.is_empty() => ArrayForm::Tuple {
                items: rules.prefix.iter().map(|schema| self.schema(schema)).collect(),
                is_open: rules.possible_count().most.is_none_or(|most| most > rules.prefix.len() as u64),
            },
            None | Some(Schema::Anything) => ArrayForm::Any,
            Some(Schema::Nothing) => ArrayForm::Empty,
            Some(items) => ArrayForm::Of(Box::new(self.schema(items))),
        }
    }

    fn object(&self, name: Option<&str>, rules: &ObjectRules) -> Expectation {
        if let Some(name) = name {
            let properties = ObjectForm::Named(name.to_owned());
            return Expectation::Object { properties, count: CountRange::default() };
        }
        let tags: Vec<_> = rules
            .required
            .iter()
            .filter_map(|name| Some((name.clone(), quoted(self.only_value(rules, name)?))))
            .collect();
        let properties = match &rules.additional {
            _ if !tags.is_empty() => ObjectForm::Tagged(tags),
            _ if !rules.required.is_empty() => {
                ObjectForm::Required(NameList::new(rules.required.iter().map(String::as_str)))
            }
            Some(values @ Schema::Rules(_)) if rules.properties.is_empty() => {
                ObjectForm::Of(Box::new(self.schema(values)))
            }
            _ => ObjectForm::Any,
        };
        Expectation::Object { properties, count: rules.count }
    }

    fn only_value<'r>(&'r self, rules: &'r ObjectRules, name: &str) -> Option<&'r Value> {
        match self.allowed(rules.properties.get(name)?)? {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Describes alternatives. Schemas that list values are merged into one list.
    pub(super) fn alternatives(&self, schemas: &[Schema]) -> Expectation {
        let mut alternatives = Vec::new();
        let mut values = Vec::new();
        for schema in schemas {
            match self.allowed(schema) {
                Some(allowed) => values.extend(allowed),
                None => alternatives.push(self.schema(schema)),
            }
        }
        match (alternatives.len(), values.as_slice()) {
            (0, values) => Expectation::values(values.iter().copied()),
            (1, []) => alternatives.remove(0),
            (1, [Value::Null]) if !alternatives[0].begins_with_list() => {
                Expectation::OrNull(Box::new(alternatives.remove(0)))
            }
            (_, values) => {
                Expectation::OneOf { alternatives, values: values.iter().map(|value| quoted(value)).collect() }
            }
        }
    }

    /// Returns the only values that the schema accepts, if it lists them.
    pub(crate) fn allowed<'s>(&'s self, schema: &'s Schema) -> Option<&'s [Value]> {
        let Schema::Rules(rules) = schema else { return None };
        if let Some(allowed) = &rules.allowed {
            return Some(allowed);
        }
        if rules.kinds == Some(JsonTypes::NULL) {
            return Some(&[Value::Null]);
        }
        let referred = rules.reference.as_ref().and_then(|name| self.definitions.get(name))?;
        if self.may_look_further() { self.allowed(referred) } else { None }
    }
}
