//! Very large files and directories.

use std::fs::{self, File};
use std::io::Write;

use serde_json::json;

use super::TestWorkspace;

const GIGABYTES: u64 = 10;

/// Creates a sparse file of ten gigabytes with some lines at the beginning.
fn sparse(workspace: &TestWorkspace, name: &str, start: &str) {
    let mut file = File::create(workspace.path(name)).unwrap();
    file.write_all(start.as_bytes()).unwrap();
    file.set_len(GIGABYTES << 30).unwrap();
}

#[test]
fn handles_a_file_of_ten_gigabytes() {
    let workspace = TestWorkspace::new();
    sparse(&workspace, "holes", "");
    sparse(&workspace, "text", &"line\n".repeat(100_000));
    let message = workspace.refused("read_file", json!({"path": "holes"}));
    assert_eq!(message, "`holes` is not text but application/octet-stream, 10,737,418,240 bytes.");
    let lines = workspace.output("read_file", json!({"path": "text", "offset": 10, "limit": 2}));
    assert_eq!(lines, "line\nline\n[Lines 11 to 12; continue with `offset` 12.]");
    let message = workspace.refused("read_file", json!({"path": "text", "offset": 5_000_000}));
    assert!(message.contains("is not text"), "{message}");
    for (name, arguments) in [
        ("edit_file", json!({"path": "text", "old_string": "line", "new_string": "x"})),
        ("write_file", json!({"path": "text", "content": "x", "mode": "append"})),
        ("apply_patch", json!({"patch": "--- a/text\n+++ b/text\n@@ -1 +1 @@\n-line\n+x\n"})),
    ] {
        let message = workspace.refused(name, arguments);
        assert!(message.contains("more than the limit of 268,435,456 for changes"), "{name}: {message}");
    }
    let found = workspace.output("search_files", json!({"pattern": "line|\\x00", "limit": 1}));
    assert!(found.contains("text\n1: line\n"), "{found}");
    assert!(workspace.output("list_files", json!({})).contains("holes (10,737,418,240 bytes)"));
    assert_eq!(fs::metadata(workspace.path("text")).unwrap().len(), GIGABYTES << 30);
    // Replacing it does not require reading it.
    let result = workspace.call("write_file", json!({"path": "text", "content": "short"}));
    assert_eq!(result.output, "Wrote text, 1 line, 5 bytes.");
    assert_eq!(result.metadata.get("changes").unwrap()[0]["before"]["bytes"], json!(GIGABYTES << 30));
}

#[test]
fn lists_and_searches_a_hundred_thousand_entries() {
    let workspace = TestWorkspace::new();
    fs::create_dir(workspace.path("many")).unwrap();
    for number in 0..100_000 {
        fs::write(workspace.path("many").join(format!("{number:06}")), if number % 1_000 == 0 { "needle" } else { "" })
            .unwrap();
    }
    let listed = workspace.output("list_files", json!({"path": "many"}));
    assert_eq!(listed.lines().count(), 1_001);
    assert!(listed.starts_with("many/000000 (6 bytes)\nmany/000001 (0 bytes)\n"), "{}", &listed[..100]);
    assert!(listed.contains("\n[100,000 files. Showing the first 1,000;"));
    let found = workspace.output("search_files", json!({"pattern": "needle", "limit": 100}));
    assert!(found.ends_with("[100 matching lines in 100 of 100,000 files.]"), "{found}");
    let message = workspace.refused("read_file", json!({"path": "many/nothing-like-it"}));
    assert_eq!(message, "`many/nothing-like-it` does not exist.");
}

#[test]
fn walks_deeply_nested_directories() {
    let workspace = TestWorkspace::new();
    let mut dir = cap_std::fs::Dir::open_ambient_dir(workspace.path(""), cap_std::ambient_authority()).unwrap();
    for _ in 0..3_000 {
        dir.create_dir("deeper").unwrap();
        dir = dir.open_dir("deeper").unwrap();
    }
    let listed = workspace.output("list_files", json!({"recursive": true}));
    assert!(listed.contains("1 directory could not be read"), "{listed}");
    workspace.output("search_files", json!({"pattern": "x"}));
}

#[test]
fn cuts_an_endless_line() {
    let workspace = TestWorkspace::new();
    workspace.put("line", "x".repeat(64 << 20));
    let text = workspace.output("read_file", json!({"path": "line"}));
    assert!(text.len() < 300_000 && text.ends_with("The next line starts at `offset` 1.]"));
    let found = workspace.output("search_files", json!({"pattern": "x"}));
    assert!(found.len() < 1_000, "{} bytes", found.len());
}
