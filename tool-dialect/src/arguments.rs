//! Decodes arguments from a provider's format: restores names, removes the `null`s of strict mode.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tool_model::{ToolDefinition, reference_target};

use crate::Dialect;

/// The limit of schemas considered for one value. Only a malicious tool needs more.
const MAX_SCHEMAS_PER_VALUE: usize = 256;

/// Returns `true` if the provider's strict mode writes `null` for missing values.
pub(crate) fn writes_null_for_missing(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::OpenAiChat | Dialect::OpenAiResponses | Dialect::OpenRouter)
}

/// The parts of a tool's arguments that may be left out.
#[derive(Debug)]
pub(crate) struct OptionalArguments {
    /// The optional arguments.
    arguments: Vec<String>,
    /// The arguments with optional parts inside.
    nested: Vec<(String, SchemaOutline)>,
    defs: BTreeMap<String, SchemaOutline>,
}

/// A schema reduced to references, alternatives, items and properties.
#[derive(Debug, Default)]
struct SchemaOutline {
    /// The name of the definition that the schema refers to.
    reference: Option<String>,
    forms: Vec<SchemaOutline>,
    items: Vec<SchemaOutline>,
    properties: Vec<OutlineProperty>,
}

#[derive(Debug)]
struct OutlineProperty {
    name: String,
    is_required: bool,
    schema: SchemaOutline,
}

/// Returns the optional parts of a tool's arguments, if there are any.
pub(crate) fn optional_arguments(tool: &ToolDefinition) -> Option<OptionalArguments> {
    let optional = tool.arguments.iter().filter(|(_, argument)| !argument.required);
    let arguments: Vec<String> = optional.map(|(name, _)| name.clone()).collect();
    let outlines =
        tool.arguments.iter().map(|(name, argument)| (name, SchemaOutline::from_keywords(argument.keywords.iter())));
    let holding = outlines.filter(|(_, outline)| !outline.is_empty());
    let nested: Vec<(String, SchemaOutline)> = holding.map(|(name, outline)| (name.clone(), outline)).collect();
    let defs = tool.defs.iter().filter(|_| !nested.is_empty());
    let defs = defs.map(|(name, schema)| (name.clone(), SchemaOutline::read(schema))).collect();
    (!arguments.is_empty() || !nested.is_empty()).then_some(OptionalArguments { arguments, nested, defs })
}

impl SchemaOutline {
    fn read(schema: &Value) -> Self {
        schema.as_object().map(|object| Self::from_keywords(object.iter())).unwrap_or_default()
    }

    fn from_keywords<'a>(keywords: impl Iterator<Item = (&'a String, &'a Value)> + Clone) -> Self {
        let mut outline = Self::default();
        for (key, value) in keywords.clone() {
            match (key.as_str(), value) {
                ("$ref", _) => outline.reference = target(value),
                ("items", Value::Object(_)) => outline.items.push(Self::read(value)),
                ("items" | "prefixItems", Value::Array(places)) => outline.items.extend(places.iter().map(Self::read)),
                ("allOf" | "anyOf" | "oneOf", Value::Array(forms)) => {
                    outline.forms.extend(forms.iter().map(Self::read));
                }
                ("properties", Value::Object(properties)) => {
                    let required = keywords.clone().find(|(key, _)| *key == "required");
                    let required = required.and_then(|(_, names)| names.as_array()).map_or(&[][..], Vec::as_slice);
                    outline.properties.extend(properties.iter().map(|(name, schema)| OutlineProperty {
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

    /// Returns `true` if no part of the value can be left out.
    fn is_empty(&self) -> bool {
        self.reference.is_none() && self.forms.is_empty() && self.items.is_empty() && self.properties.is_empty()
    }
}

/// Returns the name of the definition that a `$ref` points to.
fn target(reference: &Value) -> Option<String> {
    let name = reference.as_str()?.strip_prefix("#/$defs/")?;
    if !name.contains(['%', '~']) {
        return Some(name.to_owned());
    }
    let whole = Value::Object([("$ref".to_owned(), reference.clone())].into_iter().collect());
    reference_target(&whole).map(|name| name.into_owned())
}

/// Restores the own names of renamed arguments. Text that is not an object is returned unchanged; decoding reports it.
pub(crate) fn restore_names(arguments: String, renamed: &[(String, String)]) -> String {
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(&arguments) else { return arguments };
    let own = |name: String| renamed.iter().find(|(_, other)| *other == name).map_or(name, |(own, _)| own.clone());
    let fields: BTreeMap<String, &RawValue> = fields.into_iter().map(|(name, value)| (own(name), value)).collect();
    serde_json::to_string(&fields).unwrap_or(arguments)
}

/// Removes the `null`s that strict mode made the model write for missing values.
pub(crate) fn remove_nulls(arguments: String, optional: &OptionalArguments) -> String {
    if !arguments.contains("null") {
        return arguments;
    }
    let Ok(Value::Object(mut object)) = serde_json::from_str(&arguments) else { return arguments };
    object.retain(|name, value| !(value.is_null() && optional.arguments.contains(name)));
    for (name, outline) in &optional.nested {
        if let Some(value) = object.get_mut(name) {
            remove_nested_nulls(value, &[outline], &optional.defs);
        }
    }
    Value::Object(object).to_string()
}

fn remove_nested_nulls(value: &mut Value, schemas: &[&SchemaOutline], defs: &BTreeMap<String, SchemaOutline>) {
    match value {
        Value::Object(object) => remove_object_nulls(object, &forms(schemas, defs), defs),
        Value::Array(items) => {
            let below: Vec<&SchemaOutline> = forms(schemas, defs).into_iter().flat_map(|form| &form.items).collect();
            items.iter_mut().for_each(|item| remove_nested_nulls(item, &below, defs));
        }
        _ => {}
    }
}

/// Removes a property that is `null` if it is optional in every schema that declares it.
fn remove_object_nulls(
    object: &mut Map<String, Value>,
    forms: &[&SchemaOutline],
    defs: &BTreeMap<String, SchemaOutline>,
) {
    let knowing = |name: &str| -> Vec<&OutlineProperty> {
        forms.iter().filter_map(|form| form.properties.iter().find(|property| property.name == name)).collect()
    };
    object.retain(|name, value| {
        let known = knowing(name);
        !value.is_null() || known.is_empty() || known.iter().any(|property| property.is_required)
    });
    for (name, value) in object {
        let schemas: Vec<&SchemaOutline> = knowing(name).into_iter().map(|property| &property.schema).collect();
        remove_nested_nulls(value, &schemas, defs);
    }
}

/// Returns the schemas with their references and alternatives, transitively.
fn forms<'a>(schemas: &[&'a SchemaOutline], defs: &'a BTreeMap<String, SchemaOutline>) -> Vec<&'a SchemaOutline> {
    let mut found: Vec<&SchemaOutline> = Vec::new();
    let mut pending: Vec<&SchemaOutline> = schemas.to_vec();
    while let Some(schema) = pending.pop() {
        if found.len() == MAX_SCHEMAS_PER_VALUE || found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        pending.extend(schema.reference.as_ref().and_then(|name| defs.get(name)));
        pending.extend(&schema.forms);
    }
    found
}
