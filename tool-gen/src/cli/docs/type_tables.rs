//! Arguments and types of a tool, as tables of both catalogues.

use serde_json::{Map, Value};
use tool_model::validate::describe;
use tool_model::{ToolDefinition, canonical, reference_target};

/// An argument of a tool, or a field of a type.
pub(super) struct DocField {
    pub(super) name: String,
    /// A description of its type.
    pub(super) kind: String,
    pub(super) need: FieldNeed,
    pub(super) description: String,
}

/// The need for a field.
pub(super) enum FieldNeed {
    Required,
    Optional,
    /// Optional, with this default as JSON.
    Default(String),
}

/// A struct or an enum that a tool refers to.
pub(super) struct DocType {
    pub(super) name: String,
    pub(super) description: String,
    /// A struct has one form, an enum one per variant.
    pub(super) forms: Vec<DocForm>,
}

/// One form of a type: an object with fields, or a value that a few words describe.
pub(super) struct DocForm {
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) fields: Vec<DocField>,
}

/// Returns the tool's arguments.
pub(super) fn arguments(tool: &ToolDefinition) -> Vec<DocField> {
    let field = |(name, argument): (&String, &tool_model::Argument)| DocField {
        name: name.clone(),
        kind: kind(&argument.schema(), tool),
        need: FieldNeed::new(argument.required, argument.keywords.get("default")),
        description: argument.description.clone().unwrap_or_default(),
    };
    tool.arguments.iter().map(field).collect()
}

/// Returns the types that the arguments and the result refer to.
pub(super) fn types(tool: &ToolDefinition) -> Vec<DocType> {
    let of = |(name, schema): (&String, &Value)| {
        let alternatives = ["oneOf", "anyOf"].iter().find_map(|key| schema[*key].as_array());
        let forms = match alternatives {
            Some(forms) => forms.iter().map(|form| DocForm::from_schema(form, tool)).collect(),
            // The description of the only form is the type's.
            None => vec![DocForm { description: String::new(), ..DocForm::from_schema(schema, tool) }],
        };
        DocType { name: name.clone(), description: description(schema), forms }
    };
    tool.defs.iter().map(of).collect()
}

impl DocForm {
    fn from_schema(schema: &Value, tool: &ToolDefinition) -> Self {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let field = |(name, field): (&String, &Value)| DocField {
            name: name.clone(),
            kind: kind(field, tool),
            need: FieldNeed::new(required.contains(&name.as_str()), field.get("default")),
            description: description(field),
        };
        let mut fields: Vec<DocField> =
            schema["properties"].as_object().into_iter().flat_map(Map::iter).map(field).collect();
        fields.sort_by(|a, b| a.name.cmp(&b.name));
        Self { kind: describe(schema, &tool.defs), description: description(schema), fields }
    }
}

impl FieldNeed {
    fn new(required: bool, default: Option<&Value>) -> Self {
        match default {
            _ if required => Self::Required,
            Some(default) => Self::Default(canonical(default)),
            None => Self::Optional,
        }
    }
}

/// Describes a schema. A definition is described under its own name.
fn kind(schema: &Value, tool: &ToolDefinition) -> String {
    match reference_target(schema) {
        Some(name) if tool.defs.contains_key(&*name) => name.into_owned(),
        _ => describe(schema, &tool.defs),
    }
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}
