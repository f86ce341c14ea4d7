//! Nearly valid arguments are repaired to what was meant, and nothing else is changed.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use tool_runtime::{ErrorKind, ToolDefinition, ToolResult};

use super::holds;
use super::strategies::{any_value, damaged, near, text};
use crate::fixtures::{call, call_on, manifest, repairing};
use crate::valid_calls;

fn tool(name: &str) -> &'static ToolDefinition {
    manifest().get(name).expect("a fixture")
}

fn has_repairs(result: &ToolResult) -> bool {
    result.metadata.get("repairs").is_some()
}

/// Returns `true` if two results are equal. The order of a `HashMap` differs each time it is printed.
fn is_same(one: &ToolResult, other: &ToolResult) -> bool {
    let letters = |result: &ToolResult| {
        let mut letters: Vec<char> = result.output.chars().collect();
        letters.sort_unstable();
        letters
    };
    one.success == other.success && letters(one) == letters(other)
}

/// Returns `true` if both results are rejected, and the first for no more arguments than the second.
fn reports_no_more(one: &ToolResult, other: &ToolResult) -> bool {
    let errors = |result: &ToolResult| result.error.clone().map(|error| error.arguments).unwrap_or_default();
    let (one, other) = (errors(one), errors(other));
    !one.is_empty() && one.iter().all(|error| other.contains(error))
}

/// Valid calls: the listed ones, and random ones that are accepted.
fn valid_calls_strategy() -> impl Strategy<Value = (String, Value)> {
    let good: Vec<(String, Value)> =
        valid_calls::all().into_iter().map(|good| (good.name.to_owned(), good.arguments)).collect();
    let names: Vec<String> = manifest().iter().map(|(name, _)| name.to_owned()).collect();
    let random = select(names).prop_flat_map(|name| {
        let parameters = tool(&name).parameters();
        (Just(name), near(&parameters))
    });
    let is_right = |(name, arguments): &(String, Value)| call(name, &arguments.to_string()).success;
    prop_oneof![select(good), random].prop_filter("accepted as it is", is_right)
}

#[test]
fn valid_arguments_are_not_changed() {
    holds(1_000, &valid_calls_strategy(), |(name, arguments)| {
        let text = arguments.to_string();
        let (strict, repairing) = (call(&name, &text), call_on(repairing(), &name, &text));
        if is_same(&strict, &repairing) && !has_repairs(&repairing) {
            Ok(())
        } else {
            Err(format!("{name} {text}: {strict:?} {repairing:?}"))
        }
    });
}

/// Writes a value as a careless model does, along its schema.
struct CarelessWriter<'a> {
    defs: &'a BTreeMap<String, Value>,
    /// The mistakes to make, one place after the other: none at most of them.
    choices: std::iter::Cycle<std::slice::Iter<'a, u8>>,
}

impl CarelessWriter<'_> {
    fn write(&mut self, value: &Value, schema: &Value) -> String {
        let schema = match schema.get("$ref").and_then(Value::as_str) {
            Some(target) => &self.defs[target.trim_start_matches("#/$defs/")],
            None => schema,
        };
        let is_listed = schema.get("enum").is_some() || schema.get("const").is_some();
        let choice = self.choices.next().copied().unwrap_or_default();
        let written = match (schema["type"].as_str(), value) {
            (Some("object"), Value::Object(fields)) => {
                let fields = fields.iter().map(|(key, field)| {
                    let schema = schema["properties"].get(key).unwrap_or(&schema["additionalProperties"]);
                    format!("{}:{}", Value::from(key.as_str()), self.write(field, schema))
                });
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
            (Some("array"), Value::Array(items)) if schema.get("prefixItems").is_none() => {
                let items: Vec<String> = items.iter().map(|item| self.write(item, &schema["items"])).collect();
                format!("[{}]", items.join(","))
            }
            (Some("string"), Value::String(word)) if is_listed && choice == 1 => return another_case(word, schema),
            (Some("integer"), Value::Number(number)) if !is_listed && choice == 2 && !number.is_f64() => {
                return format!("{number}.0");
            }
            (Some("integer"), Value::Number(number)) if !is_listed && choice == 3 && !number.is_f64() => {
                return format!("{number}e0");
            }
            _ => value.to_string(),
        };
        let can_be_quoted =
            matches!(schema["type"].as_str(), Some("integer" | "number" | "boolean" | "array" | "object"));
        if can_be_quoted && choice < 2 && !value.is_null() && !value.is_string() {
            Value::from(written).to_string()
        } else {
            written
        }
    }
}

/// Writes a variant in upper case, if that is unambiguous.
fn another_case(word: &str, schema: &Value) -> String {
    let capitals = word.to_uppercase();
    let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let alike = words.filter(|other| other.to_lowercase() == word.to_lowercase()).count();
    Value::from(if alike == 1 { capitals.as_str() } else { word }).to_string()
}

