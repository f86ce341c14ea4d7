//! `apply_patch`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use serde_json::json;
use tool_runtime::Effect;

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
        PATCH.replace("+++ b/to.rs", "+++ b/src/a.rs").replace("rename to to.rs", "rename to src/a.rs"),
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

fn mode(world: &World, path: &str) -> u32 {
    fs::metadata(world.path(path)).unwrap().mode() & 0o7777
}

fn put_with_mode(world: &World, path: &str, content: impl AsRef<[u8]>, mode: u32) {
    world.put(path, content);
    fs::set_permissions(world.path(path), PermissionsExt::from_mode(mode)).unwrap();
}

/// A private file stays private under its new name.
#[test]
fn permissions_go_with_the_file() {
    for bits in [0o600, 0o755, 0o640, 0o400] {
        let world = World::new();
        put_with_mode(&world, "key", "secret\n", bits);
        world.output(
            "apply_patch",
            json!({"patch": "diff --git a/key b/new/key\nrename from key\nrename to new/key\n"}),
        );
        assert_eq!((mode(&world, "new/key"), world.path("key").exists()), (bits, false));
        let change = "--- a/new/key\n+++ b/copy\n@@ -1 +1 @@\n-secret\n+SECRET\n";
        let copy =
            format!("diff --git a/new/key b/copy\nsimilarity index 50%\ncopy from new/key\ncopy to copy\n{change}");
        world.output("apply_patch", json!({"patch": copy}));
        assert_eq!((mode(&world, "copy"), world.text("copy")), (bits, "SECRET\n".into()));
        assert_eq!((mode(&world, "new/key"), world.text("new/key")), (bits, "secret\n".into()));
    }
}

#[test]
fn a_copy_leaves_its_source() {
    let world = World::new();
    world.put("x", "one\n");
    let patch = "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n";
    let result = world.call("apply_patch", json!({"patch": patch}));
    assert_eq!(result.output, "Copied x to y, 1 line, 4 bytes.");
    assert_eq!((world.text("x"), world.text("y")), ("one\n".into(), "one\n".into()));
    assert_eq!(result.metadata.get("changes"), Some(&json!([{"path": "y", "before": null, "after": "one\n"}])));
    assert_eq!(world.refused("apply_patch", json!({"patch": patch})), "`y` exists already; the patch would create it.");
    // Two names that nothing relates are refused.
    let message = world
        .refused("apply_patch", json!({"patch": "diff --git a/x b/z\n--- a/x\n+++ b/z\n@@ -1 +1 @@\n-one\n+two\n"}));
    assert!(message.contains("`copy from` and `copy to` to keep both"), "{message}");
    assert_eq!((world.text("x"), world.path("z").exists()), ("one\n".into(), false));
}

#[test]
fn modes_are_those_of_the_patch() {
    let world = World::new();
    put_with_mode(&world, "run.sh", "echo\n", 0o640);
    let modes = |old, new| format!("diff --git a/run.sh b/run.sh\nold mode 100{old}\nnew mode 100{new}\n");
    let patch = json!({"patch": modes(644, 755)});
    let Some(Effect::Text(preview)) = world.preview("apply_patch", patch.clone()).unwrap() else { panic!("no text") };
    assert!(preview.starts_with("run.sh becomes executable.\n"), "{preview}");
    let result = world.call("apply_patch", patch);
    assert_eq!(result.output, "Patched run.sh, 1 line, 5 bytes, now executable.");
    assert_eq!(result.metadata.get("changes").unwrap()[0]["executable"], json!(true));
    assert_eq!((mode(&world, "run.sh"), world.text("run.sh")), (0o750, "echo\n".into()));
    let hunk = "--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-echo\n+true\n";
    let output = world.output("apply_patch", json!({"patch": modes(755, 644) + hunk}));
    assert_eq!(output, "Patched run.sh, 1 hunk, 1 line, 5 bytes, no longer executable.");
    assert_eq!((mode(&world, "run.sh"), world.text("run.sh")), (0o640, "true\n".into()));
    let new = "diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(world.output("apply_patch", json!({"patch": new})), "Created new.sh, 1 line, 2 bytes, executable.");
    assert_eq!(mode(&world, "new.sh") & 0o111, mode(&world, "new.sh") >> 2 & 0o111);
    world.output("apply_patch", json!({"patch": "--- /dev/null\n+++ b/plain\n@@ -0,0 +1 @@\n+x\n"}));
    assert_eq!(mode(&world, "plain") & 0o111, 0);
}

#[test]
fn symbolic_links_are_neither_made_nor_moved() {
    let world = World::with(|files| files.allow_delete(true));
    world.put("target", "one\n");
    symlink("target", world.path("link")).unwrap();
    let new = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n";
    let message = world.refused("apply_patch", json!({"patch": new}));
    assert!(message.contains("a symbolic link, mode 120000") && message.contains("only regular files"), "{message}");
    for patch in [
        "diff --git a/link b/moved\nsimilarity index 100%\nrename from link\nrename to moved\n",
        "diff --git a/link b/link\ndeleted file mode 100644\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
    ] {
        let message = world.refused("apply_patch", json!({"patch": patch}));
        assert!(message.starts_with("`link` is a symbolic link, which no patch moves or deletes"), "{message}");
    }
    assert_eq!((world.text("target"), world.path("link").is_symlink()), ("one\n".into(), true));
    // The control: the file itself is moved.
    let moved = "diff --git a/target b/moved\nsimilarity index 100%\nrename from target\nrename to moved\n";
    world.output("apply_patch", json!({"patch": moved}));
}

