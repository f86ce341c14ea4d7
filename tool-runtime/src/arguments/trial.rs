//! Detection of types that accept more than their schema, by trial.
//!
//! `Deserialize` and `JsonSchema` are derived independently. `#[schemars(deny_unknown_fields)]` and
//! `#[schemars(!default)]` add rules that serde does not enforce, and a schema alone does not show which of the two they
//! come from. So the type decodes values that break one rule each. If it accepts one, the argument is validated at every
//! call.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tool_model::reference_target;
use tool_model::validate::Validator;

/// The number of values that are tried. The first call of a tool waits for them.
const MOST_TRIALS: usize = 300;

/// The number of rounds with other alternatives.
const MOST_ROUNDS: usize = 32;

/// The number of schemas that one value is made from.
const MOST_SCHEMAS: usize = 500;

/// The number of times that a definition may occur inside of itself.
const MOST_REENTRIES: usize = 2;

/// Returns `true` if a schema has rules worth trying. Numbers and plain strings enforce theirs.
pub(super) fn is_worth_trying(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object
            .iter()
            .any(|(key, value)| matches!(key.as_str(), "$ref" | "properties" | "format") || is_worth_trying(value)),
        Value::Array(items) => items.iter().any(is_worth_trying),
        _ => false,
    }
}

/// Returns `true` if the type accepts a value that its schema rejects; `decodes` tries one value.
pub(super) fn takes_more(
    schema: &Value,
    defs: &BTreeMap<String, Value>,
    validator: &Validator,
    mut decodes: impl FnMut(&str) -> bool,
) -> bool {
    let mut sampler = Sampler { defs, turns: BTreeMap::new(), open: Vec::new(), schemas: 0, demands: 0, broken: None };
    let mut trials = 0;
    // Each round uses other alternatives, until all were used.
    for _ in 0..MOST_ROUNDS {
        sampler.sample(schema, None);
        for demand in 0..sampler.demands {
            trials += 1;
            if trials > MOST_TRIALS {
                return false;
            }
            let broken = sampler.sample(schema, Some(demand)).filter(|value| !validator.is_valid(value));
            if broken.is_some_and(|value| decodes(&value.to_string())) {
                return true;
            }
        }
        if !sampler.next_alternatives() {
            break;
        }
    }
    false
}

/// Makes values that break exactly one rule of a schema.
struct Sampler<'a> {
    defs: &'a BTreeMap<String, Value>,
    /// The position in each list of alternatives, by its address.
    turns: BTreeMap<usize, Turn>,
    /// The definitions around the current schema.
    open: Vec<String>,
    schemas: usize,
    /// The number of rules that the value has kept or broken so far.
    demands: usize,
    broken: Option<usize>,
}

/// The position in a list of alternatives.
struct Turn {
    taken: usize,
    /// The number of alternatives used so far.
    known: usize,
    count: usize,
    /// `true` if the list was used in this round.
    is_met: bool,
}

impl Sampler<'_> {
    fn sample(&mut self, schema: &Value, broken: Option<usize>) -> Option<Value> {
        (self.schemas, self.demands, self.broken) = (0, 0, broken);
        self.value(schema)
    }

    /// Advances each list that was used. Returns `false` after the last alternative.
    fn next_alternatives(&mut self) -> bool {
        let is_left = self.turns.values().any(|turn| turn.known < turn.count);
        for turn in self.turns.values_mut().filter(|turn| turn.is_met) {
            turn.taken = (turn.taken + 1) % turn.count;
            turn.is_met = false;
        }
        is_left
    }

    /// Counts a rule. Returns `true` if it is the one to break.
    fn breaks(&mut self) -> bool {
        self.demands += 1;
        self.broken == Some(self.demands - 1)
    }

    fn value(&mut self, schema: &Value) -> Option<Value> {
        self.schemas += 1;
        let Value::Object(object) = schema else { return Some(Value::Null) };
        if self.schemas > MOST_SCHEMAS {
            return None;
        }
        if let Some(only) = object.get("const").or_else(|| object.get("enum")?.get(0)) {
            return Some(only.clone());
        }
        let mut value = self.of_type(object)?;
        if let Some(name) = reference_target(schema)
            && let Some(definition) = self.defs.get(&*name)
        {
            if self.open.iter().filter(|open| **open == *name).count() == MOST_REENTRIES {
                return None;
            }
            self.open.push(name.into_owned());
            let referred = self.value(definition);
            self.open.pop();
            value = together(value, referred?);
        }
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            value = together(value, self.value(part)?);
        }
        for forms in ["anyOf", "oneOf"].iter().filter_map(|key| object.get(*key)?.as_array()) {
            value = together(value, self.alternative(forms)?);
        }
        Some(value)
    }

    /// Returns the current alternative, or the first that is not recursive.
    fn alternative(&mut self, forms: &[Value]) -> Option<Value> {
        let new = || Turn { taken: 0, known: 0, count: forms.len().max(1), is_met: true };
        let turn = self.turns.entry(forms.as_ptr().addr()).or_insert_with(new);
        turn.is_met = true;
        turn.known = turn.known.max(turn.taken + 1);
        let (before, from) = forms.split_at(turn.taken.min(forms.len()));
        from.iter().chain(before).find_map(|form| self.value(form))
    }

    /// Makes a value from the schema's own keywords; `null` without any.
    fn of_type(&mut self, object: &Map<String, Value>) -> Option<Value> {
        let name = match object.get("type") {
            Some(Value::Array(names)) => names.iter().find(|name| **name != "null"),
            name => name,
        };
        let has_properties = object.contains_key("properties");
        Some(match name.and_then(Value::as_str) {
            Some("string") => self.text(object).into(),
            Some("integer") if object.get("minimum") == Some(&json!(0)) && self.breaks() => json!(-1),
            Some("integer" | "number") => object.get("minimum").cloned().unwrap_or_else(|| json!(0)),
            Some("boolean") => Value::Bool(false),
            Some("array") => self.array(object),
            Some("object") => self.object(object)?,
            None if has_properties => self.object(object)?,
            _ => Value::Null,
        })
    }

    fn text(&mut self, object: &Map<String, Value>) -> &'static str {
        let Some(format) = object.get("format").and_then(Value::as_str) else { return "a" };
        if self.breaks() {
            return "?";
        }
        match format {
            "date-time" => "2024-01-01T00:00:00Z",
            "date" => "2024-01-01",
            "time" => "00:00:00Z",
            "uuid" => "00000000-0000-0000-0000-000000000000",
            "email" => "a@b.c",
            "ip" | "ipv4" => "127.0.0.1",
            "ipv6" => "::1",
            "uri" => "http://a/",
            _ => "a",
        }
    }

    fn array(&mut self, object: &Map<String, Value>) -> Value {
        let first = object.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        let mut items: Vec<Value> = first.filter_map(|item| self.value(item)).collect();
        if let Some(item) = object.get("items").and_then(|item| self.value(item)) {
            let least = object.get("minItems").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
            let count = least.unwrap_or(1).clamp(items.len() + 1, MOST_SCHEMAS);
            items.resize(count, item);
        }
        items.into()
    }

    fn object(&mut self, object: &Map<String, Value>) -> Option<Value> {
        let mut entries = Map::new();
        let is_closed = |key: &str| object.get(key) == Some(&Value::Bool(false));
        if (is_closed("additionalProperties") || is_closed("unevaluatedProperties")) && self.breaks() {
            entries.insert("no such property".to_owned(), Value::Null);
        }
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|known| known == name));
        for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if is_required(name) && self.breaks() {
                continue;
            }
            match self.value(schema) {
                Some(value) => drop(entries.insert(name.clone(), value)),
                None if is_required(name) => return None,
                None => {}
            }
        }
        let patterns = object.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values);
        for (name, schema) in
            patterns.map(|schema| ("1", schema)).chain(object.get("additionalProperties").map(|schema| ("a", schema)))
        {
            if let Some(value) = Some(schema).filter(|schema| schema.is_object()).and_then(|schema| self.value(schema))
            {
                entries.insert(name.to_owned(), value);
            }
        }
        Some(entries.into())
    }
}

