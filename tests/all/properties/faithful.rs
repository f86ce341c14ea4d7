//! What is accepted is what serde reads.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_runtime::ToolResult;
use tool_runtime::arguments::{ArgumentError, ArgumentErrorKind};
use tool_tests::enums::{External, Untagged};
use tool_tests::wide::Wide;

use super::holds;
use super::texts::{any_value, damaged, near};
use crate::fixtures::{call, manifest};

/// A call and serde agree on a text: both take it and give the same, or neither does.
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

/// JSON with the characters escaped that results do not have as they are: controls, and those that turn a text around.
fn printable(json: &str) -> String {
    let is_unsafe = |c| matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let escaped = |c| if is_unsafe(c) { format!("\\u{:04x}", u32::from(c)) } else { String::from(c) };
    json.chars().map(escaped).collect()
}

/// What serde takes and no schema shows, so that a call may refuse it: equal keys in a map, a list for a struct, an
/// object for a bare variant.
fn is_leniency(error: &ArgumentError) -> bool {
    let received = error.received.as_deref().unwrap_or_default();
    let expects = |what: &str| error.expected.contains(what);
    error.kind == ArgumentErrorKind::Duplicate
        || (received.starts_with('[') && expects("object"))
        || (received.starts_with('{') && expects("one of"))
}

/// Values of `Wide`, or nearly so: its schema with the references followed.
fn wide() -> impl Strategy<Value = Value> {
    let tool = manifest().get("wide.echo").expect("a fixture").clone();
    let mut schema = tool.defs["Wide"].clone();
    follow(&mut schema, &tool.defs, 3);
    near(&schema)
}

/// Writes definitions out where they are referred to, some levels deep, and takes the first form of several.
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

/// A lent argument is the same as one that is given away.
#[test]
fn what_is_lent_is_what_is_given() {
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

/// The reader of arguments takes what a derived `Deserialize` takes.
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
        // No text at all is a call without arguments, which serde does not know.
        if text.trim_matches([' ', '\n', '\t', '\r']).is_empty() { Ok(()) } else { agree(&text, read, &result) }
    });
}

#[test]
fn any_value_comes_back_as_it_was() {
    holds(2_000, &damaged(any_value().prop_map(|value| value.to_string())), |text| {
        let result = call("opaque.echo", &format!(r#"{{"value": {text}}}"#));
        agree(&text, serde_json::from_str::<Value>(&text).map(|value| [value]), &result)
    });
}
