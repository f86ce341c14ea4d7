//! One tool, as the manifest shows it.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::LazyLock;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::json::Sorted;
use crate::schema::{reached, referred_by};
use crate::unique::{Named, Unique};
use crate::{Argument, KEYS, Key, KeyKind};

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
    /// The reason why the tool should not be used any more. Models read it after the description.
    pub deprecated: Option<String>,
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
        // Sorted, with the result's schema in its place among the keys.
        let (before, after) = KEYS.split_at(KEYS.partition_point(|key| key.manifest < "returns"));
        let said = |keys: &'static [Key]| keys.iter().filter_map(|key| Some((key.manifest, key.get(self)?)));
        for (key, value) in said(before) {
            map.serialize_entry(key, &value)?;
        }
        if let Some(returns) = &self.returns {
            map.serialize_entry("returns", &Sorted(returns))?;
        }
        for (key, value) in said(after) {
            map.serialize_entry(key, &value)?;
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

impl<'de> Deserialize<'de> for ToolDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DefinitionVisitor)
    }
}

/// All names that a tool may have in a manifest.
static FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names = vec!["description", "handler", "arguments", "$defs", "returns"];
    names.extend(KEYS.iter().map(|key| key.manifest));
    names
});

struct DefinitionVisitor;

impl<'de> Visitor<'de> for DefinitionVisitor {
    type Value = ToolDefinition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tool, as a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolDefinition, A::Error> {
        let mut tool = ToolDefinition::default();
        let mut read: Vec<&'static str> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let Some(name) = FIELDS.iter().copied().find(|field| *field == name) else {
                return Err(A::Error::unknown_field(&name, &FIELDS));
            };
            if read.contains(&name) {
                return Err(A::Error::duplicate_field(name));
            }
            read.push(name);
            match name {
                "description" => tool.description = map.next_value()?,
                "handler" => tool.handler = map.next_value()?,
                "arguments" => tool.arguments = map.next_value_seed(Unique(PhantomData))?,
                "$defs" => tool.defs = map.next_value()?,
                "returns" => tool.returns = map.next_value()?,
                _ => read_key(name, &mut tool, &mut map)?,
            }
        }
        match ["description", "handler", "arguments"].into_iter().find(|name| !read.contains(name)) {
            Some(missing) => Err(A::Error::missing_field(missing)),
            None => Ok(tool),
        }
    }
}

fn read_key<'de, A: MapAccess<'de>>(name: &str, tool: &mut ToolDefinition, map: &mut A) -> Result<(), A::Error> {
    let Some(key) = KEYS.iter().find(|key| key.manifest == name) else { return Ok(()) };
    // By its type, so that the error for another one says where and what is expected.
    let value = match key.kind {
        KeyKind::Flag => Some(map.next_value::<bool>()?.into()),
        KeyKind::Choice => map.next_value::<Option<bool>>()?.map(Value::from),
        KeyKind::Text => map.next_value::<Option<String>>()?.map(Value::from),
        KeyKind::Words => Some(map.next_value::<Vec<String>>()?.into()),
        KeyKind::Time => map.next_value::<Option<u64>>()?.map(Value::from),
    };
    match value {
        Some(value) => key.set(tool, value).map_err(A::Error::custom),
        None => Ok(()),
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
