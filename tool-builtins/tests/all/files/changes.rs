//! `write_file`, `edit_file`, `delete_file`, `move_file`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::{Value, json};
use tool_builtins::files::Files;
use tool_runtime::output::Spill;
use tool_runtime::{Builder, Dispatcher, ErrorKind, Policy, ToolCall};

use super::TestWorkspace;

/// Returns the changes in a result's metadata.
#[track_caller]
fn changes(workspace: &TestWorkspace, name: &str, arguments: Value) -> Value {
    let result = workspace.call(name, arguments);
    assert!(result.success, "{}", result.output);
    result.metadata.get("changes").cloned().expect("changes")
}

#[test]
fn creates_a_file_with_its_directories_or_replaces_it() {
    let workspace = TestWorkspace::new();
    let write = |content: &str| workspace.output("write_file", json!({"path": "a/b/c.txt", "content": content}));
    assert_eq!(write("one\ntwo\n"), "Created a/b/c.txt, 2 lines, 8 bytes.");
    assert_eq!(write("ünë"), "Wrote a/b/c.txt, 1 line, 5 bytes.");
    assert_eq!(workspace.text("a/b/c.txt"), "ünë");
    assert_eq!(fs::read_dir(workspace.path("a/b")).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn keeps_permissions_but_drops_setuid() {
    let workspace = TestWorkspace::new();
    for (mode, kept) in [(0o755, 0o755), (0o600, 0o600), (0o4755, 0o755)] {
        workspace.put("run.sh", "old");
        fs::set_permissions(workspace.path("run.sh"), PermissionsExt::from_mode(mode)).unwrap();
        workspace.output("write_file", json!({"path": "run.sh", "content": "new"}));
        assert_eq!(fs::metadata(workspace.path("run.sh")).unwrap().mode() & 0o7777, kept);
    }
}

#[test]
fn replaces_a_file_atomically() {
    let workspace = TestWorkspace::new();
    workspace.put("a", "old");
    let before = fs::metadata(workspace.path("a")).unwrap().ino();
    let mut reader = fs::File::open(workspace.path("a")).unwrap();
    workspace.output("write_file", json!({"path": "a", "content": "new and longer"}));
    let mut seen = String::new();
    std::io::Read::read_to_string(&mut reader, &mut seen).unwrap();
    assert_eq!(seen, "old");
    assert_ne!(fs::metadata(workspace.path("a")).unwrap().ino(), before, "renamed, not written into");
}

#[test]
fn appends_in_the_encoding_and_line_breaks_of_the_file() {
    let workspace = TestWorkspace::new();
    let append = |path: &str, content: &str| json!({"path": path, "content": content, "mode": "append"});
    workspace.put("log", "one\n");
    assert_eq!(workspace.output("write_file", append("log", "two\n")), "Appended 1 line to log, 2 lines, 8 bytes.");
    assert_eq!(workspace.text("log"), "one\ntwo\n");
    assert_eq!(workspace.output("write_file", append("new", "x")), "Created new, 1 line, 1 byte.");
    workspace.put("dos", "one\r\n");
    workspace.output("write_file", append("dos", "two\nthree\n"));
    assert_eq!(workspace.text("dos"), "one\r\ntwo\r\nthree\r\n");
    workspace.put("latin", b"Gr\xFC\xDFe aus K\xF6ln\n");
    workspace.output("write_file", append("latin", "schön\n"));
    assert_eq!(fs::read(workspace.path("latin")).unwrap(), b"Gr\xFC\xDFe aus K\xF6ln\nsch\xF6n\n");
    let message = workspace.refused("write_file", append("latin", "東京"));
    assert_eq!(message, "`latin` is encoded as windows-1252, which has no `東` (U+6771).");
    workspace.put("a.png", b"\x89PNG\r\n\x1a\n\0\0");
    assert_eq!(workspace.refused("write_file", append("a.png", "x")), "`a.png` is not text but image/png.");
}

/// Appended text does not continue a line without line break.
#[test]
fn appends_on_a_new_line() {
    let workspace = TestWorkspace::new();
    let append = |path: &str, content: &str| json!({"path": path, "content": content, "mode": "append"});
    workspace.put(".env", "no break");
    assert_eq!(
        workspace.output("write_file", append(".env", "A=1")),
        "Appended 1 line to .env, 2 lines, 12 bytes. The last line had no line break; one was added after it."
    );
    assert_eq!(workspace.text(".env"), "no break\nA=1");
    for (before, content, after) in [
        ("one\r\ntwo", "three\n", "one\r\ntwo\r\nthree\r\n"),
        ("one", "\ntwo", "one\ntwo"),
        ("one", "", "one"),
        ("", "one", "one"),
        ("\u{feff}", "one", "\u{feff}one"),
        ("a\rb\r", "c", "a\rb\rc"),
    ] {
        workspace.put("f", before);
        let output = workspace.output("write_file", append("f", content));
        assert_eq!(
            (workspace.text("f").as_str(), output.contains("had no line break")),
            (after, before.ends_with("two"))
        );
    }
}

/// A single invalid byte does not change the detected encoding, and an edit keeps it.
#[test]
fn edits_in_the_encoding_of_the_file() {
    let workspace = TestWorkspace::new();
    let utf8 = "Größe: naïve café — 漢字 日本語\n".repeat(5).into_bytes();
    workspace.put("mixed", [&utf8[..], b"bad \xFF byte\n"].concat());
    let edit = |path: &str, old: &str, new: &str| {
        workspace.output("edit_file", json!({"path": path, "old_string": old, "new_string": new}))
    };
    edit("mixed", "bad ", "bäd ");
    edit("mixed", "bäd \u{fffd} byte", "bÄd \u{fffd} byte");
    assert_eq!(fs::read(workspace.path("mixed")).unwrap(), [&utf8[..], "bÄd ".as_bytes(), b"\xFF byte\n"].concat());
    workspace.output("write_file", json!({"path": "mixed", "content": "Ende: schön\n", "mode": "append"}));
    let bytes = [&utf8[..], "bÄd ".as_bytes(), b"\xFF byte\n", "Ende: schön\n".as_bytes()].concat();
    assert_eq!(fs::read(workspace.path("mixed")).unwrap(), bytes);
    workspace.put("latin", b"Gr\xFC\xDFe aus K\xF6ln, sch\xF6n\n");
    edit("latin", "Köln", "Düren");
    assert_eq!(fs::read(workspace.path("latin")).unwrap(), b"Gr\xFC\xDFe aus D\xFCren, sch\xF6n\n");
}

/// Any text that `read_file` returns can be passed to `edit_file`.
#[test]
fn edits_text_as_it_was_read() {
    let workspace = TestWorkspace::new();
    for (before, old, new, after) in [
        ("\x1b[31mERROR\x1b[0m bad\n", "ERROR", "OK", "\x1b[31mOK\x1b[0m bad\n"),
        ("a\rb\rc\r", "b", "x", "a\rx\rc\r"),
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nx\nc\n", "a\r\nx\nc\r\n"),
        ("\u{202e}abc\u{2066}\n", "abc", "x", "\u{202e}x\u{2066}\n"),
    ] {
        workspace.put("f", before);
        let read = workspace.output("read_file", json!({"path": "f"}));
        let whole: String = read.split_inclusive('\n').filter(|line| !line.starts_with('[')).collect();
        let whole = if before.ends_with('\n') { whole.as_str() } else { whole.trim_end_matches('\n') };
        assert!(whole.contains(old), "{read}");
        let edit = json!({"path": "f", "old_string": whole, "new_string": whole.replacen(old, new, 1)});
        workspace.output("edit_file", edit);
        assert_eq!(workspace.text("f"), after);
    }
}

#[test]
fn an_edit_keeps_line_breaks_and_encoding() {
    let workspace = TestWorkspace::new();
    workspace.put("a.rs", "fn a() {}\r\nfn b() {}\r\n");
    let arguments = json!({"path": "a.rs", "old_string": "fn a() {}\nfn b", "new_string": "fn c() {}\nfn d"});
    assert_eq!(workspace.output("edit_file", arguments), "Edited a.rs in line 1, 2 lines, 22 bytes.");
    assert_eq!(workspace.text("a.rs"), "fn c() {}\r\nfn d() {}\r\n");
    workspace.put("wide", "\u{feff}one two two".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let arguments = json!({"path": "wide", "old_string": "two", "new_string": "2", "replace_all": true});
    workspace.output("edit_file", arguments);
    let bytes: Vec<u8> = "\u{feff}one 2 2".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(fs::read(workspace.path("wide")).unwrap(), bytes);
}

#[test]
fn rejects_an_ambiguous_or_missing_string() {
    let workspace = TestWorkspace::new();
    workspace.put("a.rs", "let one = 1;\nlet one = 1;\n");
    let edit = |old: &str| json!({"path": "a.rs", "old_string": old, "new_string": "x"});
    let result = workspace.call("edit_file", edit("one"));
    assert_eq!(result.error.unwrap().kind, ErrorKind::Retry);
    assert!(result.output.contains("2 times") && result.output.contains("     2\tlet one = 1;"), "{}", result.output);
    let message = workspace.refused("edit_file", edit("let won = 1;"));
    assert!(message.contains("The nearest lines are:\n     1\tlet one = 1;"), "{message}");
    assert_eq!(workspace.text("a.rs"), "let one = 1;\nlet one = 1;\n");
    assert!(
        workspace
            .refused("edit_file", json!({"path": "b.rs", "old_string": "a", "new_string": "b"}))
            .contains("`a.rs`")
    );
}

#[test]
fn metadata_contains_the_content_before_and_after() {
    let workspace = TestWorkspace::new();
    let written = changes(&workspace, "write_file", json!({"path": "a", "content": "1"}));
    assert_eq!(written, json!([{"path": "a", "before": null, "after": "1"}]));
    let edited = changes(&workspace, "edit_file", json!({"path": "a", "old_string": "1", "new_string": "2"}));
    assert_eq!(edited, json!([{"path": "a", "before": "1", "after": "2"}]));
    let moved = changes(&workspace, "move_file", json!({"from": "a", "to": "b"}));
    assert_eq!(
        moved,
        json!([{"path": "a", "before": "2", "after": null}, {"path": "b", "before": null, "after": "2"}])
    );
    workspace.put("a.png", b"\x89PNG\r\n\x1a\n\0\0");
    let replaced = changes(&workspace, "write_file", json!({"path": "a.png", "content": "text"}));
    assert_eq!(replaced, json!([{"path": "a.png", "before": {"type": "image/png", "bytes": 10}, "after": "text"}]));
    let long = "x".repeat(300_000);
    let written = changes(&workspace, "write_file", json!({"path": "a", "content": long}));
    assert_eq!(written[0]["after"], json!({"type": "text/plain", "bytes": 300_000}));
    assert_eq!(workspace.call("read_file", json!({"path": "b"})).metadata.get("changes"), None);
}

/// The three keys are for interfaces that show the change of one file.
#[test]
fn metadata_of_one_file_has_its_path_and_both_contents() {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    let keys = |name: &str, arguments: Value| {
        let metadata = workspace.call(name, arguments).metadata;
        ["filePath", "originalContent", "newContent"].map(|key| metadata.get(key).cloned())
    };
    let some = |path: &str, before: Value, after: Value| [Some(json!(path)), Some(before), Some(after)];
    let created = keys("write_file", json!({"path": "src/a", "content": "1"}));
    assert_eq!(created, some("src/a", json!(""), json!("1")), "a new file was empty");
    let edited = keys("edit_file", json!({"path": "src/a", "old_string": "1", "new_string": "2"}));
    assert_eq!(edited, some("src/a", json!("1"), json!("2")));
    let patched = keys("apply_patch", json!({"patch": "--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-2\n+3\n"}));
    assert_eq!(patched[0], Some(json!("src/a")), "{patched:?}");
    workspace.put("a.png", b"\x89PNG\r\n\x1a\n\0\0");
    let replaced = keys("write_file", json!({"path": "a.png", "content": "text"}));
    assert_eq!(replaced, some("a.png", json!({"type": "image/png", "bytes": 10}), json!("text")));
    assert_eq!(keys("delete_file", json!({"path": "a.png"})), some("a.png", json!("text"), json!("")));
    assert_eq!(keys("move_file", json!({"from": "src/a", "to": "b"})), [None, None, None], "two files change");
}

#[test]
fn a_long_content_is_stored_under_a_handle() {
    let workspace = TestWorkspace::new();
    let long = "x\n".repeat(150_000);
    workspace.put("a", &long);
    let tools = |builder: Builder| {
        builder.service(Files::new(workspace.path("")).unwrap()).policy(Policy::Yolo).build().unwrap()
    };
    let write = |tools: &Dispatcher| {
        let call = ToolCall::new("write_file", json!({"path": "a", "content": long})).conversation("chat-7");
        workspace.runtime.block_on(tools.call(call)).metadata
    };
    let spilling = tools(Dispatcher::builder().spill(Spill::over(10_000)));
    let metadata = write(&spilling);
    let original = metadata.get("originalContent").unwrap();
    assert_eq!((&original["type"], &original["bytes"]), (&json!("text/plain"), &json!(300_000)));
    assert_eq!(&metadata.get("changes").unwrap()[0]["before"], original);
    let handle = original["handle"].as_str().unwrap();
    assert_eq!(spilling.spilled(Some("chat-7"), handle).as_deref(), Some(&*long));
    assert_eq!(spilling.spilled(Some("chat-8"), handle), None, "it belongs to its conversation");
    let read = ToolCall::new("read_result", json!({"handle": handle, "limit": 2})).conversation("chat-7");
    assert!(workspace.runtime.block_on(spilling.call(read)).output.starts_with("x\nx\n"));

    let metadata = write(&tools(Dispatcher::builder()));
    assert_eq!(metadata.get("newContent"), Some(&json!({"type": "text/plain", "bytes": 300_000})));
}

#[test]
fn deletes_files_only_if_allowed() {
    let workspace = TestWorkspace::new();
    workspace.put("a", "one\n");
    let result = workspace.call("delete_file", json!({"path": "a"}));
    assert_eq!(result.error.unwrap().kind, ErrorKind::Fatal);
    assert_eq!(result.output, "Deleting files is not allowed here: the application has not set `allow_delete`.");
    assert_eq!(workspace.text("a"), "one\n");

    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    workspace.put("a", "one\n");
    workspace.put("directory/b", "x");
    assert_eq!(
        changes(&workspace, "delete_file", json!({"path": "a"})),
        json!([{"path": "a", "before": "one\n", "after": null}])
    );
    assert!(!workspace.path("a").exists());
    assert_eq!(workspace.refused("delete_file", json!({"path": "a"})), "`a` does not exist.");
    let message = workspace.refused("delete_file", json!({"path": "directory"}));
    assert_eq!(message, "`directory` is a directory; only files can be deleted.");
}

#[test]
fn a_move_overwrites_only_if_requested() {
    let workspace = TestWorkspace::new();
    workspace.put("a", "A");
    workspace.put("b", "B");
    workspace.put("directory/c", "C");
    let refused = |from: &str, to: &str| workspace.refused("move_file", json!({"from": from, "to": to}));
    assert_eq!(refused("a", "b"), "`b` already exists; set `overwrite` to replace it.");
    assert_eq!(refused("a", "directory"), "`directory` is a directory; pass the full new path, including the name.");
    assert_eq!(refused("nothing", "x"), "`nothing` does not exist.");
    assert!(refused("directory", "directory/inside").contains("into itself"));
    assert_eq!(workspace.output("move_file", json!({"from": "a", "to": "new/place/a"})), "Moved a to new/place/a.");
    assert_eq!((workspace.text("new/place/a"), workspace.path("a").exists()), ("A".into(), false));
    workspace.output("move_file", json!({"from": "new/place/a", "to": "b", "overwrite": true}));
    assert_eq!(workspace.text("b"), "A");
    let over_a_file = json!({"from": "directory", "to": "b", "overwrite": true});
    let message = "`directory` is a directory and cannot replace `b`.";
    assert_eq!(workspace.preview("move_file", over_a_file.clone()).unwrap_err().message, message);
    assert_eq!(workspace.refused("move_file", over_a_file), message);
    assert_eq!(workspace.text("b"), "A");
    workspace.output("move_file", json!({"from": "directory", "to": "other"}));
    assert_eq!(workspace.text("other/c"), "C");
}

/// Concurrent changes of one file are serialized.
#[test]
fn loses_no_concurrent_change() {
    let workspace = TestWorkspace::new();
    workspace.put("list", "");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let calls = (0..50).map(|number| {
        let arguments = json!({"path": "list", "content": format!("{number}\n"), "mode": "append"});
        tool_runtime::ToolCall::new("write_file", arguments)
    });
    let results = runtime.block_on(async { workspace.tools.call_all(calls.collect::<Vec<_>>()).await });
    assert!(results.iter().all(|result| result.success));
    let mut numbers: Vec<u32> = workspace.text("list").lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..50).collect::<Vec<u32>>());
}
