//! The file tools and their workspace.

use std::os::unix::fs::symlink;

use serde_json::json;
use tool_builtins::files::Files;

use crate::support::Workspace;

fn is_sensitive(tool: &str) -> bool {
    Workspace::new().tools.definition(tool).unwrap().sensitive
}

/// Requirement 103
#[tokio::test]
async fn a_file_is_read_without_approval() {
    let workspace = Workspace::new();
    workspace.put("notes.txt", "grüße\n");
    assert!(workspace.output("read_file", json!({"path": "notes.txt"})).await.contains("grüße"));
    assert!(!is_sensitive("read_file"));
}

/// Requirement 104
#[tokio::test]
async fn a_file_is_overwritten() {
    let workspace = Workspace::new();
    workspace.put("a", "old");
    workspace.output("write_file", json!({"path": "a", "content": "new", "mode": "overwrite"})).await;
    assert_eq!(workspace.text("a"), "new");
}

/// Requirement 105
#[tokio::test]
async fn a_text_is_appended_to_a_file() {
    let workspace = Workspace::new();
    workspace.put("a", "one\n");
    workspace.output("write_file", json!({"path": "a", "content": "two\n", "mode": "append"})).await;
    assert_eq!(workspace.text("a"), "one\ntwo\n");
}

/// Requirement 106
#[tokio::test]
async fn missing_directories_of_a_written_file_are_created() {
    let workspace = Workspace::new();
    workspace.output("write_file", json!({"path": "a/b/c", "content": "x"})).await;
    assert_eq!(workspace.text("a/b/c"), "x");
}

/// Requirement 107
#[test]
fn writing_is_sensitive() {
    assert!(is_sensitive("write_file"));
}

/// Requirement 108
#[tokio::test]
async fn writing_reports_the_number_of_bytes() {
    let workspace = Workspace::new();
    let done = workspace.output("write_file", json!({"path": "main.py", "content": "x".repeat(42)})).await;
    assert!(done.contains("main.py") && done.contains("42 bytes"), "{done}");
}

/// Requirement 110
#[tokio::test]
async fn deleting_is_sensitive_and_deletes_where_it_is_allowed() {
    assert!(is_sensitive("delete_file"));
    let workspace = Workspace::with(|files| files.allow_delete(true));
    workspace.put("a", "x");
    workspace.output("delete_file", json!({"path": "a"})).await;
    assert!(!workspace.path("a").exists());
}

/// Requirement 111
#[tokio::test]
async fn files_are_listed_without_approval() {
    let workspace = Workspace::new();
    workspace.put("a.txt", "x");
    assert!(workspace.output("list_files", json!({})).await.contains("a.txt"));
    assert!(!is_sensitive("list_files"));
}

/// Requirement 112
#[tokio::test]
async fn files_are_listed_by_a_pattern() {
    let workspace = Workspace::new();
    workspace.put("a.rs", "x");
    workspace.put("b.py", "x");
    let listed = workspace.output("list_files", json!({"glob": "*.rs"})).await;
    assert!(listed.contains("a.rs") && !listed.contains("b.py"), "{listed}");
}

/// Requirement 113
#[tokio::test]
async fn files_are_listed_recursively() {
    let workspace = Workspace::new();
    workspace.put("src/deep/a.rs", "x");
    std::fs::create_dir(workspace.path("empty")).unwrap();
    let listed = workspace.output("list_files", json!({"recursive": true})).await;
    assert!(listed.contains("src/deep/a.rs") && listed.contains("empty/"), "{listed}");
    assert!(!workspace.output("list_files", json!({})).await.contains("a.rs"));
}

/// Requirement 114
#[tokio::test]
async fn the_workspace_is_given_to_the_constructor() {
    let (one, other) = (Workspace::new(), Workspace::new());
    one.put("a", "one");
    other.put("a", "other");
    assert!(one.output("read_file", json!({"path": "a"})).await.contains("one"));
    assert!(other.output("read_file", json!({"path": "a"})).await.contains("other"));
    assert!(Files::new(one.path("missing")).is_err());
}

/// Requirement 115
#[tokio::test]
async fn a_path_with_dots_does_not_leave_the_workspace() {
    let workspace = Workspace::new();
    std::fs::write(workspace.directory.path().join("secret"), "secret").unwrap();
    for path in ["../secret", "../../etc/passwd", "a/../../secret", "/etc/passwd"] {
        let message = workspace.refused("read_file", json!({"path": path})).await;
        assert!(!message.contains("root:") && !message.contains("secret\n"), "{path}: {message}");
    }
}

/// Requirement 116
#[tokio::test]
async fn a_symbolic_link_does_not_leave_the_workspace() {
    let workspace = Workspace::new();
    let secret = workspace.directory.path().join("secret");
    std::fs::write(&secret, "keep it\n").unwrap();
    symlink(&secret, workspace.path("link")).unwrap();
    workspace.refused("read_file", json!({"path": "link"})).await;
    workspace.refused("write_file", json!({"path": "link", "content": "x", "mode": "append"})).await;
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "keep it\n");
}

/// Requirement 117
#[tokio::test]
async fn every_file_tool_checks_its_paths() {
    let workspace = Workspace::with(|files| files.allow_delete(true));
    let secret = workspace.directory.path().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();
    workspace.put("a", "x");
    let calls = [
        ("read_file", json!({"path": "../secret"})),
        ("write_file", json!({"path": "../secret", "content": "x"})),
        ("edit_file", json!({"path": "../secret", "old_string": "secret", "new_string": "x"})),
        ("delete_file", json!({"path": "../secret"})),
        ("move_file", json!({"from": "../secret", "to": "b"})),
        ("move_file", json!({"from": "a", "to": "../secret", "overwrite": true})),
        ("list_files", json!({"path": ".."})),
        ("search_files", json!({"pattern": "secret", "path": ".."})),
        ("apply_patch", json!({"patch": "--- a/../secret\n+++ b/../secret\n@@ -1 +1 @@\n-secret\n+x\n"})),
    ];
    let tested: std::collections::BTreeSet<&str> = calls.iter().map(|(name, _)| *name).collect();
    let offered = workspace.tools.definitions();
    assert_eq!(offered.iter().map(|(name, _)| &**name).collect::<std::collections::BTreeSet<_>>(), tested);
    for (name, arguments) in calls {
        workspace.refused(name, arguments).await;
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret\n", "{name}");
    }
}

/// Requirement 118
#[tokio::test]
async fn a_path_that_leaves_the_workspace_is_named() {
    let message = Workspace::new().refused("read_file", json!({"path": "../../etc/passwd"})).await;
    assert!(message.contains("`../../etc/passwd` is outside the workspace"), "{message}");
}
