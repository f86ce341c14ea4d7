//! Pipes, sockets and devices are rejected without blocking.

use std::fs::{self, File};
use std::os::unix::net::UnixListener;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::json;

use super::{TestWorkspace, calls_with};

fn pipe(workspace: &TestWorkspace, name: &str) {
    mknodat(CWD, workspace.path(name), FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
}

/// Creates an endless device. Returns `false` without root privileges.
fn device(workspace: &TestWorkspace, name: &str) -> bool {
    let made = mknodat(CWD, workspace.path(name), FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 5));
    made.is_ok() && File::open(workspace.path(name)).is_ok()
}

fn workspace() -> (TestWorkspace, Vec<&'static str>) {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    pipe(&workspace, "pipe");
    let _listener = UnixListener::bind(workspace.path("socket")).unwrap();
    let mut names = vec!["pipe", "socket"];
    if device(&workspace, "device") {
        names.push("device");
    } else {
        eprintln!("skipped: cannot create a device here");
    }
    (workspace, names)
}

#[test]
fn no_tool_blocks() {
    let names = workspace().1;
    for name in names {
        for index in 0..calls_with("").len() {
            let (workspace, _) = workspace();
            workspace.put("mine.txt", "mine");
            let (tool, arguments) = calls_with(name).swap_remove(index);
            let result = workspace.call(tool, arguments);
            let kind = result.error.map(|error| error.kind);
            use tool_runtime::ErrorKind::{Failed, Retry};
            assert!([None, Some(Failed), Some(Retry)].contains(&kind), "{tool} {name}: {kind:?} {}", result.output);
        }
    }
}

#[test]
fn names_the_type_of_special_files() {
    let (workspace, names) = workspace();
    let kinds = [("pipe", "a pipe"), ("socket", "a socket"), ("device", "a device")];
    for (name, kind) in kinds.into_iter().filter(|(name, _)| names.contains(name)) {
        let expected = format!("`{name}` is {kind}, not a regular file.");
        assert_eq!(workspace.refused("read_file", json!({"path": name})), expected);
        assert_eq!(workspace.refused("write_file", json!({"path": name, "content": "x"})), expected);
        assert!(workspace.path(name).exists(), "it was not replaced");
    }
    let listed = workspace.output("list_files", json!({}));
    assert!(listed.starts_with(if names.len() == 3 { "device (a device)\npipe" } else { "pipe" }), "{listed}");
    assert!(listed.contains("pipe (a pipe)\nsocket (a socket)\n"), "{listed}");
    let found = workspace.output("search_files", json!({"pattern": "."}));
    assert_eq!(found, "[No line matches `.` in 0 files.]");
}

/// A pipe in place of `.gitignore` does not block a walk.
#[test]
fn does_not_block_on_an_ignore_file() {
    let workspace = TestWorkspace::new();
    pipe(&workspace, ".gitignore");
    workspace.put("a.txt", "x");
    assert!(workspace.output("list_files", json!({"recursive": true})).contains("a.txt (1 byte)"));
}

/// The control: opening a pipe blocks until its other end is opened.
#[test]
fn a_naive_read_blocks() {
    let workspace = TestWorkspace::new();
    pipe(&workspace, "pipe");
    let (opened, is_open) = mpsc::channel();
    let path = workspace.path("pipe");
    let reader = thread::spawn(move || {
        let file = File::open(path);
        opened.send(()).unwrap();
        drop(file);
    });
    assert!(is_open.recv_timeout(Duration::from_millis(300)).is_err());
    drop(fs::OpenOptions::new().write(true).open(workspace.path("pipe")).unwrap());
    reader.join().unwrap();
}
