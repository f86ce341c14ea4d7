//! Messages that lead a model to the right value, not to another wrong one.

use std::collections::BTreeMap;
use std::ops::{Bound, Range};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::{Dispatcher, Manifest, tool};

use crate::fixtures::refused_on;

/// Asserts each message as the model reads it.
#[track_caller]
fn lines(name: &str, text: &str) -> Vec<String> {
    refused_on(own(), name, text).iter().map(ToString::to_string).collect()
}

#[test]
fn a_variant_with_data_is_named_with_its_form() {
    assert_eq!(lines("reasons.mixed", r#"{"a": "With"}"#), ["`a`: got \"With\", expected object with `With`"]);
    assert_eq!(
        lines("reasons.mixed", r#"{"a": {"Plain": 5}}"#),
        ["`a`: got {\"Plain\":5}, expected exactly \"Plain\""]
    );
    assert_eq!(
        lines("reasons.mixed", r#"{"a": "Other"}"#),
        ["`a`: got \"Other\", expected one of: object with `With`; \"Plain\""]
    );
}

#[test]
fn a_recursive_type_is_not_unrolled() {
    assert_eq!(
        lines("reasons.recursive", r#"{"a": {"x": [true]}}"#),
        ["`a.x[0]`: got true, expected one of: number; string; array of Json; object of Json"]
    );
}

/// The schemas of these types are open, the types are not.
#[test]
fn an_extra_property_is_named() {
    let good = r#""result": {"Ok": true}, "bound": "Unbounded", "range": {"start": 1, "end": 2},
        "duration": {"secs": 1, "nanos": 0}, "time": {"secs_since_epoch": 1, "nanos_since_epoch": 0}, "bounds": []"#;
    for (from, to, expected) in [
        (r#"{"Ok": true}"#, r#"{"Ok": false, "x": 0}"#, "`result.x`: unknown property; known are `Ok`"),
        (
            r#"{"Ok": true}"#,
            r#"{"Err": "no" , "odd name": 0}"#,
            "`result[\"odd name\"]`: unknown property; known are `Err`",
        ),
        (r#""Unbounded""#, r#"{"Included": 1, "x": 1}"#, "`bound.x`: unknown property; known are `Included`"),
        (
            r#""Unbounded""#,
            r#"{"Included": 1, "Includedx": 1}"#,
            "`bound.Includedx`: unknown property; known are `Included`",
        ),
        ("[]", r#"["Unbounded", {"Excluded": 1, "x": 1}]"#, "`bounds[1].x`: unknown property; known are `Excluded`"),
        (r#""end": 2"#, r#""end": 2, "step": 1"#, "`range.step`: unknown property; known are `end`, `start`"),
        (
            r#""nanos": 0"#,
            r#""nanos": 0, "millis": 1"#,
            "`duration.millis`: unknown property; known are `nanos`, `secs`",
        ),
        (
            r#""nanos_since_epoch": 0"#,
            r#""nanos_since_epoch": 0, "zone": "UTC""#,
            "`time.zone`: unknown property; known are `nanos_since_epoch`, `secs_since_epoch`",
        ),
    ] {
        let text = format!("{{{}}}", good.replacen(from, to, 1));
        assert_eq!(lines("reasons.standard", &text), [expected], "{text}");
    }
}

/// Types without a schema have only the message of their `Deserialize`.
#[test]
fn a_type_without_a_schema_still_rejects_by_value() {
    let enum_form = "an enum is written as the name of a variant, or as an object with that name as its only key";
    for (text, expected) in [
        (r#"{"a": {"choice": 5, "pair": [1, 2]}}"#, format!("`a.choice`: cannot be read: {enum_form}")),
        (
            r#"{"a": {"choice": {"With": 5, "x": 1}, "pair": [1, 2]}}"#,
            format!("`a.choice.With`: cannot be read: {enum_form}"),
        ),
        (
            r#"{"a": {"choice": "Plain", "pair": [1, 2, 3]}}"#,
            "`a.pair[2]`: cannot be read: there is more than the type reads; leave out what is here and behind"
                .to_owned(),
        ),
    ] {
        assert_eq!(lines("reasons.undescribed", text), [expected], "{text}");
    }
}

#[test]
fn a_type_with_a_traced_schema_is_rejected_by_the_schema() {
    for (text, expected) in [
        (
            r#"{"a": {"choice": 5, "pair": [1, 2]}}"#,
            "`a.choice`: got 5, expected one of: object with `With`; \"Plain\"",
        ),
        (r#"{"a": {"choice": "Plain", "pair": [1, 2, 3]}}"#, "`a.pair`: got [1,2,3], expected exactly 2 items"),
    ] {
        assert_eq!(lines("reasons.traced", text), [expected], "{text}");
    }
}

#[test]
fn a_decimal_for_a_128_bit_integer_is_rejected_for_its_form() {
    let why = "(write it without a fraction or exponent)";
    for (a, list, expected) in [
        ("2.0", "[]", format!("`a`: got 2.0, expected integer of at least 0 {why}")),
        ("1e2", "[]", format!("`a`: got 1e2, expected integer of at least 0 {why}")),
        ("1", "[1, 2.0]", format!("`list[1]`: got 2.0, expected integer {why}")),
        ("1", "[-15e1]", format!("`list[0]`: got -15e1, expected integer {why}")),
    ] {
        let text = format!(r#"{{"a": {a}, "list": {list}, "choice": {{"With": 1}}}}"#);
        assert_eq!(lines("reasons.wide", &text), [expected], "{text}");
    }
    let text = r#"{"a": 1, "list": [], "choice": {"With": 2.0}}"#;
    assert_eq!(lines("reasons.wide", text), [format!("`choice.With`: got 2.0, expected integer {why}")]);
    // A property that the type ignores is not the reason.
    let text = r#"{"open": {"number": 2.0, "extra": 1}}"#;
    assert_eq!(lines("reasons.open", text), [format!("`open.number`: got 2.0, expected integer {why}")]);
    // A number with a fraction does not have the wrong form.
    let text = r#"{"a": 1.5, "list": [], "choice": {"With": 1}}"#;
    assert_eq!(lines("reasons.wide", text), ["`a`: got 1.5, expected integer of at least 0"]);
}

/// `serde_json` parses all of these as floats.
#[test]
fn an_integer_written_as_a_float_is_rejected_for_its_form_or_size() {
    let form = "(write it without a fraction or exponent)";
    for (small, list, expected) in [
        ("1e2", "[]", format!("`small`: got 1e2, expected integer between 0 and 255 {form}")),
        ("1", "[1, 2.0, 3]", format!("`list[1]`: got 2.0, expected integer {form}")),
        (
            "1",
            "[18446744073709551616]",
            "`list[0]`: got 18446744073709551616, expected integer (it is beyond 64 bits)".to_owned(),
        ),
        ("1", "[1.5]", "`list[0]`: got 1.5, expected integer of at least 0".to_owned()),
    ] {
        let text = format!(r#"{{"small": {small}, "list": {list}}}"#);
        assert_eq!(lines("reasons.narrow", &text), [expected], "{text}");
    }
    // Rejected for its size, not for its form.
    let errors = lines("reasons.wide", r#"{"a": 1, "list": [1e400], "choice": {"With": 1}}"#);
    assert!(errors[0].starts_with("`list"), "{errors:?}");
}

#[test]
fn an_excluded_value_is_named_with_its_type() {
    let expected = "`number`: got 0, expected integer between -128 and 127 other than 0";
    assert_eq!(lines("reasons.nonzero", r#"{"number": 0}"#), [expected]);
}

fn own() -> &'static Dispatcher {
    static TOOLS: OnceLock<Dispatcher> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let linked = Manifest::linked();
        let own = linked.iter().filter(|(name, _)| name.starts_with("reasons."));
        let own: Manifest = own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
        Dispatcher::builder().manifest(own).repair(false).build().unwrap_or_else(|error| panic!("{error}"))
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Mixed {
    Plain,
    With(u8),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Json {
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Wide {
    With(u128),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Open {
    number: u128,
}

#[derive(Debug, Deserialize)]
enum Undescribed {
    Plain,
    With(u8),
}

#[derive(Debug, Deserialize)]
struct Opaque {
    choice: Undescribed,
    pair: (u8, u8),
}

/// Takes a variant.
#[tool(name = "reasons.mixed")]
fn mixed(a: Mixed) -> String {
    match a {
        Mixed::Plain => "plain".to_owned(),
        Mixed::With(number) => number.to_string(),
    }
}

/// Takes a type that holds itself.
#[tool(name = "reasons.recursive")]
fn recursive(a: Json) -> String {
    match a {
        Json::Number(number) => number.to_string(),
        Json::Text(text) => text,
        Json::List(list) => format!("{list:?}"),
        Json::Map(map) => format!("{map:?}"),
    }
}

/// Takes types of the standard library.
#[tool(name = "reasons.standard")]
fn standard(
    result: Result<bool, String>,
    bound: Bound<u8>,
    range: Range<u8>,
    duration: Duration,
    time: SystemTime,
    bounds: Vec<Bound<u8>>,
) -> String {
    format!("{result:?} {bound:?} {range:?} {duration:?} {time:?} {bounds:?}")
}

/// Takes integers of 128 bits.
#[tool(name = "reasons.wide")]
fn wide(a: u128, list: Vec<i128>, choice: Wide) -> String {
    let Wide::With(number) = choice;
    format!("{a} {list:?} {number}")
}

/// Takes a struct that passes over what it does not know.
#[tool(name = "reasons.open")]
fn open(open: Open) -> u128 {
    open.number
}

/// Takes integers of up to 64 bits.
#[tool(name = "reasons.narrow")]
fn narrow(small: u8, list: Vec<u64>) -> String {
    format!("{small} {list:?}")
}

/// Takes an integer that is not zero.
#[tool(name = "reasons.nonzero")]
fn nonzero(number: std::num::NonZeroI8) -> i8 {
    number.get()
}

/// Takes a type without a schema.
#[tool(name = "reasons.undescribed")]
fn undescribed(#[arg(with = "by_function", any)] a: Opaque) -> String {
    traced(a)
}

mod by_function {
    use serde::{Deserialize, Deserializer};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<super::Opaque, D::Error> {
        super::Opaque::deserialize(deserializer)
    }
}

/// Takes a type whose schema is traced.
#[tool(name = "reasons.traced")]
fn traced(a: Opaque) -> String {
    let choice = match a.choice {
        Undescribed::Plain => "plain".to_owned(),
        Undescribed::With(number) => number.to_string(),
    };
    format!("{choice} {:?}", a.pair)
}
