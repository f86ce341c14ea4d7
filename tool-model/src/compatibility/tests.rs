//! What is said of a change.

mod arguments;
mod facts;
mod properties;
mod returns;
mod tools;

use serde_json::{Value, json};

use super::{ChangeKind, changes};
use crate::{Manifest, ToolDefinition};

fn manifest(tools: Value) -> Manifest {
    serde_json::from_value(tools).expect("a manifest")
}

/// A tool with nothing but what is said.
fn tool(parts: Value) -> ToolDefinition {
    let mut whole = json!({"description": "Does it.", "handler": "app::does_it", "arguments": {}});
    let (Some(tool), Value::Object(parts)) = (whole.as_object_mut(), parts) else { panic!("not objects") };
    tool.extend(parts);
    serde_json::from_value(whole).expect("a tool")
}

/// Each change as `kind path: message`.
fn between(old: &Manifest, new: &Manifest) -> Vec<String> {
    let kind = |kind| match kind {
        ChangeKind::Breaking => '-',
        ChangeKind::Compatible => '+',
        ChangeKind::Text => '~',
    };
    changes(old, new)
        .iter()
        .map(|change| format!("{} {}: {}", kind(change.kind), change.path, change.message))
        .collect()
}

fn of_tool(old: Value, new: Value) -> Vec<String> {
    let manifest = |parts| [("t".to_owned(), tool(parts))].into_iter().collect();
    between(&manifest(old), &manifest(new))
}

fn of_arguments(old: Value, new: Value) -> Vec<String> {
    of_tool(json!({"arguments": old}), json!({"arguments": new}))
}

/// Of the one argument `x`.
fn of_argument(old: Value, new: Value) -> Vec<String> {
    of_arguments(json!({"x": old}), json!({"x": new}))
}
