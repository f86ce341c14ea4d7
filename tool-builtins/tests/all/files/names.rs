//! File names that are not UTF-8, or look like something else.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use super::TestWorkspace;

#[test]
fn shows_and_searches_names_that_are_not_utf8() {
    let workspace = TestWorkspace::new();
    let name = OsStr::from_bytes(b"caf\xE9");
    fs::create_dir(workspace.path("").join(name)).unwrap();
    fs::write(workspace.path("").join(name).join(OsStr::from_bytes(b"\xFF\xFE.txt")), "needle\n").unwrap();
    let listed = workspace.output("list_files", json!({"recursive": true}));
    assert_eq!(listed, "caf\\xE9/\\xFF\\xFE.txt (7 bytes)\n[1 file.]");
    let found = workspace.output("search_files", json!({"pattern": "needle"}));
    assert!(found.starts_with("caf\\xE9/\\xFF\\xFE.txt\n1: needle\n"), "{found}");
    // The escaped form is accepted as a path.
    assert_eq!(workspace.output("read_file", json!({"path": "caf\\xE9/\\xFF\\xFE.txt"})), "needle\n");
    assert_eq!(workspace.refused("read_file", json!({"path": "caf\\xE9/x"})), "`caf\\xE9/x` does not exist.");
    assert_eq!(workspace.output("list_files", json!({"glob": "*.txt", "recursive": true})), listed);
}

/// Otherwise a name with line breaks would look like several entries.
#[test]
fn shows_every_name_on_one_line() {
    let workspace = TestWorkspace::new();
    workspace.put("a\nb.txt (1 bytes)", "x");
    workspace.put("\u{1b}[2Jc\u{202e}txt.exe", "x");
    let listed = workspace.output("list_files", json!({}));
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.contains("a\\nb.txt (1 bytes) (1 byte)") && listed.contains("\\u{202e}"), "{listed}");
    let message = workspace.refused("read_file", json!({"path": "x\ny"}));
    assert_eq!(message, "`x\\ny` does not exist.");
}

/// A file can be opened, changed and deleted by the name under which it is listed.
#[test]
fn accepts_unusual_names_as_they_are_shown() {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    for name in ["tab\tname.txt", "new\nline", "\u{202e}txt.exe", "a b", "\\n", "\r"] {
        workspace.put(&format!("directory/{name}"), "one\n");
        let listed = workspace.output("list_files", json!({"path": "directory"}));
        let shown = listed.strip_suffix(" (4 bytes)\n[1 file.]").unwrap();
        assert_eq!(workspace.output("read_file", json!({"path": shown})), "one\n", "{name:?}");
        workspace.output("edit_file", json!({"path": shown, "old_string": "one", "new_string": "two"}));
        assert_eq!(workspace.text(&format!("directory/{name}")), "two\n", "{name:?}");
        let found = workspace.output("search_files", json!({"pattern": "two", "path": shown}));
        assert!(found.ends_with("[1 matching line in 1 of 1 file.]"), "{found}");
        workspace.output("delete_file", json!({"path": shown}));
    }
    // A literal name takes precedence, and new files get the literal name.
    workspace.put("a\tb", "tab\n");
    workspace.put("a\\tb", "backslash\n");
    assert_eq!(workspace.output("read_file", json!({"path": "a\\tb"})), "backslash\n");
    workspace.output("write_file", json!({"path": "c\\tb", "content": "x"}));
    assert!(workspace.path("c\\tb").exists() && !workspace.path("c\tb").exists());
    // Escapes of ordinary characters are not decoded, so a rule about `.env` cannot be bypassed.
    workspace.put(".env", "secret\n");
    for path in ["\\u{2e}env", "\\x2eenv", "\\x2Eenv"] {
        assert_eq!(workspace.refused("read_file", json!({"path": path})), format!("`{path}` does not exist."));
    }
    // Escapes do not lead further than the path itself would.
    let message = workspace.refused("read_file", json!({"path": "\\u{2e}\\u{2e}/outside/secret.txt"}));
    assert!(message.contains("does not exist") || message.contains("outside the workspace"), "{message}");
}

/// Each name of a path is decoded separately, and new files are created in the directory that was listed.
#[test]
fn accepts_directories_with_unusual_names_as_they_are_shown() {
    let workspace = TestWorkspace::new();
    workspace.put("tab\tfolder/new\nline/a", "one\n");
    workspace.put("back\\tslash/tab\tname", "two\n");
    workspace.output("write_file", json!({"path": "tab\\tfolder/b", "content": "x"}));
    assert_eq!(workspace.text("tab\tfolder/b"), "x");
    workspace.output("move_file", json!({"from": "tab\\tfolder/b", "to": "tab\\tfolder/new\\nline/sub/c"}));
    assert_eq!(workspace.text("tab\tfolder/new\nline/sub/c"), "x");
    let patch = "--- /dev/null\n+++ b/tab\\tfolder/d\n@@ -0,0 +1 @@\n+y\n";
    workspace.output("apply_patch", json!({"patch": patch}));
    assert_eq!(workspace.text("tab\tfolder/d"), "y\n");
    assert!(!workspace.path("tab\\tfolder").exists());
    assert_eq!(workspace.output("read_file", json!({"path": "back\\tslash/tab\\tname"})), "two\n");
    assert!(workspace.output("list_files", json!({"path": "tab\\tfolder/"})).starts_with("tab\\tfolder/"));
    workspace.refused("write_file", json!({"path": "tab\\tfolder/e/", "content": "x"}));
}
