//! Comparison with `serde_json`: the text is the same, except for the additional escapes.

use std::collections::{BTreeMap, HashMap};
use std::result::Result;

use proptest::prelude::*;

use super::*;

#[derive(Serialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i8, u128),
    Box { width: Option<u8>, height: Option<u8> },
}

#[derive(Serialize)]
struct UnitStruct;

#[derive(Serialize)]
struct EmptyStruct {}

#[derive(Serialize)]
struct NewtypeStruct(&'static str);

#[derive(Serialize)]
struct TupleStruct(i128, bool);

#[derive(Serialize)]
struct FlatStruct {
    letter: char,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

/// A value that is written by its `Display`, in parts.
struct DisplayedValue(&'static str);

impl Serialize for DisplayedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("<{}|{:?}>", self.0, self.0))
    }
}

struct ByteString(&'static [u8]);

impl Serialize for ByteString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// A value in the form of raw JSON in `serde_json`.
struct RawJson(&'static str, &'static str);

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(self.0, 1)?;
        serde::ser::SerializeStruct::serialize_field(&mut raw, self.0, self.1)?;
        serde::ser::SerializeStruct::end(raw)
    }
}

fn written(value: &(impl ?Sized + Serialize)) -> Result<String, String> {
    let mut text = String::new();
    write(&mut text, value).map(|()| text).map_err(|error| error.to_string())
}

/// Returns `true` for characters that `serde_json` does not escape and that are unsafe to print.
fn is_unsafe(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// Returns the text of `serde_json` with those characters escaped, which can only be in strings.
fn expected(value: &(impl ?Sized + Serialize)) -> Result<String, String> {
    let text = serde_json::to_string(value).map_err(|error| error.to_string())?;
    let escaped = |c| if is_unsafe(c) { format!("\\u{:04x}", u32::from(c)) } else { String::from(c) };
    Ok(text.chars().map(escaped).collect())
}

#[track_caller]
fn same(value: &(impl ?Sized + Serialize)) {
    let written = written(value);
    assert_eq!(written, expected(value));
    if let Ok(text) = written {
        assert!(!text.contains(|c: char| c.is_control() || is_unsafe(c)), "{text:?}");
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(parsed(&text), parsed(&serde_json::to_string(value).unwrap()));
    }
}

#[test]
fn writes_every_type_of_serde() {
    same(&(
        true,
        false,
        (),
        UnitStruct,
        EmptyStruct {},
        None::<u8>,
        Some(Some(3)),
        NewtypeStruct("w"),
        TupleStruct(i128::MIN, true),
    ));
    same(&(u8::MAX, i16::MIN, u16::MAX, i32::MIN, u32::MAX, i64::MIN, u64::MAX, u128::MAX));
    same(&[Shape::Point, Shape::Circle(0.5), Shape::Line(-1, 2), Shape::Box { width: Some(1), height: None }]);
    same(&FlatStruct { letter: 'é', rest: BTreeMap::from([("more".to_owned(), Value::Null)]) });
    same(&(DisplayedValue("a \"b\"\n"), ByteString(&[0, 255]), ByteString(&[]), 'x', '"', '\u{1F600}'));
    same(&(Vec::<u8>::new(), BTreeMap::<String, u8>::new(), [[1], [2]], vec![Vec::<u8>::new(), vec![1, 2]]));
}

#[test]
fn writes_non_finite_floats_as_null() {
    same(&[0.0, -0.0, 1.0, 0.1, 1e300, -1.5e-300, 123_456_789.125, f64::MAX, f64::MIN_POSITIVE, 5e-324]);
    same(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    same(&[0.1_f32, f32::MAX, f32::MIN_POSITIVE, f32::NAN]);
}

#[test]
fn writes_every_key_as_a_string() {
    same(&HashMap::from([("a\"\\", 1)]));
    same(&BTreeMap::from([(-1, 1), (2, 3)]));
    same(&BTreeMap::from([(false, "no"), (true, "yes")]));
    same(&HashMap::from([('\n', 1)]));
    same(&HashMap::from([(Some("a"), 1)]));
    same(&HashMap::from([(u128::MAX, 1)]));
    for wrong in ["()", "[]", "{}"] {
        let refused = match wrong {
            "()" => written(&HashMap::from([((), 1)])),
            "[]" => written(&HashMap::from([([1, 2], 1)])),
            _ => written(&HashMap::from([(BTreeMap::from([("a", 1)]), 1)])),
        };
        assert_eq!(refused, Err("key must be a string".to_owned()), "{wrong}");
    }
    same(&HashMap::from([(None::<u8>, 1)]));
}

#[test]
fn raw_json_is_unchanged() {
    let raw = (1, RawJson("$serde_json::private::RawValue", "{\"a\": \"\\n\" }"), "end");
    assert_eq!(written(&raw).as_deref(), Ok(r#"[1,{"a": "\n" },"end"]"#));
    let number = BTreeMap::from([("n", RawJson("$serde_json::private::Number", "1.00000000000000000001"))]);
    assert_eq!(written(&number).as_deref(), Ok(r#"{"n":1.00000000000000000001}"#));
    let control = RawJson("RawValue", "{}");
    assert_eq!(written(&control).as_deref(), Ok(r#"{"RawValue":"{}"}"#));
}

#[test]
fn escapes_unsafe_characters_in_raw_json() {
    let raw = RawJson("$serde_json::private::RawValue", "[\"\u{9b}31m\u{202e}é\\n\u{7f}\" ]");
    assert_eq!(written(&raw).as_deref(), Ok(r#"["\u009b31m\u202eé\n\u007f" ]"#));
}

#[test]
fn appends_to_the_string() {
    let mut text = "so: ".to_owned();
    assert!(write(&mut text, &[Shape::Point]).is_ok());
    assert!(write(&mut text, &RawJson("$serde_json::private::RawValue", "[ ]")).is_ok());
    assert_eq!(text, r#"so: ["Point"][ ]"#);
}

#[test]
fn escapes_every_character_at_every_offset() {
    let blocks = (0..=0x2FF).chain(0x600..=0x63F).chain(0x2000..=0x20FF).chain([0xFF9C, 0x2_801C, 0x10_FFFF]);
    for character in blocks.filter_map(char::from_u32) {
        for before in 0..18 {
            same(&format!("{}{character}{}", "a".repeat(before), "é".repeat(before % 5)));
        }
    }
}

/// Generates values with strings that need many escapes.
fn values() -> impl Strategy<Value = Value> {
    let text = || {
        proptest::string::string_regex(
            "([ -~]|[\\x00-\\x1f\"\\\\é\u{1F600}\u{7f}\u{9b}\u{61c}\u{202e}\u{2026}\u{2066}\u{2029}]){0,40}",
        )
        .expect("a pattern")
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value(value in values()) {
        same(&value);
    }

    #[test]
    fn any_text(text in any::<String>(), float in any::<f32>()) {
        same(&(text, float));
    }
}
