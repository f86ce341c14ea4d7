//! Symbolic links: those that stay inside are followed, those that lead out are rejected.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use tool_runtime::Effect;

use super::{SECRET, TestWorkspace, calls_with};

/// Creates links that lead out in different ways, and returns paths to the secret through them.
fn traps(workspace: &TestWorkspace) -> Vec<String> {
    let link = |target: &str, name: &str| symlink(target, workspace.path(name)).unwrap();
    let outside = workspace.outside("").display().to_string();
    fs::create_dir_all(workspace.path("directory")).unwrap();
    link("../outside/secret.txt", "relative");
    link(&format!("{outside}/secret.txt"), "absolute");
    link("../outside", "folder-out");
    link(&outside, "folder-absolute");
    link("directory/../../outside/secret.txt", "winding");
    link("one", "chain");
    link("two", "one");
    link("./directory/three", "two");
    link("../../outside/secret.txt", "directory/three");
    link("..", "up");
    link("/", "root");
    link("/proc/self/root", "magic");
    link("/proc/self/cwd", "cwd");
    link("loop-b", "loop-a");
    link("loop-a", "loop-b");
    link("itself", "itself");
    let whole = format!("{outside}/secret.txt");
    let mut paths = vec![format!("root{whole}"), format!("magic{whole}"), "cwd/Cargo.toml".to_owned()];
    for path in [
        "relative",
        "absolute",
        "folder-out/secret.txt",
        "folder-out",
        "folder-out/new.txt",
        "folder-absolute/secret.txt",
        "winding",
        "chain",
        "directory/three",
        "up/outside/secret.txt",
        "up/inside/relative",
        "loop-a",
        "loop-b/x",
        "itself",
    ] {
        paths.push(path.to_owned());
    }
    paths
}

#[test]
fn links_do_not_lead_out() {
    for path in traps(&TestWorkspace::new()) {
        // A new workspace for each call, since calls may remove or move the link itself.
        for index in 0..calls_with("").len() {
            let workspace = TestWorkspace::with(|files| files.allow_delete(true));
            traps(&workspace);
            workspace.put("mine.txt", "mine");
            let before = workspace.all_outside();
            let (name, arguments) = calls_with(&path).swap_remove(index);
            let result = workspace.call(name, arguments.clone());
            let shown_text = format!("{} {}", result.output, serde_json::to_string(&result.metadata).unwrap());
            assert!(!shown_text.contains(SECRET) && !shown_text.contains("[package]"), "{name} {path}: {shown_text}");
            assert_eq!(workspace.all_outside(), before, "{name} {path}");
        }
    }
}

/// The control: opening the path naively follows the link.
#[test]
fn a_naive_version_follows_links() {
    let workspace = TestWorkspace::new();
    let read = traps(&workspace)
        .into_iter()
        .filter(|path| fs::read_to_string(workspace.path(path)).is_ok_and(|text| text == SECRET));
    assert!(read.count() >= 8);
    fs::write(workspace.path("folder-out/new.txt"), "x").unwrap();
    assert!(workspace.outside("new.txt").exists());
}

#[test]
fn follows_links_that_stay_inside() {
    let workspace = TestWorkspace::new();
    workspace.put("real/a.txt", "one\n");
    symlink("real/a.txt", workspace.path("link")).unwrap();
    symlink("real", workspace.path("directory")).unwrap();
    symlink("../link", workspace.path("real/chain")).unwrap();
    for path in ["link", "directory/a.txt", "real/chain", "directory/chain"] {
        assert_eq!(workspace.output("read_file", json!({"path": path})), "one\n");
    }
    workspace.output("write_file", json!({"path": "link", "content": "two\n"}));
    workspace.output("edit_file", json!({"path": "directory/chain", "old_string": "two", "new_string": "three"}));
    assert_eq!(workspace.text("real/a.txt"), "three\n");
    assert!(workspace.path("link").is_symlink() && workspace.path("real/chain").is_symlink(), "links are kept");
    workspace.output("write_file", json!({"path": "directory/new.txt", "content": "x"}));
    assert_eq!(workspace.text("real/new.txt"), "x");
    let listed = workspace.output("list_files", json!({"path": "directory"}));
    assert!(listed.starts_with("real/a.txt (6 bytes)\nreal/chain (a symbolic link)\n"), "{listed}");
}

