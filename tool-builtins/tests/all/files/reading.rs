//! `read_file`.

use serde_json::json;
use tool_builtins::files::Limits;

use super::World;

#[test]
fn a_file_as_it_is_or_some_of_its_lines() {
    let world = World::new();
    world.put("src/a.txt", "one\ntwo\nthree\n");
    let read = |arguments| world.output("read_file", arguments);
    assert_eq!(read(json!({"path": "src/a.txt"})), "one\ntwo\nthree\n");
    assert_eq!(read(json!({"path": "./src/../src/a.txt"})), "one\ntwo\nthree\n");
    let part = read(json!({"path": "src/a.txt", "offset": 1, "limit": 1}));
    assert_eq!(part, "two\n[Line 2; more follow, from `offset` 2 on.]");
    let last = read(json!({"path": "src/a.txt", "offset": 2, "line_numbers": true}));
    assert_eq!(last, "     3\tthree\n[Line 3, the last.]");
    world.put("empty", "");
    assert_eq!(read(json!({"path": "empty"})), "`empty` is empty.");
}

#[test]
fn the_whole_path_of_a_file_inside_is_as_good() {
    let world = World::new();
    world.put("a.txt", "x");
    let whole = world.path("a.txt").canonicalize().unwrap();
    assert_eq!(world.output("read_file", json!({"path": whole})), "x");
}

#[test]
fn encodings_are_detected_and_named() {
    let world = World::new();
    world.put("latin", b"Gr\xFC\xDFe aus K\xF6ln, sch\xF6n war es\n");
    let text = world.output("read_file", json!({"path": "latin"}));
    assert_eq!(text, "Grüße aus Köln, schön war es\n[Read as windows-1252.]");
    world.put("wide", "\u{feff}zwei\nZeilen\n".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>());
    let text = world.output("read_file", json!({"path": "wide", "offset": 1}));
    assert_eq!(text, "Zeilen\n[Line 2, the last. Read as UTF-16BE.]");
    world.put("marked", "\u{feff}x");
    assert_eq!(world.output("read_file", json!({"path": "marked"})), "x");
}

#[test]
fn what_is_no_text_is_refused_with_its_type() {
    let world = World::new();
    world.put("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0");
    assert_eq!(world.refused("read_file", json!({"path": "a.png"})), "`a.png` is no text but image/png, 18 bytes.");
    world.put("a.bin", b"\0\x01\x02");
    let message = world.refused("read_file", json!({"path": "a.bin"}));
    assert_eq!(message, "`a.bin` is no text but application/octet-stream, 3 bytes.");
}

#[test]
fn what_is_wrong_is_said_with_what_would_be_right() {
    let world = World::new();
    world.put("src/main.rs", "a\nb\n");
    let read = |path: &str| world.refused("read_file", json!({"path": path}));
    assert_eq!(read("src/mian.rs"), "There is no `src/mian.rs`. Did you mean `src/main.rs`?");
    assert_eq!(read("Src/main.rs"), "There is no `Src/main.rs`.");
    assert_eq!(read("src"), "`src` is a folder, not a file.");
    assert_eq!(read(""), "The path is empty; `.` is the workspace.");
    assert_eq!(read("src/main.rs/deeper"), "Something on the way to `src/main.rs/deeper` is no folder.");
    let past = world.refused("read_file", json!({"path": "src/main.rs", "offset": 7}));
    assert_eq!(past, "`src/main.rs` has 2 lines; `offset` 7 is past its end.");
}

#[test]
fn a_result_is_never_longer_than_the_limit() {
    let world = World::with(|files| files.limits(Limits { read_bytes: 100, ..Limits::default() }));
    world.put("long", "0123456789\n".repeat(50));
    let text = world.output("read_file", json!({"path": "long"}));
    assert!(text.ends_with("[Lines 1 to 9; more follow, from `offset` 9 on.]"), "{text}");
    world.put("wide", "x".repeat(1000));
    let text = world.output("read_file", json!({"path": "wide"}));
    let cut = "[Line 1 is longer than 100 bytes and was cut; read on with `offset` 0 and `column` 100. The next line begins at \
               `offset` 1.]";
    assert!(text.ends_with(cut), "{text}");
}

#[test]
fn a_long_line_is_read_part_by_part() {
    let world = World::with(|files| files.limits(Limits { read_bytes: 10, ..Limits::default() }));
    world.put("wide", "first\n0123456789äöü\nlast\n");
    let read = |column| world.output("read_file", json!({"path": "wide", "offset": 1, "limit": 1, "column": column}));
    assert!(read(0).starts_with("0123456789\n[Line 2 is longer than 10 bytes"), "{}", read(0));
    assert_eq!(read(10), "äöü\n[Line 2, from character 11 on; more follow, from `offset` 2 on.]");
    assert_eq!(read(13), "\n[Line 2, from character 14 on; more follow, from `offset` 2 on.]");
    let message = world.refused("read_file", json!({"path": "wide", "offset": 1, "column": 14}));
    assert_eq!(message, "Line 2 of `wide` has 13 characters; `column` 14 is past its end.");
}

/// Invalid bytes are shown as such, and the rest as what it is, wherever one begins.
#[test]
fn a_few_invalid_bytes_are_shown() {
    let world = World::new();
    let mut bytes = "Größe\n".repeat(20_000).into_bytes();
    bytes.extend_from_slice(b"bad \xFF byte\n");
    world.put("log", bytes);
    let read = |offset, limit| world.output("read_file", json!({"path": "log", "offset": offset, "limit": limit}));
    assert!(read(3, 2).starts_with("Größe\nGröße\n[Lines 4 to 5;"), "{}", read(3, 2));
    assert_eq!(
        read(19_999, 2),
        "Größe\nbad \u{fffd} byte\n[Lines 20,000 to 20,001, the last. Bytes that are not valid UTF-8 are shown as U+FFFD; \
         edits leave them as they are.]"
    );
}

#[test]
fn what_would_not_be_seen_is_shown() {
    let world = World::new();
    world.put("colour", "\x1b[31mERROR\x1b[0m bad\n");
    assert_eq!(
        world.output("read_file", json!({"path": "colour"})),
        "\\u{1b}[31mERROR\\u{1b}[0m bad\n[Control characters are shown escaped, such as `\\u{1b}`; `edit_file` takes them so.]"
    );
    world.put("mac", "a\rb\rc\r");
    let text = world.output("read_file", json!({"path": "mac", "line_numbers": true}));
    assert!(text.starts_with("     1\ta\\rb\\rc\\r\n[Control"), "{text}");
    world.put("dos", "a\r\nb\r\n");
    assert_eq!(world.output("read_file", json!({"path": "dos"})), "a\nb\n");
}
