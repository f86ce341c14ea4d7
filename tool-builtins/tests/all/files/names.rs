//! Names that are not text, or that try to look like something else.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use super::World;

#[test]
fn names_that_are_not_utf8_are_shown_and_searched() {
    let world = World::new();
    let name = OsStr::from_bytes(b"caf\xE9");
    fs::create_dir(world.path("").join(name)).unwrap();
    fs::write(world.path("").join(name).join(OsStr::from_bytes(b"\xFF\xFE.txt")), "needle\n").unwrap();
    let listed = world.output("list_files", json!({"recursive": true}));
    assert_eq!(listed, "caf\\xE9/\\xFF\\xFE.txt (7 bytes)\n[1 file.]");
    let found = world.output("search_files", json!({"pattern": "needle"}));
    assert!(found.starts_with("caf\\xE9/\\xFF\\xFE.txt\n1: needle\n"), "{found}");
    // They are named as they are shown.
    assert_eq!(world.output("read_file", json!({"path": "caf\\xE9/\\xFF\\xFE.txt"})), "needle\n");
    assert_eq!(world.refused("read_file", json!({"path": "caf\\xE9/x"})), "There is no `caf\\xE9/x`.");
    assert_eq!(world.output("list_files", json!({"glob": "*.txt", "recursive": true})), listed);
}

/// A name with line breaks in it would otherwise be several entries.
#[test]
fn names_are_one_line_whatever_they_hold() {
    let world = World::new();
    world.put("a\nb.txt (1 bytes)", "x");
    world.put("\u{1b}[2Jc\u{202e}txt.exe", "x");
    let listed = world.output("list_files", json!({}));
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.contains("a\\nb.txt (1 bytes) (1 byte)") && listed.contains("\\u{202e}"), "{listed}");
    let message = world.refused("read_file", json!({"path": "x\ny"}));
    assert_eq!(message, "There is no `x\\ny`.");
}

/// A file can be opened, changed and deleted by the name under which it is listed.
#[test]
fn unusual_names_are_taken_as_they_are_shown() {
    let world = World::with(|files| files.allow_delete(true));
    for name in ["tab\tname.txt", "new\nline", "\u{202e}txt.exe", "a b", "\\n", "\r"] {
        world.put(&format!("folder/{name}"), "one\n");
        let listed = world.output("list_files", json!({"path": "folder"}));
        let shown = listed.strip_suffix(" (4 bytes)\n[1 file.]").unwrap();
        assert_eq!(world.output("read_file", json!({"path": shown})), "one\n", "{name:?}");
        world.output("edit_file", json!({"path": shown, "old_string": "one", "new_string": "two"}));
        assert_eq!(world.text(&format!("folder/{name}")), "two\n", "{name:?}");
        let found = world.output("search_files", json!({"pattern": "two", "path": shown}));
        assert!(found.ends_with("[1 matching line in 1 of 1 file.]"), "{found}");
        world.output("delete_file", json!({"path": shown}));
    }
    // A name that is there as it was given goes first, and a new one is as it was given.
    world.put("a\tb", "tab\n");
    world.put("a\\tb", "backslash\n");
    assert_eq!(world.output("read_file", json!({"path": "a\\tb"})), "backslash\n");
    world.output("write_file", json!({"path": "c\\tb", "content": "x"}));
    assert!(world.path("c\\tb").exists() && !world.path("c\tb").exists());
    // Only what is shown escaped is read so: a rule about `.env` is not got around.
    world.put(".env", "secret\n");
    for path in ["\\u{2e}env", "\\x2eenv", "\\x2Eenv"] {
        assert_eq!(world.refused("read_file", json!({"path": path})), format!("There is no `{path}`."));
    }
    // Escapes lead no further than the path itself would.
    let message = world.refused("read_file", json!({"path": "\\u{2e}\\u{2e}/outside/secret.txt"}));
    assert!(message.contains("There is no") || message.contains("outside the workspace"), "{message}");
}

/// Each name of a path is read by itself, and a new file comes into the folder that was listed.
#[test]
fn folders_of_unusual_names_are_taken_as_they_are_shown() {
    let world = World::new();
    world.put("tab\tfolder/new\nline/a", "one\n");
    world.put("back\\tslash/tab\tname", "two\n");
    world.output("write_file", json!({"path": "tab\\tfolder/b", "content": "x"}));
    assert_eq!(world.text("tab\tfolder/b"), "x");
    world.output("move_file", json!({"from": "tab\\tfolder/b", "to": "tab\\tfolder/new\\nline/sub/c"}));
    assert_eq!(world.text("tab\tfolder/new\nline/sub/c"), "x");
    let patch = "--- /dev/null\n+++ b/tab\\tfolder/d\n@@ -0,0 +1 @@\n+y\n";
    world.output("apply_patch", json!({"patch": patch}));
    assert_eq!(world.text("tab\tfolder/d"), "y\n");
    assert!(!world.path("tab\\tfolder").exists());
    assert_eq!(world.output("read_file", json!({"path": "back\\tslash/tab\\tname"})), "two\n");
    assert!(world.output("list_files", json!({"path": "tab\\tfolder/"})).starts_with("tab\\tfolder/"));
    world.refused("write_file", json!({"path": "tab\\tfolder/e/", "content": "x"}));
}
