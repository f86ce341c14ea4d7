//! Changes of whole tools.

use serde_json::{Value, json};

use super::{change_lines, changes, manifest, tool, tool_changes};
use crate::compatibility::ChangeKind;

fn with(name: &str, handler: &str, arguments: Value) -> crate::Manifest {
    let parts = json!({"handler": handler, "arguments": arguments, "description": format!("{handler}.")});
    [(name.to_owned(), tool(parts))].into_iter().collect()
}

#[test]
fn added_and_removed_tools() {
    let one = with("a.newest", "app::newest", json!({}));
    assert_eq!(change_lines(&one, &manifest(json!({}))), ["- : was removed"]);
    assert_eq!(change_lines(&manifest(json!({})), &one), ["+ : is new"]);
}

#[test]
fn a_renamed_tool_is_recognized_by_handler_or_schema() {
    let arguments = || json!({"host": {"type": "string", "required": true}});
    let old = with("metrics.newest", "app::newest", arguments());
    let by_handler = changes(&old, &with("points.recent", "app::newest", arguments()));
    assert_eq!(
        by_handler[0].to_string(),
        "metrics.newest: was probably renamed to `points.recent`; calls with the old name are refused"
    );
    assert_eq!(by_handler.len(), 1, "{by_handler:?}");
    let by_shape = changes(&old, &with("metric.newest", "app::metric::newest", arguments()));
    assert!(by_shape.iter().any(|change| change.tool == "metrics.newest" && change.kind == ChangeKind::Breaking));
    assert!(by_shape.iter().all(|change| change.message != "is gone" && change.message != "is new"), "{by_shape:?}");
    let other = changes(&old, &with("system.uptime", "app::uptime", json!({})));
    assert_eq!(other.iter().map(|change| &*change.message).collect::<Vec<_>>(), ["was removed", "is new"]);
}

#[test]
fn promises() {
    let kinds = |old: Value, new: Value| -> Vec<char> {
        tool_changes(old, new).iter().filter_map(|line| line.chars().next()).collect()
    };
    for (flag, set, unset) in [
        ("sensitive", '-', '+'),
        ("destructive", '-', '+'),
        ("read_only", '+', '-'),
        ("idempotent", '+', '-'),
        ("sequential", '+', '+'),
    ] {
        assert_eq!(kinds(json!({}), json!({flag: true})), [set], "{flag}");
        assert_eq!(kinds(json!({flag: true}), json!({})), [unset], "{flag}");
    }
    assert_eq!(
        tool_changes(json!({"timeout_ms": 5000}), json!({"timeout_ms": 500})),
        ["- timeout: is 500ms; it was 5s"]
    );
    assert_eq!(kinds(json!({}), json!({"timeout_ms": 500})), ['-']);
    assert_eq!(kinds(json!({"timeout_ms": 500}), json!({})), ['+']);
    assert_eq!(kinds(json!({}), json!({"repair": false})), ['-']);
    assert_eq!(kinds(json!({}), json!({"strict": true})), ['+']);
    assert_eq!(tool_changes(json!({}), json!({"handler": "b"})), ["+ handler: is b; it was app::does_it"]);
}

#[test]
fn words() {
    let new = json!({"description": "Does it well.", "category": "work", "tags": ["a"], "instructions": "Mind."});
    assert_eq!(
        tool_changes(json!({}), new),
        [
            r#"~ category: is "work"; it was none"#,
            r#"~ description: is "Does it well."; it was "Does it.""#,
            r#"~ instructions: is "Mind."; it was none"#,
            "~ tags: is a; it was none",
        ]
    );
}

/// Callers do not see the name of a definition.
#[test]
fn a_definition_under_another_name() {
    let of = |name: &str| {
        json!({
            "arguments": {"x": {"type": "object", "required": true, "$ref": format!("#/$defs/{name}")}},
            "$defs": {name: {"type": "object", "properties": {"a": {"type": "string"}}}}
        })
    };
    assert_eq!(tool_changes(of("A"), of("B")), ["~ : is written differently and means the same"]);
}

#[test]
fn an_unsupported_schema_is_not_compared() {
    let of = |pattern: &str| json!({"arguments": {"x": {"type": "string", "pattern": pattern}}});
    let found = tool_changes(of("(?=a)b"), of("(?=a)c"));
    assert!(found[0].starts_with("- arguments: cannot be compared"), "{found:?}");
    assert!(tool_changes(of("(?=a)b"), of("(?=a)b")).is_empty());
}

#[test]
fn an_alias_keeps_a_renamed_tool_and_its_loss_breaks_calls() {
    let of = |name: &str, aliases: Value| {
        manifest(json!({name: {"description": "", "handler": "h", "arguments": {}, "aliases": aliases}}))
    };
    let was = || of("exec", json!([]));
    assert_eq!(
        change_lines(&was(), &of("run", json!(["exec"]))),
        ["+ : was renamed to `run`; its old name is an alias", "+ alias: is exec; it was none"]
    );
    assert_eq!(change_lines(&of("exec", json!(["a", "b"])), &was()), ["- alias: is none; it was a, b"]);
    assert_eq!(change_lines(&of("exec", json!(["a"])), &of("exec", json!(["a", "b"]))), ["+ alias: is a, b; it was a"]);
    assert_eq!(change_lines(&of("exec", json!(["a"])), &of("exec", json!(["b"]))), ["- alias: is b; it was a"]);
    assert_eq!(
        change_lines(&of("exec", json!(["run"])), &of("run", json!(["exec"]))),
        ["+ : was renamed to `run`; its old name is an alias", "+ alias: is exec; it was run"],
        "the names are swapped"
    );
    assert_eq!(
        change_lines(&of("exec", json!(["run", "sh"])), &of("run", json!(["exec"]))),
        ["+ : was renamed to `run`; its old name is an alias", "- alias: is exec; it was run, sh"],
        "a control"
    );
}
