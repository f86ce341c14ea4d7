//! One tool, as the manifest shows it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::Argument;
use crate::json::Sorted;
use crate::schema::{reached, referred_by};
use crate::unique::{Named, unique};

/// Everything the manifest says about one tool. Its name is the key under which it stands.
///
/// In JSON the keys come in a fixed order: `description`, `handler`, `arguments`, then those of the rest that
/// say something, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// What the model reads about the tool.
    pub description: String,
    /// The path of the function that runs, such as `app::metrics::MetricsService::newest`.
    pub handler: String,
    /// The arguments by name. Injected parameters are not among them.
    pub arguments: BTreeMap<String, Argument>,
    /// JSON Schemas of the structs and enums that the arguments and the result refer to.
    pub defs: BTreeMap<String, Value>,
    /// A broad group, such as `monitoring`.
    pub category: Option<String>,
    /// Whether the tool destroys something that cannot be had back.
    pub destructive: bool,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// More for the system prompt than the description should hold.
    pub instructions: Option<String>,
    /// Whether the tool changes nothing.
    pub read_only: bool,
    /// Whether arguments that are nearly right may be mended; unset means as the dispatcher says.
    pub repair: Option<bool>,
    /// JSON Schema of a result that is an object or an array.
    pub returns: Option<Value>,
    /// Whether a person is to be asked before it runs.
    pub sensitive: bool,
    /// Whether it must not run beside other calls of the same turn.
    pub sequential: bool,
    /// Whether providers are asked to enforce the schema; unset means as the dialect says.
    pub strict: Option<bool>,
    /// Words to select tools by, in the order of declaration.
    pub tags: Vec<String>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
}

impl ToolDefinition {
    /// The arguments as one JSON Schema of type `object`, with those of the `$defs` that they reach. What only the
    /// result refers to would cost tokens and say nothing of a call.
    #[must_use]
    pub fn parameters(&self) -> Value {
        let properties = self.arguments.iter().map(|(name, argument)| (name.clone(), argument.schema()));
        let required = self.arguments.iter().filter(|(_, argument)| argument.required);
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), Value::Object(properties.collect()));
        schema.insert("required".into(), required.map(|(name, _)| Value::String(name.clone())).collect());
        schema.insert("additionalProperties".into(), Value::Bool(false));
        let defs = reached(referred_by(self.arguments.values()), &self.defs);
        if !defs.is_empty() {
            let defs = defs.into_iter().map(|(name, def)| (name.clone(), def.clone()));
            schema.insert("$defs".into(), Value::Object(defs.collect()));
        }
        Value::Object(schema)
    }
}

impl Serialize for ToolDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("description", &self.description)?;
        map.serialize_entry("handler", &self.handler)?;
        map.serialize_entry("arguments", &self.arguments)?;
        if !self.defs.is_empty() {
            let sorted: BTreeMap<_, _> = self.defs.iter().map(|(name, def)| (name, Sorted(def))).collect();
            map.serialize_entry("$defs", &sorted)?;
        }
        if let Some(category) = &self.category {
            map.serialize_entry("category", category)?;
        }
        for (key, set) in [("destructive", self.destructive), ("idempotent", self.idempotent)] {
            if set {
                map.serialize_entry(key, &true)?;
            }
        }
        if let Some(instructions) = &self.instructions {
            map.serialize_entry("instructions", instructions)?;
        }
        if self.read_only {
            map.serialize_entry("read_only", &true)?;
        }
        if let Some(repair) = self.repair {
            map.serialize_entry("repair", &repair)?;
        }
        if let Some(returns) = &self.returns {
            map.serialize_entry("returns", &Sorted(returns))?;
        }
        for (key, set) in [("sensitive", self.sensitive), ("sequential", self.sequential)] {
            if set {
                map.serialize_entry(key, &true)?;
            }
        }
        if let Some(strict) = self.strict {
            map.serialize_entry("strict", &strict)?;
        }
        if !self.tags.is_empty() {
            map.serialize_entry("tags", &self.tags)?;
        }
        if let Some(timeout) = self.timeout {
            map.serialize_entry("timeout_ms", &u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))?;
        }
        map.end()
    }
}

impl Named for ToolDefinition {
    const NOUN: &'static str = "tool";

    fn detail(&self) -> &str {
        &self.handler
    }
}

/// The JSON form, for reading: serde names what is unknown or missing.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    description: String,
    handler: String,
    #[serde(deserialize_with = "unique")]
    arguments: BTreeMap<String, Argument>,
    #[serde(default, rename = "$defs")]
    defs: BTreeMap<String, Value>,
    category: Option<String>,
    #[serde(default)]
    destructive: bool,
    #[serde(default)]
    idempotent: bool,
    instructions: Option<String>,
    #[serde(default)]
    read_only: bool,
    repair: Option<bool>,
    returns: Option<Value>,
    #[serde(default)]
    sensitive: bool,
    #[serde(default)]
    sequential: bool,
    strict: Option<bool>,
    #[serde(default)]
    tags: Vec<String>,
    timeout_ms: Option<u64>,
}

impl<'de> Deserialize<'de> for ToolDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Read::deserialize(deserializer)?;
        Ok(Self {
            description: read.description,
            handler: read.handler,
            arguments: read.arguments,
            defs: read.defs,
            category: read.category,
            destructive: read.destructive,
            idempotent: read.idempotent,
            instructions: read.instructions,
            read_only: read.read_only,
            repair: read.repair,
            returns: read.returns,
            sensitive: read.sensitive,
            sequential: read.sequential,
            strict: read.strict,
            tags: read.tags,
            timeout: read.timeout_ms.map(Duration::from_millis),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_parameters_have_the_definitions_that_they_reach() {
        let tool: ToolDefinition = serde_json::from_value(json!({
            "description": "", "handler": "h",
            "arguments": {"order": {"type": "object", "required": true, "$ref": "#/$defs/Order"}},
            "returns": {"$ref": "#/$defs/Receipt"},
            "$defs": {
                "Order": {"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}}},
                "Item": {"type": "object", "properties": {"of": {"$ref": "#/$defs/Order"}}},
                "Receipt": {"type": "object", "properties": {"item": {"$ref": "#/$defs/Item"}}},
            },
        }))
        .expect("a tool");
        let parameters = tool.parameters();
        let names: Vec<_> = parameters["$defs"].as_object().expect("definitions").keys().collect();
        assert_eq!(names, ["Item", "Order"]);
        let without = ToolDefinition { arguments: BTreeMap::new(), ..tool };
        assert_eq!(without.parameters().get("$defs"), None);
    }
}
