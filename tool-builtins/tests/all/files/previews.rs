//! Previews of writes.

use serde_json::json;
use tool_runtime::{Effect, ErrorKind};

use super::{TestWorkspace, tree};

fn diff(path: &str, before: &str, after: &str) -> Effect {
    Effect::Diff { path: Some(path.into()), before: before.into(), after: after.into() }
}

#[test]
fn shows_the_diff_of_every_write_without_changing_anything() {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    workspace.put("a", "one\ntwo\n");
    workspace.put("b", "other\n");
    let before = tree(&workspace.path(""));
    let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+eins\n";
    let several = format!("{patch}--- /dev/null\n+++ b/new/c\n@@ -0,0 +1 @@\n+c\n");
    for (name, arguments, effect) in [
        ("write_file", json!({"path": "a", "content": "x"}), diff("a", "one\ntwo\n", "x")),
        ("write_file", json!({"path": "deep/new", "content": "x"}), diff("deep/new", "", "x")),
        ("write_file", json!({"path": "b", "content": "x", "mode": "append"}), diff("b", "other\n", "other\nx")),
        (
            "edit_file",
            json!({"path": "a", "old_string": "two", "new_string": "2"}),
            diff("a", "one\ntwo\n", "one\n2\n"),
        ),
        ("apply_patch", json!({"patch": patch}), diff("a", "one\ntwo\n", "eins\ntwo\n")),
        (
            "apply_patch",
            json!({"patch": several}),
            Effect::Text(
                "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+eins\n two\n--- /dev/null\n+++ b/new/c\n@@ -0,0 +1 @@\n+c\n"
                    .into(),
            ),
        ),
        ("delete_file", json!({"path": "b"}), diff("b", "other\n", "")),
        ("move_file", json!({"from": "a", "to": "deep/a"}), Effect::Text("Move a to deep/a.".into())),
        ("move_file", json!({"from": "a", "to": "b", "overwrite": true}), diff("b", "other\n", "one\ntwo\n")),
    ] {
        assert_eq!(workspace.preview(name, arguments.clone()), Ok(Some(effect)), "{name} {arguments}");
        assert_eq!(tree(&workspace.path("")), before, "{name}");
    }
}

#[test]
fn a_preview_fails_if_the_call_would() {
    let workspace = TestWorkspace::new();
    for (name, arguments) in [
        ("write_file", json!({"path": "../outside/x", "content": "x"})),
        ("edit_file", json!({"path": "a", "old_string": "two", "new_string": "2"})),
        ("apply_patch", json!({"patch": "nonsense"})),
        ("delete_file", json!({"path": "a"})),
        ("move_file", json!({"from": "a", "to": "b"})),
    ] {
        let error = workspace.preview(name, arguments).unwrap_err();
        assert!([ErrorKind::Failed, ErrorKind::Retry, ErrorKind::Fatal].contains(&error.kind), "{name}: {error:?}");
    }
}

#[test]
fn shows_only_the_changed_part_of_a_long_file() {
    let workspace = TestWorkspace::new();
    let text: String = (0..50_000).map(|number| format!("line {number}\n")).collect();
    workspace.put("long", text);
    let arguments = json!({"path": "long", "old_string": "line 25000\n", "new_string": "changed\n"});
    let Ok(Some(Effect::Diff { before, after, .. })) = workspace.preview("edit_file", arguments) else {
        panic!("a diff")
    };
    assert!(before.len() < 1_000 && before.contains("line 25000\n"), "{before}");
    assert!(after.len() < 1_000 && after.contains("changed\n"), "{after}");
}
