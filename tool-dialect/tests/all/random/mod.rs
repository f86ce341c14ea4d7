//! Random tools keep every provider's rules, and lose nothing unsaid.

// Tools of every form: the schemas that schemars writes, and those that only remote tools have.
mod tools;
// Values that fit a schema, or nearly.
mod values;

use jsonschema::{Draft, Validator};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_dialect::{Dialect, Form, Level};
use tool_model::ToolDefinition;

use crate::fixtures::{forms, holds, manifest, schema_of};
use crate::judge::objections;

fn definition(form: Form, tool: &ToolDefinition) -> Value {
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
        // OpenAPI's schemas are no JSON Schema, but for `nullable` nothing in them is another's.
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
fn fixtures_keep_every_rule() {
    for (name, tool) in manifest().iter() {
        keeps_the_rules(tool).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn random_tools_keep_every_rule() {
    holds(200, &tools::tool(), |tool| keeps_the_rules(&tool));
}

/// The portable form says what the tool says: a call that fits the one fits the other. Only that an optional
/// property can be `null` is not said.
#[test]
fn the_portable_form_means_the_same() {
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

/// A strict form never keeps a model from a call that the tool takes; and what it made the model write as `null`
/// is left out again.
#[test]
fn a_strict_call_comes_back_as_it_was_meant() {
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
        let call =
            json!({"id": "1", "type": "function", "function": {"name": "a__tool", "arguments": written.to_string()}});
        let calls =
            offer.calls_in(&json!({"role": "assistant", "tool_calls": [call]})).map_err(|error| error.to_string())?;
        let call = calls[0].as_ref().map_err(ToString::to_string)?;
        let read: Value = serde_json::from_str(&call.arguments).map_err(|error| error.to_string())?;
        if read != known {
            return Err(format!("{known} was written {written} and read {read}; {}", tool.parameters()));
        }
        Ok(())
    });
}

/// Whatever is not said by the schema is in the report: a form without findings takes exactly what the tool takes.
#[test]
fn what_is_lost_is_reported() {
    let inputs = tools::tool().prop_flat_map(|tool| {
        let values = values::nearly(&tool.parameters());
        (Just(tool), values)
    });
    holds(200, &inputs, |(tool, value)| {
        for form in [Dialect::Anthropic.strict(), Dialect::OpenAiChat.into(), Dialect::Mcp.into()] {
            let report = form.report([("a.tool", &tool)]);
            let schema = schema_of(form, &definition(form, &tool));
            let fits = compile(&schema)?.is_valid(&value);
            if fits && !compile(&tool.parameters())?.is_valid(&value) && report.is_empty() {
                return Err(format!(
                    "{form}: {value} fits {schema}, not {}, and nothing is reported",
                    tool.parameters()
                ));
            }
        }
        Ok(())
    });
}

/// Definitions that use each other twice and twice again would be beyond every bound if written out.
#[test]
fn definitions_that_multiply_stay_behind_references() {
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
        assert!(report.at_least(Level::Loss).any(|found| found.kind == "too-large"), "{form}: {report}");
    }
}

/// A chain of definitions can be longer than any stack.
#[test]
fn long_chains_of_definitions_do_no_harm() {
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
