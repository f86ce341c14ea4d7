//! `apply_patch`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use serde_json::json;
use tool_runtime::Effect;

use super::{TestWorkspace, tree};

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

fn workspace(delete: bool) -> TestWorkspace {
    let workspace = TestWorkspace::with(|files| files.allow_delete(delete));
    workspace.put("src/a.rs", "one\r\ntwo\r\nthree\r\n");
    workspace.put("old.rs", "gone\n");
    workspace.put("from.rs", "here\n");
    workspace
}

#[test]
fn changes_creates_deletes_and_renames_files() {
    let workspace = workspace(true);
    let result = workspace.call("apply_patch", json!({"patch": PATCH}));
    assert_eq!(
        result.output,
        "Patched src/a.rs, 1 hunk, 3 lines, 18 bytes.\nCreated deep/er/new.rs, 2 lines, 10 bytes.\n\
         Deleted old.rs, 1 line, 5 bytes.\nMoved from.rs to to.rs, 1 hunk, 1 line, 6 bytes."
    );
    assert_eq!(workspace.text("src/a.rs"), "one\r\nzwei\r\nthree\r\n");
    assert_eq!(workspace.text("deep/er/new.rs"), "brand\nnew\n");
    assert_eq!(workspace.text("to.rs"), "there\n");
    assert!(!workspace.path("old.rs").exists() && !workspace.path("from.rs").exists());
    let changes = result.metadata.get("changes").unwrap();
    assert_eq!(changes[1], json!({"path": "deep/er/new.rs", "before": null, "after": "brand\nnew\n"}));
    assert_eq!(changes[2], json!({"path": "old.rs", "before": "gone\n", "after": null}));
}

/// Both parts would start from the current file, and the second would undo the first.
#[test]
fn rejects_a_file_that_occurs_under_two_names() {
    let workspace = workspace(false);
    symlink("src", workspace.path("link")).unwrap();
    let part = |path: &str, old: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n{old}");
    let (first, last) = ("-one\n+eins\n two\n three\n", " one\n two\n-three\n+drei\n");
    let before = tree(&workspace.path(""));
    for other in ["src/a.rs", "./src/a.rs", "src//a.rs", "src/../src/a.rs", "link/a.rs"] {
        let patch = part("src/a.rs", first) + &part(other, last);
        let message = workspace.refused("apply_patch", json!({"patch": patch}));
        assert_eq!(message, format!("`{other}` occurs in the patch twice; combine its hunks."));
    }
    let new = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
    let message = workspace.refused("apply_patch", json!({"patch": new("made/x") + &new("made/./x")}));
    assert!(message.starts_with("`made/./x` occurs in the patch twice"), "{message}");
    assert_eq!(tree(&workspace.path("")), before);
    // Control: each part applies on its own.
    for (path, hunk) in [("src/a.rs", first), ("link/a.rs", last.replace(" one", " eins").as_str())] {
        workspace.output("apply_patch", json!({"patch": part(path, hunk)}));
    }
    assert_eq!(workspace.text("src/a.rs"), "eins\r\ntwo\r\ndrei\r\n");
}

#[test]
fn applies_a_patch_completely_or_not_at_all() {
    let workspace = workspace(true);
    let before = tree(&workspace.path(""));
    let spoilt = [
        PATCH.replace("-here", "-elsewhere"),
        PATCH.replace("+++ b/to.rs", "+++ b/src/a.rs").replace("rename to to.rs", "rename to src/a.rs"),
        PATCH.replace("deep/er/new.rs", "src/a.rs/new.rs"),
        PATCH.replace("deep/er/new.rs", "../outside/new.rs"),
        PATCH.replace("@@ -0,0 +1,2 @@", "@@ -0,0 +1,9 @@"),
        format!("{PATCH}--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-one\n+eins\n"),
    ];
    for patch in spoilt {
        workspace.refused("apply_patch", json!({"patch": patch}));
        assert_eq!(tree(&workspace.path("")), before, "{patch}");
    }
    // Control: the original patch applies.
    workspace.output("apply_patch", json!({"patch": PATCH}));
    assert_ne!(tree(&workspace.path("")), before);
}

