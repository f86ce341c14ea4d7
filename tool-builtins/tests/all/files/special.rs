//! Pipes, sockets and devices: refused, and not waited for.

use std::fs::{self, File};
use std::os::unix::net::UnixListener;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::json;

use super::{World, calls_with};

fn pipe(world: &World, name: &str) {
    mknodat(CWD, world.path(name), FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
}

/// A device without end. Only a superuser may make one.
fn device(world: &World, name: &str) -> bool {
    let made = mknodat(CWD, world.path(name), FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(1, 5));
    made.is_ok() && File::open(world.path(name)).is_ok()
}

fn world() -> (World, Vec<&'static str>) {
    let world = World::with(|files| files.allow_delete(true));
    pipe(&world, "pipe");
    let _listener = UnixListener::bind(world.path("socket")).unwrap();
    let mut names = vec!["pipe", "socket"];
    if device(&world, "device") {
        names.push("device");
    } else {
        eprintln!("skipped: no device can be made here");
    }
    (world, names)
}

#[test]
fn no_tool_waits_for_them() {
    let names = world().1;
    for name in names {
        for index in 0..calls_with("").len() {
            let (world, _) = world();
            world.put("mine.txt", "mine");
            let (tool, arguments) = calls_with(name).swap_remove(index);
            let result = world.call(tool, arguments);
            let kind = result.error.map(|error| error.kind);
            use tool_runtime::ErrorKind::{Failed, Retry};
            assert!([None, Some(Failed), Some(Retry)].contains(&kind), "{tool} {name}: {kind:?} {}", result.output);
        }
    }
}

#[test]
fn they_are_called_what_they_are() {
    let (world, names) = world();
    let kinds = [("pipe", "a pipe"), ("socket", "a socket"), ("device", "a device")];
    for (name, kind) in kinds.into_iter().filter(|(name, _)| names.contains(name)) {
        let expected = format!("`{name}` is {kind}, not a regular file.");
        assert_eq!(world.refused("read_file", json!({"path": name})), expected);
        assert_eq!(world.refused("write_file", json!({"path": name, "content": "x"})), expected);
        assert!(world.path(name).exists(), "nothing has taken its place");
    }
    let listed = world.output("list_files", json!({}));
    assert!(listed.starts_with(if names.len() == 3 { "device (a device)\npipe" } else { "pipe" }), "{listed}");
    assert!(listed.contains("pipe (a pipe)\nsocket (a socket)\n"), "{listed}");
    let found = world.output("search_files", json!({"pattern": "."}));
    assert_eq!(found, "[No line matches `.` in 0 files.]");
}

/// A pipe that takes the place of `.gitignore` holds no walk up.
#[test]
fn not_even_in_place_of_a_file_of_rules() {
    let world = World::new();
    pipe(&world, ".gitignore");
    world.put("a.txt", "x");
    assert!(world.output("list_files", json!({"recursive": true})).contains("a.txt (1 byte)"));
}

/// The control: to open a pipe is to wait for its other end.
#[test]
fn a_naive_read_waits() {
    let world = World::new();
    pipe(&world, "pipe");
    let (opened, is_open) = mpsc::channel();
    let path = world.path("pipe");
    let reader = thread::spawn(move || {
        let file = File::open(path);
        opened.send(()).unwrap();
        drop(file);
    });
    assert!(is_open.recv_timeout(Duration::from_millis(300)).is_err());
    drop(fs::OpenOptions::new().write(true).open(world.path("pipe")).unwrap());
    reader.join().unwrap();
}
