//! Definitions of tools, as in the manifest.

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
use crate::unique_map::{NamedEntry, UniqueMap};
use crate::{Argument, KEYS, Key, KeyKind};

/// The definition of one tool. Its name is its key in the manifest.
///
/// The JSON keys have a fixed order: `description`, `handler`, `arguments`, then the other keys that are set, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The description for the model.
    pub description: String,
    /// The path of the handler, such as `app::metrics::MetricsService::newest`.
    pub handler: String,
    /// The arguments by name, without injected parameters.
    pub arguments: BTreeMap<String, Argument>,
    /// JSON Schemas of the structs and enums that the arguments and the result refer to.
    pub defs: BTreeMap<String, Value>,
    /// Other names under which it can be called. Models do not see them.
    pub aliases: Vec<String>,
    /// A broad group, such as `monitoring`.
    pub category: Option<String>,
    /// The reason for a deprecation, appended to the description that the model reads.
    pub deprecated: Option<String>,
    /// `true` if the tool destroys something that cannot be restored.
    pub destructive: bool,
    /// `true` if repeating a call with the same arguments has no further effect.
    pub idempotent: bool,
    /// Additional instructions for the system prompt.
    pub instructions: Option<String>,
    /// `true` if the tool changes nothing.
    pub read_only: bool,
    /// `true` to repair nearly valid arguments; `None` uses the dispatcher's setting.
    pub repair: Option<bool>,
    /// The JSON Schema of a result that is an object or an array.
    pub returns: Option<Value>,
    /// `true` if a user must approve a call before it runs.
    pub sensitive: bool,
    /// `true` if the tool must not run concurrently with other calls of the same turn.
    pub sequential: bool,
    /// `true` to ask providers to enforce the schema; `None` uses the dialect's setting.
    pub strict: Option<bool>,
    /// `true` if the tool reports parts of its result while it runs.
    pub supports_streaming: bool,
    /// Tags to select tools by, in the order of declaration.
    pub tags: Vec<String>,
    /// The timeout of a call.
    pub timeout: Option<Duration>,
}

impl ToolDefinition {
    /// Returns the arguments as one JSON Schema of type `object`, with the reachable `$defs`. Definitions used only by
    /// the result are left out to save tokens.
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

impl ToolDefinition {
    /// Checks that the tool's aliases are valid names, and that each alias of an argument stands for one argument.
    ///
    /// # Errors
    /// Returns the first alias that is wrong, with the reason.
    pub fn check_aliases(&self, name: &str) -> Result<(), String> {
        for (index, alias) in self.aliases.iter().enumerate() {
            crate::name::check(alias).map_err(|wrong| format!("its alias {alias:?} is invalid: {wrong}"))?;
            if alias == name || self.aliases[..index].contains(alias) {
                return Err(format!("its alias `{alias}` is its own name, or listed twice"));
            }
        }
        let mut seen: Vec<&str> = self.arguments.keys().map(String::as_str).collect();
        for (argument, alias) in
            self.arguments.iter().flat_map(|(name, argument)| argument.aliases.iter().map(move |alias| (name, alias)))
        {
            if seen.contains(&alias.as_str()) {
                return Err(format!("the alias `{alias}` of `{argument}` is another name of an argument too"));
            }
            seen.push(alias);
        }
        Ok(())
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
        // In alphabetical order, including `returns`.
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

impl NamedEntry for ToolDefinition {
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

/// All valid keys of a tool in a manifest.
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
                "arguments" => tool.arguments = map.next_value_seed(UniqueMap(PhantomData))?,
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
    // Deserializing the exact type gives errors with position and expected type.
    let value = match key.kind {
        KeyKind::Flag => Some(map.next_value::<bool>()?.into()),
        KeyKind::Choice => map.next_value::<Option<bool>>()?.map(Value::from),
        KeyKind::Text => map.next_value::<Option<String>>()?.map(Value::from),
        KeyKind::Words | KeyKind::Names => Some(map.next_value::<Vec<String>>()?.into()),
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
    fn parameters_include_only_reachable_definitions() {
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
