//! Changes of the aliases of arguments.

use serde_json::{Value, json};

use super::arguments_changes;

#[test]
fn an_alias_keeps_a_renamed_argument_and_its_loss_breaks_calls() {
    let path = |aliases: Value| json!({"path": {"type": "string", "required": true, "aliases": aliases}});
    assert_eq!(
        arguments_changes(path(json!([])), path(json!(["file"]))),
        ["+ arguments.path: also takes the name `file`"]
    );
    assert_eq!(
        arguments_changes(path(json!(["file"])), path(json!([]))),
        ["- arguments.path: no longer takes the name `file`; calls that send it are refused"]
    );
    let file = json!({"file": {"type": "string", "required": true, "aliases": ["path"]}});
    assert_eq!(
        arguments_changes(path(json!([])), file.clone()),
        ["+ arguments.path: was renamed to `file`; its old name is an alias"]
    );
    assert_eq!(
        arguments_changes(path(json!(["file"])), file),
        ["+ arguments.path: was renamed to `file`; its old name is an alias"],
        "the names are swapped"
    );
}

#[test]
fn an_alias_that_moves_to_another_argument_breaks_calls() {
    let of = |a: Value, b: Value| {
        json!({"a": {"type": "string", "required": false, "aliases": a},
               "b": {"type": "string", "required": false, "aliases": b}})
    };
    let (on_a, on_b) = (of(json!(["x"]), json!([])), of(json!([]), json!(["x"])));
    let moved = ["- arguments.a: no longer takes the name `x`, which is a name of `b` now"];
    assert_eq!(arguments_changes(on_a.clone(), on_b), moved);
    let mut with_own = of(json!([]), json!([]));
    with_own["x"] = json!({"type": "string", "required": false});
    assert_eq!(
        arguments_changes(on_a.clone(), with_own),
        [
            "- arguments.a: no longer takes the name `x`, which is a name of `x` now",
            "+ arguments.x: is new and optional"
        ]
    );
    let renamed = json!({"c": {"type": "string", "required": false, "aliases": ["a", "x"]},
                         "b": {"type": "string", "required": false}});
    assert_eq!(
        arguments_changes(on_a, renamed),
        ["+ arguments.a: was renamed to `c`; its old name is an alias"],
        "a control: the alias is still of the same argument"
    );
}

#[test]
fn the_order_of_aliases_is_a_change_without_meaning() {
    let of = |aliases: Value| json!({"a": {"type": "string", "required": true, "aliases": aliases}});
    let changes = arguments_changes(of(json!(["x", "y"])), of(json!(["y", "x"])));
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(!changes[0].starts_with('-'), "{changes:?}");
}
