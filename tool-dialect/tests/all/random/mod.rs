//! Property tests: random tools satisfy every provider's rules, and every loss is reported.

// Random tools.
mod tools;
// Random values for a schema.
mod values;

use std::cell::Cell;

use jsonschema::{Draft, Validator};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_dialect::{Dialect, DialectForm, LossLevel};
use tool_model::ToolDefinition;

use crate::fixtures::{forms, holds, manifest, schema_of};
use crate::judge::{contains_itself, objections};

fn definition(form: DialectForm, tool: &ToolDefinition) -> Value {
    form.offer([("a.tool", tool)]).expect("one tool clashes with none").definitions()[0].clone()
}

fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options().with_draft(Draft::Draft202012).build(schema).map_err(|error| format!("{error} in {schema}"))
}

fn keeps_the_rules(tool: &ToolDefinition) -> Result<(), String> {
    for form in forms() {
        let definition = definition(form, tool);
        let found = objections(form, &definition);
        if !found.is_empty() {
            return Err(format!("{form}: {found:#?}\nin {definition}\nfrom {}", json!(tool)));
        }
        let schema = schema_of(form, &definition);
        for name in schema["$defs"].as_object().into_iter().flat_map(Map::keys) {
            if !contains_itself(name, &tool.defs.clone().into_iter().collect()) {
                return Err(format!(
                    "{form}: {name} does not contain itself, and stays behind a reference in {schema}"
                ));
            }
        }
        // OpenAPI schemas are not JSON Schema, but differ here only in `nullable`.
        if !schema.is_null()
            && let Err(error) = jsonschema::draft202012::meta::validate(&schema)
        {
            return Err(format!("{form}: {error} in {schema}"));
        }
        if let Some(schema) = definition.get("outputSchema") {
            jsonschema::draft202012::meta::validate(schema).map_err(|error| format!("{form}: {error} in {schema}"))?;
            compile(schema)?;
        }
    }
    Ok(())
}

