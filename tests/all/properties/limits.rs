//! What is accepted is what the schema accepts: another implementation of JSON Schema is asked.

use jsonschema::{Draft, Validator};
use serde_json::Value;
use tool_runtime::{ErrorKind, ToolDefinition};

use super::find;
use super::texts::near;
use crate::fixtures::{call, manifest, theme};

fn compile(tool: &ToolDefinition) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(&tool.parameters()).expect("a schema")
}

/// Arguments that the schema accepts are accepted by the call, if the types take them, and no others.
fn agrees(
    name: &str,
    tool: &ToolDefinition,
    oracle: &Validator,
    arguments: &Value,
    types_take_all: bool,
) -> Result<(), String> {
    let mut shown = arguments.clone();
    if let Some(shown) = shown.as_object_mut() {
        // `null` stands for an argument that is left out, which the schema does not say.
        shown.retain(|key, value| !value.is_null() || tool.arguments.get(key).is_none_or(|known| known.required));
    }
    let result = call(name, &arguments.to_string());
    let accepted = !result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::InvalidArguments);
    match (oracle.validate(&shown), accepted) {
        // Serde takes a list for a struct; `arguments::values::a_list_is_no_struct` is about that.
        (Err(error), true) if error.instance().is_array() && error.to_string().contains("object") => Ok(()),
        (Err(error), true) => Err(format!("{name} {arguments}: accepted, but {error} at {}", error.instance_path())),
        (Ok(()), false) if types_take_all && !has_whole_float(arguments) => {
            Err(format!("{name} {arguments}: valid, but {}", result.output))
        }
        _ => Ok(()),
    }
}

/// `1.0` is an integer to JSON Schema and none to serde.
fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|float| float.fract() == 0.0),
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(object) => object.values().any(has_whole_float),
        _ => false,
    }
}

/// Every tool of a theme; the counterexamples of all of them together.
#[track_caller]
fn theme_agrees(theme_name: &str, cases: u32, types_take_all: bool) {
    let mut wrong = Vec::new();
    for (name, tool) in theme(theme_name).iter() {
        let oracle = compile(tool);
        let arguments = near(&tool.parameters());
        let found = find(cases, &arguments, |arguments| agrees(name, tool, &oracle, &arguments, types_take_all));
        wrong.extend(found.err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_of_arguments_are_those_of_the_schema() {
    theme_agrees("rules", 200, true);
}

/// The types of these may take less than their schemas say.
#[test]
fn explicit_schemas_are_enforced() {
    theme_agrees("explicit", 200, false);
}

/// What the types alone say is what their schemas say.
#[test]
fn types_take_what_their_schemas_show() {
    for theme in ["borrowed", "classes", "functions", "receivers", "recursive", "returns", "scalars"] {
        theme_agrees(theme, 40, true);
    }
}

#[test]
fn enums_take_what_their_schemas_show() {
    theme_agrees("enums", 100, true);
}

#[test]
fn collections_take_what_their_schemas_show() {
    theme_agrees("collections", 100, true);
}

/// A conversion may refuse what the schema shows, and so may a type that is parsed.
#[test]
fn conversions_take_no_more_than_their_schemas_show() {
    for theme in ["opaque", "structs", "texts"] {
        theme_agrees(theme, 60, false);
    }
}

#[test]
fn the_bounds_inside_of_a_struct_are_those_of_the_schema() {
    let tool = manifest().get("structs.bounded").expect("a fixture").clone();
    let oracle = compile(&tool);
    let bounded = near(&tool.defs["Bounded"]);
    let found = find(500, &bounded, |bounded| {
        agrees("structs.bounded", &tool, &oracle, &serde_json::json!({"bounded": bounded, "list": []}), true)
    });
    assert_eq!(found, Ok(()));
}
