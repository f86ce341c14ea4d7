//! Properties of every pair of schemas.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::{changes, tool};
use crate::Manifest;
use crate::compatibility::{Change, ChangeKind};
use crate::validate::Validator;
use crate::validate::tests::oracle::{Choices, DEFINITIONS, Entry, Sampler, json_value, plain_keyword, schema};

type Defs = BTreeMap<String, Value>;

/// A tool whose one argument is the definition `Root`.
fn with_root(root: &Value, defs: &Defs) -> Value {
    let mut defs = defs.clone();
    defs.insert("Root".to_owned(), root.clone());
    json!({"arguments": {"x": {"type": "any", "required": true, "$ref": "#/$defs/Root"}}, "$defs": defs})
}

fn manifest(parts: Value) -> Manifest {
    [("t".to_owned(), tool(parts))].into_iter().collect()
}

/// Closes objects that name properties: a caller sends only known ones.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("properties").is_some_and(Value::is_object) {
                map.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            map.iter_mut().filter(|(key, _)| !matches!(key.as_str(), "enum" | "const")).for_each(|(_, v)| close(v));
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Changes one thing somewhere in a schema.
fn mutate(schema: &mut Value, choices: &mut Choices, entry: &Entry, other: &Value) {
    let Value::Object(map) = schema else {
        *schema = other.clone();
        return;
    };
    let inner: Vec<String> =
        map.iter().filter(|(_, v)| v.is_object() || v.is_array()).map(|(k, _)| k.clone()).collect();
    match choices.pick(&inner).cloned() {
        Some(key) if choices.below(3) > 0 && !matches!(key.as_str(), "enum" | "const" | "required") => {
            descend(&mut map[&key], choices, entry, other);
        }
        _ => match choices.below(4) {
            0 => drop(map.insert(entry.0.to_owned(), entry.1.clone())),
            1 => *schema = other.clone(),
            _ => drop(nth_key(map, choices).and_then(|key| map.remove(&key))),
        },
    }
}

fn nth_key(map: &Map<String, Value>, choices: &mut Choices) -> Option<String> {
    choices.pick(&map.keys().cloned().collect::<Vec<_>>()).cloned()
}

/// Descends to a list or a map of schemas, and may add or remove one.
fn descend(part: &mut Value, choices: &mut Choices, entry: &Entry, other: &Value) {
    match part {
        Value::Array(schemas) if schemas.iter().all(|schema| schema.is_object() || schema.is_boolean()) => {
            match choices.below(4) {
                0 => schemas.push(other.clone()),
                1 if schemas.len() > 1 => drop(schemas.pop()),
                _ => {
                    let index = choices.below(schemas.len());
                    if let Some(one) = schemas.get_mut(index) {
                        mutate(one, choices, entry, other);
                    }
                }
            }
        }
        Value::Object(_) => mutate(part, choices, entry, other),
        _ => {}
    }
}

/// Returns `true` if the same thing is reported as both removed and added.
fn contradicts_itself(found: &[Change]) -> bool {
    let said = |prefix: &'static str| {
        found.iter().filter_map(move |change| Some((&change.path, change.message.strip_prefix(prefix)?)))
    };
    let pairs = [("can no longer be ", "can also be "), ("no longer includes ", "now includes ")];
    pairs.iter().any(|(gone, new)| said(gone).any(|gone| said(new).any(|new| new == gone)))
}

#[derive(Default)]
struct Tally {
    compatible: Cell<u32>,
    breaking: Cell<u32>,
    /// Counts the breaking changes that refuse a sampled value which was valid before. The test would fail if such a
    /// change were called compatible.
    refuted: Cell<u32>,
    values: Cell<u32>,
}

impl Tally {
    fn count(counter: &Cell<u32>) {
        counter.set(counter.get() + 1);
    }

    fn check(&self, [old, new]: [&Value; 2], defs: &Defs, values: Vec<Value>) -> Result<(), TestCaseError> {
        let (was, is) = (manifest(with_root(old, defs)), manifest(with_root(new, defs)));
        prop_assert!(changes(&was, &was).is_empty());
        let found = changes(&was, &is);
        prop_assert_eq!(found.is_empty(), was == is);
        let no_defs = Defs::new();
        let validator = |parts: Value| Validator::new(&tool(parts).parameters(), &no_defs);
        let mut closed = with_root(old, defs);
        close(&mut closed["$defs"]);
        let (Ok(before), Ok(after), Ok(closed)) =
            (validator(with_root(old, defs)), validator(with_root(new, defs)), validator(closed))
        else {
            return Ok(());
        };
        let calls: Vec<Value> = values.into_iter().map(|value| json!({"x": value})).collect();
        let mut fitting = calls.iter().filter(|call| before.is_valid(call) && closed.is_valid(call));
        if found.iter().any(|change| change.kind == ChangeKind::Breaking) {
            Self::count(&self.breaking);
            if fitting.any(|call| !after.is_valid(call)) {
                Self::count(&self.refuted);
            }
            return Ok(());
        }
        Self::count(&self.compatible);
        for call in fitting {
            Self::count(&self.values);
            prop_assert!(after.is_valid(call), "{} was fine for {}, not for {}: {:?}", call, old, new, found);
        }
        Ok(())
    }
}

