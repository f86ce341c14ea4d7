//! Symbolic links: those that stay inside are followed, those that lead out are not.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use tool_runtime::Effect;

use super::{SECRET, World, calls_with};

/// Links that lead out, each in its own way, and what to append to read the secret through them.
fn traps(world: &World) -> Vec<String> {
    let link = |target: &str, name: &str| symlink(target, world.path(name)).unwrap();
    let outside = world.outside("").display().to_string();
    fs::create_dir_all(world.path("folder")).unwrap();
    link("../outside/secret.txt", "relative");
    link(&format!("{outside}/secret.txt"), "absolute");
    link("../outside", "folder-out");
    link(&outside, "folder-absolute");
    link("folder/../../outside/secret.txt", "winding");
    link("one", "chain");
    link("two", "one");
    link("./folder/three", "two");
    link("../../outside/secret.txt", "folder/three");
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
        "folder/three",
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
fn no_link_leads_out() {
    for path in traps(&World::new()) {
        // A new world for each: calls that only touch the link itself may remove or move it.
        for index in 0..calls_with("").len() {
            let world = World::with(|files| files.allow_delete(true));
            traps(&world);
            world.put("mine.txt", "mine");
            let before = world.all_outside();
            let (name, arguments) = calls_with(&path).swap_remove(index);
            let result = world.call(name, arguments.clone());
            let told = format!("{} {}", result.output, serde_json::to_string(&result.metadata).unwrap());
            assert!(!told.contains(SECRET) && !told.contains("[package]"), "{name} {path}: {told}");
            assert_eq!(world.all_outside(), before, "{name} {path}");
        }
    }
}

/// The control: whoever opens the path follows the link.
#[test]
fn a_naive_version_follows() {
    let world = World::new();
    let read =
        traps(&world).into_iter().filter(|path| fs::read_to_string(world.path(path)).is_ok_and(|text| text == SECRET));
    assert!(read.count() >= 8);
    fs::write(world.path("folder-out/new.txt"), "x").unwrap();
    assert!(world.outside("new.txt").exists());
}

#[test]
fn links_that_stay_inside_are_followed() {
    let world = World::new();
    world.put("real/a.txt", "one\n");
    symlink("real/a.txt", world.path("link")).unwrap();
    symlink("real", world.path("folder")).unwrap();
    symlink("../link", world.path("real/chain")).unwrap();
    for path in ["link", "folder/a.txt", "real/chain", "folder/chain"] {
        assert_eq!(world.output("read_file", json!({"path": path})), "one\n");
    }
    world.output("write_file", json!({"path": "link", "content": "two\n"}));
    world.output("edit_file", json!({"path": "folder/chain", "old_string": "two", "new_string": "three"}));
    assert_eq!(world.text("real/a.txt"), "three\n");
    assert!(world.path("link").is_symlink() && world.path("real/chain").is_symlink(), "links stay links");
    world.output("write_file", json!({"path": "folder/new.txt", "content": "x"}));
    assert_eq!(world.text("real/new.txt"), "x");
    let listed = world.output("list_files", json!({"path": "folder"}));
    assert!(listed.starts_with("real/a.txt (6 bytes)\nreal/chain (a symbolic link)\n"), "{listed}");
}

/// What a move destroys is shown before and told after. That is what bears the name, not what a link leads to.
#[test]
fn a_move_shows_what_it_replaces_and_follows_no_link() {
    let diff = |path: &str, before: &str, after: &str| {
        Ok(Some(Effect::Diff { path: Some(path.into()), before: before.into(), after: after.into() }))
    };
    let (shown, told) = ("(a symbolic link, 0 bytes)", json!({"type": "a symbolic link", "bytes": 0}));
    for target in ["target", "nowhere", "folder", "../outside/secret.txt", "link"] {
        let world = World::new();
        world.put("target", "target\n");
        world.put("file", "file\n");
        world.put("folder/inside", "inside\n");
        symlink(target, world.path("link")).unwrap();

        let over_a_link = json!({"from": "file", "to": "link", "overwrite": true});
        assert_eq!(world.preview("move_file", over_a_link.clone()), diff("link", shown, "file\n"), "{target}");
        let result = world.call("move_file", over_a_link);
        assert!(result.success, "{target}: {}", result.output);
        let changes = json!([
            {"path": "file", "before": "file\n", "after": null},
            {"path": "link", "before": told, "after": "file\n"},
        ]);
        assert_eq!(result.metadata.get("changes"), Some(&changes), "{target}");
        assert!(!world.path("link").is_symlink() && world.text("link") == "file\n", "{target}");
        assert_eq!((world.text("target"), world.text("folder/inside")), ("target\n".into(), "inside\n".into()));

        symlink(target, world.path("other")).unwrap();
        let by_a_link = json!({"from": "other", "to": "link", "overwrite": true});
        assert_eq!(world.preview("move_file", by_a_link.clone()), diff("link", "file\n", shown), "{target}");
        let result = world.call("move_file", by_a_link);
        let changes = json!([
            {"path": "other", "before": told, "after": null},
            {"path": "link", "before": "file\n", "after": told},
        ]);
        assert_eq!(result.metadata.get("changes"), Some(&changes), "{target}");
        assert_eq!(fs::read_link(world.path("link")).unwrap().to_str(), Some(target));
    }
}

#[test]
fn walks_do_not_follow_links() {
    let world = World::new();
    traps(&world);
    let listed = world.output("list_files", json!({"recursive": true}));
    assert!(listed.contains("folder-out (a symbolic link)") && !listed.contains("secret.txt"), "{listed}");
    let found = world.output("search_files", json!({"pattern": "secret"}));
    assert!(found.starts_with("[No line matches"), "{found}");
}

#[test]
fn circles_and_links_to_nothing_are_told() {
    let world = World::with(|files| files.allow_delete(true));
    traps(&world);
    symlink("nowhere", world.path("dangling")).unwrap();
    let message = world.refused("read_file", json!({"path": "loop-a"}));
    assert_eq!(message, "`loop-a` leads through symbolic links in a circle.");
    let message = world.refused("write_file", json!({"path": "dangling", "content": "x"}));
    assert_eq!(message, "`dangling` is a symbolic link to nothing.");
    world.output("delete_file", json!({"path": "relative"}));
    assert!(!world.path("relative").is_symlink() && world.outside("secret.txt").exists());
}
