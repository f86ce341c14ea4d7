//! A tool as a path of its own, so that any client of OpenAPI can call it.

use serde_json::{Map, Value, json};
use tool_model::{KEYS, KeyKind, reference_target};
use tool_runtime::ToolDefinition;

use super::paths::{called, parameters_of_calls};
use super::schemas::Schemas;

/// The path item of a tool. The types that its schemas refer to become schemas of the document.
pub(super) fn path(name: &str, tool: &ToolDefinition, schemas: &mut Schemas) -> Value {
    for (key, schema) in &tool.defs {
        let mut schema = schema.clone();
        refer(&mut schema, name);
        schemas.add(component(name, key), schema);
    }
    let mut parameters = tool.parameters();
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.remove("$defs");
    }
    refer(&mut parameters, name);
    let is_required = tool.arguments.values().any(|argument| argument.required);
    let mut operation = json!({
        "operationId": format!("tool.{name}"),
        "summary": tool.description,
        "tags": [tool.category.as_deref().unwrap_or("tools")],
        "parameters": parameters_of_calls(schemas),
        "requestBody": {"required": is_required, "content": {"application/json": {"schema": parameters}}},
        "responses": called(schemas, returned(name, tool)),
    });
    for key in KEYS.iter().filter(|key| key.kind == KeyKind::Flag) {
        operation[format!("x-{}", key.name.replace('_', "-"))] = key.is_on(tool).into();
    }
    if let Some(instructions) = &tool.instructions {
        operation["description"] = instructions.as_str().into();
    }
    json!({"post": operation})
}

/// What the output of a tool holds, where that is known: it is a text, and the text is JSON.
fn returned(name: &str, tool: &ToolDefinition) -> Option<Value> {
    let mut schema = tool.returns.clone()?;
    refer(&mut schema, name);
    Some(json!({"type": "string", "contentMediaType": "application/json", "contentSchema": schema}))
}

/// The name of a tool's type in the document. What no name there may have is written as a number.
fn component(tool: &str, name: &str) -> String {
    let mut component = format!("{tool}.");
    for c in name.chars() {
        match c.is_ascii_alphanumeric() || c == '_' {
            true => component.push(c),
            false => component.push_str(&format!("-{:x}-", u32::from(c))),
        }
    }
    component
}

/// Lets the references of a tool's schema lead to the document's schemas.
fn refer(schema: &mut Value, tool: &str) {
    if let Some(name) = reference_target(schema) {
        schema["$ref"] = format!("#/components/schemas/{}", component(tool, &name)).into();
    }
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| refer(schema, tool)),
        Value::Object(keywords) => keywords.iter_mut().for_each(|(keyword, value)| match keyword.as_str() {
            // These hold values, in which nothing is a reference.
            "const" | "default" | "enum" | "examples" => {}
            // The keys of these are names, whatever they look like.
            "properties" | "patternProperties" | "$defs" | "dependentSchemas" => {
                value.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(|schema| refer(schema, tool));
            }
            _ => refer(value, tool),
        }),
        _ => {}
    }
}
