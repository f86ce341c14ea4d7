//! A directory that is repeatedly swapped for a link to the outside while it is used.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::{SECRET, TestWorkspace};

const ROUNDS: usize = 10_000;

/// Runs `during` while a directory `door` is repeatedly swapped for a link to the outside.
fn while_swapping<T>(during: impl FnOnce(&TestWorkspace) -> T) -> T {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    workspace.put("door/secret.txt", "harmless");
    symlink("../outside", workspace.path("trap")).unwrap();
    let is_over = AtomicBool::new(false);
    let (door, trap) = (workspace.path("door"), workspace.path("trap"));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &door, CWD, &trap, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let _guard = StopGuard(&is_over);
        during(&workspace)
    })
}

/// Stops the swapping, even after a panic.
struct StopGuard<'a>(&'a AtomicBool);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checks where a path leads, and then opens it.
fn naive<T>(root: &Path, path: &str, open: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let resolved = root.join(path).canonicalize()?;
    if !resolved.starts_with(root) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    open(root.join(path))
}

#[test]
fn reads_never_escape() {
    while_swapping(|workspace| {
        let mut harmless = 0;
        for _ in 0..ROUNDS {
            let output = workspace.call("read_file", json!({"path": "door/secret.txt"})).output;
            assert!(!output.contains(SECRET), "{output}");
            harmless += usize::from(output == "harmless");
        }
        assert!(harmless > 0, "the directory was in place at times");
    });
}

/// The controls: checking first and opening afterwards is not safe for reads, writes and walks.
#[test]
fn a_naive_read_escapes() {
    let escapes = |root: &Path| naive(root, "door/secret.txt", fs::read_to_string).is_ok_and(|text| text == SECRET);
    assert!(escapes_eventually(escapes));
}

#[test]
fn a_naive_write_escapes() {
    let escapes = |root: &Path| {
        let _ = naive(root, "door/secret.txt", |path| fs::write(path, "overwritten"));
        fs::read_to_string(root.join("../outside/secret.txt")).is_ok_and(|text| text != SECRET)
    };
    assert!(escapes_eventually(escapes));
}

#[test]
fn a_naive_walk_escapes() {
    let escapes = |root: &Path| {
        let is_directory = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let directories =
            fs::read_dir(root).unwrap().flatten().map(|entry| entry.path()).filter(|path| is_directory(path));
        let files = directories.flat_map(|directory| fs::read_dir(directory).into_iter().flatten().flatten());
        files.map(|file| file.path()).any(|path| fs::read_to_string(path).is_ok_and(|text| text == SECRET))
    };
    assert!(escapes_eventually(escapes));
}

/// Returns `true` if `escapes` does so in one of many rounds.
fn escapes_eventually(escapes: impl Fn(&Path) -> bool) -> bool {
    while_swapping(|workspace| {
        let root = workspace.path("").canonicalize().unwrap();
        (0..100 * ROUNDS).any(|_| escapes(&root))
    })
}

#[test]
fn changes_never_escape() {
    while_swapping(|workspace| {
        let before = workspace.all_outside();
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
            let result = workspace.call(name, arguments);
            let shown_text = format!("{} {}", result.output, serde_json::to_string(&result.metadata).unwrap());
            assert!(!shown_text.contains(SECRET), "{name}: {shown_text}");
        }
        assert_eq!(workspace.all_outside(), before);
    });
}

#[test]
fn walks_never_escape() {
    while_swapping(|workspace| {
        let mut harmless = 0;
        for _ in 0..ROUNDS / 5 {
            let found = workspace.output("search_files", json!({"pattern": "the secret of|harmless"}));
            assert!(!found.contains(SECRET), "{found}");
            harmless += usize::from(found.contains("harmless\n"));
            let listed = workspace.output("list_files", json!({"recursive": true}));
            assert!(!listed.contains(&format!("({} bytes)", SECRET.len())), "{listed}");
        }
        assert!(harmless > 0, "the directory was in place at times");
    });
}
