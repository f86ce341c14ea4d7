//! Random tools, with the schemas that schemars generates and those that only remote tools have.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_model::ToolDefinition;

/// Generates a tool with up to four arguments and three definitions, which may be recursive.
pub fn tool() -> impl Strategy<Value = ToolDefinition> {
    let argument = (schema(), any::<bool>(), proptest::option::of("[A-Z][a-z ]{0,12}\\.?"));
    let names = prop_oneof![4 => "[a-d]{1,3}", 1 => "[a-d][-. 0-9]{1,3}", 1 => "[a-b]{65,70}"];
    let arguments = btree_map(names, argument, 0..4);
    let definitions = vec(definition(), 3);
    (arguments, definitions, proptest::option::of(schema())).prop_map(|(arguments, definitions, returns)| {
        let arguments: Map<String, Value> = arguments
            .into_iter()
            .map(|(name, (schema, required, description))| (name, argument_of(schema, required, description)))
            .collect();
        let defs: Map<String, Value> =
            definitions.into_iter().enumerate().map(|(at, schema)| (format!("D{at}"), schema)).collect();
        let mut tool = json!({"description": "Does it.", "handler": "app::f", "arguments": arguments, "$defs": defs});
        if let Some(returns) = returns {
            tool["returns"] = returns;
        }
        serde_json::from_value(tool).expect("a tool")
    })
}

/// Converts a schema to an argument of the manifest: one type or `any`, with the list of required keys one level below.
fn argument_of(schema: Value, required: bool, description: Option<String>) -> Value {
    let Value::Object(mut schema) = schema else { return json!({"type": "any", "required": required}) };
    let kind = match schema.remove("type") {
        Some(Value::String(name)) => name,
        Some(list) => {
            schema.insert(
                "anyOf".into(),
                list.as_array().into_iter().flatten().map(|name| json!({"type": name})).collect(),
            );
            "any".to_owned()
        }
        None => "any".to_owned(),
    };
    let mut argument = if schema.contains_key("required") {
        schema.insert("type".into(), json!(kind));
        Map::from_iter([("allOf".to_owned(), json!([schema])), ("type".to_owned(), json!("any"))])
    } else {
        schema.insert("type".into(), json!(kind));
        schema
    };
    argument.insert("required".into(), json!(required));
    if let Some(description) = description {
        argument.insert("description".into(), json!(description));
    }
    Value::Object(argument)
}

/// Generates a struct or an enum with data.
fn definition() -> impl Strategy<Value = Value> {
    prop_oneof![3 => object(schema()), 1 => forms(schema(), "oneOf"), 1 => list(schema())]
}

fn schema() -> BoxedStrategy<Value> {
    leaf()
        .prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                3 => object(inner.clone()),
                2 => list(inner.clone()),
                1 => tuple(inner.clone()),
                1 => map(inner.clone()),
                1 => forms(inner.clone(), "anyOf"),
                1 => forms(inner.clone(), "oneOf"),
                1 => inner.clone().prop_map(|schema| json!({"anyOf": [schema, {"type": "null"}]})),
                1 => object(inner).prop_map(|extra| json!({"type": "object", "$ref": "#/$defs/D0", "properties": extra["properties"]})),
            ]
        })
        .boxed()
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => text(),
        3 => number(),
        1 => Just(json!({"type": "boolean"})),
        1 => Just(json!({"type": ["string", "null"]})),
        1 => Just(json!({"type": ["integer", "string", "boolean"], "minimum": 2, "maxLength": 3})),
        1 => Just(json!({"type": "string", "enum": ["a", "b", "c"]})),
        1 => Just(json!({"enum": ["a", 1, true]})),
        1 => Just(json!({"enum": [1, 2, 4]})),
        1 => Just(json!({"type": "string", "const": "x"})),
        1 => Just(json!({"const": 5})),
        1 => Just(json!({})),
        1 => Just(json!({"type": "object"})),
        1 => Just(json!({"type": "array"})),
        1 => Just(json!({"not": {"type": "string"}})),
        2 => (0..3).prop_map(|at| json!({"$ref": format!("#/$defs/D{at}")})),
        1 => Just(json!({"$ref": "#/$defs/D1", "description": "Said at the place."})),
        1 => Just(json!({"type": "integer", "title": "Titled", "format": "uint32", "minimum": 0, "writeOnly": true, "x-own": 1})),
    ]
}

