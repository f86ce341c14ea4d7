//! Files that may not be read or written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use rustix::thread::{set_thread_res_gid, set_thread_res_uid};
use tool_builtins::files::{Files, WriteMode};
use tool_runtime::CancellationToken;
use tool_runtime::inject::Notes;

use super::{TestWorkspace, tree};

/// Runs a closure as an unprivileged user, because permissions do not apply to root.
fn as_nobody<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    if !rustix::process::geteuid().is_root() {
        return run();
    }
    thread::scope(|scope| {
        let nobody = scope.spawn(|| {
            let (user, group) = (rustix::fs::Uid::from_raw(65_534), rustix::fs::Gid::from_raw(65_534));
            set_thread_res_gid(group, group, group).unwrap();
            set_thread_res_uid(user, user, user).unwrap();
            run()
        });
        nobody.join().unwrap()
    })
}

fn mode(workspace: &TestWorkspace, path: &str, mode: u32) {
    fs::set_permissions(workspace.path(path), PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn respects_file_permissions() {
    let workspace = TestWorkspace::new();
    workspace.put("unreadable", "hidden");
    workspace.put("read-only", "fixed");
    workspace.put("locked/file", "hidden");
    workspace.put("open/file", "x");
    for (path, bits) in [("..", 0o755), ("", 0o777), ("unreadable", 0o000), ("read-only", 0o444), ("locked", 0o000)] {
        mode(&workspace, path, bits);
    }
    let before = fs::read(workspace.path("read-only")).unwrap();
    let root = workspace.path("");
    as_nobody(|| {
        let files = Files::new(&root).unwrap();
        let (notes, token) = (Notes::default(), CancellationToken::new());
        let denied = |result: Result<String, tool_runtime::HandlerError>| {
            let message = result.unwrap_err().to_string();
            assert!(message.ends_with("cannot be accessed: permission denied."), "{message}");
        };
        denied(files.read_file("unreadable", 0, 10, false, 0, &token));
        denied(files.read_file("locked/file", 0, 10, false, 0, &token));
        // The directory is writable, so a rename alone would succeed.
        denied(files.write_file("read-only", "x", WriteMode::Overwrite, &notes));
        denied(files.write_file("unreadable", "x", WriteMode::Overwrite, &notes));
        denied(files.edit_file("read-only", "fixed", "x", false, &notes));
        denied(files.write_file("locked/new", "x", WriteMode::Overwrite, &notes));
        denied(files.list_files("locked", None, None, false, None, 10, &token));
        // Moving a file requires write permission for its directories only.
        assert_eq!(files.move_file("unreadable", "moved", false, &notes).unwrap(), "Moved unreadable to moved.");
        files.move_file("moved", "unreadable", false, &notes).unwrap();
        denied(files.move_file("open/file", "read-only", true, &notes));
        let listed = files.list_files(".", None, Some(true), false, None, 10, &token).unwrap();
        assert!(listed.contains("open/file") && listed.contains("1 directory could not be read."), "{listed}");
        let found = files.search_files("hidden|^x$", ".", None, false, false, 0, 10, false, &token).unwrap();
        assert!(
            found.ends_with(
                "[1 matching line in 1 of 2 files. 1 file could not be searched. 1 directory could not be read.]"
            ),
            "{found}"
        );
    });
    mode(&workspace, "locked", 0o755);
    assert_eq!(fs::read(workspace.path("read-only")).unwrap(), before);
    assert_eq!(tree(&root).len(), 6, "no temporary file is left");
}

/// The control: a rename into place replaces a read-only file.
#[test]
fn a_naive_rename_ignores_file_permissions() {
    let workspace = TestWorkspace::new();
    workspace.put("read-only", "fixed");
    for (path, bits) in [("..", 0o755), ("", 0o777), ("read-only", 0o444)] {
        mode(&workspace, path, bits);
    }
    let root = workspace.path("");
    as_nobody(|| {
        fs::write(root.join("new"), "x").unwrap();
        fs::rename(root.join("new"), root.join("read-only")).unwrap();
    });
    assert_eq!(workspace.text("read-only"), "x");
}