#[test]
fn fixtures_satisfy_every_rule() {
    for (name, tool) in manifest().iter() {
        keeps_the_rules(tool).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn random_tools_satisfy_every_rule() {
    holds(200, &tools::tool(), |tool| keeps_the_rules(&tool));
}

/// The portable form accepts the same calls as the tool, except that optional properties are not nullable.
#[test]
fn the_portable_form_accepts_the_same_calls() {
    let inputs = tools::tool().prop_flat_map(|tool| {
        let values = values::nearly(&tool.parameters());
        (Just(tool), values)
    });
    holds(200, &inputs, |(tool, value)| {
        let original = compile(&tool.parameters())?;
        let schema = schema_of(Dialect::OpenAiChat.into(), &definition(Dialect::OpenAiChat.into(), &tool));
        let portable = compile(&schema)?;
        let (fits, fits_portable) = (original.is_valid(&value), portable.is_valid(&value));
        let has_null = value.to_string().contains("null");
        if fits_portable && !fits {
            return Err(format!("{value} fits only the portable form {schema} of {}", tool.parameters()));
        }
        if fits && !fits_portable && !has_null {
            return Err(format!("{value} does not fit the portable form {schema} of {}", tool.parameters()));
        }
        Ok(())
    });
}

/// A strict form accepts every call that the tool accepts, and the `null`s it requires are removed again.
#[test]
fn a_strict_call_is_decoded_to_the_original() {
    let inputs = tools::tool().prop_flat_map(|tool| {
        let values = values::nearly(&tool.parameters());
        (Just(tool), values)
    });
    let form = Dialect::OpenAiChat.strict();
    holds(200, &inputs, |(tool, value)| {
        let offer = form.offer([("a.tool", &tool)]).expect("one tool");
        let fits = compile(&tool.parameters())?.is_valid(&value);
        if !offer.is_strict("a.tool") || !fits || value.to_string().contains("null") {
            return Ok(());
        }
        let schema = schema_of(form, &offer.definitions()[0]);
        let Some((written, known)) = values::with_nulls(&value, &schema, &schema) else {
            return Err(format!("{value} cannot be written in {schema} of {}", tool.parameters()));
        };
        let read = read_back(form, &tool, &written)?;
        if read != known {
            return Err(format!("{known} was written {written} and read {read}; {}", tool.parameters()));
        }
        Ok(())
    });
}

/// Every loss is reported: if a form has no findings, a decoded call that is valid for its schema is valid for the
/// tool.
#[test]
fn every_loss_is_reported() {
    for form in [
        Dialect::OpenAiChat.into(),
        Dialect::OpenAiChat.strict(),
        Dialect::Anthropic.strict(),
        Dialect::Gemini.into(),
        Dialect::Mcp.into(),
    ] {
        let inputs = tools::tool().prop_flat_map(move |tool| {
            let schema = plain(form, schema_of(form, &definition(form, &tool)));
            (Just(tool), Just(schema.clone()), values::nearly(&schema))
        });
        let silent = Cell::new(0);
        holds(100, &inputs, |(tool, schema, value)| {
            if !form.report([("a.tool", &tool)]).is_empty() || !compile(&schema)?.is_valid(&value) {
                return Ok(());
            }
            silent.set(silent.get() + 1);
            let read = read_back(form, &tool, &value)?;
            match compile(&with_any_of(tool.parameters()))?.is_valid(&read) {
                true => Ok(()),
                false => Err(format!(
                    "{form}: {value}, read as {read}, fits {schema}, not {}, and nothing is reported",
                    tool.parameters()
                )),
            }
        });
        assert!(silent.get() >= 10, "{form}: only {} calls came to be compared", silent.get());
    }
}

/// Converts a form to JSON Schema. Gemini writes `nullable`, has no schema for a tool without arguments, and cannot
/// express closed objects, which models do not take as permission to invent keys.
fn plain(form: DialectForm, schema: Value) -> Value {
    if form.dialect != Dialect::Gemini {
        return schema;
    }
    let mut object = match schema {
        Value::Null => return json!({"type": "object", "properties": {}, "additionalProperties": false}),
        Value::Object(object) => object,
        other => return other,
    };
    for keyword in ["anyOf", "items"] {
        match object.get_mut(keyword) {
            Some(Value::Array(forms)) => forms.iter_mut().for_each(|one| *one = plain(form, one.take())),
            Some(one) => *one = plain(form, one.take()),
            None => {}
        }
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(|one| *one = plain(form, one.take()));
        object.insert("additionalProperties".to_owned(), json!(false));
    }
    match object.remove("nullable") {
        Some(_) => json!({"anyOf": [object, {"type": "null"}]}),
        None => object.into(),
    }
}

/// Strict modes do not support `oneOf`. The alternatives of a type are exclusive anyway, so this is not reported as a
/// loss.
fn with_any_of(schema: Value) -> Value {
    match schema {
        Value::Object(object) => {
            let renamed = |key: String| if key == "oneOf" { "anyOf".to_owned() } else { key };
            object.into_iter().map(|(key, value)| (renamed(key), with_any_of(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.into_iter().map(with_any_of).collect(),
        scalar => scalar,
    }
}

/// Returns the arguments of a call after encoding and decoding.
fn read_back(form: DialectForm, tool: &ToolDefinition, arguments: &Value) -> Result<Value, String> {
    let offer = form.offer([("a.tool", tool)]).expect("one tool");
    let name = offer.encoded("a.tool").expect("it is offered");
    let response = match form.dialect {
        Dialect::OpenAiChat => {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            json!({"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]})
        }
        Dialect::Anthropic => json!({"content": [{"type": "tool_use", "id": "1", "name": name, "input": arguments}]}),
        Dialect::Gemini => json!({"parts": [{"functionCall": {"name": name, "args": arguments}}]}),
        _ => json!({"id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}),
    };
    let calls = offer.calls_in(&response).map_err(|error| error.to_string())?;
    let call = calls[0].as_ref().map_err(ToString::to_string)?;
    serde_json::from_str(&call.arguments).map_err(|error| error.to_string())
}

/// Definitions that use each other twice would grow exponentially if inlined.
#[test]
fn exponential_definitions_stay_behind_references() {
    let mut defs = Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/T{}", at + 1)});
        defs.insert(format!("T{at}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    defs.insert("T40".into(), json!({"type": "string"}));
    let tool = crate::fixtures::tool(json!({"x": {"type": "object", "$ref": "#/$defs/T0"}}), Value::Object(defs));
    for form in forms() {
        let text = form.offer([("t", &tool)]).expect("one tool").text();
        assert!(text.len() < 100_000, "{form}: {}", text.len());
        let report = form.report([("t", &tool)]);
        assert!(report.at_least(LossLevel::Loss).any(|found| found.kind == "too-large"), "{form}: {report}");
    }
}

/// A chain of definitions can be longer than the stack allows.
#[test]
fn long_chains_of_definitions_do_not_overflow_the_stack() {
    let mut defs = Map::new();
    for at in 0..5_000 {
        defs.insert(format!("T{at}"), json!({"type": "array", "items": {"$ref": format!("#/$defs/T{}", at + 1)}}));
    }
    defs.insert("T5000".into(), json!({"$ref": "#/$defs/T5000"}));
    let tool = crate::fixtures::tool(json!({"x": {"type": "array", "$ref": "#/$defs/T0"}}), Value::Object(defs));
    for form in forms() {
        assert!(form.offer([("t", &tool)]).is_ok(), "{form}");
    }
}