#[test]
fn a_compatible_change_accepts_every_old_value() {
    let tally = Tally::default();
    let schemas = prop::collection::vec(schema(), 2 + DEFINITIONS.len());
    let values = prop::collection::vec(json_value(), 4);
    let config = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    let strategy = (schemas, values, plain_keyword(), any::<u64>());
    let result = TestRunner::new(config).run(&strategy, |(mut schemas, mut values, entry, seed)| {
        let (old, other) = (schemas.pop().unwrap_or_default(), schemas.pop().unwrap_or_default());
        let defs: Defs = DEFINITIONS.iter().map(ToString::to_string).zip(schemas).collect();
        let mut new = old.clone();
        mutate(&mut new, &mut Choices(seed), &entry, &other);
        let mut sampler = Sampler { defs: &defs, choices: Choices(seed) };
        values.extend((0..12).map(|_| sampler.value(&old, 0)).collect::<Vec<_>>());
        tally.check([&old, &new], &defs, values)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let (compatible, breaking, values) = (tally.compatible.get(), tally.breaking.get(), tally.values.get());
    let refuted = tally.refuted.get();
    println!("compatible {compatible}, breaking {breaking}, of which refuted {refuted}, values {values}");
    assert!(compatible > 100 && breaking > 100 && values > 1_000, "{compatible} {breaking} {values}");
    assert!(refuted > 20, "the values would not find a wrong verdict: {refuted} of {breaking}");
}

/// Returns a schema that a Rust type could have.
fn of_a_type(choices: &mut Choices, depth: usize) -> Value {
    let nested = |choices: &mut Choices| of_a_type(choices, depth + 1);
    let kinds = if depth < 3 { 11 } else { 6 };
    match choices.below(kinds) {
        0 => json!({"type": "integer", "minimum": choices.below(3), "maximum": 3 + choices.below(3)}),
        1 => json!({"type": ["integer", "null"], "exclusiveMinimum": choices.below(3)}),
        2 => json!({"type": "string", "enum": ["a", "b", "c"]}),
        3 => json!({"type": ["string", "number"], "maxLength": choices.below(9)}),
        4 => json!({"type": "boolean"}),
        5 => json!({"type": "string", "format": "date"}),
        6 => json!({"type": "array", "items": nested(choices)}),
        7 => json!({"type": "object", "additionalProperties": nested(choices)}),
        8 => json!({"anyOf": [nested(choices), {"type": "null"}]}),
        9 => {
            let variant = json!({"type": "object", "properties": {"kind": nested(choices)}, "required": ["kind"], "additionalProperties": false});
            json!({"oneOf": [{"type": "string", "enum": ["a", "b"]}, variant]})
        }
        _ => {
            let mut object = json!({"type": "object", "properties": {"a": nested(choices), "b": nested(choices)}, "required": ["a"]});
            if choices.below(2) == 0 {
                object["additionalProperties"] = json!(false);
            }
            object
        }
    }
}

/// Rewrites a schema in an equivalent form.
fn rewritten(schema: &Value, choices: &mut Choices) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let mut map = map.clone();
    for (key, part) in &mut map {
        match part {
            Value::Array(forms) if key == "anyOf" || key == "oneOf" => {
                forms.iter_mut().for_each(|form| *form = rewritten(form, choices));
                let last = forms.len() - 1;
                forms.swap(0, last);
            }
            Value::Object(_) if key == "items" || key == "additionalProperties" => *part = rewritten(part, choices),
            Value::Object(properties) if key == "properties" => {
                properties.values_mut().for_each(|property| *property = rewritten(property, choices));
            }
            _ => {}
        }
    }
    let with = |key: &str, value: Value| {
        let mut with = map.clone();
        with.insert(key.to_owned(), value);
        Value::Object(with)
    };
    let is_closed = map.get("additionalProperties") == Some(&json!(false));
    match (choices.below(3), map.get("type"), map.get("enum")) {
        (0, ..) => json!({"allOf": [map]}),
        (_, Some(Value::Array(types)), _) => {
            json!({"anyOf": types.iter().map(|name| with("type", name.clone())).collect::<Vec<_>>()})
        }
        (_, _, Some(Value::Array(values))) => {
            json!({"oneOf": values.iter().map(|value| json!({"const": value})).collect::<Vec<_>>()})
        }
        (1, Some(Value::String(name)), _) if name == "integer" => {
            let least = map.get("minimum").and_then(Value::as_i64).unwrap_or_default();
            map.remove("minimum");
            map.insert("exclusiveMinimum".to_owned(), json!(least - 1));
            Value::Object(map)
        }
        (1, ..) if map.contains_key("properties") && !is_closed => {
            let required = map.remove("required").unwrap_or_default();
            json!({"type": "object", "allOf": [map, {"required": required}]})
        }
        _ => Value::Object(map),
    }
}

/// The same for schemas of types: more verdicts are compatible here.
#[test]
fn a_compatible_change_of_a_type_accepts_every_old_value() {
    let tally = Tally::default();
    let entries: [Entry; 4] =
        [("minimum", json!(1)), ("type", json!("integer")), ("maxLength", json!(2)), ("required", json!(["b"]))];
    for seed in 0..2_000_u64 {
        let mut choices = Choices(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (old, other) = (of_a_type(&mut choices, 0), of_a_type(&mut choices, 2));
        let mut new = old.clone();
        let entry = choices.pick(&entries).cloned().unwrap_or_default();
        mutate(&mut new, &mut choices, &entry, &other);
        let new = rewritten(&new, &mut choices);
        let defs = Defs::new();
        let mut sampler = Sampler { defs: &defs, choices };
        let values = (0..20).map(|_| sampler.value(&old, 0)).collect();
        tally.check([&old, &new], &defs, values).unwrap_or_else(|error| panic!("{error}"));
        let found = changes(&manifest(with_root(&old, &defs)), &manifest(with_root(&new, &defs)));
        assert!(!contradicts_itself(&found), "{old}\n{new}\n{found:?}");
    }
    let (compatible, refuted, values) = (tally.compatible.get(), tally.refuted.get(), tally.values.get());
    println!("compatible {compatible}, refuted {refuted}, values {values}");
    assert!(compatible > 300 && values > 3_000, "{compatible} {values}");
    assert!(refuted > 100, "the values would not find a wrong verdict: {refuted}");
}

/// A caller that reads a result ignores unknown properties.
fn open(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let is_closing = |(key, part): &(&String, &Value)| *key == "additionalProperties" && **part == json!(false);
            let rename = |key: &str| if key == "oneOf" { "anyOf".to_owned() } else { key.to_owned() };
            map.iter().filter(|entry| !is_closing(entry)).map(|(key, part)| (rename(key), open(part))).collect()
        }
        Value::Array(items) => items.iter().map(open).collect(),
        other => other.clone(),
    }
}