/// Wraps the arguments as a whole.
fn wrapped(text: String, how: u8) -> String {
    match how {
        0 => Value::from(text).to_string(),
        1 => format!("```json\n{text}\n```"),
        2 if text.len() > 2 => format!("{},}}", &text[..text.len() - 1]),
        _ => text,
    }
}

/// Except for `#[serde(other)]`, which accepts any string as it is.
#[test]
fn nearly_valid_arguments_do_what_was_meant() {
    let can_be_repaired = |(name, _): &(String, Value)| name != "enums.bare" && tool(name).repair != Some(false);
    let repairable = valid_calls_strategy().prop_filter("can be repaired", can_be_repaired);
    let careless = (repairable, vec(0..8_u8, 1..20), 0..10_u8);
    holds(2_000, &careless, |((name, arguments), choices, how)| {
        let tool = tool(&name);
        let mut writer = CarelessWriter { defs: &tool.defs, choices: choices.iter().cycle() };
        let mut fields = Vec::new();
        for (key, value) in arguments.as_object().into_iter().flatten() {
            let schema = tool.arguments.get(key).map_or(Value::Null, tool_runtime::manifest::Argument::schema);
            fields.push(format!("{}:{}", Value::from(key.as_str()), writer.write(value, &schema)));
        }
        let text = wrapped(format!("{{{}}}", fields.join(",")), how);
        let (meant, strict) = (call(&name, &arguments.to_string()), call(&name, &text));
        let repaired = call_on(repairing(), &name, &text);
        if !is_same(&repaired, &meant) {
            return Err(format!("{name} {arguments}\n as {text}\n gives {}\n not {}", repaired.output, meant.output));
        }
        // Some types accept it as it is; then nothing is repaired.
        if strict.success == has_repairs(&repaired) && !has_repairs(&strict) {
            return Err(format!("{name} {text}: {repaired:?}"));
        }
        Ok(())
    });
}

/// An `Option` accepts `null` as a value.
#[test]
fn null_stands_for_an_omitted_argument() {
    holds(500, &valid_calls_strategy(), |(name, arguments)| {
        let meant = call(&name, &arguments.to_string());
        let mut with_null = arguments.clone();
        for (key, argument) in &tool(&name).arguments {
            let mut with_this = arguments.clone();
            let is_absent = !argument.required && arguments.get(key).is_none();
            if is_absent && arguments.is_object() {
                with_this[key] = Value::Null;
                if !call(&name, &with_this.to_string()).success {
                    with_null[key] = Value::Null;
                }
            }
        }
        let repaired = call_on(repairing(), &name, &with_null.to_string());
        if is_same(&repaired, &meant) { Ok(()) } else { Err(format!("{name} {with_null}: {repaired:?}")) }
    });
}

/// The handler gets a string exactly as it was sent, even if values around it are repaired.
#[test]
fn strings_are_never_changed() {
    let arguments = (text(), any_value(), select(vec!["1", "\"1\"", "1.0", "true"]), any_value());
    let texts = arguments.prop_map(|(text, list, tiny, anything)| {
        let list = if list.is_array() { list.to_string() } else { Value::from("[1, null]").to_string() };
        format!(
            r#"{{"text": {}, "tiny": {tiny}, "float": "0.5", "list": {list}, "map": {{"a": "[1]"}}, "anything": {anything}}}"#,
            Value::from(text)
        )
    });
    holds(2_000, &damaged(texts), |text| {
        let result = call_on(repairing(), "wide.spread", &text);
        let (Ok(sent), true) = (serde_json::from_str::<Value>(&text), result.success) else { return Ok(()) };
        // Arguments sent as one string are parsed.
        let Some(sent) = sent.as_object() else { return Ok(()) };
        let got: Value = serde_json::from_str(&result.output).map_err(|error| error.to_string())?;
        let anything = sent.get("anything").filter(|anything| !anything.is_null());
        if got[0] == sent["text"] && anything.is_none_or(|anything| got[7] == *anything) {
            Ok(())
        } else {
            Err(format!("{text}: {got}"))
        }
    });
}

/// A value that cannot be repaired is rejected as it is without repair; those that can be are not mentioned.
#[test]
fn repair_does_not_change_error_messages() {
    let calls =
        valid_calls_strategy().prop_flat_map(|(name, arguments)| (Just(name), damaged(Just(arguments.to_string()))));
    holds(3_000, &calls, |(name, text)| {
        let (strict, repairing) = (call(&name, &text), call_on(repairing(), &name, &text));
        let is_refused =
            |result: &ToolResult| result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::InvalidArguments);
        match (is_refused(&strict), is_refused(&repairing)) {
            (true, true) if !reports_no_more(&repairing, &strict) => {
                Err(format!("{name} {text}: {strict:?} {repairing:?}"))
            }
            (false, _) if !is_same(&strict, &repairing) => Err(format!("{name} {text}: {strict:?} {repairing:?}")),
            (true, false) if !has_repairs(&repairing) => Err(format!("{name} {text}: {repairing:?} without a repair")),
            _ => Ok(()),
        }
    });
}
