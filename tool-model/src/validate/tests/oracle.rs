//! The same answers as the `jsonschema` crate, for schemas and values made at random.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::validate::{Validator, describe};

const NAMES: [&str; 4] = ["a", "b", "kind", "x-y"];
pub(crate) const DEFINITIONS: [&str; 3] = ["A", "B", "C"];
const PATTERNS: [&str; 5] = ["^a", "b$", "^[ab]+$", "a.c", r"^\d+$"];
const FORMATS: [&str; 9] = ["date-time", "date", "time", "uuid", "email", "ipv4", "ipv6", "uri", "unheard-of"];
const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];
const TEXTS: [&str; 18] = [
    "",
    "a",
    "b",
    "ab",
    "abc",
    "42",
    "größe",
    "😀",
    "kind",
    "2024-02-29",
    "2023-02-29",
    "12:00:60Z",
    "23:59:60Z",
    "2024-05-01T10:00:00.5+02:00",
    "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
    "joe@example.com",
    "127.0.0.1",
    "urn:a:b",
];

fn number() -> BoxedStrategy<Value> {
    let special = vec![
        json!(0.1),
        json!(0.3),
        json!(0.5),
        json!(1.5),
        json!(1.0),
        json!(2.0),
        json!(1000),
        json!(-0.0),
        json!(1e3),
        json!(u64::MAX),
        json!(u64::MAX - 1),
        json!(i64::MIN),
        json!(9_007_199_254_740_993_u64),
        json!(1e19),
        json!(0.05),
    ];
    prop_oneof![3 => (-2..6_i64).prop_map(Value::from), 1 => select(special)].boxed()
}

fn scalar() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        number(),
        select(TEXTS.to_vec()).prop_map(Value::from),
        select(TEXTS.to_vec()).prop_map(Value::from),
    ]
    .boxed()
}

pub(crate) fn json_value() -> BoxedStrategy<Value> {
    let nested = |inner: BoxedStrategy<Value>| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(select(NAMES.to_vec()), inner, 0..4).prop_map(object),
        ]
        .boxed()
    };
    scalar().prop_recursive(3, 12, 4, nested).boxed()
}

fn object<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub(crate) type Entry = (&'static str, Value);

fn entry(keys: &[&'static str], values: impl Strategy<Value = impl Into<Value>> + 'static) -> BoxedStrategy<Entry> {
    (select(keys.to_vec()), values).prop_map(|(key, value)| (key, value.into())).boxed()
}

fn names() -> BoxedStrategy<Value> {
    prop::collection::btree_set(select(NAMES.to_vec()), 1..3)
        .prop_map(|names| names.into_iter().collect::<Vec<_>>().into())
        .boxed()
}

/// A keyword that contains no schema.
pub(crate) fn plain_keyword() -> BoxedStrategy<Entry> {
    let types = prop::collection::btree_set(select(TYPES.to_vec()), 1..4);
    let needs = prop::collection::btree_map(select(NAMES.to_vec()), names(), 1..3);
    prop_oneof![
        4 => entry(&["type"], select(TYPES.to_vec())),
        2 => entry(&["type"], types.prop_map(|types| types.into_iter().collect::<Vec<_>>())),
        1 => entry(&["enum"], prop::collection::vec(json_value(), 1..5)),
        1 => entry(&["const"], json_value()),
        2 => entry(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], number()),
        1 => entry(&["multipleOf"], select(vec![json!(1), json!(2), json!(0.5), json!(0.1), json!(2.0), json!(0.25)])),
        2 => entry(&["minItems", "maxItems", "minProperties", "maxProperties"], 0..4_u64),
        1 => entry(&["minLength", "maxLength"], 0..8_u64),
        1 => entry(&["minContains", "maxContains"], 0..3_u64),
        1 => entry(&["pattern"], select(PATTERNS.to_vec())),
        1 => entry(&["format"], select(FORMATS.to_vec())),
        1 => entry(&["uniqueItems"], any::<bool>()),
        2 => entry(&["required"], names()),
        1 => entry(&["dependentRequired"], needs.prop_map(object)),
        1 => entry(&["$ref"], select(DEFINITIONS.to_vec()).prop_map(|name| format!("#/$defs/{name}"))),
        1 => entry(&["title", "description", "unknown"], Just("words")),
    ]
    .boxed()
}

/// A keyword made of other schemas.
fn nesting_keyword(inner: &BoxedStrategy<Value>) -> BoxedStrategy<Entry> {
    let by_name = prop::collection::btree_map(select(NAMES.to_vec()), inner.clone(), 1..4).prop_map(object);
    let by_pattern = prop::collection::btree_map(select(PATTERNS.to_vec()), inner.clone(), 1..3).prop_map(object);
    let several = prop::collection::vec(inner.clone(), 1..4);
    prop_oneof![
        4 => entry(&["properties", "properties", "dependentSchemas"], by_name),
        1 => entry(&["patternProperties"], by_pattern),
        2 => entry(&["additionalProperties", "propertyNames"], inner.clone()),
        2 => entry(&["unevaluatedProperties"], inner.clone()),
        1 => entry(&["unevaluatedProperties"], Just(false)),
        3 => entry(&["items", "items", "contains"], inner.clone()),
        1 => entry(&["prefixItems"], several.clone()),
        4 => entry(&["allOf", "anyOf", "oneOf"], several),
        1 => entry(&["not"], inner.clone()),
        2 => entry(&["if", "then", "else"], inner.clone()),
    ]
    .boxed()
}

pub(crate) fn schema() -> BoxedStrategy<Value> {
    let reference = select(DEFINITIONS.to_vec()).prop_map(|name| json!({"$ref": format!("#/$defs/{name}")}));
    let plain = prop::collection::vec(plain_keyword(), 0..4).prop_map(object);
    let leaf = prop_oneof![1 => any::<bool>().prop_map(Value::from), 2 => reference, 12 => plain];
    let nested = |inner: BoxedStrategy<Value>| {
        let plain = prop::collection::vec(plain_keyword(), 0..3);
        let nesting = prop::collection::vec(nesting_keyword(&inner), 1..4);
        (plain, nesting).prop_map(|(plain, nesting)| object(plain.into_iter().chain(nesting))).boxed()
    };
    leaf.prop_recursive(3, 16, 4, nested).boxed()
}

/// Random choices that depend on the seed alone.
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit.max(1)
    }

    pub(crate) fn pick<'a, T>(&mut self, options: &'a [T]) -> Option<&'a T> {
        options.get(self.below(options.len()))
    }
}

