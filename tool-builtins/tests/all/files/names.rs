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
    // They cannot be named in JSON; that is said, not guessed.
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
