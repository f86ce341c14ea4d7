//! What is accepted is what the schema accepts: another implementation of JSON Schema is asked.

use jsonschema::{Draft, Validator};
use serde_json::Value;
use tool_runtime::{ErrorKind, ToolDefinition};

use super::find;
use super::texts::near;
use crate::fixtures::{self, call};

fn compile(tool: &ToolDefinition) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(&tool.parameters()).expect("a schema")
}

/// Which way the types of a tool's arguments may differ from their schemas.
#[derive(Clone, Copy, PartialEq)]
enum Types {
    /// They take what the schema shows.
    Same,
    /// A conversion refuses some of it: a text is parsed, an `any` is of some type after all.
    TakeLess,
    /// `#[serde(other)]` takes any text.
    TakeMore,
}

fn types_of(tool: &str) -> Types {
    match tool {
        "collections.maps" | "rules.secrets" => Types::TakeLess,
        "enums.bare" => Types::TakeMore,
        name if ["explicit.", "opaque.", "structs.", "texts."].iter().any(|theme| name.starts_with(theme)) => {
            Types::TakeLess
        }
        _ => Types::Same,
    }
}

/// Arguments that the schema accepts are accepted by the call, and no others.
fn agrees(name: &str, tool: &ToolDefinition, oracle: &Validator, arguments: &Value) -> Result<(), String> {
    let mut without_null = arguments.clone();
    if let Some(shown) = without_null.as_object_mut() {
        // An `Option` takes `null` for an argument that is left out, which the schema does not say.
        shown.retain(|key, value| !value.is_null() || tool.arguments.get(key).is_none_or(|known| known.required));
    }
    let result = call(name, &arguments.to_string());
    let accepted = !result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::InvalidArguments);
    match (accepted, types_of(name)) {
        (true, Types::Same | Types::TakeLess) => match oracle.validate(&without_null) {
            // Serde takes a list for a struct; `arguments::values::a_list_is_no_struct` is about that.
            Err(error) if error.instance().is_array() && error.to_string().contains("object") => Ok(()),
            Err(error) => Err(format!("{name} {arguments}: accepted, but {error} at {}", error.instance_path())),
            Ok(()) => Ok(()),
        },
        (false, Types::Same | Types::TakeMore) if oracle.is_valid(arguments) && !has_number_apart(arguments) => {
            Err(format!("{name} {arguments}: valid, but {}", result.output))
        }
        _ => Ok(()),
    }
}

/// Numbers on which JSON Schema and Rust differ: `1.0` is an integer to the one only, and the range of a 64-bit
/// integer is not shown.
fn has_number_apart(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_i64().is_none() && number.as_f64().is_some_and(|float| float.fract() == 0.0),
        Value::Array(items) => items.iter().any(has_number_apart),
        Value::Object(object) => object.values().any(has_number_apart),
        _ => false,
    }
}

/// Every tool of some themes; the counterexamples of all of them together.
#[track_caller]
fn themes_agree(themes: &[&str], cases: u32) {
    let mut wrong = Vec::new();
    for theme in themes {
        for (name, tool) in fixtures::theme(theme).iter() {
            let oracle = compile(tool);
            let found = find(cases, &near(&tool.parameters()), |arguments| agrees(name, tool, &oracle, &arguments));
            wrong.extend(found.err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_of_arguments_are_those_of_the_schema() {
    themes_agree(&["rules"], 200);
}

#[test]
fn explicit_schemas_are_enforced() {
    themes_agree(&["explicit"], 200);
}

#[test]
fn types_take_what_their_schemas_show() {
    themes_agree(&["borrowed", "classes", "functions", "receivers", "recursive", "returns", "scalars"], 40);
}

#[test]
fn collections_and_enums_take_what_their_schemas_show() {
    themes_agree(&["collections", "enums"], 100);
}

#[test]
fn conversions_take_no_more_than_their_schemas_show() {
    themes_agree(&["opaque", "structs", "texts"], 60);
}

/// `structs.bounded` again, deeper inside of the struct.
#[test]
fn the_bounds_inside_of_a_struct_are_those_of_the_schema() {
    let tool = fixtures::manifest().get("structs.bounded").expect("a fixture");
    let oracle = compile(tool);
    let found = find(500, &near(&tool.defs["Bounded"]), |bounded| {
        let arguments = serde_json::json!({"bounded": bounded, "list": []});
        agrees("structs.bounded", tool, &oracle, &arguments)?;
        let result = fixtures::call("structs.bounded", &arguments.to_string());
        match oracle.is_valid(&arguments) && !has_number_apart(&arguments) && !result.success {
            true => Err(format!("{arguments}: valid, but {}", result.output)),
            false => Ok(()),
        }
    });
    assert_eq!(found, Ok(()));
}
