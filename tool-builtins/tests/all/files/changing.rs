//! `write_file`, `edit_file`, `delete_file`, `move_file`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::{Value, json};
use tool_runtime::ErrorKind;

use super::World;

/// What the metadata says was changed.
#[track_caller]
fn changes(world: &World, name: &str, arguments: Value) -> Value {
    let result = world.call(name, arguments);
    assert!(result.success, "{}", result.output);
    result.metadata.get("changes").cloned().expect("changes")
}

#[test]
fn a_file_is_created_with_its_folders_or_replaced() {
    let world = World::new();
    let write = |content: &str| world.output("write_file", json!({"path": "a/b/c.txt", "content": content}));
    assert_eq!(write("one\ntwo\n"), "Created a/b/c.txt, 2 lines, 8 bytes.");
    assert_eq!(write("ünë"), "Wrote a/b/c.txt, 1 line, 5 bytes.");
    assert_eq!(world.text("a/b/c.txt"), "ünë");
    assert_eq!(fs::read_dir(world.path("a/b")).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn permissions_stay_and_what_ran_as_another_does_not() {
    let world = World::new();
    for (mode, kept) in [(0o755, 0o755), (0o600, 0o600), (0o4755, 0o755)] {
        world.put("run.sh", "old");
        fs::set_permissions(world.path("run.sh"), PermissionsExt::from_mode(mode)).unwrap();
        world.output("write_file", json!({"path": "run.sh", "content": "new"}));
        assert_eq!(fs::metadata(world.path("run.sh")).unwrap().mode() & 0o7777, kept);
    }
}

#[test]
fn a_reader_sees_the_old_file_or_the_new_one() {
    let world = World::new();
    world.put("a", "old");
    let before = fs::metadata(world.path("a")).unwrap().ino();
    let mut reader = fs::File::open(world.path("a")).unwrap();
    world.output("write_file", json!({"path": "a", "content": "new and longer"}));
    let mut seen = String::new();
    std::io::Read::read_to_string(&mut reader, &mut seen).unwrap();
    assert_eq!(seen, "old");
    assert_ne!(fs::metadata(world.path("a")).unwrap().ino(), before, "renamed, not written into");
}

#[test]
fn what_is_appended_is_in_the_encoding_of_the_file_and_with_its_breaks() {
    let world = World::new();
    let append = |path: &str, content: &str| json!({"path": path, "content": content, "mode": "append"});
    world.put("log", "one\n");
    assert_eq!(world.output("write_file", append("log", "two\n")), "Appended 1 line to log, 2 lines, 8 bytes.");
    assert_eq!(world.text("log"), "one\ntwo\n");
    assert_eq!(world.output("write_file", append("new", "x")), "Created new, 1 line, 1 byte.");
    world.put("dos", "one\r\n");
    world.output("write_file", append("dos", "two\nthree\n"));
    assert_eq!(world.text("dos"), "one\r\ntwo\r\nthree\r\n");
    world.put("latin", b"Gr\xFC\xDFe aus K\xF6ln\n");
    world.output("write_file", append("latin", "schön\n"));
    assert_eq!(fs::read(world.path("latin")).unwrap(), b"Gr\xFC\xDFe aus K\xF6ln\nsch\xF6n\n");
    let message = world.refused("write_file", append("latin", "東京"));
    assert_eq!(message, "`latin` is in windows-1252, which has no `東` (U+6771).");
    world.put("a.png", b"\x89PNG\r\n\x1a\n\0\0");
    assert_eq!(world.refused("write_file", append("a.png", "x")), "`a.png` is no text but image/png.");
}

/// A line that was not ended is not continued by what is appended.
#[test]
fn what_is_appended_begins_a_line() {
    let world = World::new();
    let append = |path: &str, content: &str| json!({"path": path, "content": content, "mode": "append"});
    world.put(".env", "no break");
    assert_eq!(
        world.output("write_file", append(".env", "A=1")),
        "Appended 1 line to .env, 2 lines, 12 bytes. The last line had no line break; one was added after it."
    );
    assert_eq!(world.text(".env"), "no break\nA=1");
    for (before, content, after) in [
        ("one\r\ntwo", "three\n", "one\r\ntwo\r\nthree\r\n"),
        ("one", "\ntwo", "one\ntwo"),
        ("one", "", "one"),
        ("", "one", "one"),
        ("\u{feff}", "one", "\u{feff}one"),
        ("a\rb\r", "c", "a\rb\rc"),
    ] {
        world.put("f", before);
        let told = world.output("write_file", append("f", content));
        assert_eq!((world.text("f").as_str(), told.contains("had no line break")), (after, before.ends_with("two")));
    }
}

/// One invalid byte makes no other encoding, and an edit leaves it alone.
#[test]
fn an_edit_writes_in_the_encoding_of_the_file() {
    let world = World::new();
    let utf8 = "Größe: naïve café — 漢字 日本語\n".repeat(5).into_bytes();
    world.put("mixed", [&utf8[..], b"bad \xFF byte\n"].concat());
    let edit = |path: &str, old: &str, new: &str| {
        world.output("edit_file", json!({"path": path, "old_string": old, "new_string": new}))
    };
    edit("mixed", "bad ", "bäd ");
    edit("mixed", "bäd \u{fffd} byte", "bÄd \u{fffd} byte");
    assert_eq!(fs::read(world.path("mixed")).unwrap(), [&utf8[..], "bÄd ".as_bytes(), b"\xFF byte\n"].concat());
    world.output("write_file", json!({"path": "mixed", "content": "Ende: schön\n", "mode": "append"}));
    let bytes = [&utf8[..], "bÄd ".as_bytes(), b"\xFF byte\n", "Ende: schön\n".as_bytes()].concat();
    assert_eq!(fs::read(world.path("mixed")).unwrap(), bytes);
    world.put("latin", b"Gr\xFC\xDFe aus K\xF6ln, sch\xF6n\n");
    edit("latin", "Köln", "Düren");
    assert_eq!(fs::read(world.path("latin")).unwrap(), b"Gr\xFC\xDFe aus D\xFCren, sch\xF6n\n");
}

/// Any text that was read can be named in an edit.
#[test]
fn what_was_read_can_be_edited() {
    let world = World::new();
    for (before, old, new, after) in [
        ("\x1b[31mERROR\x1b[0m bad\n", "ERROR", "OK", "\x1b[31mOK\x1b[0m bad\n"),
        ("a\rb\rc\r", "b", "x", "a\rx\rc\r"),
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nx\nc\n", "a\r\nx\nc\r\n"),
        ("\u{202e}abc\u{2066}\n", "abc", "x", "\u{202e}x\u{2066}\n"),
    ] {
        world.put("f", before);
        let read = world.output("read_file", json!({"path": "f"}));
        let whole: String = read.split_inclusive('\n').filter(|line| !line.starts_with('[')).collect();
        let whole = if before.ends_with('\n') { whole.as_str() } else { whole.trim_end_matches('\n') };
        assert!(whole.contains(old), "{read}");
        let edit = json!({"path": "f", "old_string": whole, "new_string": whole.replacen(old, new, 1)});
        world.output("edit_file", edit);
        assert_eq!(world.text("f"), after);
    }
}

#[test]
fn an_edit_keeps_everything_else() {
    let world = World::new();
    world.put("a.rs", "fn a() {}\r\nfn b() {}\r\n");
    let arguments = json!({"path": "a.rs", "old_string": "fn a() {}\nfn b", "new_string": "fn c() {}\nfn d"});
    assert_eq!(world.output("edit_file", arguments), "Edited a.rs in line 1, 2 lines, 22 bytes.");
    assert_eq!(world.text("a.rs"), "fn c() {}\r\nfn d() {}\r\n");
    world.put("wide", "\u{feff}one two two".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let arguments = json!({"path": "wide", "old_string": "two", "new_string": "2", "replace_all": true});
    world.output("edit_file", arguments);
    let bytes: Vec<u8> = "\u{feff}one 2 2".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(fs::read(world.path("wide")).unwrap(), bytes);
}

#[test]
fn an_edit_that_is_not_clear_asks_for_another() {
    let world = World::new();
    world.put("a.rs", "let one = 1;\nlet one = 1;\n");
    let edit = |old: &str| json!({"path": "a.rs", "old_string": old, "new_string": "x"});
    let result = world.call("edit_file", edit("one"));
    assert_eq!(result.error.unwrap().kind, ErrorKind::Retry);
    assert!(result.output.contains("2 times") && result.output.contains("     2\tlet one = 1;"), "{}", result.output);
    let message = world.refused("edit_file", edit("let won = 1;"));
    assert!(message.contains("The nearest lines are:\n     1\tlet one = 1;"), "{message}");
    assert_eq!(world.text("a.rs"), "let one = 1;\nlet one = 1;\n");
    assert!(
        world.refused("edit_file", json!({"path": "b.rs", "old_string": "a", "new_string": "b"})).contains("`a.rs`")
    );
}

#[test]
fn the_metadata_has_before_and_after() {
    let world = World::new();
    let written = changes(&world, "write_file", json!({"path": "a", "content": "1"}));
    assert_eq!(written, json!([{"path": "a", "before": null, "after": "1"}]));
    let edited = changes(&world, "edit_file", json!({"path": "a", "old_string": "1", "new_string": "2"}));
    assert_eq!(edited, json!([{"path": "a", "before": "1", "after": "2"}]));
    let moved = changes(&world, "move_file", json!({"from": "a", "to": "b"}));
    assert_eq!(
        moved,
        json!([{"path": "a", "before": "2", "after": null}, {"path": "b", "before": null, "after": "2"}])
    );
    world.put("a.png", b"\x89PNG\r\n\x1a\n\0\0");
    let replaced = changes(&world, "write_file", json!({"path": "a.png", "content": "text"}));
    assert_eq!(replaced, json!([{"path": "a.png", "before": {"type": "image/png", "bytes": 10}, "after": "text"}]));
    let long = "x".repeat(300_000);
    let written = changes(&world, "write_file", json!({"path": "a", "content": long}));
    assert_eq!(written[0]["after"], json!({"type": "text/plain", "bytes": 300_000}));
    assert_eq!(world.call("read_file", json!({"path": "b"})).metadata.get("changes"), None);
}

#[test]
fn nothing_is_deleted_unless_that_is_allowed() {
    let world = World::new();
    world.put("a", "one\n");
    let result = world.call("delete_file", json!({"path": "a"}));
    assert_eq!(result.error.unwrap().kind, ErrorKind::Fatal);
    assert_eq!(result.output, "Deleting files is not allowed here.");
    assert_eq!(world.text("a"), "one\n");

    let world = World::with(|files| files.allow_delete(true));
    world.put("a", "one\n");
    world.put("folder/b", "x");
    assert_eq!(
        changes(&world, "delete_file", json!({"path": "a"})),
        json!([{"path": "a", "before": "one\n", "after": null}])
    );
    assert!(!world.path("a").exists());
    assert_eq!(world.refused("delete_file", json!({"path": "a"})), "There is no `a`.");
    let message = world.refused("delete_file", json!({"path": "folder"}));
    assert_eq!(message, "`folder` is a folder; only files can be deleted.");
}

#[test]
fn a_move_replaces_nothing_unless_told() {
    let world = World::new();
    world.put("a", "A");
    world.put("b", "B");
    world.put("folder/c", "C");
    let refused = |from: &str, to: &str| world.refused("move_file", json!({"from": from, "to": to}));
    assert_eq!(refused("a", "b"), "`b` exists already; set `overwrite` to replace it.");
    assert_eq!(refused("a", "folder"), "`folder` is a folder; give the whole new path, with the name in it.");
    assert_eq!(refused("nothing", "x"), "There is no `nothing`.");
    assert!(refused("folder", "folder/inside").contains("into itself"));
    assert_eq!(world.output("move_file", json!({"from": "a", "to": "new/place/a"})), "Moved a to new/place/a.");
    assert_eq!((world.text("new/place/a"), world.path("a").exists()), ("A".into(), false));
    world.output("move_file", json!({"from": "new/place/a", "to": "b", "overwrite": true}));
    assert_eq!(world.text("b"), "A");
    let over_a_file = json!({"from": "folder", "to": "b", "overwrite": true});
    let message = "`folder` is a folder and cannot take the place of `b`.";
    assert_eq!(world.preview("move_file", over_a_file.clone()).unwrap_err().message, message);
    assert_eq!(world.refused("move_file", over_a_file), message);
    assert_eq!(world.text("b"), "A");
    world.output("move_file", json!({"from": "folder", "to": "other"}));
    assert_eq!(world.text("other/c"), "C");
}

/// Changes of one file at once: each begins with what the one before has left.
#[test]
fn no_change_is_lost_to_another() {
    let world = World::new();
    world.put("list", "");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let calls = (0..50).map(|number| {
        let arguments = json!({"path": "list", "content": format!("{number}\n"), "mode": "append"});
        tool_runtime::ToolCall::new("write_file", arguments)
    });
    let results = runtime.block_on(async { world.tools.call_all(calls.collect::<Vec<_>>()).await });
    assert!(results.iter().all(|result| result.success));
    let mut numbers: Vec<u32> = world.text("list").lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..50).collect::<Vec<u32>>());
}
