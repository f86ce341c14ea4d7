//! Arguments from a command line.

use serde_json::{Map, Value};
use tool_model::{Argument, ToolDefinition};

use super::Result;
use crate::arguments::{beyond_64_bits, duplicate_key};

/// Merges the arguments of a JSON object with arguments such as `name=value`.
pub(super) fn read(tool: &ToolDefinition, json: Option<&str>, words: &[String]) -> Result<Value> {
    let mut arguments = match json {
        None => Map::new(),
        Some(text) => match serde_json::from_str(text) {
            Ok(Value::Object(arguments)) => check_lossless(text).map(|()| arguments)?,
            Ok(_) => return Err("`--json` must be an object with the arguments by name".to_owned()),
            Err(error) => return Err(format!("`--json` is not valid JSON: {error}")),
        },
    };
    for word in words {
        let Some((name, text)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(format!("`{word}` is not an argument: write it as `name=value`"));
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
        Some(_) => return Err(format!("duplicate argument `{name}`")),
        None if is_list => drop(arguments.insert(name.to_owned(), into_items(value).into())),
        None => drop(arguments.insert(name.to_owned(), value)),
    }
    Ok(())
}

/// Returns the text as a string if the argument is one, and as JSON otherwise. Invalid JSON becomes a string, which the
/// dispatcher checks.
fn value(text: &str, argument: Option<&Argument>) -> Result<Value> {
    let has_string_items = |argument: &Argument| {
        argument.keywords.get("items").is_some_and(|items| items["type"] == "string")
            && !text.trim_start().starts_with('[')
    };
    match argument {
        Some(argument) if argument.type_name == "string" || has_string_items(argument) => Ok(text.into()),
        _ => match serde_json::from_str(text) {
            Ok(value) => check_lossless(text).map(|()| value),
            Err(_) => Ok(text.into()),
        },
    }
}

/// Rejects JSON whose parsed value would lose a duplicate key or digits of a number.
fn check_lossless(text: &str) -> Result<()> {
    if let Some(key) = duplicate_key(text) {
        return Err(format!("duplicate key `{key}`"));
    }
    match beyond_64_bits(text) {
        Some(number) => Err(format!("{number} does not fit into 64 bits")),
        None => Ok(()),
    }
}

fn into_items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        one => vec![one],
    }
}
