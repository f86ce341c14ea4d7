//! Tests of the changes that are reported.

mod aliases;
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

/// Returns a tool with the given parts.
fn tool(parts: Value) -> ToolDefinition {
    let mut whole = json!({"description": "Does it.", "handler": "app::does_it", "arguments": {}});
    let (Some(tool), Value::Object(parts)) = (whole.as_object_mut(), parts) else { panic!("not objects") };
    tool.extend(parts);
    serde_json::from_value(whole).expect("a tool")
}

/// Formats each change as `kind path: message`.
fn change_lines(old: &Manifest, new: &Manifest) -> Vec<String> {
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

fn tool_changes(old: Value, new: Value) -> Vec<String> {
    let manifest = |parts| [("t".to_owned(), tool(parts))].into_iter().collect();
    change_lines(&manifest(old), &manifest(new))
}

fn arguments_changes(old: Value, new: Value) -> Vec<String> {
    tool_changes(json!({"arguments": old}), json!({"arguments": new}))
}

/// Returns the changes of the argument `x`.
fn argument_changes(old: Value, new: Value) -> Vec<String> {
    arguments_changes(json!({"x": old}), json!({"x": new}))
}
