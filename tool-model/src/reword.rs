//! Descriptions and instructions from an edited manifest.

use serde_json::{Map, Value};

use crate::schema::{Position, position};
use crate::schema_walk::is_any;
use crate::{Argument, KEYS, Manifest, ToolDefinition};

impl Manifest {
    /// Returns these tools with the [descriptions and instructions](ToolDefinition::with_words_of) of another manifest,
    /// which a user may have edited. Everything else is unchanged.
    #[must_use]
    pub fn with_words_of(&self, edited: &Self) -> Self {
        let reworded = |(name, tool): (&str, &ToolDefinition)| {
            let tool = match edited.get(name) {
                Some(entry) => tool.clone().with_words_of(entry),
                None => tool.clone(),
            };
            (name.to_owned(), tool)
        };
        self.iter().map(reworded).collect()
    }
}

impl ToolDefinition {
    /// Returns this tool with the descriptions and instructions of a matching manifest entry. Everything else is
    /// unchanged. If an argument of the entry is `any`, its missing descriptions are not taken as intentional.
    #[must_use]
    pub fn with_words_of(mut self, entry: &Self) -> Self {
        self.description.clone_from(&entry.description);
        for key in KEYS.iter().filter(|key| key.is_wording) {
            key.copy(entry, &mut self);
        }
        for (name, argument) in &mut self.arguments {
            if let Some(entry) = entry.arguments.get(name) {
                reword_argument(argument, entry);
            }
        }
        for (name, schema) in &mut self.defs {
            if let Some(entry) = entry.defs.get(name) {
                reword(schema, entry);
            }
        }
        if let (Some(schema), Some(entry)) = (&mut self.returns, &entry.returns) {
            reword(schema, entry);
        }
        self
    }
}

fn reword_argument(argument: &mut Argument, entry: &Argument) {
    if entry.description.is_some() || !entry.is_any() {
        argument.description.clone_from(&entry.description);
    }
    for (key, value) in &mut argument.keywords {
        if let Some(entry) = entry.keywords.get(key) {
            reword_keyword(key, value, entry);
        }
    }
}

fn reword(schema: &mut Value, entry: &Value) {
    let (Value::Object(schema), Value::Object(entry)) = (schema, entry) else { return };
    reword_description(schema, entry);
    for (key, value) in schema.iter_mut() {
        if let Some(entry) = entry.get(key) {
            reword_keyword(key, value, entry);
        }
    }
}

fn reword_description(schema: &mut Map<String, Value>, entry: &Map<String, Value>) {
    match entry.get("description") {
        Some(text) => drop(schema.insert("description".to_owned(), text.clone())),
        None if is_any(entry) => {}
        None => drop(schema.remove("description")),
    }
}

fn reword_keyword(key: &str, value: &mut Value, entry: &Value) {
    match (position(key), value, entry) {
        (Position::One, value, entry) => reword(value, entry),
        (Position::List, Value::Array(items), Value::Array(entries)) => {
            items.iter_mut().zip(entries).for_each(|(item, entry)| reword(item, entry));
        }
        (Position::Map, Value::Object(schemas), Value::Object(entries)) => {
            for (name, schema) in schemas.iter_mut() {
                if let Some(entry) = entries.get(name) {
                    reword(schema, entry);
                }
            }
        }
        _ => {}
    }
}
