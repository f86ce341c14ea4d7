//! `apply_patch`.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::{World, tree};

const PATCH: &str = "\
diff --git a/src/a.rs b/src/a.rs
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,3 @@
 one
-two
+zwei
 three
--- /dev/null
+++ b/deep/er/new.rs
@@ -0,0 +1,2 @@
+brand
+new
--- a/old.rs
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/from.rs b/to.rs
similarity index 50%
rename from from.rs
rename to to.rs
--- a/from.rs
+++ b/to.rs
@@ -1 +1 @@
-here
+there
";

fn world(delete: bool) -> World {
    let world = World::with(|files| files.allow_delete(delete));
    world.put("src/a.rs", "one\r\ntwo\r\nthree\r\n");
    world.put("old.rs", "gone\n");
    world.put("from.rs", "here\n");
    world
}

#[test]
fn files_are_changed_created_deleted_and_renamed() {
    let world = world(true);
    let result = world.call("apply_patch", json!({"patch": PATCH}));
    assert_eq!(
        result.output,
        "Patched src/a.rs, 1 hunk, 3 lines, 18 bytes.\nCreated deep/er/new.rs, 2 lines, 10 bytes.\n\
         Deleted old.rs, 1 line, 5 bytes.\nMoved from.rs to to.rs, 1 hunk, 1 line, 6 bytes."
    );
    assert_eq!(world.text("src/a.rs"), "one\r\nzwei\r\nthree\r\n");
    assert_eq!(world.text("deep/er/new.rs"), "brand\nnew\n");
    assert_eq!(world.text("to.rs"), "there\n");
    assert!(!world.path("old.rs").exists() && !world.path("from.rs").exists());
    let changes = result.metadata.get("changes").unwrap();
    assert_eq!(changes[1], json!({"path": "deep/er/new.rs", "before": null, "after": "brand\nnew\n"}));
    assert_eq!(changes[2], json!({"path": "old.rs", "before": "gone\n", "after": null}));
}

/// Both parts would begin with the file as it is, and the second would undo the first.
#[test]
fn no_file_stands_in_a_patch_under_two_names() {
    let world = world(false);
    symlink("src", world.path("link")).unwrap();
    let part = |path: &str, old: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n{old}");
    let (first, last) = ("-one\n+eins\n two\n three\n", " one\n two\n-three\n+drei\n");
    let before = tree(&world.path(""));
    for other in ["src/a.rs", "./src/a.rs", "src//a.rs", "src/../src/a.rs", "link/a.rs"] {
        let patch = part("src/a.rs", first) + &part(other, last);
        let message = world.refused("apply_patch", json!({"patch": patch}));
        assert_eq!(message, format!("`{other}` stands in the patch twice; put its hunks together."));
    }
    let new = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
    let message = world.refused("apply_patch", json!({"patch": new("made/x") + &new("made/./x")}));
    assert!(message.starts_with("`made/./x` stands in the patch twice"), "{message}");
    assert_eq!(tree(&world.path("")), before);
    // The control: each part fits on its own.
    for (path, hunk) in [("src/a.rs", first), ("link/a.rs", last.replace(" one", " eins").as_str())] {
        world.output("apply_patch", json!({"patch": part(path, hunk)}));
    }
    assert_eq!(world.text("src/a.rs"), "eins\r\ntwo\r\ndrei\r\n");
}

#[test]
fn all_of_it_or_nothing() {
    let world = world(true);
    let before = tree(&world.path(""));
    let spoilt = [
        PATCH.replace("-here", "-elsewhere"),
        PATCH.replace("+++ b/to.rs", "+++ b/old.rs").replace("rename to to.rs", "rename to old.rs"),
        PATCH.replace("deep/er/new.rs", "src/a.rs/new.rs"),
        PATCH.replace("deep/er/new.rs", "../outside/new.rs"),
        PATCH.replace("@@ -0,0 +1,2 @@", "@@ -0,0 +1,9 @@"),
        format!("{PATCH}--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-one\n+eins\n"),
    ];
    for patch in spoilt {
        world.refused("apply_patch", json!({"patch": patch}));
        assert_eq!(tree(&world.path("")), before, "{patch}");
    }
    // The same patch, unspoilt: it was each change that stopped it.
    world.output("apply_patch", json!({"patch": PATCH}));
    assert_ne!(tree(&world.path("")), before);
}

#[test]
fn a_patch_deletes_nothing_where_nothing_may_be_deleted() {
    let world = world(false);
    let before = tree(&world.path(""));
    let message = world.refused("apply_patch", json!({"patch": PATCH}));
    assert_eq!(message, "The patch deletes `old.rs`, which is not allowed here.");
    assert_eq!(tree(&world.path("")), before);
}

#[test]
fn what_does_not_fit_is_shown_with_what_is_there() {
    let world = world(false);
    let patch = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n-zwo\n+zwei\n";
    let message = world.refused("apply_patch", json!({"patch": patch}));
    assert!(message.contains("its old lines are not in `src/a.rs`"), "{message}");
    assert!(message.contains("     1\tone\n     2\ttwo"), "{message}");
}