#[test]
fn what_is_no_text_is_renamed_and_copied_too() {
    let world = World::new();
    let image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0";
    put_with_mode(&world, "a.png", image, 0o600);
    let patch = "diff --git a/a.png b/b.png\nsimilarity index 100%\nrename from a.png\nrename to b.png\n";
    assert_eq!(world.output("apply_patch", json!({"patch": patch})), "Moved a.png to b.png, 18 bytes.");
    let patch = "diff --git a/b.png b/c.png\nold mode 100644\nnew mode 100755\nsimilarity index 100%\ncopy from b.png\ncopy to c.png\n";
    assert_eq!(
        world.output("apply_patch", json!({"patch": patch})),
        "Copied b.png to c.png, 18 bytes, now executable."
    );
    for (path, bits) in [("b.png", 0o600), ("c.png", 0o700)] {
        assert_eq!((fs::read(world.path(path)).unwrap().as_slice(), mode(&world, path)), (image.as_slice(), bits));
    }
    let hunk = "--- a/b.png\n+++ b/b.png\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(world.refused("apply_patch", json!({"patch": hunk})), "`b.png` is no text but image/png.");
}

/// Names may change hands within one patch.
#[test]
fn names_are_exchanged() {
    let world = World::with(|files| files.allow_delete(true));
    put_with_mode(&world, "a", "A\n", 0o600);
    put_with_mode(&world, "b", "B\n", 0o755);
    world.put("c", "C\n");
    let rename =
        |from, to| format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n");
    let deletion = "diff --git a/c b/c\ndeleted file mode 100644\n--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-C\n";
    world.output("apply_patch", json!({"patch": rename("a", "b") + &rename("b", "c") + deletion}));
    assert_eq!((world.text("b"), mode(&world, "b")), ("A\n".into(), 0o600));
    assert_eq!((world.text("c"), mode(&world, "c")), ("B\n".into(), 0o755));
    assert!(!world.path("a").exists());
    world.output("apply_patch", json!({"patch": rename("b", "c") + &rename("c", "b")}));
    assert_eq!((world.text("b"), world.text("c")), ("B\n".into(), "A\n".into()));
}

/// Line breaks and byte order marks are part of what a patch says.
#[test]
fn bytes_are_those_of_the_patch() {
    let world = World::new();
    let apply = |patch: &str| world.output("apply_patch", json!({"patch": patch}));
    apply("--- /dev/null\n+++ b/a.bat\n@@ -0,0 +1,2 @@\n+echo\r\n+exit\r\n");
    assert_eq!(world.text("a.bat"), "echo\r\nexit\r\n");
    apply("--- a/a.bat\n+++ b/a.bat\n@@ -1,2 +1,2 @@\n-echo\r\n+echo\n exit\r\n");
    assert_eq!(world.text("a.bat"), "echo\nexit\r\n");
    world.put("marked", "\u{feff}one\ntwo\n");
    apply("--- a/marked\n+++ b/marked\n@@ -1,2 +1,2 @@\n-\u{feff}one\n+\u{feff}eins\n two\n");
    assert_eq!(world.text("marked"), "\u{feff}eins\ntwo\n");
    apply("--- a/marked\n+++ b/marked\n@@ -1,2 +1,2 @@\n-eins\n+uno\n two\n");
    assert_eq!(world.text("marked"), "\u{feff}uno\ntwo\n");
    apply("--- a/marked\n+++ b/marked\n@@ -1 +1 @@\n-\u{feff}uno\n+uno\n");
    assert_eq!(world.text("marked"), "uno\ntwo\n");
}

/// Lines around a change keep bytes that cannot be shown.
#[test]
fn lines_that_are_not_changed_keep_their_bytes() {
    let world = World::new();
    world.put("log", "Größe naïve 漢字\n".bytes().chain(*b"bad \xFF byte\nlast\n").collect::<Vec<u8>>());
    world.put("colour", "\x1b[31mred\x1b[0m\nplain\n");
    let patch = "--- a/log\n+++ b/log\n@@ -2,2 +2,3 @@\n bad \u{fffd} byte\n+schön\n last\n\
        --- a/colour\n+++ b/colour\n@@ -1,2 +1,2 @@\n \\u{1b}[31mred\\u{1b}[0m\n-plain\n+\\u{1b}[32mgreen\n";
    world.output("apply_patch", json!({"patch": patch}));
    let expected = "Größe naïve 漢字\n".bytes().chain(*b"bad \xFF byte\nsch\xC3\xB6n\nlast\n").collect::<Vec<u8>>();
    assert_eq!(fs::read(world.path("log")).unwrap(), expected);
    assert_eq!(world.text("colour"), "\x1b[31mred\x1b[0m\n\x1b[32mgreen\n");
}
