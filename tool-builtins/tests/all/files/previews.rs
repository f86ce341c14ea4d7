//! What a write would do, shown before it is done.

use serde_json::json;
use tool_runtime::{Effect, ErrorKind};

use super::{World, tree};

fn diff(path: &str, before: &str, after: &str) -> Effect {
    Effect::Diff { path: Some(path.into()), before: before.into(), after: after.into() }
}

#[test]
fn every_write_shows_its_diff_and_does_nothing() {
    let world = World::with(|files| files.allow_delete(true));
    world.put("a", "one\ntwo\n");
    world.put("b", "other\n");
    let before = tree(&world.path(""));
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
        assert_eq!(world.preview(name, arguments.clone()), Ok(Some(effect)), "{name} {arguments}");
        assert_eq!(tree(&world.path("")), before, "{name}");
    }
}

#[test]
fn what_would_fail_fails_before_anybody_is_asked() {
    let world = World::new();
    for (name, arguments) in [
        ("write_file", json!({"path": "../outside/x", "content": "x"})),
        ("edit_file", json!({"path": "a", "old_string": "two", "new_string": "2"})),
        ("apply_patch", json!({"patch": "nonsense"})),
        ("delete_file", json!({"path": "a"})),
        ("move_file", json!({"from": "a", "to": "b"})),
    ] {
        let error = world.preview(name, arguments).unwrap_err();
        assert!([ErrorKind::Failed, ErrorKind::Retry, ErrorKind::Fatal].contains(&error.kind), "{name}: {error:?}");
    }
}

#[test]
fn only_the_change_is_shown_of_a_long_file() {
    let world = World::new();
    let text: String = (0..50_000).map(|number| format!("line {number}\n")).collect();
    world.put("long", text);
    let arguments = json!({"path": "long", "old_string": "line 25000\n", "new_string": "changed\n"});
    let Ok(Some(Effect::Diff { before, after, .. })) = world.preview("edit_file", arguments) else { panic!("a diff") };
    assert!(before.len() < 1_000 && before.contains("line 25000\n"), "{before}");
    assert!(after.len() < 1_000 && after.contains("changed\n"), "{after}");
}
