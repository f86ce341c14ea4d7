#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;
use tool_runtime::ErrorKind;

use crate::fixture::{Console, kind};

#[tokio::test(flavor = "multi_thread")]
async fn log_lines_are_sanitized() {
    let console = Console::open().await;
    console.log("evil.log", b"<script>alert(1)</script>\n\x1b[2J\x1b]0;owned\x07red\x1b[31m \xff\xfe \r\x08 end\n");
    let tail = console.answer("logs.tail", json!({"file": "evil.log"})).await;
    assert!(tail.contains("<script>alert(1)</script>"), "the text is not changed: {tail:?}");
    assert!(!tail.contains(['\x1b', '\x07', '\x08']), "control sequences are gone: {tail:?}");
    assert!(tail.contains("red") && tail.contains('\u{fffd}'));

    let found = console.answer("logs.search", json!({"text": "red"})).await;
    assert!(!found.contains('\x1b'), "JSON escapes them: {found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_lines_and_large_files_are_bounded() {
    let console = Console::open().await;
    console.log("long.log", format!("{}\nshort\n", "x".repeat(3_000_000)));
    let tail = console.answer("logs.tail", json!({"file": "long.log"})).await;
    assert_eq!(tail, "short", "the line before it does not fit into what is read");
    console.log("wide.log", format!("{}\n", "é".repeat(100_000)));
    let tail = console.answer("logs.tail", json!({"file": "wide.log"})).await;
    assert_eq!(tail.chars().count(), 501);
    console.log("many.log", "the same line\n".repeat(200_000));
    let found = console.json("logs.search", json!({"text": "same", "limit": 500})).await;
    assert_eq!((found["total"].clone(), found["items"].as_array().map(Vec::len)), (json!(200_000), Some(500)));
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_no_file_outside_the_log_directory() {
    let console = Console::open().await;
    std::fs::write(console.path("secret.txt"), "the secret\n").expect("a file");
    symlink(console.path("secret.txt"), console.path("logs/link.log")).expect("a link");
    symlink(console.path(""), console.path("logs/folder")).expect("a link");
    // The control: a naive read of the same names returns the secret.
    for name in ["link.log", "folder/secret.txt", "../secret.txt"] {
        let naive = std::fs::read_to_string(console.path("logs").join(name)).expect("it can be read");
        assert_eq!(naive, "the secret\n");
        for (tool, arguments) in [
            ("logs.tail", json!({"file": name})),
            ("logs.search", json!({"file": name, "text": "secret"})),
            ("logs.follow", json!({"file": name, "seconds": 1})),
        ] {
            let result = console.call(tool, arguments).await;
            assert!(!result.success && !result.output.contains("the secret"), "{tool} {name}: {}", result.output);
        }
    }
    let absolute = console.path("secret.txt");
    assert!(!console.call("logs.tail", json!({"file": absolute})).await.success);
    assert_eq!(console.json("logs.search", json!({"text": "the secret"})).await["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_pipes_directories_and_binary_files_without_blocking() {
    let console = Console::open().await;
    let made = Command::new("mkfifo").arg(console.path("logs/pipe")).status().expect("mkfifo");
    assert!(made.success());
    std::fs::create_dir(console.path("logs/folder")).expect("a folder");
    console.log("binary.log", b"text\0\0\0text");
    console.log("old.log.gz", b"\x1f\x8b");
    for name in ["pipe", "folder", "binary.log", "old.log.gz"] {
        let result = console.call("logs.tail", json!({"file": name})).await;
        assert_eq!(kind(&result), Some(ErrorKind::Failed), "{name}: {}", result.output);
    }
    let files = console.json("logs.files", json!({})).await;
    assert_eq!(files["total"], 1, "{files}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn process_names_are_sanitized() {
    let console = Console::open().await;
    let name = "<b onload=x>\x1b[31m\"}";
    let program = console.path(name);
    std::fs::copy("/bin/sleep", &program).expect("a program");
    let mut process = Command::new(&program).arg("600").spawn().expect("a process");

    let listed = console.answer("processes.list", json!({"order": "newest", "name": "<b onload"})).await;
    assert!(!listed.contains('\x1b'), "{listed:?}");
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON all the same");
    let shown = listed["items"].as_array().expect("a list");
    let found = shown.iter().find(|shown| shown["pid"] == process.id()).expect("it is listed");
    // Linux truncates a name to 15 bytes.
    assert_eq!(found["name"], name[..15]);
    let applications = console.json("applications.list", json!({"name": name})).await;
    assert_eq!(applications["items"][0]["name"], name);
    // The listed name is accepted by `processes.kill`.
    console.answer("processes.kill", json!({"pid": process.id(), "name": found["name"]})).await;
    process.wait().expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_metric_is_not_interpreted_as_sql() {
    let console = Console::open().await;
    console.app.sampler.sample().await.expect("a sample");
    let before = console.json("metrics.names", json!({})).await;
    for metric in ["x' OR '1'='1", "cpu_percent'; DROP TABLE points; --"] {
        let result = console.call("metrics.purge", json!({"metric": metric})).await;
        assert_eq!(kind(&result), Some(ErrorKind::Retry), "{}", result.output);
    }
    assert_eq!(console.json("metrics.names", json!({})).await, before);
}
