//! Errors repeat only the beginning of what was sent: a path of 10 MB is not answered with 10 MB.

use serde_json::{Value, json};
use tool_runtime::{Dispatcher, ToolCall, ToolResult};

use crate::agents::tools;
use crate::web::test_server::{Server, ok};

/// The number of bytes that the result of a failed call may have.
const LONGEST: usize = 2_000;

async fn call(tools: &Dispatcher, name: &str, arguments: &Value) -> ToolResult {
    tools.call(ToolCall::new(name, arguments.clone())).await
}

fn assert_short(name: &str, argument: &str, kind: &str, result: &ToolResult) {
    let start: String = result.output.chars().take(400).collect();
    // What a command prints is its own, even if it is an error of the shell that repeats the line.
    let command = result.metadata.get("command").cloned().unwrap_or_default();
    let printed = ["stdout_bytes", "stderr_bytes"].iter().filter_map(|key| command[key].as_u64()).sum::<u64>() as usize;
    let longest = LONGEST + printed;
    assert!(result.output.len() <= longest, "{name}, {argument}, {kind}: {} bytes\n{start}", result.output.len());
    let error = serde_json::to_string(&result.error).unwrap();
    assert!(error.len() <= 2 * longest, "{name}, {argument}, {kind}: {} bytes\n{start}", error.len());
}

/// Returns texts that different checks reject, each of about `length` bytes.
fn long_texts(length: usize) -> Vec<(&'static str, String)> {
    let x = "x".repeat(length);
    vec![
        ("a name", x.clone()),
        ("an absolute path", format!("/{x}")),
        ("a deep path", "a/".repeat(length / 2)),
        ("a path that leads out", "../".repeat(length / 3)),
        ("control characters", "\u{1b}".repeat(length)),
        ("an invalid pattern", "(".repeat(length)),
        ("an invalid glob", "[".repeat(length)),
        ("a private address", format!("http://localhost/{x}")),
        ("a long host", format!("http://{x}/")),
        ("an unknown scheme", format!("{x}://host/")),
        ("user info", format!("http://{x}@host/")),
        ("a patch without names", format!("@@ -1 +1 @@ {x}\n")),
        ("a patch of an unknown file", format!("--- a/{x}\n+++ b/{x}\n@@ -1 +1 @@\n-a\n+b\n")),
        ("a patch of two files", format!("--- a/{x}\n+++ b/{x}y\n@@ -1 +1 @@\n-a\n+b\n")),
        ("a patch that does not match", format!("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@ {x}\n-{x}\n+b\n")),
        ("a patch with an invalid header", format!("--- a/a.txt\n+++ b/a.txt\n@@ {x} @@\n-a\n+b\n")),
        ("a patch with a wrong count", format!("--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,9 @@ {x}\n-a\n+b\n")),
        ("a patch with an invalid mode", format!("diff --git a/a.txt b/a.txt\nnew file mode {x}\n")),
        ("a patch with a link", format!("diff --git a/{x} b/{x}\nnew file mode 120000\n")),
        ("a patch with a quoted name", format!("--- \"a/{x}\\q\"\n+++ \"b/{x}\\q\"\n@@ -1 +1 @@\n-a\n+b\n")),
    ]
}

/// Returns valid arguments, by tool. Each of them is replaced by a long text.
fn valid_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": "a.txt"})),
        ("write_file", json!({"path": "new/b.txt", "content": "b", "mode": "create"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "a", "new_string": "b"})),
        ("apply_patch", json!({"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n"})),
        ("list_files", json!({"path": ".", "glob": "*.txt"})),
        ("search_files", json!({"pattern": "a", "path": ".", "glob": "*.txt"})),
        ("move_file", json!({"from": "a.txt", "to": "c.txt"})),
        ("run_command", json!({"command": "true"})),
        ("run_command", json!({"program": "false", "arguments": ["a"], "directory": "."})),
        ("web_fetch", json!({"url": "http://localhost/"})),
        ("web_search", json!({"query": "a"})),
        ("message", json!({"content": "a", "channel": "c", "recipient": "r"})),
    ]
}

#[tokio::test]
async fn a_long_text_in_any_argument_is_cut_in_errors() {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join("a.txt"), "a\n").unwrap();
    let site = Server::always(ok("text/plain", "a")).await;
    let (tools, _inbox) = tools(workspace.path(), &site);
    let mut failures = 0;
    for (name, valid) in valid_calls().into_iter().filter(|(name, _)| tools.definition(name).is_some()) {
        for argument in valid.as_object().unwrap().keys() {
            for (kind, text) in long_texts(30_000) {
                let mut arguments = valid.clone();
                let is_list = arguments[argument].is_array();
                arguments[argument] = if is_list { json!([text]) } else { json!(text) };
                let result = call(&tools, name, &arguments).await;
                if !result.success {
                    failures += 1;
                    assert_short(name, argument, kind, &result);
                }
                if name == "edit_file" || name == "move_file" {
                    std::fs::write(workspace.path().join("a.txt"), "a\n").unwrap();
                }
            }
        }
    }
    assert!(failures > 200, "{failures}");
}

#[tokio::test]
async fn ten_megabytes_are_cut_in_errors() {
    let workspace = tempfile::tempdir().unwrap();
    let site = Server::always(ok("text/plain", "a")).await;
    let (tools, _inbox) = tools(workspace.path(), &site);
    let long = "x".repeat(10_000_000);
    for (name, argument) in
        [("read_file", "path"), ("search_files", "path"), ("run_command", "program"), ("web_fetch", "url")]
    {
        let mut arguments = json!({"pattern": "a"});
        if name != "search_files" {
            arguments = json!({});
        }
        arguments[argument] = json!(long);
        let result = call(&tools, name, &arguments).await;
        assert!(!result.success, "{name} accepts it");
        assert_short(name, argument, "10 MB", &result);
    }
}
