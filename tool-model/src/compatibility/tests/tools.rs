//! Tools as a whole.

use serde_json::{Value, json};

use super::{between, changes, manifest, of_tool, tool};
use crate::compatibility::ChangeKind;

fn with(name: &str, handler: &str, arguments: Value) -> crate::Manifest {
    let parts = json!({"handler": handler, "arguments": arguments, "description": format!("{handler}.")});
    [(name.to_owned(), tool(parts))].into_iter().collect()
}

#[test]
fn tools_that_come_and_go() {
    let one = with("a.newest", "app::newest", json!({}));
    assert_eq!(between(&one, &manifest(json!({}))), ["- : is gone"]);
    assert_eq!(between(&manifest(json!({})), &one), ["+ : is new"]);
}

#[test]
fn a_renamed_tool_is_told_by_its_handler_or_its_shape() {
    let arguments = || json!({"host": {"type": "string", "required": true}});
    let old = with("metrics.newest", "app::newest", arguments());
    let by_handler = changes(&old, &with("points.recent", "app::newest", arguments()));
    assert_eq!(
        by_handler[0].to_string(),
        "metrics.newest: was renamed to `points.recent`, it seems; calls of the old name are refused"
    );
    assert_eq!(by_handler.len(), 1, "{by_handler:?}");
    let by_shape = changes(&old, &with("metric.newest", "app::metric::newest", arguments()));
    assert!(by_shape.iter().any(|change| change.tool == "metrics.newest" && change.kind == ChangeKind::Breaking));
    assert!(by_shape.iter().all(|change| change.message != "is gone" && change.message != "is new"), "{by_shape:?}");
    let other = changes(&old, &with("system.uptime", "app::uptime", json!({})));
    assert_eq!(other.iter().map(|change| &*change.message).collect::<Vec<_>>(), ["is gone", "is new"]);
}

#[test]
fn promises() {
    let kinds = |old: Value, new: Value| -> Vec<char> {
        of_tool(old, new).iter().filter_map(|line| line.chars().next()).collect()
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
    assert_eq!(of_tool(json!({"timeout_ms": 5000}), json!({"timeout_ms": 500})), ["- timeout: is 500ms; it was 5s"]);
    assert_eq!(kinds(json!({}), json!({"timeout_ms": 500})), ['-']);
    assert_eq!(kinds(json!({"timeout_ms": 500}), json!({})), ['+']);
    assert_eq!(kinds(json!({}), json!({"repair": false})), ['-']);
    assert_eq!(kinds(json!({}), json!({"strict": true})), ['+']);
    assert_eq!(of_tool(json!({}), json!({"handler": "b"})), ["+ handler: is b; it was app::does_it"]);
}

#[test]
fn words() {
    let new = json!({"description": "Does it well.", "category": "work", "tags": ["a"], "instructions": "Mind."});
    assert_eq!(
        of_tool(json!({}), new),
        [
            r#"~ category: is "work"; it was none"#,
            r#"~ description: is "Does it well."; it was "Does it.""#,
            r#"~ instructions: is "Mind."; it was none"#,
            "~ tags: is a; it was none",
        ]
    );
}

/// A definition's name is nothing that a caller sees.
#[test]
fn a_definition_under_another_name() {
    let of = |name: &str| {
        json!({
            "arguments": {"x": {"type": "object", "required": true, "$ref": format!("#/$defs/{name}")}},
            "$defs": {name: {"type": "object", "properties": {"a": {"type": "string"}}}}
        })
    };
    assert_eq!(of_tool(of("A"), of("B")), ["~ : is written in another way and means the same"]);
}

#[test]
fn a_schema_that_cannot_be_enforced() {
    let of = |pattern: &str| json!({"arguments": {"x": {"type": "string", "pattern": pattern}}});
    let found = of_tool(of("(?=a)b"), of("(?=a)c"));
    assert!(found[0].starts_with("- arguments: cannot be compared"), "{found:?}");
    assert!(of_tool(of("(?=a)b"), of("(?=a)b")).is_empty());
}
