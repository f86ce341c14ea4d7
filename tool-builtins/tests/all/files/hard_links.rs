//! Files with several hard links, some of which may be outside the workspace.

use std::fs;

use serde_json::json;

use super::{SECRET, TestWorkspace};

fn linked(allow: bool) -> TestWorkspace {
    let workspace = TestWorkspace::with(|files| files.hard_links(allow));
    fs::hard_link(workspace.outside("secret.txt"), workspace.path("linked.txt")).unwrap();
    workspace
}

#[test]
fn does_not_read_search_or_write_hard_links() {
    let workspace = linked(false);
    let patch = "--- a/linked.txt\n+++ b/linked.txt\n@@ -1 +1 @@\n-x\n+y\n";
    for (name, arguments) in [
        ("read_file", json!({"path": "linked.txt"})),
        ("write_file", json!({"path": "linked.txt", "content": "x"})),
        ("write_file", json!({"path": "linked.txt", "content": "x", "mode": "append"})),
        ("edit_file", json!({"path": "linked.txt", "old_string": "secret", "new_string": "x"})),
        ("apply_patch", json!({"patch": patch})),
        ("search_files", json!({"pattern": "secret", "path": "linked.txt"})),
    ] {
        let message = workspace.refused(name, arguments);
        assert!(message.contains("several hard links"), "{name}: {message}");
    }
    let found = workspace.output("search_files", json!({"pattern": "secret"}));
    assert_eq!(found, "[No line matches `secret` in 0 files. 1 file could not be searched.]");
    assert_eq!(fs::read_to_string(workspace.outside("secret.txt")).unwrap(), SECRET);
}

#[test]
fn if_allowed_other_links_keep_the_old_content() {
    let workspace = linked(true);
    assert_eq!(workspace.output("read_file", json!({"path": "linked.txt"})), SECRET);
    workspace.output("edit_file", json!({"path": "linked.txt", "old_string": "secret", "new_string": "x"}));
    workspace.output("write_file", json!({"path": "linked.txt", "content": "y"}));
    assert_eq!(fs::read_to_string(workspace.outside("secret.txt")).unwrap(), SECRET);
}

/// The control: writing into the file changes it under all its names.
#[test]
fn a_naive_write_reaches_the_other_name() {
    let workspace = linked(false);
    fs::write(workspace.path("linked.txt"), "x").unwrap();
    assert_eq!(fs::read_to_string(workspace.outside("secret.txt")).unwrap(), "x");
}
