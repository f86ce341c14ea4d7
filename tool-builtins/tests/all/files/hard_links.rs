//! Files with several names. One of the names may be outside, and that cannot be seen.

use std::fs;

use serde_json::json;

use super::{SECRET, World};

fn linked(allow: bool) -> World {
    let world = World::with(|files| files.hard_links(allow));
    fs::hard_link(world.outside("secret.txt"), world.path("linked.txt")).unwrap();
    world
}

#[test]
fn they_are_neither_read_nor_searched_nor_written() {
    let world = linked(false);
    let patch = "--- a/linked.txt\n+++ b/linked.txt\n@@ -1 +1 @@\n-x\n+y\n";
    for (name, arguments) in [
        ("read_file", json!({"path": "linked.txt"})),
        ("write_file", json!({"path": "linked.txt", "content": "x"})),
        ("write_file", json!({"path": "linked.txt", "content": "x", "mode": "append"})),
        ("edit_file", json!({"path": "linked.txt", "old_string": "secret", "new_string": "x"})),
        ("apply_patch", json!({"patch": patch})),
        ("search_files", json!({"pattern": "secret", "path": "linked.txt"})),
    ] {
        let message = world.refused(name, arguments);
        assert!(message.contains("several names (hard links)"), "{name}: {message}");
    }
    let found = world.output("search_files", json!({"pattern": "secret"}));
    assert_eq!(found, "[No line matches `secret` in 0 files. 1 file could not be searched.]");
    assert_eq!(fs::read_to_string(world.outside("secret.txt")).unwrap(), SECRET);
}

#[test]
fn where_they_are_allowed_the_other_names_keep_the_old_content() {
    let world = linked(true);
    assert_eq!(world.output("read_file", json!({"path": "linked.txt"})), SECRET);
    world.output("edit_file", json!({"path": "linked.txt", "old_string": "secret", "new_string": "x"}));
    world.output("write_file", json!({"path": "linked.txt", "content": "y"}));
    assert_eq!(fs::read_to_string(world.outside("secret.txt")).unwrap(), SECRET);
}

/// The control: to write into the file changes it under all its names.
#[test]
fn a_naive_write_reaches_the_other_name() {
    let world = linked(false);
    fs::write(world.path("linked.txt"), "x").unwrap();
    assert_eq!(fs::read_to_string(world.outside("secret.txt")).unwrap(), "x");
}
