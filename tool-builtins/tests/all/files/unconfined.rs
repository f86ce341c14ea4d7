//! An unconfined service. Each call has a control with a confined one.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use tool_builtins::files::Files;

use super::{SECRET, TestWorkspace, tree};

fn unconfined() -> TestWorkspace {
    TestWorkspace::with_service(|inside| Files::unconfined(inside).unwrap())
}

/// Returns paths to the file outside: absolute, upwards and through a link.
fn paths_out(workspace: &TestWorkspace) -> [String; 3] {
    symlink(workspace.outside(""), workspace.path("door")).unwrap();
    [workspace.outside("secret.txt").display().to_string(), "../outside/secret.txt".into(), "door/secret.txt".into()]
}

#[test]
fn reads_and_writes_outside() {
    let (free, kept) = (unconfined(), TestWorkspace::new());
    for (out, kept_out) in paths_out(&free).into_iter().zip(paths_out(&kept)) {
        fs::write(free.outside("secret.txt"), SECRET).unwrap();
        assert_eq!(free.output("read_file", json!({"path": out})), SECRET);
        kept.refused("read_file", json!({"path": kept_out}));

        let edit = |path: &str| json!({"path": path, "old_string": "secret", "new_string": "news"});
        free.output("edit_file", edit(&out));
        assert_eq!(fs::read_to_string(free.outside("secret.txt")).unwrap(), SECRET.replace("secret", "news"));
        kept.refused("edit_file", edit(&kept_out));

        free.output("write_file", json!({"path": out, "content": "new"}));
        assert_eq!(fs::read_to_string(free.outside("secret.txt")).unwrap(), "new");
        kept.refused("write_file", json!({"path": kept_out, "content": "new"}));
    }
    assert_eq!(kept.all_outside(), [(kept.outside("secret.txt"), SECRET.into())]);
}

#[test]
fn lists_and_searches_outside() {
    let (free, kept) = (unconfined(), TestWorkspace::new());
    let outside = |workspace: &TestWorkspace| workspace.outside("").display().to_string();
    let listed = free.output("list_files", json!({"path": outside(&free)}));
    assert!(listed.contains("secret.txt"), "{listed}");
    kept.refused("list_files", json!({"path": outside(&kept)}));
    let found = free.output("search_files", json!({"pattern": "secret", "path": outside(&free)}));
    // The shown path can be read.
    let named = free.outside("secret.txt").display().to_string();
    assert!(found.contains(&named) && found.contains(SECRET), "{found}");
    kept.refused("search_files", json!({"pattern": "secret", "path": outside(&kept)}));
}

#[test]
fn relative_paths_start_at_the_directory() {
    let workspace = unconfined();
    workspace.put("notes/mine.txt", "mine");
    assert_eq!(workspace.output("read_file", json!({"path": "notes/mine.txt"})), "mine");
    let listed = workspace.output("list_files", json!({"recursive": true}));
    assert!(listed.contains("notes/mine.txt") && !listed.contains("secret.txt"), "{listed}");
    workspace.output("write_file", json!({"path": "new.txt", "content": "new"}));
    assert_eq!(workspace.text("new.txt"), "new");
}

/// Links in parent directories are followed. The last name itself is moved, replaced or deleted, even if it is a link.
#[test]
fn moves_and_deletes_the_link_itself() {
    let workspace = TestWorkspace::with_service(|inside| Files::unconfined(inside).unwrap().allow_delete(true));
    let is_link = |name: &str| workspace.path(name).is_symlink();
    let before = workspace.all_outside();
    for target in [workspace.outside("secret.txt"), "../outside".into(), "/nowhere".into()] {
        symlink(&target, workspace.path("link")).unwrap();
        symlink(".", workspace.path("here")).unwrap();
        workspace.output("move_file", json!({"from": "here/link", "to": "moved"}));
        assert!(is_link("moved") && !is_link("link"), "{target:?}");
        workspace.put("mine.txt", "mine");
        workspace.output("move_file", json!({"from": "mine.txt", "to": "moved", "overwrite": true}));
        assert!(!is_link("moved") && workspace.text("moved") == "mine", "{target:?}");
        fs::remove_file(workspace.path("moved")).unwrap();
        workspace.output("delete_file", json!({"path": "here"}));
        assert!(!is_link("here"), "{target:?}");
        assert_eq!(workspace.all_outside(), before, "{target:?}");
    }
}

/// Everything else must still be allowed explicitly.
#[test]
fn allows_nothing_else() {
    let workspace = unconfined();
    let path = workspace.outside("secret.txt").display().to_string();
    let before = tree(&workspace.outside(""));
    let message = workspace.refused("delete_file", json!({"path": path}));
    assert_eq!(message, "Deleting files is not allowed here: the application has not set `allow_delete`.");
    workspace.refused("read_file", json!({"path": "/dev/zero"}));
    assert_eq!(tree(&workspace.outside("")), before);

    // Control: with both settings, the file is deleted.
    let workspace = TestWorkspace::with_service(|inside| Files::unconfined(inside).unwrap().allow_delete(true));
    workspace.output("delete_file", json!({"path": workspace.outside("secret.txt")}));
    assert!(!workspace.outside("secret.txt").exists());
}

#[test]
fn rejects_a_missing_directory() {
    assert!(Files::unconfined("/nowhere/at/all").is_err());
}
