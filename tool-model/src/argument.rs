//! One argument of a tool, as the manifest shows it.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::json::Sorted;

/// One argument: its type, whether it is required, and the JSON-Schema keywords that narrow it.
///
/// In JSON the keys come in a fixed order: `type`, `required`, the keywords sorted, `description`.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// `string`, `integer`, `number`, `boolean`, `array`, `object`, `null` or `any`.
    pub type_name: String,
    /// Whether a call without this argument is an error.
    pub required: bool,
    /// Every other JSON-Schema keyword, such as `format`, `minimum`, `items` or `$ref`.
    pub keywords: BTreeMap<String, Value>,
    /// What the model reads about this argument.
    pub description: Option<String>,
}

impl Argument {
    /// An argument of a type, with nothing else said about it.
    #[must_use]
    pub fn new(type_name: impl Into<String>, required: bool) -> Self {
        Self { type_name: type_name.into(), required, keywords: BTreeMap::new(), description: None }
    }

    /// Whether the manifest says nothing about what this argument looks like.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.type_name == "any" && self.keywords.keys().all(|key| matches!(key.as_str(), "default" | "writeOnly"))
    }

    /// Whether the value is to be kept out of logs and prompts (`#[arg(secret)]`).
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.keywords.get("writeOnly") == Some(&Value::Bool(true))
    }

    /// The argument as plain JSON Schema; `$ref`s point into the tool's `$defs`.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut schema = Map::new();
        if self.type_name != "any" {
            schema.insert("type".into(), Value::String(self.type_name.clone()));
        }
        for (key, value) in &self.keywords {
            schema.insert(key.clone(), value.clone());
        }
        if let Some(description) = &self.description {
            schema.insert("description".into(), Value::String(description.clone()));
        }
        Value::Object(schema)
    }
}

impl Serialize for Argument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.type_name)?;
        map.serialize_entry("required", &self.required)?;
        for (key, value) in &self.keywords {
            map.serialize_entry(key, &Sorted(value))?;
        }
        if let Some(description) = &self.description {
            map.serialize_entry("description", description)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut keywords = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let type_name = match keywords.remove("type") {
            Some(Value::String(name)) => name,
            Some(other) => return Err(D::Error::custom(format!("`type` must be a string, not {other}"))),
            None => "any".to_owned(),
        };
        let required = match keywords.remove("required") {
            Some(Value::Bool(required)) => required,
            Some(other) => return Err(D::Error::custom(format!("`required` must be true or false, not {other}"))),
            None => false,
        };
        let description = match keywords.remove("description") {
            Some(Value::String(text)) => Some(text),
            Some(other) => return Err(D::Error::custom(format!("`description` must be a string, not {other}"))),
            None => None,
        };
        Ok(Self { type_name, required, keywords, description })
    }
}
