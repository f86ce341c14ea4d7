//! Traced schemas against those of schemars, for types that implement both.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::{Map, Value, json};

use super::{TracedSchemas, TracedType, UnknownCause, trace};

fn traced<T: DeserializeOwned>() -> (Value, Map<String, Value>) {
    let mut definitions = Map::new();
    let schema = TracedSchemas::default().schema(&trace::<T>(), &mut definitions);
    (schema.unwrap_or(Value::Bool(true)), definitions)
}

fn described<T: JsonSchema>() -> (Value, Map<String, Value>) {
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    (generator.subschema_for::<T>().into(), generator.take_definitions(true))
}

macro_rules! same {
    ($($ty:ty),* $(,)?) => {$(
        let (mut expected, mut definitions) = described::<$ty>();
        let (mut seen, mut seen_definitions) = traced::<$ty>();
        let all = [&mut expected, &mut seen].into_iter();
        all.chain(definitions.values_mut()).chain(seen_definitions.values_mut()).for_each(without_defaults);
        assert_eq!((seen, seen_definitions), (expected, definitions), "{}", stringify!($ty));
    )*};
}

/// Brings a schema into the manifest's form, without default values, which a trace cannot see.
fn without_defaults(schema: &mut Value) {
    crate::schema::simplify(schema);
    if let Value::Object(object) = schema {
        object.remove("default");
        crate::schema::each_subschema(schema, &mut without_defaults);
    }
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Task {
    id: usize,
    name: String,
    #[serde(default)]
    tags: Vec<String>,
    parent: Option<Box<Task>>,
    priority: Priority,
    #[serde(rename = "when")]
    due: Option<i64>,
    points: (u8, f32),
    #[serde(default)]
    env: HashMap<String, String>,
    status: Status,
    window: [u16; 3],
    #[serde(skip)]
    cache: u8,
    owner: Owner,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Priority {
    Low,
    VeryHigh,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Status {
    Queued,
    Running { since: u64, worker: Option<String> },
    Failed(String),
    Done(u8, bool),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
#[allow(dead_code)]
struct Owner {
    name: String,
    #[serde(alias = "mail")]
    email: String,
    level: u8,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Meters(f64);

#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[allow(dead_code)]
struct Through {
    inner: Vec<Meters>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Pair(u8, Option<Priority>);

#[derive(Deserialize)]
struct Marker;

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Page<T> {
    items: Vec<T>,
    next: Option<T>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Pages {
    tasks: Page<u8>,
    owners: Page<Priority>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Tree(Vec<Tree>);

#[test]
fn equals_schemars_for_derived_types() {
    same!(Task, Priority, Status, Owner, Meters, Through, Pair, Option<Status>, Vec<Task>, Tree);
    same!(BTreeMap<String, Owner>, BTreeMap<u8, bool>, BTreeMap<i8, bool>, HashMap<char, u8>);
    same!(BTreeSet<String>, HashSet<u32>, VecDeque<i16>, Box<Meters>, (u8, String), [bool; 2], Option<Option<u8>>);
    same!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char, String, ());
    same!(std::time::Duration, std::net::IpAddr, std::num::NonZeroU8, std::num::NonZero<i32>, std::path::PathBuf);
    same!(Value, Vec<serde_json::Number>, serde_json::Map<String, Value>);
}

#[test]
fn a_unit_struct_is_null() {
    assert_eq!(traced::<Marker>().0, json!({"type": "null"}));
}

#[test]
fn numbers_definitions_of_one_name() {
    let (_, definitions) = traced::<Pages>();
    assert_eq!(definitions.keys().collect::<Vec<_>>(), ["Page", "Page2", "Pages", "Priority"]);
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Price {
    amount: Flexible,
    #[serde(default)]
    currency: String,
    note: Option<String>,
    #[serde(with = "minutes")]
    after: u64,
    unit: Code,
    kind: Kind,
    form: Form,
    either: Either,
    #[serde(default)]
    last: Vec<Parsed>,
    rest: Rest,
}

/// Accepts strings and numbers.
struct Flexible;

impl<'de> Deserialize<'de> for Flexible {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|_| Self)
    }
}

mod minutes {
    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        <u64 as serde::Deserialize>::deserialize(deserializer).map(|minutes| minutes * 60)
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Code;

impl TryFrom<String> for Code {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "2000-01-01" { Ok(Self) } else { Err("no code".to_owned()) }
    }
}

/// A string that none of the samples fits.
struct Parsed;

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "xyzzy" { Ok(Self) } else { Err(serde::de::Error::custom("not the word")) }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type")]
#[allow(dead_code)]
enum Kind {
    Once { at: u8 },
    Daily,
}

#[derive(Deserialize)]
#[serde(tag = "t", content = "c")]
#[allow(dead_code)]
enum Form {
    Text(String),
    None,
}

#[derive(Deserialize)]
#[serde(untagged)]
#[allow(dead_code)]
enum Either {
    A(u8),
    B(String),
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Rest {
    a: u8,
    #[serde(flatten)]
    more: BTreeMap<String, String>,
}

#[test]
fn keeps_the_shape_around_unknown_leaves() {
    let (schema, definitions) = traced::<Price>();
    assert_eq!(schema, json!({"$ref": "#/$defs/Price"}));
    assert_eq!(
        definitions["Price"],
        json!({
            "type": "object",
            "properties": {
                "amount": true,
                "currency": {"type": "string"},
                "note": {"type": ["string", "null"]},
                "after": {"type": "integer", "format": "uint64", "minimum": 0},
                "unit": {"type": "string"},
                "kind": {"type": "object", "properties": {"type": {"type": "string", "enum": ["Once", "Daily"]}}, "required": ["type"]},
                "form": {"type": "object", "properties": {"t": {"type": "string", "enum": ["Text", "None"]}, "c": true}, "required": ["t"]},
                "either": true,
                "last": {"type": "array", "items": {"type": "string"}},
                "rest": {"type": "object"},
            },
            "required": ["amount", "after", "unit", "kind", "form", "either", "last", "rest"],
        })
    );
}

/// Panics whenever it is deserialized.
struct Fragile;

static PANICS: AtomicUsize = AtomicUsize::new(0);

impl<'de> Deserialize<'de> for Fragile {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        PANICS.fetch_add(1, Ordering::Relaxed);
        panic!("no input is expected")
    }
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Shipment {
    first: Fragile,
    count: u8,
    second: Fragile,
    note: Option<String>,
}

#[test]
fn a_type_that_panics_runs_once_and_the_shape_around_it_is_kept() {
    let (traced, mut definitions) = (trace::<Shipment>(), Map::new());
    assert!(TracedSchemas::default().schema(&traced, &mut definitions).is_some());
    assert_eq!(
        definitions["Shipment"],
        json!({
            "type": "object",
            "properties": {
                "first": true,
                "count": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255},
                "second": true,
                "note": {"type": ["string", "null"]},
            },
            "required": ["first", "count", "second"],
        })
    );
    assert_eq!(PANICS.load(Ordering::Relaxed), 1);
    let parts: Vec<_> = traced.unknown_parts().into_iter().map(|part| (part.path, part.cause)).collect();
    assert_eq!(parts, [(".first".to_owned(), UnknownCause::Panicked)]);
}

fn panicking<'de, D: Deserializer<'de>>(_: D) -> Result<u8, D::Error> {
    panic!("no input is expected")
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Invoice {
    #[serde(default)]
    note: String,
    #[serde(deserialize_with = "panicking")]
    number: u8,
    total: u8,
}

#[test]
fn a_function_that_panics_does_not_hide_which_fields_are_required() {
    let (traced, mut definitions) = (trace::<Invoice>(), Map::new());
    assert!(TracedSchemas::default().schema(&traced, &mut definitions).is_some());
    assert_eq!(definitions["Invoice"]["required"], json!(["number", "total"]));
}

#[test]
fn an_unknown_part_names_its_cause() {
    let causes = |traced: TracedType| -> Vec<(String, UnknownCause)> {
        traced.unknown_parts().into_iter().map(|part| (part.path, part.cause)).collect()
    };
    let found = |path: &str, cause| (path.to_owned(), cause);
    assert_eq!(
        causes(trace::<Price>()),
        [
            found(".kind", UnknownCause::Tagged),
            found(".form", UnknownCause::Tagged),
            found(".either", UnknownCause::AnyValue),
            found(".rest", UnknownCause::Flattened),
        ]
    );
    // No sample value of `Parsed` is accepted, so the item behind it is not reached.
    assert_eq!(causes(trace::<(Parsed, u8)>()), [found("[1]", UnknownCause::NotReached)]);
}