#[test]
fn a_patch_deletes_files_only_if_allowed() {
    let workspace = workspace(false);
    let before = tree(&workspace.path(""));
    let message = workspace.refused("apply_patch", json!({"patch": PATCH}));
    assert_eq!(message, "The patch deletes `old.rs`, which is not allowed here.");
    assert_eq!(tree(&workspace.path("")), before);
}

#[test]
fn shows_the_current_lines_if_a_hunk_does_not_match() {
    let workspace = workspace(false);
    let patch = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n-zwo\n+zwei\n";
    let message = workspace.refused("apply_patch", json!({"patch": patch}));
    assert!(message.contains("its old lines do not occur in `src/a.rs`"), "{message}");
    assert!(message.contains("     1\tone\n     2\ttwo"), "{message}");
}

fn mode(workspace: &TestWorkspace, path: &str) -> u32 {
    fs::metadata(workspace.path(path)).unwrap().mode() & 0o7777
}

fn put_with_mode(workspace: &TestWorkspace, path: &str, content: impl AsRef<[u8]>, mode: u32) {
    workspace.put(path, content);
    fs::set_permissions(workspace.path(path), PermissionsExt::from_mode(mode)).unwrap();
}

/// A private file stays private under its new name.
#[test]
fn renamed_and_copied_files_keep_their_permissions() {
    for bits in [0o600, 0o755, 0o640, 0o400] {
        let workspace = TestWorkspace::new();
        put_with_mode(&workspace, "key", "secret\n", bits);
        workspace.output(
            "apply_patch",
            json!({"patch": "diff --git a/key b/new/key\nrename from key\nrename to new/key\n"}),
        );
        assert_eq!((mode(&workspace, "new/key"), workspace.path("key").exists()), (bits, false));
        let change = "--- a/new/key\n+++ b/copy\n@@ -1 +1 @@\n-secret\n+SECRET\n";
        let copy =
            format!("diff --git a/new/key b/copy\nsimilarity index 50%\ncopy from new/key\ncopy to copy\n{change}");
        workspace.output("apply_patch", json!({"patch": copy}));
        assert_eq!((mode(&workspace, "copy"), workspace.text("copy")), (bits, "SECRET\n".into()));
        assert_eq!((mode(&workspace, "new/key"), workspace.text("new/key")), (bits, "secret\n".into()));
    }
}

#[test]
fn a_copy_keeps_its_source() {
    let workspace = TestWorkspace::new();
    workspace.put("x", "one\n");
    let patch = "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n";
    let result = workspace.call("apply_patch", json!({"patch": patch}));
    assert_eq!(result.output, "Copied x to y, 1 line, 4 bytes.");
    assert_eq!((workspace.text("x"), workspace.text("y")), ("one\n".into(), "one\n".into()));
    assert_eq!(result.metadata.get("changes"), Some(&json!([{"path": "y", "before": null, "after": "one\n"}])));
    assert_eq!(
        workspace.refused("apply_patch", json!({"patch": patch})),
        "`y` already exists, but the patch creates it."
    );
    // Two names without a rename or copy header are rejected.
    let message = workspace
        .refused("apply_patch", json!({"patch": "diff --git a/x b/z\n--- a/x\n+++ b/z\n@@ -1 +1 @@\n-one\n+two\n"}));
    assert!(message.contains("`copy from` and `copy to` to keep both"), "{message}");
    assert_eq!((workspace.text("x"), workspace.path("z").exists()), ("one\n".into(), false));
}

