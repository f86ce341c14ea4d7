//! `read_file`.

use serde_json::json;
use tool_builtins::files::FileLimits;

use super::TestWorkspace;

#[test]
fn reads_a_file_or_some_lines() {
    let workspace = TestWorkspace::new();
    workspace.put("src/a.txt", "one\ntwo\nthree\n");
    let read = |arguments| workspace.output("read_file", arguments);
    assert_eq!(read(json!({"path": "src/a.txt"})), "one\ntwo\nthree\n");
    assert_eq!(read(json!({"path": "./src/../src/a.txt"})), "one\ntwo\nthree\n");
    let part = read(json!({"path": "src/a.txt", "offset": 1, "limit": 1}));
    assert_eq!(part, "two\n[Line 2; continue with `offset` 2.]");
    let last = read(json!({"path": "src/a.txt", "offset": 2, "line_numbers": true}));
    assert_eq!(last, "     3\tthree\n[Line 3, the end of the file.]");
    workspace.put("empty", "");
    assert_eq!(read(json!({"path": "empty"})), "`empty` is empty.");
}

#[test]
fn accepts_an_absolute_path_inside_the_workspace() {
    let workspace = TestWorkspace::new();
    workspace.put("a.txt", "x");
    let whole = workspace.path("a.txt").canonicalize().unwrap();
    assert_eq!(workspace.output("read_file", json!({"path": whole})), "x");
}

#[test]
fn detects_and_names_encodings() {
    let workspace = TestWorkspace::new();
    workspace.put("latin", b"Gr\xFC\xDFe aus K\xF6ln, sch\xF6n war es\n");
    let text = workspace.output("read_file", json!({"path": "latin"}));
    assert_eq!(text, "Grüße aus Köln, schön war es\n[Decoded as windows-1252.]");
    workspace.put("wide", "\u{feff}zwei\nZeilen\n".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>());
    let text = workspace.output("read_file", json!({"path": "wide", "offset": 1}));
    assert_eq!(text, "Zeilen\n[Line 2, the end of the file. Decoded as UTF-16BE.]");
    workspace.put("marked", "\u{feff}x");
    assert_eq!(workspace.output("read_file", json!({"path": "marked"})), "x");
}

#[test]
fn rejects_binary_files_with_their_type() {
    let workspace = TestWorkspace::new();
    workspace.put("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0");
    assert_eq!(
        workspace.refused("read_file", json!({"path": "a.png"})),
        "`a.png` is not text but image/png, 18 bytes."
    );
    workspace.put("a.bin", b"\0\x01\x02");
    let message = workspace.refused("read_file", json!({"path": "a.bin"}));
    assert_eq!(message, "`a.bin` is not text but application/octet-stream, 3 bytes.");
}

#[test]
fn errors_say_how_to_correct_the_call() {
    let workspace = TestWorkspace::new();
    workspace.put("src/main.rs", "a\nb\n");
    let read = |path: &str| workspace.refused("read_file", json!({"path": path}));
    assert_eq!(read("src/mian.rs"), "`src/mian.rs` does not exist. Did you mean `src/main.rs`?");
    assert_eq!(read("Src/main.rs"), "`Src/main.rs` does not exist.");
    assert_eq!(read("src"), "`src` is a directory, not a file.");
    assert_eq!(read(""), "The path is empty; use `.` for the workspace.");
    assert_eq!(read("src/main.rs/deeper"), "A parent of `src/main.rs/deeper` is not a directory.");
    let past = workspace.refused("read_file", json!({"path": "src/main.rs", "offset": 7}));
    assert_eq!(past, "`src/main.rs` has 2 lines; `offset` 7 is beyond its end.");
}

#[test]
fn limits_the_length_of_a_result() {
    let workspace = TestWorkspace::with(|files| files.limits(FileLimits { read_bytes: 100, ..FileLimits::default() }));
    workspace.put("long", "0123456789\n".repeat(50));
    let text = workspace.output("read_file", json!({"path": "long"}));
    assert!(text.ends_with("[Lines 1 to 9; continue with `offset` 9.]"), "{text}");
    workspace.put("wide", "x".repeat(1000));
    let text = workspace.output("read_file", json!({"path": "wide"}));
    let cut = "[Line 1 is longer than 100 bytes and was cut; continue with `offset` 0 and `column` 100. The next line \
               starts at `offset` 1.]";
    assert!(text.ends_with(cut), "{text}");
}

#[test]
fn reads_a_long_line_in_parts() {
    let workspace = TestWorkspace::with(|files| files.limits(FileLimits { read_bytes: 10, ..FileLimits::default() }));
    workspace.put("wide", "first\n0123456789äöü\nlast\n");
    let read =
        |column| workspace.output("read_file", json!({"path": "wide", "offset": 1, "limit": 1, "column": column}));
    assert!(read(0).starts_with("0123456789\n[Line 2 is longer than 10 bytes"), "{}", read(0));
    assert_eq!(read(10), "äöü\n[Line 2, from character 11; continue with `offset` 2.]");
    assert_eq!(read(13), "\n[Line 2, from character 14; continue with `offset` 2.]");
    let message = workspace.refused("read_file", json!({"path": "wide", "offset": 1, "column": 14}));
    assert_eq!(message, "Line 2 of `wide` has 13 characters; `column` 14 is beyond its end.");
}

/// Invalid bytes are shown as such, and the other lines do not depend on the offset.
#[test]
fn shows_invalid_bytes() {
    let workspace = TestWorkspace::new();
    let mut bytes = "Größe\n".repeat(20_000).into_bytes();
    bytes.extend_from_slice(b"bad \xFF byte\n");
    workspace.put("log", bytes);
    let read = |offset, limit| workspace.output("read_file", json!({"path": "log", "offset": offset, "limit": limit}));
    assert!(read(3, 2).starts_with("Größe\nGröße\n[Lines 4 to 5;"), "{}", read(3, 2));
    assert_eq!(
        read(19_999, 2),
        "Größe\nbad \u{fffd} byte\n[Lines 20,000 to 20,001, the end of the file. Bytes that are not valid UTF-8 are shown as U+FFFD; \
         edits leave them unchanged.]"
    );
}

#[test]
fn escapes_control_characters() {
    let workspace = TestWorkspace::new();
    workspace.put("colour", "\x1b[31mERROR\x1b[0m bad\n");
    assert_eq!(
        workspace.output("read_file", json!({"path": "colour"})),
        "\\u{1b}[31mERROR\\u{1b}[0m bad\n[Control characters are shown escaped, such as `\\u{1b}`; `edit_file` accepts them like that.]"
    );
    workspace.put("mac", "a\rb\rc\r");
    let text = workspace.output("read_file", json!({"path": "mac", "line_numbers": true}));
    assert!(text.starts_with("     1\ta\\rb\\rc\\r\n[Control"), "{text}");
    workspace.put("dos", "a\r\nb\r\n");
    assert_eq!(workspace.output("read_file", json!({"path": "dos"})), "a\nb\n");
}
