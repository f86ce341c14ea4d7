//! The paths of the tools, so that generic OpenAPI clients can call them.

use serde_json::{Map, Value, json};
use tool_model::{KEYS, KeyKind, reference_target};
use tool_runtime::ToolDefinition;

use super::paths::{call_parameters, call_responses};
use super::schemas::ComponentSchemas;

/// Returns the path item of a tool, and adds the types that its schemas refer to.
pub(super) fn path(name: &str, tool: &ToolDefinition, schemas: &mut ComponentSchemas) -> Value {
    for (key, schema) in &tool.defs {
        let mut schema = schema.clone();
        rewrite_references(&mut schema, name);
        schemas.add(component_name(name, key), schema);
    }
    let mut parameters = tool.parameters();
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.remove("$defs");
    }
    rewrite_references(&mut parameters, name);
    let is_required = tool.arguments.values().any(|argument| argument.required);
    let mut operation = json!({
        "operationId": format!("tool.{name}"),
        "summary": tool.description,
        "tags": [tool.category.as_deref().unwrap_or("tools")],
        "parameters": call_parameters(schemas),
        "requestBody": {"required": is_required, "content": {"application/json": {"schema": parameters}}},
        "responses": call_responses(schemas, output_schema(name, tool)),
    });
    for key in KEYS.iter().filter(|key| key.kind == KeyKind::Flag) {
        operation[format!("x-{}", key.name.replace('_', "-"))] = key.is_on(tool).into();
    }
    if let Some(instructions) = &tool.instructions {
        operation["description"] = instructions.as_str().into();
    }
    json!({"post": operation})
}

/// Returns the schema of a tool's output if it is known.
fn output_schema(name: &str, tool: &ToolDefinition) -> Option<Value> {
    let mut schema = tool.returns.clone()?;
    rewrite_references(&mut schema, name);
    Some(schema)
}

/// Returns the component name of a tool's type. Characters that are invalid there are replaced by their code points.
fn component_name(tool: &str, name: &str) -> String {
    let mut component = format!("{tool}.");
    for c in name.chars() {
        match c.is_ascii_alphanumeric() || c == '_' {
            true => component.push(c),
            false => component.push_str(&format!("-{:x}-", u32::from(c))),
        }
    }
    component
}

/// Rewrites the references of a tool's schema to the document's component schemas.
fn rewrite_references(schema: &mut Value, tool: &str) {
    if let Some(name) = reference_target(schema) {
        schema["$ref"] = format!("#/components/schemas/{}", component_name(tool, &name)).into();
    }
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| rewrite_references(schema, tool)),
        Value::Object(keywords) => keywords.iter_mut().for_each(|(keyword, value)| match keyword.as_str() {
            // These contain values, not schemas.
            "const" | "default" | "enum" | "examples" => {}
            // The keys of these are names, not keywords.
            "properties" | "patternProperties" | "$defs" | "dependentSchemas" => {
                value
                    .as_object_mut()
                    .into_iter()
                    .flat_map(Map::values_mut)
                    .for_each(|schema| rewrite_references(schema, tool));
            }
            _ => rewrite_references(value, tool),
        }),
        _ => {}
    }
}
