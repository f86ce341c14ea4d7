//! Strategies for JSON of every form, text that is nearly JSON, and values that nearly match a schema.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Any JSON value of modest size.
pub fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        small_integer().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map(text(), inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn small_integer() -> impl Strategy<Value = i64> {
    prop_oneof![-3..12_i64, select(vec![-129, -128, 99, 100, 101, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_296])]
}

/// Strings that some type may accept, and any others.
pub fn text() -> impl Strategy<Value = String> {
    let known = [
        "",
        "a",
        "ab",
        "abc",
        "abcd",
        "x",
        "yes",
        "ms",
        "1.2",
        "asc",
        "desc",
        "Bare",
        "One",
        "Two",
        "Named",
        "kind",
        "nothing",
        "someFields",
        "howMany",
        "held",
        "mixed",
        "First",
        "t",
        "c",
        "items",
        "name",
        "children",
        "parent",
        "none",
        "up_wards",
        "good",
        "bad",
        "Apple",
        "id",
        "k",
        "5",
        "[1]",
        "null",
        "2024-02-29",
        "2024-02-29T12:00:00Z",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "http://a.b/c",
        "127.0.0.1",
        "\u{0}",
        "\"",
        "\\",
        "🦀",
        "ä",
    ];
    prop_oneof![4 => select(known.to_vec()).prop_map(str::to_owned), 1 => ".{0,5}", 1 => "[a-zA-Z0-9_ -]{0,9}"]
}

/// A text with some places changed: truncated, duplicated, or replaced by something that breaks JSON.
pub fn damaged(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0..12_usize, select(FRAGMENTS), 0..4_u8);
    (text, vec(edit, 0..4)).prop_map(|(mut text, edits)| {
        for (place, length, fragment, how) in edits {
            let at = boundary(&text, place.index(text.len() + 1));
            let end = boundary(&text, (at + length).min(text.len()));
            match how {
                0 => text.replace_range(at..end, ""),
                1 => text.insert_str(at, fragment),
                2 => text.replace_range(at..end, fragment),
                _ => {
                    let doubled = text[at..end].to_owned();
                    text.insert_str(at, &doubled);
                }
            }
        }
        text
    })
}

const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "\\",
    "\\u00",
    "\\ud800",
    "\\u0061",
    "\0",
    "\n",
    " ",
    "\u{feff}",
    "null",
    "true",
    "NaN",
    "1e400",
    "-0",
    "1.0",
    "-",
    ".",
    "e",
    "0",
    "99999999999999999999",
    "/*",
    "//",
    "ä",
    "🦀",
    "\u{2028}",
    "[[[[[[[[",
    "{\"a\":",
    ",\"a\":1",
    "\"k\":{\"k\":1,\"k\":2}",
];

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A value that matches a schema, or narrowly misses it, or is anything.
pub fn near(schema: &Value) -> BoxedStrategy<Value> {
    prop_oneof![8 => fitting(schema), 1 => any_value()].boxed()
}

fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return select(values.clone()).boxed();
    }
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    match schema["type"].as_str() {
        Some("integer") => around(schema, 1.0).prop_map(whole).boxed(),
        Some("number") => around(schema, 0.5).prop_map(Value::from).boxed(),
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("string") => prop_oneof![text(), "[a-c]{0,9}", "[0-9x]{0,4}"].prop_map(Value::from).boxed(),
        Some("array") => {
            let items = schema.get("items").map_or_else(|| any_value().boxed(), near);
            vec(items, 0..5).prop_map(Value::from).boxed()
        }
        Some("object") => object(schema),
        _ => any_value().boxed(),
    }
}

/// The properties that the schema names, each present or not, and some that it does not name.
fn object(schema: &Value) -> BoxedStrategy<Value> {
    let named = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let more = schema.get("additionalProperties").filter(|more| more.is_object());
    let more = more.map_or_else(|| any_value().boxed(), near);
    let mut strategy: BoxedStrategy<Map<String, Value>> =
        btree_map(text(), more, 0..3).prop_map(|map| map.into_iter().collect()).boxed();
    if !named.is_empty() {
        strategy = prop_oneof![9 => Just(Map::new()), 1 => strategy].boxed();
    }
    for (name, property) in named {
        let property = near(&property);
        strategy = (strategy, proptest::option::weighted(0.9, property))
            .prop_map(move |(mut map, value)| {
                map.extend(value.map(|value| (name.clone(), value)));
                map
            })
            .boxed();
    }
    strategy.prop_map(Value::Object).boxed()
}

/// Numbers at and next to the bounds.
fn around(schema: &Value, step: f64) -> BoxedStrategy<f64> {
    let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let mut numbers: Vec<f64> = vec![-1.0, 0.0, 1.0, 2.0, 3.0];
    for bound in bounds.iter().filter_map(|key| schema.get(*key)?.as_f64()) {
        numbers.extend([bound - step, bound, bound + step]);
    }
    select(numbers).boxed()
}

#[expect(clippy::cast_possible_truncation, reason = "bounds are small, and what is not is any number as well")]
fn whole(number: f64) -> Value {
    if number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
}
