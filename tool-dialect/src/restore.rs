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

/// What can be left out of a tool's calls.
#[derive(Debug)]
pub(crate) struct Omissible {
    /// The arguments that can be left out themselves.
    arguments: Vec<String>,
    /// The schemas of those inside of which something can be.
    inside: Vec<(String, Value)>,
    defs: BTreeMap<String, Value>,
}

/// The part of a tool that tells what can be left out, if anything can.
pub(crate) fn omissible(tool: &ToolDefinition) -> Option<Omissible> {
    let optional = tool.arguments.iter().filter(|(_, argument)| !argument.required);
    let arguments: Vec<String> = optional.map(|(name, _)| name.clone()).collect();
    let holding = tool.arguments.iter().filter(|(_, argument)| has_properties(argument.keywords.iter()));
    let inside: Vec<(String, Value)> =
        holding.map(|(name, argument)| (name.clone(), outline_of(argument.keywords.iter()))).collect();
    let defs = tool.defs.iter().filter(|_| !inside.is_empty());
    let defs = defs.map(|(name, schema)| (name.clone(), outline(schema))).collect();
    (!arguments.is_empty() || !inside.is_empty()).then_some(Omissible { arguments, inside, defs })
}

/// A schema without what does not matter here; nothing is left of one that has no properties.
fn outline(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => outline_of(object.iter()),
        _ => Value::Null,
    }
}

fn outline_of<'a>(keywords: impl Iterator<Item = (&'a String, &'a Value)>) -> Value {
    let mut kept = Map::new();
    for (key, value) in keywords {
        let value = match (key.as_str(), value) {
            ("$ref" | "required", said) => said.clone(),
            ("items", Value::Object(_)) => outline(value),
            ("items" | "prefixItems" | "allOf" | "anyOf" | "oneOf", Value::Array(forms)) => {
                forms.iter().map(outline).collect()
            }
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, schema)| (name.clone(), outline(schema))).collect::<Map<_, _>>().into()
            }
            _ => continue,
        };
        kept.insert(key.clone(), value);
    }
    if kept.is_empty() { Value::Null } else { Value::Object(kept) }
}

/// Whether a schema with these keywords, or one below it, may have properties.
fn has_properties<'a>(mut keywords: impl Iterator<Item = (&'a String, &'a Value)>) -> bool {
    fn below(value: &Value) -> bool {
        match value {
            Value::Object(object) => has_properties(object.iter()),
            Value::Array(items) => items.iter().any(below),
            _ => false,
        }
    }
    keywords.any(|(key, value)| matches!(key.as_str(), "properties" | "$ref") || below(value))
}

/// Gives arguments their own names back. A text that is not an object stays, for whoever decodes it to say so.
pub(crate) fn own_names(arguments: String, renamed: &[(String, String)]) -> String {
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(&arguments) else { return arguments };
    let own = |name: String| renamed.iter().find(|(_, other)| *other == name).map_or(name, |(own, _)| own.clone());
    let fields: BTreeMap<String, &RawValue> = fields.into_iter().map(|(name, value)| (own(name), value)).collect();
    serde_json::to_string(&fields).unwrap_or(arguments)
}

/// Leaves out again what can be left out, where the strict form made the model write `null`.
pub(crate) fn left_out(arguments: String, omissible: &Omissible) -> String {
    if !arguments.contains("null") {
        return arguments;
    }
    let Ok(Value::Object(mut object)) = serde_json::from_str(&arguments) else { return arguments };
    object.retain(|name, value| !(value.is_null() && omissible.arguments.contains(name)));
    for (name, schema) in &omissible.inside {
        if let Some(value) = object.get_mut(name).filter(|value| !is_scalar(value)) {
            restore(value, &[schema], &omissible.defs);
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
    let places = ["items", "prefixItems"].into_iter().filter_map(|keyword| form.get(keyword)?.as_array()).flatten();
    form.get("items").filter(|items| items.is_object()).into_iter().chain(places)
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