/// A value that the schema may well accept.
pub(crate) struct Sampler<'a> {
    pub(crate) defs: &'a BTreeMap<String, Value>,
    pub(crate) choices: Choices,
}

impl Sampler<'_> {
    pub(crate) fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(map) = schema.as_object().filter(|_| depth < 8) else { return self.scalar() };
        if let Some(exact) = map.get("const") {
            return exact.clone();
        }
        if let Some(one) = map.get("enum").and_then(|values| self.choices.pick(values.as_array()?)) {
            return one.clone();
        }
        let combined = ["$ref", "allOf", "anyOf", "oneOf", "then", "else"].iter().filter(|key| map.contains_key(**key));
        let combined: Vec<_> = combined.collect();
        // The last choice is to follow the schema's own keywords.
        match combined.get(self.choices.below(combined.len() + 1)).map(|key| &map[**key]) {
            Some(Value::String(reference)) => {
                let target = self.defs.get(reference.trim_start_matches("#/$defs/")).cloned().unwrap_or_default();
                self.value(&target, depth + 1)
            }
            Some(Value::Array(branches)) => {
                let branch = self.choices.pick(branches).cloned().unwrap_or_default();
                self.value(&branch, depth + 1)
            }
            Some(branch) => self.value(branch, depth + 1),
            None => self.of_type(map, depth),
        }
    }

    fn of_type(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let kind = match map.get("type") {
            Some(Value::Array(kinds)) => self.choices.pick(kinds).and_then(Value::as_str),
            Some(kind) => kind.as_str(),
            None => kind_ruled(map),
        };
        match kind {
            Some("string") => self.choices.pick(&TEXTS).copied().unwrap_or_default().into(),
            Some("integer" | "number") => self.number(map),
            Some("boolean") => (self.choices.below(2) == 0).into(),
            Some("null") => Value::Null,
            Some("array") => self.array(map, depth),
            Some("object") => self.object(map, depth),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Value {
        let text = self.choices.pick(&TEXTS).copied().unwrap_or_default();
        let options = [json!(null), json!(true), json!(1), json!(2.5), json!(text), json!([]), json!({})];
        self.choices.pick(&options).cloned().unwrap_or_default()
    }

    fn number(&mut self, map: &Map<String, Value>) -> Value {
        let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
        let near: Vec<_> = bounds.iter().filter_map(|key| map.get(*key)).cloned().collect();
        let steps = [json!(-1), json!(0), json!(1), json!(2), json!(3.0), json!(0.5)];
        let options: Vec<_> = near.iter().chain(&steps).collect();
        self.choices.pick(&options).map(|value| (*value).clone()).unwrap_or_default()
    }

    fn array(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let least = map.get("minItems").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let count = least + self.choices.below(3);
        let prefix = map.get("prefixItems").and_then(Value::as_array);
        let schemas = ["items", "contains"].map(|key| map.get(key).unwrap_or(&Value::Bool(true)));
        let rest = *self.choices.pick(&schemas).unwrap_or(&&Value::Null);
        (0..count).map(|index| self.value(prefix.and_then(|p| p.get(index)).unwrap_or(rest), depth + 1)).collect()
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let required = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut object = Map::new();
        for name in NAMES {
            let property = map.get("properties").and_then(|properties| properties.get(name));
            let wanted =
                required.contains(&json!(name)) || self.choices.below(if property.is_some() { 2 } else { 6 }) == 0;
            if wanted {
                let schema = property.or(map.get("additionalProperties")).unwrap_or(&Value::Bool(true));
                object.insert(name.to_owned(), self.value(schema, depth + 1));
            }
        }
        object.into()
    }
}

/// The type that a schema without `type` has rules for.
fn kind_ruled(map: &Map<String, Value>) -> Option<&'static str> {
    let rules = [
        ("object", ["properties", "required", "additionalProperties", "patternProperties", "minProperties"]),
        ("array", ["items", "prefixItems", "contains", "minItems", "uniqueItems"]),
        ("string", ["pattern", "format", "minLength", "maxLength", "propertyNames"]),
        ("number", ["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]),
    ];
    rules.iter().find(|(_, keys)| keys.iter().any(|key| map.contains_key(*key))).map(|(kind, _)| *kind)
}

/// Gives the same answer as the other validator, and counts it.
#[derive(Default)]
struct Tally {
    valid: Cell<u32>,
    invalid: Cell<u32>,
    cyclic: Cell<u32>,
}

impl Tally {
    fn compare(&self, schema: &Value, defs: &BTreeMap<String, Value>, values: &[Value]) -> Result<(), TestCaseError> {
        let ours = match Validator::new(schema, defs) {
            Err(error) if error.message.contains("refers to itself") => {
                self.cyclic.set(self.cyclic.get() + 1);
                return Ok(());
            }
            result => result.map_err(|error| TestCaseError::fail(error.to_string()))?,
        };
        let theirs = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(&json!({"$defs": defs, "allOf": [schema]}))
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(!describe(schema, defs).is_empty());
        for value in values {
            let valid = ours.is_valid(value);
            prop_assert_eq!(valid, theirs.is_valid(value), "{} with {:?} on {}", schema, defs, value);
            let violations = ours.check(value, "");
            prop_assert_eq!(valid, violations.is_empty(), "{} on {}: {:?}", schema, value, violations);
            prop_assert!(violations.iter().all(|violation| !violation.kind.to_string().is_empty()), "{:?}", violations);
            let count = if valid { &self.valid } else { &self.invalid };
            count.set(count.get() + 1);
        }
        Ok(())
    }
}

#[test]
fn agrees_with_the_jsonschema_crate() {
    let tally = Tally::default();
    let schemas = prop::collection::vec(schema(), 1 + DEFINITIONS.len());
    let values = prop::collection::vec(json_value(), 3);
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&(schemas, values, any::<u64>()), |(mut schemas, mut values, seed)| {
        let schema = schemas.pop().unwrap_or_default();
        let defs = DEFINITIONS.iter().map(ToString::to_string).zip(schemas).collect();
        let mut sampler = Sampler { defs: &defs, choices: Choices(seed) };
        values.extend((0..7).map(|_| sampler.value(&schema, 0)).collect::<Vec<_>>());
        tally.compare(&schema, &defs, &values)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let (valid, invalid, cyclic) = (tally.valid.get(), tally.invalid.get(), tally.cyclic.get());
    println!("valid {valid}, invalid {invalid}, cyclic {cyclic}");
    let total = valid + invalid;
    assert!(valid > total / 5 && invalid > total / 5, "one-sided: {valid} valid, {invalid} invalid");
    assert!(cyclic < 200, "{cyclic} of the schemas were cyclic");
}
