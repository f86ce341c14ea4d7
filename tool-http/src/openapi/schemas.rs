//! The component schemas of the OpenAPI document, generated from the types.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Collects the schemas of a document.
pub(super) struct ComponentSchemas {
    generator: SchemaGenerator,
    /// Schemas of the tools.
    tool_schemas: Map<String, Value>,
}

impl ComponentSchemas {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self { generator: settings.into_generator(), tool_schemas: Map::new() }
    }

    /// Returns a reference to the schema of a type.
    pub(super) fn reference<T: JsonSchema>(&mut self) -> Value {
        Schema::into(self.generator.subschema_for::<T>())
    }

    pub(super) fn add(&mut self, name: String, schema: Value) {
        self.tool_schemas.insert(name, schema);
    }

    /// Returns the fields of a type as query parameters.
    pub(super) fn query<T: JsonSchema>(&mut self) -> Value {
        let mut schema = Value::from(self.generator.clone().into_root_schema_for::<T>());
        let required = schema["required"].take();
        let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|known| known == name));
        let Value::Object(properties) = schema["properties"].take() else { return json!([]) };
        let parameter = |(name, mut schema): (String, Value)| {
            let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let is_required = is_required(&name);
            json!({"name": name, "in": "query", "required": is_required, "schema": schema, "description": description})
        };
        properties.into_iter().map(parameter).collect()
    }

    /// Returns all referenced schemas.
    pub(super) fn finish(mut self) -> Value {
        let mut all = self.generator.take_definitions(true);
        all.extend(self.tool_schemas);
        Value::Object(all)
    }
}
