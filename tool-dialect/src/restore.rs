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
    /// Those inside of which something can be.
    inside: Vec<(String, Outline)>,
    defs: BTreeMap<String, Outline>,
}

/// A schema without anything that does not matter here.
#[derive(Debug, Default)]
struct Outline {
    /// The definition that it refers to.
    refers: Option<String>,
    forms: Vec<Outline>,
    items: Vec<Outline>,
    properties: Vec<Property>,
}

#[derive(Debug)]
struct Property {
    name: String,
    is_required: bool,
    schema: Outline,
}

/// The part of a tool that tells what can be left out, if anything can.
pub(crate) fn omissible(tool: &ToolDefinition) -> Option<Omissible> {
    let optional = tool.arguments.iter().filter(|(_, argument)| !argument.required);
    let arguments: Vec<String> = optional.map(|(name, _)| name.clone()).collect();
    let outlines = tool.arguments.iter().map(|(name, argument)| (name, Outline::of(argument.keywords.iter())));
    let holding = outlines.filter(|(_, outline)| !outline.is_empty());
    let inside: Vec<(String, Outline)> = holding.map(|(name, outline)| (name.clone(), outline)).collect();
    let defs = tool.defs.iter().filter(|_| !inside.is_empty());
    let defs = defs.map(|(name, schema)| (name.clone(), Outline::read(schema))).collect();
    (!arguments.is_empty() || !inside.is_empty()).then_some(Omissible { arguments, inside, defs })
}

impl Outline {
    fn read(schema: &Value) -> Self {
        schema.as_object().map(|object| Self::of(object.iter())).unwrap_or_default()
    }

    fn of<'a>(keywords: impl Iterator<Item = (&'a String, &'a Value)> + Clone) -> Self {
        let mut outline = Self::default();
        for (key, value) in keywords.clone() {
            match (key.as_str(), value) {
                ("$ref", _) => outline.refers = target(value),
                ("items", Value::Object(_)) => outline.items.push(Self::read(value)),
                ("items" | "prefixItems", Value::Array(places)) => outline.items.extend(places.iter().map(Self::read)),
                ("allOf" | "anyOf" | "oneOf", Value::Array(forms)) => {
                    outline.forms.extend(forms.iter().map(Self::read));
                }
                ("properties", Value::Object(properties)) => {
                    let required = keywords.clone().find(|(key, _)| *key == "required");
                    let required = required.and_then(|(_, names)| names.as_array()).map_or(&[][..], Vec::as_slice);
                    outline.properties.extend(properties.iter().map(|(name, schema)| Property {
                        name: name.clone(),
                        is_required: required.iter().any(|known| known == name),
                        schema: Self::read(schema),
                    }));
                }
                _ => {}
            }
        }
        outline.items.retain(|items| !items.is_empty());
        outline.forms.retain(|form| !form.is_empty());
        outline
    }

    /// Whether nothing below it can be left out.
    fn is_empty(&self) -> bool {
        self.refers.is_none() && self.forms.is_empty() && self.items.is_empty() && self.properties.is_empty()
    }
}

/// The name of the definition that a `$ref` leads to.
fn target(reference: &Value) -> Option<String> {
    let name = reference.as_str()?.strip_prefix("#/$defs/")?;
    if !name.contains(['%', '~']) {
        return Some(name.to_owned());
    }
    let whole = Value::Object([("$ref".to_owned(), reference.clone())].into_iter().collect());
    reference_target(&whole).map(|name| name.into_owned())
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
    for (name, outline) in &omissible.inside {
        if let Some(value) = object.get_mut(name) {
            restore(value, &[outline], &omissible.defs);
        }
    }
    Value::Object(object).to_string()
}

fn restore(value: &mut Value, schemas: &[&Outline], defs: &BTreeMap<String, Outline>) {
    match value {
        Value::Object(object) => restore_object(object, &forms(schemas, defs), defs),
        Value::Array(items) => {
            let below: Vec<&Outline> = forms(schemas, defs).into_iter().flat_map(|form| &form.items).collect();
            items.iter_mut().for_each(|item| restore(item, &below, defs));
        }
        _ => {}
    }
}

/// A property goes if it is `null`, and every form that knows it can do without.
fn restore_object(object: &mut Map<String, Value>, forms: &[&Outline], defs: &BTreeMap<String, Outline>) {
    let knowing = |name: &str| -> Vec<&Property> {
        forms.iter().filter_map(|form| form.properties.iter().find(|property| property.name == name)).collect()
    };
    object.retain(|name, value| {
        let known = knowing(name);
        !value.is_null() || known.is_empty() || known.iter().any(|property| property.is_required)
    });
    for (name, value) in object {
        let schemas: Vec<&Outline> = knowing(name).into_iter().map(|property| &property.schema).collect();
        restore(value, &schemas, defs);
    }
}

/// The schemas with what they refer to and consist of.
fn forms<'a>(schemas: &[&'a Outline], defs: &'a BTreeMap<String, Outline>) -> Vec<&'a Outline> {
    let mut found: Vec<&Outline> = Vec::new();
    let mut open: Vec<&Outline> = schemas.to_vec();
    while let Some(schema) = open.pop() {
        if found.len() == MOST_FORMS || found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        open.extend(schema.refers.as_ref().and_then(|name| defs.get(name)));
        open.extend(&schema.forms);
    }
    found
}