#[test]
fn applies_the_modes_of_the_patch() {
    let workspace = TestWorkspace::new();
    put_with_mode(&workspace, "run.sh", "echo\n", 0o640);
    let modes = |old, new| format!("diff --git a/run.sh b/run.sh\nold mode 100{old}\nnew mode 100{new}\n");
    let patch = json!({"patch": modes(644, 755)});
    let Some(Effect::Text(preview)) = workspace.preview("apply_patch", patch.clone()).unwrap() else {
        panic!("no text")
    };
    assert!(preview.starts_with("run.sh becomes executable.\n"), "{preview}");
    let result = workspace.call("apply_patch", patch);
    assert_eq!(result.output, "Patched run.sh, 1 line, 5 bytes, now executable.");
    assert_eq!(result.metadata.get("changes").unwrap()[0]["executable"], json!(true));
    assert_eq!((mode(&workspace, "run.sh"), workspace.text("run.sh")), (0o750, "echo\n".into()));
    let hunk = "--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-echo\n+true\n";
    let output = workspace.output("apply_patch", json!({"patch": modes(755, 644) + hunk}));
    assert_eq!(output, "Patched run.sh, 1 hunk, 1 line, 5 bytes, no longer executable.");
    assert_eq!((mode(&workspace, "run.sh"), workspace.text("run.sh")), (0o640, "true\n".into()));
    let new = "diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(workspace.output("apply_patch", json!({"patch": new})), "Created new.sh, 1 line, 2 bytes, executable.");
    assert_eq!(mode(&workspace, "new.sh") & 0o111, mode(&workspace, "new.sh") >> 2 & 0o111);
    workspace.output("apply_patch", json!({"patch": "--- /dev/null\n+++ b/plain\n@@ -0,0 +1 @@\n+x\n"}));
    assert_eq!(mode(&workspace, "plain") & 0o111, 0);
}

#[test]
fn does_not_create_or_move_symbolic_links() {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    workspace.put("target", "one\n");
    symlink("target", workspace.path("link")).unwrap();
    let new = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n";
    let message = workspace.refused("apply_patch", json!({"patch": new}));
    assert!(message.contains("a symbolic link, mode 120000") && message.contains("only regular files"), "{message}");
    for patch in [
        "diff --git a/link b/moved\nsimilarity index 100%\nrename from link\nrename to moved\n",
        "diff --git a/link b/link\ndeleted file mode 100644\n--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
    ] {
        let message = workspace.refused("apply_patch", json!({"patch": patch}));
        assert!(message.starts_with("`link` is a symbolic link, which patches cannot move or delete"), "{message}");
    }
    assert_eq!((workspace.text("target"), workspace.path("link").is_symlink()), ("one\n".into(), true));
    // Control: the file itself can be moved.
    let moved = "diff --git a/target b/moved\nsimilarity index 100%\nrename from target\nrename to moved\n";
    workspace.output("apply_patch", json!({"patch": moved}));
}

#[test]
fn renames_and_copies_binary_files() {
    let workspace = TestWorkspace::new();
    let image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0";
    put_with_mode(&workspace, "a.png", image, 0o600);
    let patch = "diff --git a/a.png b/b.png\nsimilarity index 100%\nrename from a.png\nrename to b.png\n";
    assert_eq!(workspace.output("apply_patch", json!({"patch": patch})), "Moved a.png to b.png, 18 bytes.");
    let patch = "diff --git a/b.png b/c.png\nold mode 100644\nnew mode 100755\nsimilarity index 100%\ncopy from b.png\ncopy to c.png\n";
    assert_eq!(
        workspace.output("apply_patch", json!({"patch": patch})),
        "Copied b.png to c.png, 18 bytes, now executable."
    );
    for (path, bits) in [("b.png", 0o600), ("c.png", 0o700)] {
        assert_eq!(
            (fs::read(workspace.path(path)).unwrap().as_slice(), mode(&workspace, path)),
            (image.as_slice(), bits)
        );
    }
    let hunk = "--- a/b.png\n+++ b/b.png\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(workspace.refused("apply_patch", json!({"patch": hunk})), "`b.png` is not text but image/png.");
}

