//! Invariants of every schema, whatever the fixture.

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use tool_runtime::ToolDefinition;

use crate::{fixtures, valid_calls};

/// Every tool with the schema that a model provider receives, and with the schema of its result if it has one.
fn schemas() -> Vec<(String, Value)> {
    let mut schemas = Vec::new();
    for (name, tool) in fixtures::manifest().iter() {
        schemas.push((format!("the parameters of {name}"), tool.parameters()));
        schemas.extend(returned(tool).map(|schema| (format!("the result of {name}"), schema)));
    }
    schemas
}

/// The schema of a result, with the definitions that it references.
fn returned(tool: &ToolDefinition) -> Option<Value> {
    let mut schema = tool.returns.clone()?;
    schema["$defs"] = tool.defs.clone().into_iter().collect::<Map<_, _>>().into();
    Some(schema)
}

fn compile(schema: &Value) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    options.build(schema).unwrap_or_else(|error| panic!("{error} in {schema:#}"))
}

/// Every subschema with its path. Traversed by keyword, because a property may be named like one.
fn each_schema(schema: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, schema);
    let Some(object) = schema.as_object() else { return };
    for (key, value) in object {
        let path = format!("{path}/{key}");
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "$defs" | "dependentSchemas", Value::Object(map)) => {
                map.iter().for_each(|(name, inner)| each_schema(inner, &format!("{path}/{name}"), visit));
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(forms)) => {
                forms.iter().enumerate().for_each(|(at, inner)| each_schema(inner, &format!("{path}/{at}"), visit));
            }
            (
                "items"
                | "additionalProperties"
                | "propertyNames"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                inner,
            ) => each_schema(inner, &path, visit),
            _ => {}
        }
    }
}

fn check_each(mut check: impl FnMut(&str, &Value)) {
    for (place, schema) in schemas() {
        each_schema(&schema, &place, &mut check);
    }
}

#[test]
fn every_schema_is_valid_json_schema() {
    for (place, schema) in schemas() {
        if let Err(error) = jsonschema::draft202012::meta::validate(&schema) {
            panic!("{place}: {error} in {schema:#}");
        }
        compile(&schema);
    }
}

/// Some clients drop all tools because of one `true`; they do support `false` for additional properties.
#[test]
fn there_are_no_boolean_schemas() {
    check_each(|path, schema| {
        let closes = ["/additionalProperties", "/unevaluatedProperties"].iter().any(|key| path.ends_with(key));
        let known = closes && *schema == json!(false);
        assert!(schema.is_object() || known, "{path}: {schema}");
    });
}

#[test]
fn there_are_no_rust_formats_and_no_titles() {
    let rust = ["int", "uint", "float", "double"];
    check_each(|path, schema| {
        assert_eq!(schema.get("title"), None, "{path}");
        assert_eq!(schema.get("$schema"), None, "{path}");
        if let Some(format) = schema.get("format") {
            let format = format.as_str().expect("a format is a string");
            assert!(!rust.iter().any(|kind| format.starts_with(kind)), "{path}: {format}");
        }
    });
}

/// Keywords for internal use by `tool-model` must not leak.
#[test]
fn there_are_no_internal_keywords() {
    check_each(|path, schema| {
        let own = schema.as_object().into_iter().flat_map(Map::keys).find(|key| key.starts_with("x-"));
        assert_eq!(own, None, "{path}");
    });
}

#[test]
fn every_reference_resolves_to_a_structure_and_every_definition_is_used() {
    for (name, tool) in fixtures::manifest().iter() {
        let mut used: Vec<String> = Vec::new();
        let roots = [Some(tool.parameters()), returned(tool)];
        for root in roots.iter().flatten() {
            each_schema(root, name, &mut |path, schema| {
                if let Some(reference) = schema.get("$ref") {
                    let target = reference.as_str().and_then(|text| text.strip_prefix("#/$defs/"));
                    let target = target.unwrap_or_else(|| panic!("{path}: {reference}"));
                    assert!(tool.defs.contains_key(target), "{path}: no {target}");
                    used.push(target.to_owned());
                }
            });
        }
        for (target, schema) in &tool.defs {
            assert!(used.contains(target), "{name}: nothing refers to {target}");
            let bare = schema.get("enum").is_some() && schema["type"] == "string";
            assert!(!bare, "{name}: {target} is an enum of bare variants and stands at its place of use");
        }
    }
}

/// Arguments as the manifest shows them: a flag and a type, but no list of required keys.
#[test]
fn an_argument_has_a_type_and_a_flag() {
    let types = ["string", "integer", "number", "boolean", "array", "object", "null", "any"];
    for (name, tool) in fixtures::manifest().iter() {
        for (argument, schema) in &tool.arguments {
            assert!(types.contains(&schema.type_name.as_str()), "{name} {argument}: {}", schema.type_name);
            assert!(!schema.keywords.contains_key("required"), "{name} {argument}");
            assert!(!schema.keywords.contains_key("description"), "{name} {argument}");
            let written = serde_json::to_value(schema).expect("JSON");
            assert_eq!((written["type"].is_string(), written["required"].is_boolean()), (true, true));
        }
        let parameters = tool.parameters();
        assert_eq!(parameters["type"], "object");
        assert!(parameters["properties"].is_object(), "{name}: a tool without arguments has properties too");
    }
}

