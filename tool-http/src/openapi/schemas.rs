//! Schemas of what goes over the wire, from the types themselves.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Collects the schemas of a document.
pub(super) struct Schemas {
    generator: SchemaGenerator,
    /// What tools bring.
    more: Map<String, Value>,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self { generator: settings.into_generator(), more: Map::new() }
    }

    /// A schema of a type, by reference.
    pub(super) fn of<T: JsonSchema>(&mut self) -> Value {
        Schema::into(self.generator.subschema_for::<T>())
    }

    pub(super) fn add(&mut self, name: String, schema: Value) {
        self.more.insert(name, schema);
    }

    /// The fields of a type as parameters of the query.
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

    /// All that were referred to.
    pub(super) fn finish(mut self) -> Value {
        let mut all = self.generator.take_definitions(true);
        all.extend(self.more);
        Value::Object(all)
    }
}
