//! The built-in file tools, by the names of the assistant.

use serde_json::json;
use tool_builtins::files::Files;
use tool_runtime::Policy;

use crate::support::{Workspace, empty, output};

/// Requirement 206
#[tokio::test]
async fn read_file_returns_the_content() {
    let workspace = Workspace::new();
    workspace.put("config.json", "{\"a\": 1}\n");
    assert!(workspace.output("read_file", json!({"path": "config.json"})).await.contains("{\"a\": 1}"));
}

/// Requirement 207
#[tokio::test]
async fn read_file_takes_file_path() {
    let workspace = Workspace::new();
    workspace.put("config.json", "one\n");
    let result = workspace.call("read_file", json!({"file_path": "config.json", "offset": 0, "limit": 50})).await;
    assert!(result.success && result.output.contains("one"), "{}", result.output);
    assert_eq!(result.metadata.get("repairs").unwrap()[0]["path"], "path");
}

/// Requirement 208
#[tokio::test]
async fn read_file_counts_lines_from_zero() {
    let workspace = Workspace::new();
    workspace.put("a", "one\ntwo\nthree\n");
    let read = workspace.output("read_file", json!({"path": "a", "offset": 1, "limit": 1})).await;
    assert!(read.contains("two") && !read.contains("one\n") && !read.contains("three"), "{read}");
}

/// Requirement 209
#[tokio::test]
async fn read_file_names_a_missing_file() {
    assert!(Workspace::new().refused("read_file", json!({"path": "gone.txt"})).await.contains("gone.txt"));
}

/// Requirement 211
#[tokio::test]
async fn a_restricted_tool_reads_nothing_outside() {
    let workspace = Workspace::new();
    std::fs::write(workspace.directory.path().join("outside"), "secret").unwrap();
    let message = workspace.refused("read_file", json!({"file_path": "../outside"})).await;
    assert!(message.contains("outside the workspace"), "{message}");
}

/// Requirement 212
#[tokio::test]
async fn an_unrestricted_tool_reads_outside() {
    let workspace = Workspace::new();
    std::fs::write(workspace.directory.path().join("outside"), "free").unwrap();
    let files = Files::unconfined(workspace.path("")).unwrap();
    let tools = empty().policy(Policy::Yolo).also(files).build().unwrap();
    assert!(output(&tools, "read_file", json!({"file_path": "../outside"})).await.contains("free"));
}

/// Requirement 213
#[tokio::test]
async fn write_file_creates_directories_and_overwrites() {
    let workspace = Workspace::new();
    for content in ["one", "two"] {
        workspace.output("write_file", json!({"path": "new/hello.txt", "content": content})).await;
        assert_eq!(workspace.text("new/hello.txt"), content);
    }
}

/// Requirement 214
#[tokio::test]
async fn write_file_takes_file_path() {
    let workspace = Workspace::new();
    workspace.output("write_file", json!({"file_path": "hello.txt", "content": "Hola Mundo"})).await;
    assert_eq!(workspace.text("hello.txt"), "Hola Mundo");
}

/// Requirement 215
#[tokio::test]
async fn list_dir_is_a_name_of_list_files() {
    let workspace = Workspace::new();
    workspace.put("a.txt", "x");
    assert!(workspace.output("list_dir", json!({"path": "."})).await.contains("a.txt"));
}

/// Requirement 216
#[tokio::test]
async fn list_dir_takes_a_path_and_recursive() {
    let workspace = Workspace::new();
    workspace.put("src/deep/a.rs", "x");
    let deep = workspace.output("list_dir", json!({"path": "src", "recursive": true})).await;
    assert!(deep.contains("deep/a.rs"), "{deep}");
    assert!(!workspace.output("list_dir", json!({"path": "src"})).await.contains("a.rs"));
}

/// Requirement 219
#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_command_has_a_timeout_of_thirty_seconds_unless_the_call_sets_one() {
    let workspace = Workspace::new();
    let exec = tool_builtins::exec::Exec::new(workspace.path("")).unwrap();
    let tools = empty().policy(Policy::Yolo).also(exec).build().unwrap();
    let parameters = tools.definition("run_command").unwrap().parameters();
    assert_eq!(parameters["properties"]["timeout"]["default"], 30);
    let result = crate::support::call(&tools, "exec", json!({"command": "sleep 20", "timeout": 1})).await;
    assert!(!result.success && result.output.contains("1s"), "{}", result.output);
}

/// Requirement 238
#[tokio::test]
async fn edit_file_replaces_a_string() {
    let workspace = Workspace::new();
    workspace.put("a", "one two\n");
    workspace.output("edit_file", json!({"path": "a", "old_string": "two", "new_string": "2"})).await;
    assert_eq!(workspace.text("a"), "one 2\n");
}

/// Requirement 239
#[tokio::test]
async fn edit_file_takes_file_path() {
    let workspace = Workspace::new();
    workspace.put("config.txt", "version: 1.0\n");
    let edit = json!({"file_path": "config.txt", "old_string": "version: 1.0", "new_string": "version: 2.0"});
    workspace.output("edit_file", edit).await;
    assert_eq!(workspace.text("config.txt"), "version: 2.0\n");
}

/// Requirement 240
#[tokio::test]
async fn edit_file_takes_replace_all_in_camel_case() {
    let workspace = Workspace::new();
    workspace.put("a", "x y x\n");
    let edit = json!({"file_path": "a", "old_string": "x", "new_string": "z", "replaceAll": true});
    workspace.output("edit_file", edit).await;
    assert_eq!(workspace.text("a"), "z y z\n");
}

/// Requirement 241
#[tokio::test]
async fn edit_file_keeps_the_indentation() {
    let workspace = Workspace::new();
    workspace.put("a.py", "def f():\n\tif x:\n\t\treturn 1\n");
    workspace.output("edit_file", json!({"path": "a.py", "old_string": "return 1", "new_string": "return 2"})).await;
    assert_eq!(workspace.text("a.py"), "def f():\n\tif x:\n\t\treturn 2\n");
}

/// Requirement 242
#[tokio::test]
async fn edit_file_verifies_that_the_string_is_there_once() {
    let workspace = Workspace::new();
    workspace.put("a", "x x\n");
    for old in ["x", "gone"] {
        workspace.refused("edit_file", json!({"path": "a", "old_string": old, "new_string": "z"})).await;
    }
    assert_eq!(workspace.text("a"), "x x\n");
}

/// Requirement 243
#[tokio::test]
async fn results_say_what_happened() {
    let workspace = Workspace::new();
    let written = workspace.output("write_file", json!({"path": "a.txt", "content": "hello\n"})).await;
    assert!(written.contains("a.txt") && written.contains("6 bytes"), "{written}");
    let edited =
        workspace.output("edit_file", json!({"path": "a.txt", "old_string": "hello", "new_string": "bye"})).await;
    assert!(edited.contains("a.txt") && edited.contains("line 1"), "{edited}");
}
