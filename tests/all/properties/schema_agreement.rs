//! Accepted arguments are what the schema accepts, according to another implementation of JSON Schema.

use jsonschema::{Draft, Validator};
use serde_json::Value;
use tool_runtime::{ErrorKind, ToolDefinition};

use super::find;
use super::strategies::near;
use crate::fixtures::{self, call};

fn compile(tool: &ToolDefinition) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(&tool.parameters()).expect("a schema")
}

/// The allowed difference between the argument types of a tool and their schemas.
#[derive(Clone, Copy, PartialEq)]
enum TypeAgreement {
    /// They accept exactly what the schema shows.
    Same,
    /// A conversion rejects some values: a string is parsed, or an `any` has a type after all.
    TakeLess,
    /// `#[serde(other)]` accepts any string.
    TakeMore,
}

fn types_of(tool: &str) -> TypeAgreement {
    match tool {
        "collections.maps" | "rules.secrets" => TypeAgreement::TakeLess,
        "enums.bare" => TypeAgreement::TakeMore,
        name if ["explicit.", "opaque.", "structs.", "texts."].iter().any(|theme| name.starts_with(theme)) => {
            TypeAgreement::TakeLess
        }
        _ => TypeAgreement::Same,
    }
}

/// Asserts that the call accepts exactly the arguments that the schema accepts.
fn agrees(name: &str, tool: &ToolDefinition, oracle: &Validator, arguments: &Value) -> Result<(), String> {
    let mut without_null = arguments.clone();
    if let Some(shown) = without_null.as_object_mut() {
        // An `Option` accepts `null` for an omitted argument, which the schema does not say.
        shown.retain(|key, value| !value.is_null() || tool.arguments.get(key).is_none_or(|known| known.required));
    }
    let result = call(name, &arguments.to_string());
    let accepted = !result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::InvalidArguments);
    match (accepted, types_of(name)) {
        (true, TypeAgreement::Same | TypeAgreement::TakeLess) => match oracle.validate(&without_null) {
            // Serde accepts an array for a struct; `arguments::values::an_array_is_rejected_for_a_struct` covers that.
            Err(error) if error.instance().is_array() && error.to_string().contains("object") => Ok(()),
            Err(error) => Err(format!("{name} {arguments}: accepted, but {error} at {}", error.instance_path())),
            Ok(()) => Ok(()),
        },
        (false, TypeAgreement::Same | TypeAgreement::TakeMore)
            if oracle.is_valid(arguments) && !has_number_apart(arguments) =>
        {
            Err(format!("{name} {arguments}: valid, but {}", result.output))
        }
        _ => Ok(()),
    }
}

/// Numbers on which JSON Schema and Rust differ: `1.0` is an integer only to JSON Schema, and the range of a 64-bit
/// integer is not shown.
fn has_number_apart(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_i64().is_none() && number.as_f64().is_some_and(|float| float.fract() == 0.0),
        Value::Array(items) => items.iter().any(has_number_apart),
        Value::Object(object) => object.values().any(has_number_apart),
        _ => false,
    }
}

/// Checks every tool of some themes, and reports the counterexamples of all of them together.
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
fn argument_rules_match_the_schema() {
    themes_agree(&["rules"], 200);
}

#[test]
fn explicit_schemas_are_enforced() {
    themes_agree(&["explicit"], 200);
}

#[test]
fn types_accept_what_their_schemas_show() {
    themes_agree(&["borrowed", "classes", "functions", "receivers", "recursive", "returns", "scalars"], 40);
}

#[test]
fn collections_and_enums_accept_what_their_schemas_show() {
    themes_agree(&["collections", "enums"], 100);
}

#[test]
fn conversions_accept_no_more_than_their_schemas_show() {
    themes_agree(&["opaque", "structs", "texts"], 60);
}

/// `structs.bounded` again, deeper inside the struct.
#[test]
fn bounds_inside_a_struct_match_the_schema() {
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
