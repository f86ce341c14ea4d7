//! Schemas of traced types, in the form that schemars generates.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::compose::{allow_null, map};
use super::{TracedBody, TracedFields, TracedForm, TracedType, TracedVariant};
use crate::schema::REF_PREFIX;

/// Generates the schemas of one tool's traced types. Types of one id share a definition.
#[derive(Default)]
pub struct TracedSchemas {
    names: BTreeMap<String, String>,
}

impl TracedSchemas {
    /// Returns the schema of a type, and adds the definitions it refers to. A name that is in use gets a number.
    pub fn schema(&mut self, traced: &TracedType, definitions: &mut Map<String, Value>) -> Option<Value> {
        match &traced.root {
            TracedForm::Unknown { .. } => None,
            root => Some(self.form(root, traced, definitions)),
        }
    }

    fn form(&mut self, form: &TracedForm, traced: &TracedType, definitions: &mut Map<String, Value>) -> Value {
        match form {
            TracedForm::Unknown { .. } => Value::Bool(true),
            TracedForm::Buffered(_) => json!({"type": "object"}),
            TracedForm::Schema(schema) => schema.clone(),
            TracedForm::Option(inner) => {
                let mut schema = self.form(inner, traced, definitions);
                allow_null(&mut schema);
                schema
            }
            TracedForm::List(item) => json!({"type": "array", "items": self.form(item, traced, definitions)}),
            TracedForm::Set(item) => {
                json!({"type": "array", "uniqueItems": true, "items": self.form(item, traced, definitions)})
            }
            TracedForm::Array(_, 0) => json!({"type": "array", "maxItems": 0}),
            TracedForm::Array(item, length) => {
                let item = self.form(item, traced, definitions);
                json!({"type": "array", "items": item, "minItems": length, "maxItems": length})
            }
            TracedForm::Tuple(items) => self.tuple(items, traced, definitions),
            TracedForm::Map(key, value) => {
                let keys = self.form(key, traced, definitions);
                let values = self.form(value, traced, definitions);
                map(&keys, values, definitions)
            }
            TracedForm::Tagged { tag, content, variants } => {
                let mut name = json!({"type": "string"});
                if let Some(variants) = variants {
                    name["enum"] = json!(variants);
                }
                let mut properties = json!({tag: name});
                if let Some(content) = content {
                    properties[content] = Value::Bool(true);
                }
                json!({"type": "object", "properties": properties, "required": [tag]})
            }
            TracedForm::Named(id) => self.reference(id, traced, definitions),
        }
    }

    fn reference(&mut self, id: &str, traced: &TracedType, definitions: &mut Map<String, Value>) -> Value {
        let Some(definition) = traced.types.get(id) else { return Value::Bool(true) };
        if definition.is_inline {
            return self.body(&definition.body, traced, definitions);
        }
        if let Some(name) = self.names.get(id) {
            return json!({"$ref": format!("{REF_PREFIX}{name}")});
        }
        let name = unused_name(&definition.name, definitions);
        self.names.insert(id.to_owned(), name.clone());
        // A placeholder lets the definition refer to itself.
        definitions.insert(name.clone(), Value::Bool(true));
        let schema = self.body(&definition.body, traced, definitions);
        definitions.insert(name.clone(), schema);
        json!({"$ref": format!("{REF_PREFIX}{name}")})
    }

    fn body(&mut self, body: &TracedBody, traced: &TracedType, definitions: &mut Map<String, Value>) -> Value {
        match body {
            TracedBody::Newtype(inner) => self.form(inner, traced, definitions),
            TracedBody::Tuple(items) => self.tuple(items, traced, definitions),
            TracedBody::Struct(fields) => self.fields(fields, traced, definitions),
            TracedBody::Enum(variants) => self.variants(variants, traced, definitions),
        }
    }

    fn tuple(&mut self, items: &[TracedForm], traced: &TracedType, definitions: &mut Map<String, Value>) -> Value {
        let length = items.len();
        if length == 0 {
            return json!({"type": "array", "maxItems": 0});
        }
        let items: Vec<Value> = items.iter().map(|item| self.form(item, traced, definitions)).collect();
        json!({"type": "array", "prefixItems": items, "minItems": length, "maxItems": length})
    }

    fn fields(&mut self, fields: &TracedFields, traced: &TracedType, definitions: &mut Map<String, Value>) -> Value {
        let mut schema = json!({"type": "object"});
        if fields.denies_unknown {
            schema["additionalProperties"] = Value::Bool(false);
        }
        let mut properties = Map::new();
        for field in &fields.fields {
            properties.insert(field.name.clone(), self.form(&field.form, traced, definitions));
        }
        let required: Vec<&str> =
            fields.fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
        if !properties.is_empty() {
            schema["properties"] = Value::Object(properties);
        }
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema
    }

    fn variants(
        &mut self,
        variants: &[TracedVariant],
        traced: &TracedType,
        definitions: &mut Map<String, Value>,
    ) -> Value {
        let bare: Vec<&str> =
            variants.iter().filter(|variant| variant.content.is_none()).map(|variant| variant.name.as_str()).collect();
        let mut forms = Vec::new();
        if !bare.is_empty() {
            forms.push(json!({"type": "string", "enum": bare}));
        }
        for TracedVariant { name, content } in variants {
            let Some(content) = content else { continue };
            let content = self.body(content, traced, definitions);
            forms.push(json!({
                "type": "object",
                "properties": {name: content},
                "required": [name],
                "additionalProperties": false,
            }));
        }
        match forms.len() {
            0 => Value::Bool(false),
            1 if !bare.is_empty() => forms.remove(0),
            _ => json!({"oneOf": forms}),
        }
    }
}

/// Returns the name for a definition: that of the type, with a number if it is taken, without characters that a reference
/// would have to escape.
fn unused_name(name: &str, definitions: &Map<String, Value>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let numbered = (2..usize::MAX).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !definitions.contains_key(name)).unwrap_or_default()
}
