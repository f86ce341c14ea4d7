//! Files and folders of a size that nobody expects.

use std::fs::{self, File};
use std::io::Write;

use serde_json::json;

use super::World;

const GIGABYTES: u64 = 10;

/// Ten gigabytes that take no room, with some lines at the beginning.
fn sparse(world: &World, name: &str, start: &str) {
    let mut file = File::create(world.path(name)).unwrap();
    file.write_all(start.as_bytes()).unwrap();
    file.set_len(GIGABYTES << 30).unwrap();
}

#[test]
fn a_file_of_ten_gigabytes_is_neither_read_whole_nor_lost() {
    let world = World::new();
    sparse(&world, "holes", "");
    sparse(&world, "text", &"line\n".repeat(100_000));
    let message = world.refused("read_file", json!({"path": "holes"}));
    assert_eq!(message, "`holes` is no text but application/octet-stream, 10,737,418,240 bytes.");
    let lines = world.output("read_file", json!({"path": "text", "offset": 10, "limit": 2}));
    assert_eq!(lines, "line\nline\n[Lines 11 to 12; more follow, from `offset` 12 on.]");
    let message = world.refused("read_file", json!({"path": "text", "offset": 5_000_000}));
    assert!(message.contains("is no text"), "{message}");
    for (name, arguments) in [
        ("edit_file", json!({"path": "text", "old_string": "line", "new_string": "x"})),
        ("write_file", json!({"path": "text", "content": "x", "mode": "append"})),
        ("apply_patch", json!({"patch": "--- a/text\n+++ b/text\n@@ -1 +1 @@\n-line\n+x\n"})),
    ] {
        let message = world.refused(name, arguments);
        assert!(message.contains("more than the 268,435,456 that can be changed at once"), "{name}: {message}");
    }
    let found = world.output("search_files", json!({"pattern": "line|\\x00", "limit": 1}));
    assert!(found.contains("text\n1: line\n"), "{found}");
    assert!(world.output("list_files", json!({})).contains("holes (10,737,418,240 bytes)"));
    assert_eq!(fs::metadata(world.path("text")).unwrap().len(), GIGABYTES << 30);
    // To replace it nothing of it has to be read.
    let result = world.call("write_file", json!({"path": "text", "content": "short"}));
    assert_eq!(result.output, "Wrote text, 1 line, 5 bytes.");
    assert_eq!(result.metadata.get("changes").unwrap()[0]["before"]["bytes"], json!(GIGABYTES << 30));
}

#[test]
fn a_folder_of_a_hundred_thousand_entries_is_listed_and_searched() {
    let world = World::new();
    fs::create_dir(world.path("many")).unwrap();
    for number in 0..100_000 {
        fs::write(world.path("many").join(format!("{number:06}")), if number % 1_000 == 0 { "needle" } else { "" })
            .unwrap();
    }
    let listed = world.output("list_files", json!({"path": "many"}));
    assert_eq!(listed.lines().count(), 1_001);
    assert!(listed.starts_with("many/000000 (6 bytes)\nmany/000001 (0 bytes)\n"), "{}", &listed[..100]);
    assert!(listed.contains("\n[100,000 files. The first 1,000 are shown;"));
    let found = world.output("search_files", json!({"pattern": "needle"}));
    assert!(found.ends_with("[100 matching lines in 100 of 100,000 files.]"), "{found}");
    let message = world.refused("read_file", json!({"path": "many/nothing-like-it"}));
    assert_eq!(message, "There is no `many/nothing-like-it`.");
}

#[test]
fn folders_of_any_depth_are_walked_as_far_as_paths_go() {
    let world = World::new();
    let mut dir = cap_std::fs::Dir::open_ambient_dir(world.path(""), cap_std::ambient_authority()).unwrap();
    for _ in 0..3_000 {
        dir.create_dir("deeper").unwrap();
        dir = dir.open_dir("deeper").unwrap();
    }
    let listed = world.output("list_files", json!({"recursive": true}));
    assert!(listed.contains("1 folder could not be read"), "{listed}");
    world.output("search_files", json!({"pattern": "x"}));
}

#[test]
fn a_line_without_end_is_cut() {
    let world = World::new();
    world.put("line", "x".repeat(64 << 20));
    let text = world.output("read_file", json!({"path": "line"}));
    assert!(text.len() < 300_000 && text.ends_with("The next line begins at `offset` 1.]"));
    let found = world.output("search_files", json!({"pattern": "x"}));
    assert!(found.len() < 1_000, "{} bytes", found.len());
}
