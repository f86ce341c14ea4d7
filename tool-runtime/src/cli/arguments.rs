//! Arguments from a command line.

use serde_json::{Map, Value};
use tool_model::{Argument, ToolDefinition};

use super::Result;
use crate::arguments::{beyond_64_bits, duplicate_key};

/// The arguments that a JSON object and words like `name=value` say together.
pub(super) fn read(tool: &ToolDefinition, json: Option<&str>, words: &[String]) -> Result<Value> {
    let mut arguments = match json {
        None => Map::new(),
        Some(text) => match serde_json::from_str(text) {
            Ok(Value::Object(arguments)) => kept(text).map(|()| arguments)?,
            Ok(_) => return Err("`--json` takes an object with the arguments by name".to_owned()),
            Err(error) => return Err(format!("`--json` is no JSON: {error}")),
        },
    };
    for word in words {
        let Some((name, text)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(format!("`{word}` is no argument: write it as `name=value`"));
        };
        add(&mut arguments, name, text, tool.arguments.get(name))?;
    }
    Ok(Value::Object(arguments))
}

fn add(arguments: &mut Map<String, Value>, name: &str, text: &str, argument: Option<&Argument>) -> Result<()> {
    let is_list = argument.is_some_and(|argument| argument.type_name == "array");
    let value = value(text, argument)?;
    match arguments.get_mut(name) {
        Some(Value::Array(items)) if is_list => items.extend(into_items(value)),
        Some(_) => return Err(format!("`{name}` is given twice")),
        None if is_list => drop(arguments.insert(name.to_owned(), into_items(value).into())),
        None => drop(arguments.insert(name.to_owned(), value)),
    }
    Ok(())
}

/// A text where the argument is one, and otherwise JSON; what is no JSON is a text, for the dispatcher to judge.
fn value(text: &str, argument: Option<&Argument>) -> Result<Value> {
    let items_are_texts = |argument: &Argument| {
        argument.keywords.get("items").is_some_and(|items| items["type"] == "string")
            && !text.trim_start().starts_with('[')
    };
    match argument {
        Some(argument) if argument.type_name == "string" || items_are_texts(argument) => Ok(text.into()),
        _ => match serde_json::from_str(text) {
            Ok(value) => kept(text).map(|()| value),
            Err(_) => Ok(text.into()),
        },
    }
}

/// Refuses a JSON text of which a value keeps less than was written: what is called is what was meant.
fn kept(text: &str) -> Result<()> {
    if let Some(key) = duplicate_key(text) {
        return Err(format!("`{key}` stands twice in one object"));
    }
    match beyond_64_bits(text) {
        Some(number) => Err(format!("{number} has more digits than can be kept")),
        None => Ok(()),
    }
}

fn into_items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        one => vec![one],
    }
}