fn text() -> impl Strategy<Value = Value> {
    let pattern = prop_oneof![Just("^[a-z]*$"), Just("^(?=a)"), Just("\\bword\\b")];
    let format = prop_oneof![Just("date-time"), Just("uri"), Just("uuid"), Just("made-up")];
    (
        proptest::option::of(0..3_u8),
        proptest::option::of(3..6_u8),
        proptest::option::of(pattern),
        proptest::option::of(format),
    )
        .prop_map(|(least, most, pattern, format)| {
            let parts = [
                ("minLength", least.map(Value::from)),
                ("maxLength", most.map(Value::from)),
                // The validator used here does not support lookaround, so such a pattern is used alone.
                ("pattern", pattern.filter(|pattern| !pattern.contains("(?=")).map(Value::from)),
                ("format", format.map(Value::from)),
            ];
            with("string", parts)
        })
}

fn number() -> impl Strategy<Value = Value> {
    let bound = || proptest::option::of(-5..5_i32);
    (any::<bool>(), bound(), bound(), bound(), proptest::option::of(1..4_u8)).prop_map(
        |(whole, least, most, more, multiple)| {
            let parts = [
                ("minimum", least.map(Value::from)),
                ("maximum", most.map(Value::from)),
                ("exclusiveMinimum", more.map(Value::from)),
                ("multipleOf", multiple.map(Value::from)),
            ];
            with(if whole { "integer" } else { "number" }, parts)
        },
    )
}

fn with<const N: usize>(kind: &str, parts: [(&str, Option<Value>); N]) -> Value {
    let mut schema = json!({"type": kind});
    for (key, value) in parts {
        if let Some(value) = value {
            schema[key] = value;
        }
    }
    schema
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let properties = btree_map("[a-c$]{1,2}|type|\\$ref", (inner, any::<bool>()), 0..4);
    (properties, any::<bool>()).prop_map(|(properties, closed)| {
        let required: Vec<&String> =
            properties.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let mut schema = json!({"type": "object", "required": required});
        schema["properties"] =
            properties.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect::<Map<_, _>>().into();
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        if schema["required"] == json!([]) && !closed {
            schema.as_object_mut().expect("an object").remove("required");
        }
        schema
    })
}

fn list(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, proptest::option::of(0..3_u8), any::<bool>()).prop_map(|(items, least, unique)| {
        let mut schema = json!({"type": "array", "items": items});
        if let Some(least) = least {
            schema["minItems"] = json!(least);
            schema["maxItems"] = json!(least + 2);
        }
        if unique {
            schema["uniqueItems"] = json!(true);
        }
        schema
    })
}

fn tuple(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (vec(inner, 1..3), any::<bool>()).prop_map(|(places, ends)| {
        let mut schema = json!({"type": "array", "prefixItems": places, "minItems": places.len()});
        if ends {
            schema["maxItems"] = json!(places.len());
        }
        schema
    })
}

fn map(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (inner, any::<bool>()).prop_map(|(values, numbered)| match numbered {
        false => json!({"type": "object", "additionalProperties": values}),
        // The schema that schemars generates for a map with numeric keys.
        true => json!({"type": "object", "patternProperties": {"^\\d+$": values}, "additionalProperties": false}),
    })
}

fn forms(inner: impl Strategy<Value = Value>, keyword: &'static str) -> impl Strategy<Value = Value> {
    vec(inner, 1..4).prop_map(move |forms| json!({keyword: forms}))
}