/// Results are judged in the opposite direction: a caller knows every new value from the old schema.
#[test]
fn a_compatible_result_has_no_unknown_value() {
    let no_defs = Defs::new();
    let (mut compatible, mut checked, mut refuted) = (0, 0, 0);
    for seed in 0..2_000_u64 {
        let mut choices = Choices(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (old, other) = (of_a_type(&mut choices, 0), of_a_type(&mut choices, 2));
        let mut new = old.clone();
        mutate(&mut new, &mut choices, &("maxLength", json!(2)), &other);
        let new = rewritten(&new, &mut choices);
        let returns = |schema: &Value| manifest(json!({"returns": schema}));
        let found = changes(&returns(&old), &returns(&new));
        let (Ok(before), Ok(after)) = (Validator::new(&open(&old), &no_defs), Validator::new(&new, &no_defs)) else {
            continue;
        };
        let mut sampler = Sampler { defs: &no_defs, choices };
        let values: Vec<Value> = (0..20).map(|_| sampler.value(&new, 0)).filter(|v| after.is_valid(v)).collect();
        let unknown = values.iter().find(|value| !before.is_valid(value));
        if found.iter().any(|change| change.kind == ChangeKind::Breaking) {
            refuted += u32::from(unknown.is_some());
            continue;
        }
        compatible += 1;
        checked += values.len();
        assert!(unknown.is_none(), "{unknown:?} is unknown to {old}, not to {new}: {found:?}");
    }
    println!("compatible {compatible}, refuted {refuted}, values {checked}");
    assert!(compatible > 300 && checked > 3_000 && refuted > 100, "{compatible} {checked} {refuted}");
}

#[test]
fn another_notation_is_not_a_change() {
    let mut other = 0;
    for seed in 0..2_000_u64 {
        let mut choices = Choices(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let old = of_a_type(&mut choices, 0);
        let new = rewritten(&old, &mut choices);
        let defs = Defs::new();
        let found = changes(&manifest(with_root(&old, &defs)), &manifest(with_root(&new, &defs)));
        let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert!(found.iter().all(|change| change.kind == ChangeKind::Text), "{old}\n{new}\n{shown:?}");
        other += u32::from(old != new);
    }
    assert!(other > 1_000, "only {other} were written in another way");
}
