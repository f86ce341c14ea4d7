//! Errors repeat only the beginning of what was sent: a model that sends 10 MB does not read them again.

use serde_json::{Map, Value, json};
use tool_runtime::ToolResult;

use crate::fixtures::{self, call};
use crate::valid_calls;

/// The number of bytes that the result of a failed call may have.
const LONGEST: usize = 2_000;

fn assert_short(name: &str, what: &str, result: &ToolResult) {
    let error = result.error.as_ref().unwrap_or_else(|| panic!("{name} accepts {what}"));
    let start: String = result.output.chars().take(500).collect();
    assert!(result.output.len() <= LONGEST, "{name}, {what}: {} bytes\n{start}", result.output.len());
    let error = serde_json::to_string(error).unwrap();
    assert!(error.len() <= 2 * LONGEST, "{name}, {what}: an error of {} bytes\n{start}", error.len());
    let metadata = serde_json::to_string(&result.metadata).unwrap();
    assert!(metadata.len() <= LONGEST, "{name}, {what}: metadata of {} bytes", metadata.len());
}

/// Returns the value with a long text in each position: instead of a value, as a key, as another key, as another item.
fn with_long_text(value: &Value, long: &str) -> Vec<Value> {
    let mut variants = vec![json!(long)];
    match value {
        Value::Object(fields) => {
            variants.push(Value::Object(fields.clone().into_iter().chain([(long.to_owned(), json!(1))]).collect()));
            for (changed, inner) in fields {
                let with = |key: &str, value: Value| {
                    let others = fields.iter().filter(|(key, _)| *key != changed);
                    let others = others.map(|(key, value)| (key.clone(), value.clone()));
                    Value::Object(others.chain([(key.to_owned(), value)]).collect::<Map<_, _>>())
                };
                variants.push(with(long, inner.clone()));
                variants.extend(with_long_text(inner, long).into_iter().map(|inner| with(changed, inner)));
            }
        }
        Value::Array(items) => {
            variants.push(items.iter().cloned().chain([json!(long)]).collect());
            for (index, item) in items.iter().enumerate() {
                variants.extend(with_long_text(item, long).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[index] = item;
                    Value::Array(items)
                }));
            }
        }
        _ => {}
    }
    variants
}

#[test]
fn a_long_text_in_any_position_is_cut_in_errors() {
    let mut failures = 0;
    for long in ["x".repeat(6_000), "\u{1b}".repeat(6_000)] {
        for valid in valid_calls::all() {
            for arguments in with_long_text(&valid.arguments, &long) {
                let arguments = arguments.to_string();
                let result = call(valid.name, &arguments);
                // A tool may accept the text and return it.
                if !result.success {
                    failures += 1;
                    let start: String = arguments.chars().take(200).collect();
                    assert_short(valid.name, &start, &result);
                }
                if let Err(error) = fixtures::repairing().validate(valid.name, &arguments) {
                    assert!(error.message.len() <= LONGEST, "{}: {} bytes", valid.name, error.message.len());
                }
            }
        }
    }
    assert!(failures > 1_000, "{failures}");
}

#[test]
fn ten_megabytes_are_cut_in_errors() {
    let long = "x".repeat(10_000_000);
    let add = "add";
    assert_short(&long[..9], "a long name", &call(&long, "{}"));
    assert_short(add, "a long argument name", &call(add, &json!({&long: 1}).to_string()));
    assert_short(add, "a long value", &call(add, &json!({"a": &long}).to_string()));
    assert_short(add, "long text that is not JSON", &call(add, &long));
    assert_short(add, "a long string", &call(add, &json!(&long).to_string()));
    assert_short(add, "unclosed text", &call(add, &format!("{{\"a\": \"{long}")));
    assert_short(add, "a long number", &call(add, &format!("{{\"a\": {}}}", "7".repeat(10_000_000))));
    assert_short(add, "a key twice", &call(add, &format!("{{\"{long}\": 1, \"{long}\": 2}}")));
    let deep = format!("{{\"a\": {}1{}}}", format!("{{\"{}\": ", "k".repeat(90_000)).repeat(100), "}".repeat(100));
    assert_short(add, "long names, deeply nested", &call(add, &deep));
}
