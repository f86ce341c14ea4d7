//! Accepted arguments are what serde reads.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_runtime::ToolResult;
use tool_runtime::arguments::{ArgumentError, ArgumentErrorKind};
use tool_tests::enums::{External, Untagged};
use tool_tests::wide::Wide;

use super::holds;
use super::strategies::{any_value, damaged, near};
use crate::fixtures::{call, manifest};

/// Asserts that a call and serde agree on a text: both accept it with the same result, or both reject it.
fn agree<T: Serialize>(text: &str, read: serde_json::Result<T>, result: &ToolResult) -> Result<(), String> {
    match (read, &result.error) {
        (Ok(value), None) => {
            let expected = printable(&serde_json::to_string(&value).expect("JSON"));
            if result.output == expected { Ok(()) } else { Err(format!("{text}: {} is not {expected}", result.output)) }
        }
        (Ok(_), Some(error)) if error.arguments.iter().all(is_leniency) => Ok(()),
        (Ok(_), Some(error)) => Err(format!("{text}: serde takes it: {error}")),
        (Err(error), None) => Err(format!("{text}: accepted, but serde says {error}")),
        (Err(_), Some(_)) => Ok(()),
    }
}

/// JSON with those characters escaped that results never contain: control and bidirectional characters.
fn printable(json: &str) -> String {
    let is_unsafe = |c| matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let escaped = |c| if is_unsafe(c) { format!("\\u{:04x}", u32::from(c)) } else { String::from(c) };
    json.chars().map(escaped).collect()
}

/// Values that serde accepts and no schema shows, so that a call may reject them: duplicate keys in a map, an array
/// for a struct, an object for a unit variant.
fn is_leniency(error: &ArgumentError) -> bool {
    let received = error.received.as_deref().unwrap_or_default();
    let expects = |what: &str| error.expected.contains(what);
    error.kind == ArgumentErrorKind::Duplicate
        || (received.starts_with('[') && expects("object"))
        || (received.starts_with('{') && expects("one of"))
}

/// Values of `Wide`, or nearly so: generated from its schema with references resolved.
fn wide() -> impl Strategy<Value = Value> {
    let tool = manifest().get("wide.echo").expect("a fixture").clone();
    let mut schema = tool.defs["Wide"].clone();
    follow(&mut schema, &tool.defs, 3);
    near(&schema)
}

/// Inlines definitions where they are referenced, some levels deep, and takes the first of several alternatives.
fn follow(schema: &mut Value, defs: &BTreeMap<String, Value>, levels: usize) {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = defs[name.trim_start_matches("#/$defs/")].clone();
        *schema = if levels == 0 { json!({}) } else { target };
        return follow(schema, defs, levels.saturating_sub(1));
    }
    for forms in ["anyOf", "oneOf"] {
        if let Some(first) = schema.get(forms).and_then(Value::as_array).map(|forms| forms[forms.len() / 3].clone()) {
            *schema = first;
            return follow(schema, defs, levels);
        }
    }
    if let Some(types) = schema.get("type").and_then(Value::as_array) {
        schema["type"] = types[0].clone();
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(|property| follow(property, defs, levels));
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(inner).filter(|inner| inner.is_object()) {
            follow(inner, defs, levels);
        }
    }
}

#[test]
fn a_wide_struct_comes_back_as_serde_reads_it() {
    holds(1_500, &damaged(wide().prop_map(|value| value.to_string())), |text| {
        let result = call("wide.echo", &format!(r#"{{"wide": {text}}}"#));
        agree(&text, serde_json::from_str::<Wide>(&text), &result)
    });
}

/// A borrowed argument equals an owned one.
#[test]
fn borrowed_arguments_equal_owned_ones() {
    holds(300, &wide(), |value| {
        let text = json!({"wide": value}).to_string();
        let (given, lent) = (call("wide.echo", &text), call("wide.lent", &text));
        let rest = |result: &ToolResult| result.output.replace("wide.lent", "wide.echo");
        if rest(&given) == rest(&lent) { Ok(()) } else { Err(format!("{text}: {given:?} {lent:?}")) }
    });
}

/// The arguments of `wide.spread` as serde would read them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spread {
    text: String,
    tiny: i8,
    float: f64,
    list: Vec<Option<i32>>,
    map: BTreeMap<String, Vec<u8>>,
    external: Option<External>,
    untagged: Option<Untagged>,
    anything: Option<Value>,
}

/// The argument reader accepts what a derived `Deserialize` accepts.
#[test]
fn arguments_are_read_as_serde_reads_a_struct() {
    let tool = manifest().get("wide.spread").expect("a fixture").clone();
    let mut parameters = tool.parameters();
    follow(&mut parameters, &tool.defs, 3);
    let texts = damaged(near(&parameters).prop_map(|value| value.to_string()));
    holds(3_000, &texts, |text| {
        let result = call("wide.spread", &text);
        let read = serde_json::from_str::<Spread>(&text)
            .map(|all| (all.text, all.tiny, all.float, all.list, all.map, all.external, all.untagged, all.anything));
        // Empty text is a call without arguments, which serde does not know.
        if text.trim_matches([' ', '\n', '\t', '\r']).is_empty() { Ok(()) } else { agree(&text, read, &result) }
    });
}

#[test]
fn any_value_comes_back_unchanged() {
    holds(2_000, &damaged(any_value().prop_map(|value| value.to_string())), |text| {
        let result = call("opaque.echo", &format!(r#"{{"value": {text}}}"#));
        agree(&text, serde_json::from_str::<Value>(&text).map(|value| [value]), &result)
    });
}