/// Names can be swapped within one patch.
#[test]
fn swaps_names() {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    put_with_mode(&workspace, "a", "A\n", 0o600);
    put_with_mode(&workspace, "b", "B\n", 0o755);
    workspace.put("c", "C\n");
    let rename =
        |from, to| format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n");
    let deletion = "diff --git a/c b/c\ndeleted file mode 100644\n--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-C\n";
    workspace.output("apply_patch", json!({"patch": rename("a", "b") + &rename("b", "c") + deletion}));
    assert_eq!((workspace.text("b"), mode(&workspace, "b")), ("A\n".into(), 0o600));
    assert_eq!((workspace.text("c"), mode(&workspace, "c")), ("B\n".into(), 0o755));
    assert!(!workspace.path("a").exists());
    workspace.output("apply_patch", json!({"patch": rename("b", "c") + &rename("c", "b")}));
    assert_eq!((workspace.text("b"), workspace.text("c")), ("B\n".into(), "A\n".into()));
}

/// Line breaks and byte order marks of a patch are applied literally.
#[test]
fn applies_line_breaks_and_byte_order_marks() {
    let workspace = TestWorkspace::new();
    let apply = |patch: &str| workspace.output("apply_patch", json!({"patch": patch}));
    apply("--- /dev/null\n+++ b/a.bat\n@@ -0,0 +1,2 @@\n+echo\r\n+exit\r\n");
    assert_eq!(workspace.text("a.bat"), "echo\r\nexit\r\n");
    apply("--- a/a.bat\n+++ b/a.bat\n@@ -1,2 +1,2 @@\n-echo\r\n+echo\n exit\r\n");
    assert_eq!(workspace.text("a.bat"), "echo\nexit\r\n");
    workspace.put("marked", "\u{feff}one\ntwo\n");
    apply("--- a/marked\n+++ b/marked\n@@ -1,2 +1,2 @@\n-\u{feff}one\n+\u{feff}eins\n two\n");
    assert_eq!(workspace.text("marked"), "\u{feff}eins\ntwo\n");
    apply("--- a/marked\n+++ b/marked\n@@ -1,2 +1,2 @@\n-eins\n+uno\n two\n");
    assert_eq!(workspace.text("marked"), "\u{feff}uno\ntwo\n");
    apply("--- a/marked\n+++ b/marked\n@@ -1 +1 @@\n-\u{feff}uno\n+uno\n");
    assert_eq!(workspace.text("marked"), "uno\ntwo\n");
}

/// Context lines keep bytes that are not valid UTF-8, and control characters.
#[test]
fn keeps_the_bytes_of_context_lines() {
    let workspace = TestWorkspace::new();
    workspace.put("log", "Größe naïve 漢字\n".bytes().chain(*b"bad \xFF byte\nlast\n").collect::<Vec<u8>>());
    workspace.put("colour", "\x1b[31mred\x1b[0m\nplain\n");
    let patch = "--- a/log\n+++ b/log\n@@ -2,2 +2,3 @@\n bad \u{fffd} byte\n+schön\n last\n\
        --- a/colour\n+++ b/colour\n@@ -1,2 +1,2 @@\n \\u{1b}[31mred\\u{1b}[0m\n-plain\n+\\u{1b}[32mgreen\n";
    workspace.output("apply_patch", json!({"patch": patch}));
    let expected = "Größe naïve 漢字\n".bytes().chain(*b"bad \xFF byte\nsch\xC3\xB6n\nlast\n").collect::<Vec<u8>>();
    assert_eq!(fs::read(workspace.path("log")).unwrap(), expected);
    assert_eq!(workspace.text("colour"), "\x1b[31mred\x1b[0m\n\x1b[32mgreen\n");
}
