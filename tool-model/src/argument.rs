//! Arguments of a tool, as in the manifest.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::json::Sorted;
use crate::unique_map::NamedEntry;

/// One argument: its type, whether it is required, and the JSON Schema keywords that constrain it.
///
/// The JSON keys have a fixed order: `type`, `required`, `aliases`, the keywords sorted, `description`.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// `string`, `integer`, `number`, `boolean`, `array`, `object`, `null` or `any`.
    pub type_name: String,
    /// `true` if a call without this argument is an error.
    pub required: bool,
    /// Other names under which a call may send it. Models do not see them.
    pub aliases: Vec<String>,
    /// The other JSON Schema keywords, such as `format`, `minimum`, `items` or `$ref`.
    pub keywords: BTreeMap<String, Value>,
    /// The description for the model.
    pub description: Option<String>,
}

impl Argument {
    /// Creates an argument of a type, without keywords or description.
    #[must_use]
    pub fn new(type_name: impl Into<String>, required: bool) -> Self {
        Self {
            type_name: type_name.into(),
            required,
            aliases: Vec::new(),
            keywords: BTreeMap::new(),
            description: None,
        }
    }

    /// Returns `true` if the argument accepts any value.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.type_name == "any" && self.keywords.keys().all(|key| matches!(key.as_str(), "default" | "writeOnly"))
    }

    /// Returns `true` if the value must not appear in logs and prompts (`#[arg(secret)]`).
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.keywords.get("writeOnly") == Some(&Value::Bool(true))
    }

    /// Returns the argument as JSON Schema, without its aliases. References point into the tool's `$defs`.
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
        if !self.aliases.is_empty() {
            map.serialize_entry("aliases", &self.aliases)?;
        }
        for (key, value) in &self.keywords {
            map.serialize_entry(key, &Sorted(value))?;
        }
        if let Some(description) = &self.description {
            map.serialize_entry("description", description)?;
        }
        map.end()
    }
}

impl NamedEntry for Argument {
    const NOUN: &'static str = "argument";
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ArgumentVisitor)
    }
}

struct ArgumentVisitor;

impl<'de> Visitor<'de> for ArgumentVisitor {
    type Value = Argument;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an argument: an object with `type`, `required` and other keywords")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Argument, A::Error> {
        let (mut type_name, mut required, mut aliases, mut description) = (None, None, None, None);
        let mut keywords = BTreeMap::new();
        while let Some(key) = map.next_key()? {
            let value: Value = map.next_value()?;
            let known = match key {
                ArgumentKey::Type => type_name.replace(text("type", value)?).map(|_| "type".to_owned()),
                ArgumentKey::Required => required.replace(truth("required", value)?).map(|_| "required".to_owned()),
                ArgumentKey::Aliases => aliases.replace(texts("aliases", value)?).map(|_| "aliases".to_owned()),
                ArgumentKey::Description => {
                    description.replace(text("description", value)?).map(|_| "description".to_owned())
                }
                ArgumentKey::Keyword(key) => match keywords.entry(key) {
                    Entry::Occupied(known) => Some(known.key().clone()),
                    Entry::Vacant(place) => {
                        place.insert(value);
                        None
                    }
                },
            };
            if let Some(key) = known {
                return Err(A::Error::custom(format!("duplicate key `{key}`")));
            }
        }
        Ok(Argument {
            type_name: type_name.unwrap_or_else(|| "any".to_owned()),
            required: required.unwrap_or(false),
            aliases: aliases.unwrap_or_default(),
            keywords,
            description,
        })
    }
}

fn text<E: Error>(key: &str, value: Value) -> Result<String, E> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(E::custom(format!("`{key}` must be a string, not {other}"))),
    }
}

fn texts<E: Error>(key: &str, value: Value) -> Result<Vec<String>, E> {
    let wrong = |other: &Value| E::custom(format!("`{key}` must be a list of strings, not {other}"));
    let Value::Array(items) = &value else { return Err(wrong(&value)) };
    items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(|| wrong(&value))).collect()
}

fn truth<E: Error>(key: &str, value: Value) -> Result<bool, E> {
    match value {
        Value::Bool(truth) => Ok(truth),
        other => Err(E::custom(format!("`{key}` must be true or false, not {other}"))),
    }
}

/// A key of an argument. The common keys need no allocation.
enum ArgumentKey {
    Type,
    Required,
    Aliases,
    Description,
    Keyword(String),
}

impl<'de> Deserialize<'de> for ArgumentKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(ArgumentKeyVisitor)
    }
}

struct ArgumentKeyVisitor;

impl Visitor<'_> for ArgumentKeyVisitor {
    type Value = ArgumentKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a keyword")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<ArgumentKey, E> {
        Ok(match key {
            "type" => ArgumentKey::Type,
            "required" => ArgumentKey::Required,
            "aliases" => ArgumentKey::Aliases,
            "description" => ArgumentKey::Description,
            other => ArgumentKey::Keyword(other.to_owned()),
        })
    }
}