/// `x/..` is the parent of what `x` is, which for a link is not the directory that the link is in. Python's `normpath`
/// removes both from the text instead, and finds another file.
#[test]
fn dots_lead_where_the_kernel_leads_them() {
    let workspace = TestWorkspace::new();
    for file in ["p", "real/p", "real/deep/p"] {
        workspace.put(file, file);
    }
    symlink("real/deep", workspace.path("link")).unwrap();
    symlink("nowhere", workspace.path("broken")).unwrap();
    let mut found = 0;
    for start in ["", "real/", "link/", "real/deep/", "missing/", "broken/", "p/", "real/missing/"] {
        for path in [format!("{start}../p"), format!("{start}./../p"), format!("real/{start}../p"), format!("{start}p")]
        {
            let kernel = fs::read_to_string(workspace.path(&path));
            let result = workspace.call("read_file", json!({"path": path}));
            if path.starts_with("..") || path.starts_with("./..") {
                assert!(!result.success, "{path} is outside");
                continue;
            }
            assert_eq!(result.success.then_some(result.output), kernel.ok(), "{path}");
            found += usize::from(result.success);
        }
    }
    assert!(found > 8, "{found} paths lead to a file");
    assert_eq!(workspace.output("read_file", json!({"path": "link/../p"})), "real/p");
}

/// `write_file` creates missing directories, but not one that the path leaves again.
#[test]
fn a_path_through_a_missing_directory_is_not_written() {
    let workspace = TestWorkspace::new();
    workspace.put("p", "old");
    for path in ["missing/../p", "missing/../new/p", "new/deep/../../p"] {
        let refused = workspace.refused("write_file", json!({"path": path, "content": "new"}));
        let expected = format!("`{path}` leads through a directory that does not exist; pass the path without `..`.");
        assert_eq!(refused, expected);
    }
    assert_eq!(workspace.text("p"), "old");
    assert!(!workspace.path("missing").exists() && !workspace.path("new").exists());
    workspace.output("write_file", json!({"path": "new/deep/p", "content": "new"}));
    workspace.output("write_file", json!({"path": "new/deep/../p", "content": "the control"}));
    assert_eq!(workspace.text("new/p"), "the control");
}

/// The preview and the metadata of a move show the file that is replaced. For a link, that is the link itself.
#[test]
fn a_move_shows_the_replaced_file_and_follows_no_link() {
    let diff = |path: &str, before: &str, after: &str| {
        Ok(Some(Effect::Diff { path: Some(path.into()), before: before.into(), after: after.into() }))
    };
    let (shown, placeholder) = ("(a symbolic link, 0 bytes)", json!({"type": "a symbolic link", "bytes": 0}));
    for target in ["target", "nowhere", "directory", "../outside/secret.txt", "link"] {
        let workspace = TestWorkspace::new();
        workspace.put("target", "target\n");
        workspace.put("file", "file\n");
        workspace.put("directory/inside", "inside\n");
        symlink(target, workspace.path("link")).unwrap();

        let over_a_link = json!({"from": "file", "to": "link", "overwrite": true});
        assert_eq!(workspace.preview("move_file", over_a_link.clone()), diff("link", shown, "file\n"), "{target}");
        let result = workspace.call("move_file", over_a_link);
        assert!(result.success, "{target}: {}", result.output);
        let changes = json!([
            {"path": "file", "before": "file\n", "after": null},
            {"path": "link", "before": placeholder, "after": "file\n"},
        ]);
        assert_eq!(result.metadata.get("changes"), Some(&changes), "{target}");
        assert!(!workspace.path("link").is_symlink() && workspace.text("link") == "file\n", "{target}");
        assert_eq!(
            (workspace.text("target"), workspace.text("directory/inside")),
            ("target\n".into(), "inside\n".into())
        );

        symlink(target, workspace.path("other")).unwrap();
        let by_a_link = json!({"from": "other", "to": "link", "overwrite": true});
        assert_eq!(workspace.preview("move_file", by_a_link.clone()), diff("link", "file\n", shown), "{target}");
        let result = workspace.call("move_file", by_a_link);
        let changes = json!([
            {"path": "other", "before": placeholder, "after": null},
            {"path": "link", "before": "file\n", "after": placeholder},
        ]);
        assert_eq!(result.metadata.get("changes"), Some(&changes), "{target}");
        assert_eq!(fs::read_link(workspace.path("link")).unwrap().to_str(), Some(target));
    }
}

#[test]
fn walks_do_not_follow_links() {
    let workspace = TestWorkspace::new();
    traps(&workspace);
    let listed = workspace.output("list_files", json!({"recursive": true}));
    assert!(listed.contains("folder-out (a symbolic link)") && !listed.contains("secret.txt"), "{listed}");
    let found = workspace.output("search_files", json!({"pattern": "secret"}));
    assert!(found.starts_with("[No line matches"), "{found}");
}

#[test]
fn reports_loops_and_broken_links() {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    traps(&workspace);
    symlink("nowhere", workspace.path("dangling")).unwrap();
    let message = workspace.refused("read_file", json!({"path": "loop-a"}));
    assert_eq!(message, "`loop-a` leads through a loop of symbolic links.");
    let message = workspace.refused("write_file", json!({"path": "dangling", "content": "x"}));
    assert_eq!(message, "`dangling` is a broken symbolic link.");
    workspace.output("delete_file", json!({"path": "relative"}));
    assert!(!workspace.path("relative").is_symlink() && workspace.outside("secret.txt").exists());
}
