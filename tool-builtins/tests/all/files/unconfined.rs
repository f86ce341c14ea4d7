//! A service that is not kept inside its folder. Each call has a control: the same one of a service that is.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use tool_builtins::files::Files;

use super::{SECRET, World, tree};

fn unconfined() -> World {
    World::of(|inside| Files::unconfined(inside).unwrap())
}

/// The ways to the file outside: from the root, upwards, and through a link.
fn ways_out(world: &World) -> [String; 3] {
    symlink(world.outside(""), world.path("door")).unwrap();
    [world.outside("secret.txt").display().to_string(), "../outside/secret.txt".into(), "door/secret.txt".into()]
}

#[test]
fn what_is_outside_is_read_and_written() {
    let (free, kept) = (unconfined(), World::new());
    for (out, kept_out) in ways_out(&free).into_iter().zip(ways_out(&kept)) {
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
fn what_is_outside_is_listed_and_found() {
    let (free, kept) = (unconfined(), World::new());
    let outside = |world: &World| world.outside("").display().to_string();
    let listed = free.output("list_files", json!({"path": outside(&free)}));
    assert!(listed.contains("secret.txt"), "{listed}");
    kept.refused("list_files", json!({"path": outside(&kept)}));
    let found = free.output("search_files", json!({"pattern": "secret", "path": outside(&free)}));
    // It can be read by the name under which it is shown.
    let named = free.outside("secret.txt").display().to_string();
    assert!(found.contains(&named) && found.contains(SECRET), "{found}");
    kept.refused("search_files", json!({"pattern": "secret", "path": outside(&kept)}));
}

#[test]
fn relative_paths_begin_at_the_folder() {
    let world = unconfined();
    world.put("notes/mine.txt", "mine");
    assert_eq!(world.output("read_file", json!({"path": "notes/mine.txt"})), "mine");
    let listed = world.output("list_files", json!({"recursive": true}));
    assert!(listed.contains("notes/mine.txt") && !listed.contains("secret.txt"), "{listed}");
    world.output("write_file", json!({"path": "new.txt", "content": "new"}));
    assert_eq!(world.text("new.txt"), "new");
}

/// Links are followed on the way to a name. What bears the name is itself moved, replaced or deleted, as everywhere.
#[test]
fn of_a_link_only_the_link_goes() {
    let world = World::of(|inside| Files::unconfined(inside).unwrap().allow_delete(true));
    let is_link = |name: &str| world.path(name).is_symlink();
    let before = world.all_outside();
    for target in [world.outside("secret.txt"), "../outside".into(), "/nowhere".into()] {
        symlink(&target, world.path("link")).unwrap();
        symlink(".", world.path("here")).unwrap();
        world.output("move_file", json!({"from": "here/link", "to": "moved"}));
        assert!(is_link("moved") && !is_link("link"), "{target:?}");
        world.put("mine.txt", "mine");
        world.output("move_file", json!({"from": "mine.txt", "to": "moved", "overwrite": true}));
        assert!(!is_link("moved") && world.text("moved") == "mine", "{target:?}");
        fs::remove_file(world.path("moved")).unwrap();
        world.output("delete_file", json!({"path": "here"}));
        assert!(!is_link("here"), "{target:?}");
        assert_eq!(world.all_outside(), before, "{target:?}");
    }
}

/// It is about places only: the rest is allowed by its own name.
#[test]
fn nothing_else_is_allowed_by_it() {
    let world = unconfined();
    let path = world.outside("secret.txt").display().to_string();
    let before = tree(&world.outside(""));
    assert_eq!(world.refused("delete_file", json!({"path": path})), "Deleting files is not allowed here.");
    world.refused("read_file", json!({"path": "/dev/zero"}));
    assert_eq!(tree(&world.outside("")), before);

    // The control: with both, it is deleted.
    let world = World::of(|inside| Files::unconfined(inside).unwrap().allow_delete(true));
    world.output("delete_file", json!({"path": world.outside("secret.txt")}));
    assert!(!world.outside("secret.txt").exists());
}

#[test]
fn a_folder_that_is_none_is_an_error() {
    assert!(Files::unconfined("/nowhere/at/all").is_err());
}