/// Merges two schemas for the same value.
fn together(own: Value, part: Value) -> Value {
    match (own, part) {
        (Value::Object(mut own), Value::Object(part)) => {
            own.extend(part);
            own.into()
        }
        (own @ Value::Object(_), Value::Null) => own,
        (_, part) => part,
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;

    fn type_takes_more<T: JsonSchema + for<'de> Deserialize<'de>>() -> bool {
        let mut generator = schemars::generate::SchemaSettings::draft2020_12().for_deserialize().into_generator();
        let schema = Value::from(generator.subschema_for::<T>());
        let defs = generator.take_definitions(true).into_iter().collect();
        let validator = Validator::new(&schema, &defs).unwrap();
        takes_more(&schema, &defs, &validator, |text| serde_json::from_str::<T>(text).is_ok())
    }

    macro_rules! types {
        ($($(#[$attribute:meta])* $name:ident { $($fields:tt)* })*) => {
            $(
                #[derive(Deserialize, JsonSchema)]
                #[allow(dead_code)]
                $(#[$attribute])*
                struct $name { $($fields)* }
            )*
        };
    }

    types! {
        Plain { number: u64, name: Option<String>, list: Vec<Plain> }
        #[serde(deny_unknown_fields)]
        Closed { number: i8, at: std::net::Ipv4Addr }
        #[schemars(deny_unknown_fields)]
        ShownClosed { number: u8 }
        ShownRequired { #[serde(default)] #[schemars(!default)] number: u8 }
        ShownPositive { #[schemars(range(min = 0))] number: i64 }
        ShownEmail { #[schemars(email)] mail: String }
        Deep { choices: std::collections::BTreeMap<u8, Vec<Choice>> }
        ShownDeep { choices: std::collections::BTreeMap<String, Vec<ShownChoice>> }
        Aliased { #[serde(alias = "other")] name: String }
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum Choice {
        Bare,
        Of(Closed),
        Named { inner: Box<Choice>, plain: Plain },
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[allow(dead_code)]
    enum ShownChoice {
        First { a: u8 },
        Second { b: ShownClosed },
    }

    #[test]
    fn a_type_that_keeps_its_word() {
        assert!(!type_takes_more::<Plain>());
        assert!(!type_takes_more::<Closed>());
        assert!(!type_takes_more::<Deep>());
        assert!(!type_takes_more::<Aliased>());
        assert!(!type_takes_more::<Option<Choice>>());
    }

    #[test]
    fn a_type_that_takes_more() {
        assert!(type_takes_more::<ShownClosed>());
        assert!(type_takes_more::<Vec<Option<ShownClosed>>>());
        assert!(type_takes_more::<ShownRequired>());
        assert!(type_takes_more::<ShownPositive>());
        assert!(type_takes_more::<ShownEmail>());
        assert!(type_takes_more::<ShownDeep>());
        assert!(type_takes_more::<Result<u8, ShownChoice>>());
    }

    #[test]
    fn numbers_and_plain_texts_are_not_tried() {
        for schema in [json!({"type": "integer", "minimum": 0}), json!({"type": "array", "items": {"type": "string"}})]
        {
            assert!(!is_worth_trying(&schema), "{schema}");
        }
        assert!(is_worth_trying(&json!({"type": "array", "items": {"$ref": "#/$defs/Plain"}})));
    }
}
