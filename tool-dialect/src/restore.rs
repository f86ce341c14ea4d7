//! From the arguments that a provider's form made a model write to those that the tool takes.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tool_model::{ToolDefinition, reference_target};

use crate::Dialect;

/// How many schemas are looked at for one value; more come only from a tool made to waste time.
const MOST_FORMS: usize = 256;

/// Whether the strict form of a provider has `null` for what is left out.
pub(crate) fn is_needed(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::OpenAiChat | Dialect::OpenAiResponses | Dialect::OpenRouter)
}

/// The part of a tool that tells what can be left out.
pub(crate) fn remembered(tool: &ToolDefinition) -> ToolDefinition {
    let mut part = ToolDefinition::default();
    part.arguments.clone_from(&tool.arguments);
    part.defs.clone_from(&tool.defs);
    part
}

/// Gives arguments their own names back. A text that is not an object stays, for whoever decodes it to say so.
pub(crate) fn own_names(arguments: String, renamed: &[(String, String)]) -> String {
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(&arguments) else { return arguments };
    let own = |name: String| renamed.iter().find(|(_, other)| *other == name).map_or(name, |(own, _)| own.clone());
    let fields: BTreeMap<String, &RawValue> = fields.into_iter().map(|(name, value)| (own(name), value)).collect();
    serde_json::to_string(&fields).unwrap_or(arguments)
}

/// Leaves out again what can be left out, where the strict form made the model write `null`.
pub(crate) fn left_out(arguments: String, tool: &ToolDefinition) -> String {
    if !arguments.contains("null") {
        return arguments;
    }
    let Ok(Value::Object(mut object)) = serde_json::from_str(&arguments) else { return arguments };
    object.retain(|name, value| {
        let is_absent = |argument: &tool_model::Argument| !argument.required && value.is_null();
        !tool.arguments.get(name).is_some_and(is_absent)
    });
    for (name, value) in &mut object {
        if let Some(argument) = tool.arguments.get(name).filter(|_| !is_scalar(value)) {
            restore(value, &[&argument.schema()], &tool.defs);
        }
    }
    Value::Object(object).to_string()
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn restore(value: &mut Value, schemas: &[&Value], defs: &BTreeMap<String, Value>) {
    let forms = forms(schemas, defs);
    match value {
        Value::Object(object) => restore_object(object, &forms, defs),
        Value::Array(items) => {
            let below: Vec<&Value> = forms.iter().flat_map(|form| below_list(form)).collect();
            items.iter_mut().for_each(|item| restore(item, &below, defs));
        }
        _ => {}
    }
}

fn below_list(form: &Value) -> impl Iterator<Item = &Value> {
    let places = form.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
    form.get("items").into_iter().chain(places)
}

/// A property goes if it is `null`, and every form that knows it can do without.
fn restore_object(object: &mut Map<String, Value>, forms: &[&Value], defs: &BTreeMap<String, Value>) {
    let knowing = |name: &str| -> Vec<(&Value, bool)> {
        let known = forms.iter().filter_map(|form| Some((form.get("properties")?.get(name)?, *form)));
        known.map(|(schema, form)| (schema, requires(form, name))).collect()
    };
    object.retain(|name, value| {
        let known = knowing(name);
        !value.is_null() || known.is_empty() || known.iter().any(|(_, required)| *required)
    });
    for (name, value) in object.iter_mut().filter(|(_, value)| !is_scalar(value)) {
        let schemas: Vec<&Value> = knowing(name).into_iter().map(|(schema, _)| schema).collect();
        restore(value, &schemas, defs);
    }
}

fn requires(form: &Value, name: &str) -> bool {
    form.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|known| known == name))
}

/// The schemas with what they refer to and consist of.
fn forms<'a>(schemas: &[&'a Value], defs: &'a BTreeMap<String, Value>) -> Vec<&'a Value> {
    let mut found: Vec<&Value> = Vec::new();
    let mut open: Vec<&Value> = schemas.to_vec();
    while let Some(schema) = open.pop() {
        if found.len() == MOST_FORMS || found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        open.extend(reference_target(schema).and_then(|name| defs.get(&*name)));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            open.extend(schema.get(keyword).and_then(Value::as_array).into_iter().flatten());
        }
    }
    found
}
