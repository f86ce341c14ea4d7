//! Behaviour on a full disk: a small tmpfs in a separate mount namespace.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tool_builtins::files::{Files, WriteMode};
use tool_runtime::inject::Notes;

use super::tree;

/// Tells the test below where its disk is mounted.
const DISK: &str = "FULL_DISK";

#[test]
fn a_failed_write_on_a_full_disk_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=256k tmpfs "$FULL_DISK" || exit 77; exec "$0" --exact files::full_disk::keeps_everything_on_a_full_disk --ignored"#;
    let ran = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(DISK, directory.path())
        .output();
    match ran {
        Ok(ran) if ran.status.success() => {
            let output = String::from_utf8_lossy(&ran.stdout);
            assert!(output.contains("1 passed"), "{output}");
        }
        Ok(ran) if ran.status.code() == Some(101) => panic!("{}", String::from_utf8_lossy(&ran.stdout)),
        other => eprintln!("skipped: cannot mount a disk here: {other:?}"),
    }
}

#[test]
#[ignore = "requires a small disk; the test above runs it"]
fn keeps_everything_on_a_full_disk() {
    let root = PathBuf::from(std::env::var_os(DISK).unwrap());
    let old = "old line\n".repeat(500);
    fs::write(root.join("a"), &old).unwrap();
    fs::write(root.join("b"), "small\n").unwrap();
    fill(&root);
    let before = tree(&root);
    let files = Files::new(&root).unwrap();
    let notes = Notes::default();
    let long = "new line\n".repeat(20_000);
    let patch = format!(
        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-small\n+tiny\n--- /dev/null\n+++ b/deep/c\n@@ -0,0 +1,20000 @@\n{}",
        "+new line\n".repeat(20_000)
    );
    for failed in [
        files.write_file("a", &long, WriteMode::Overwrite, &notes),
        files.write_file("a", &long, WriteMode::Append, &notes),
        files.edit_file("a", "old", &"new".repeat(1_000), true, &notes),
        files.write_file("new", &long, WriteMode::Overwrite, &notes),
        files.apply_patch(&patch, &notes),
    ] {
        let message = failed.unwrap_err().to_string();
        assert!(message.contains("The disk is full"), "{message}");
        assert_eq!(tree(&root), before, "{message}");
    }
    // Control: writing into the file truncates it first.
    assert!(fs::write(root.join("a"), &long).is_err());
    assert_ne!(fs::read_to_string(root.join("a")).unwrap(), old);
}

/// Uses up all free space.
fn fill(root: &Path) {
    let mut file = File::create(root.join("filler")).unwrap();
    while file.write_all(&[b'x'; 1024]).is_ok() {}
}