/// A type in the manifest must not contradict the definition behind it.
#[test]
fn the_type_of_a_reference_is_that_of_its_definition() {
    for (name, tool) in fixtures::manifest().iter() {
        for (argument, schema) in &tool.arguments {
            let Some(target) = schema.keywords.get("$ref").and_then(Value::as_str) else { continue };
            let target = &tool.defs[target.trim_start_matches("#/$defs/")];
            if let Some(of_target) = target["type"].as_str() {
                assert_eq!(schema.type_name, of_target, "{name} {argument}");
            }
        }
    }
}

#[test]
fn narrow_integers_have_their_range() {
    let arguments = fixtures::manifest().get("scalars.signed").expect("a tool").arguments.clone();
    let unsigned = fixtures::manifest().get("scalars.unsigned").expect("a tool").arguments.clone();
    let range = |name: &str| {
        let argument = arguments.get(name).or(unsigned.get(name)).expect("an argument");
        assert_eq!(argument.type_name, "integer");
        let bound = |key: &str| argument.keywords.get(key).map(|value| value.as_i64().expect("a number"));
        (bound("minimum"), bound("maximum"))
    };
    assert_eq!(range("i_8"), (Some(i8::MIN.into()), Some(i8::MAX.into())));
    assert_eq!(range("i_16"), (Some(i16::MIN.into()), Some(i16::MAX.into())));
    assert_eq!(range("i_32"), (Some(i32::MIN.into()), Some(i32::MAX.into())));
    assert_eq!(range("u_8"), (Some(0), Some(u8::MAX.into())));
    assert_eq!(range("u_16"), (Some(0), Some(u16::MAX.into())));
    assert_eq!(range("u_32"), (Some(0), Some(u32::MAX.into())));
    for wide in ["i_64", "i_128", "i_size"] {
        assert_eq!(range(wide), (None, None), "{wide}");
    }
    for wide in ["u_64", "u_128", "u_size"] {
        assert_eq!(range(wide), (Some(0), None), "{wide}");
    }
}

/// The values of an enum of unit variants are listed in declaration order.
///
/// A known limit: inside another type, if only some variants are documented, schemars lists the undocumented ones
/// first.
#[test]
fn variants_are_listed_in_declaration_order() {
    let declared = json!(["First", "Second", "Third", "Fourth"]);
    let mut found = 0;
    check_each(|path, schema| {
        let Some(Value::Array(values)) = schema.get("enum") else { return };
        if values.len() == 4 && values.contains(&json!("Fourth")) && path.split('/').count() == 3 {
            assert_eq!(schema["enum"], declared, "{path}");
            found += 1;
        }
    });
    assert!(found > 2, "{found}");
}

/// The arguments of valid calls match their schemas, and the results match `returns`.
#[test]
fn valid_calls_match_their_schemas() {
    let manifest = fixtures::manifest();
    let mut wrong = Vec::new();
    for valid_calls::ValidCall { name, arguments, output } in valid_calls::all() {
        let tool = manifest.get(name).expect("a fixture");
        // By contract an optional argument is omitted. The type accepts `null` for that, too.
        let sent: Map<String, Value> = arguments
            .as_object()
            .expect("arguments")
            .iter()
            .filter(|(key, value)| tool.arguments[*key].required || !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if is_alias(name, &sent) {
            continue;
        }
        if let Err(error) = compile(&tool.parameters()).validate(&Value::Object(sent)) {
            wrong.push(format!("{name} {arguments}: {error} at {}", error.instance_path()));
        }
        if let Some(schema) = returned(tool) {
            let output: Value = serde_json::from_str(&output).expect("a result with a schema is JSON");
            if let Err(error) = compile(&schema).validate(&output) {
                wrong.push(format!("{name} gave {output}: {error} at {}", error.instance_path()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fixtures with serde aliases, which the schema does not show.
fn is_alias(name: &str, sent: &Map<String, Value>) -> bool {
    name == "structs.renamed" && sent["person"].get("mail").is_some()
}

/// A default is shown only if the argument accepts it.
#[test]
fn every_default_is_valid() {
    for (name, tool) in fixtures::manifest().iter() {
        for (argument, schema) in &tool.arguments {
            let Some(default) = schema.keywords.get("default") else { continue };
            assert!(!schema.required, "{name} {argument}");
            let mut whole = schema.schema();
            whole["$defs"] = tool.defs.clone().into_iter().collect::<Map<_, _>>().into();
            if let Err(error) = compile(&whole).validate(default) {
                panic!("{name} {argument}: {error}");
            }
        }
    }
}
