//! A folder swapped for a link to the outside, again and again, while it is used.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::{SECRET, World};

const ROUNDS: usize = 10_000;

/// A workspace with a folder `door`, and a link beside it that takes its place as long as `during` runs.
fn swapping<T>(during: impl FnOnce(&World) -> T) -> T {
    let world = World::with(|files| files.allow_delete(true));
    world.put("door/secret.txt", "harmless");
    symlink("../outside", world.path("trap")).unwrap();
    let is_over = AtomicBool::new(false);
    let (door, trap) = (world.path("door"), world.path("trap"));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &door, CWD, &trap, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let _over = Over(&is_over);
        during(&world)
    })
}

/// Ends the swapping, after a panic too.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Looks where a path leads, and opens it if that is inside.
fn naive<T>(root: &Path, path: &str, open: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let resolved = root.join(path).canonicalize()?;
    if !resolved.starts_with(root) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    open(root.join(path))
}

#[test]
fn reads_are_never_led_out() {
    swapping(|world| {
        let mut harmless = 0;
        for _ in 0..ROUNDS {
            let output = world.call("read_file", json!({"path": "door/secret.txt"})).output;
            assert!(!output.contains(SECRET), "{output}");
            harmless += usize::from(output == "harmless");
        }
        assert!(harmless > 0, "the door was open at times");
    });
}

/// The controls: to look first and open afterwards does not hold, neither for reads, nor for writes, nor for walks.
#[test]
fn a_naive_read_is_led_out() {
    let is_led_out = |root: &Path| naive(root, "door/secret.txt", fs::read_to_string).is_ok_and(|text| text == SECRET);
    assert!(is_led_out_in_the_end(is_led_out));
}

#[test]
fn a_naive_write_is_led_out() {
    let is_led_out = |root: &Path| {
        let _ = naive(root, "door/secret.txt", |path| fs::write(path, "overwritten"));
        fs::read_to_string(root.join("../outside/secret.txt")).is_ok_and(|text| text != SECRET)
    };
    assert!(is_led_out_in_the_end(is_led_out));
}

#[test]
fn a_naive_walk_is_led_out() {
    let is_led_out = |root: &Path| {
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let folders = fs::read_dir(root).unwrap().flatten().map(|entry| entry.path()).filter(|path| is_folder(path));
        let files = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        files.map(|file| file.path()).any(|path| fs::read_to_string(path).is_ok_and(|text| text == SECRET))
    };
    assert!(is_led_out_in_the_end(is_led_out));
}

/// Whether something is led out, sooner or later.
fn is_led_out_in_the_end(is_led_out: impl Fn(&Path) -> bool) -> bool {
    swapping(|world| {
        let root = world.path("").canonicalize().unwrap();
        (0..100 * ROUNDS).any(|_| is_led_out(&root))
    })
}

#[test]
fn changes_are_never_led_out() {
    swapping(|world| {
        let before = world.all_outside();
        for round in 0..ROUNDS {
            let (name, arguments) = match round % 5 {
                0 => ("write_file", json!({"path": "door/secret.txt", "content": "harmless"})),
                1 => ("write_file", json!({"path": format!("door/new-{}", round % 50), "content": "x"})),
                2 => (
                    "edit_file",
                    json!({"path": "door/secret.txt", "old_string": "e", "new_string": "e!", "replace_all": true}),
                ),
                3 => ("delete_file", json!({"path": format!("door/new-{}", (round - 2) % 50)})),
                _ => (
                    "apply_patch",
                    json!({"patch": "--- a/door/secret.txt\n+++ b/door/secret.txt\n@@ -1 +1 @@\n-harmless\n\\ No newline at end of file\n+harmless\n"}),
                ),
            };
            let result = world.call(name, arguments);
            let told = format!("{} {}", result.output, serde_json::to_string(&result.metadata).unwrap());
            assert!(!told.contains(SECRET), "{name}: {told}");
        }
        assert_eq!(world.all_outside(), before);
    });
}

#[test]
fn walks_are_never_led_out() {
    swapping(|world| {
        let mut harmless = 0;
        for _ in 0..ROUNDS / 5 {
            let found = world.output("search_files", json!({"pattern": "the secret of|harmless"}));
            assert!(!found.contains(SECRET), "{found}");
            harmless += usize::from(found.contains("harmless\n"));
            let listed = world.output("list_files", json!({"recursive": true}));
            assert!(!listed.contains(&format!("({} bytes)", SECRET.len())), "{listed}");
        }
        assert!(harmless > 0, "the door was open at times");
    });
}
