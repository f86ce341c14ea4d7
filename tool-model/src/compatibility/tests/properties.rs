//! What holds for every pair of schemas.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::{changes, tool};
use crate::Manifest;
use crate::compatibility::ChangeKind;
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

/// Objects that name properties take no others: a caller sends what it knows.
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
    match choices.of(&inner).cloned() {
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
    choices.of(&map.keys().cloned().collect::<Vec<_>>()).cloned()
}

/// Into a list or a map of schemas, to which one may be added or from which one may be taken.
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

#[derive(Default)]
struct Tally {
    compatible: Cell<u32>,
    breaking: Cell<u32>,
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
        if found.iter().any(|change| change.kind == ChangeKind::Breaking) {
            Self::count(&self.breaking);
            return Ok(());
        }
        Self::count(&self.compatible);
        for value in values {
            let call = json!({"x": value});
            if before.is_valid(&call) && closed.is_valid(&call) {
                Self::count(&self.values);
                prop_assert!(after.is_valid(&call), "{} was fine for {}, not for {}: {:?}", call, old, new, found);
            }
        }
        Ok(())
    }
}

#[test]
fn what_is_called_compatible_takes_every_old_value() {
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
    println!("compatible {compatible}, breaking {breaking}, values {values}");
    assert!(compatible > 100 && breaking > 100 && values > 1_000, "{compatible} {breaking} {values}");
}
