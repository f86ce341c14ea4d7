//! `assert_manifest!()`, as an author of tools would use it in a test.

use std::fs;
use std::panic::catch_unwind;
use std::path::PathBuf;

use tool_runtime::{Manifest, assert_manifest};

use super::file;
use crate::fixtures;

/// Writes this manifest to a file.
fn saved(name: &str, manifest: &Manifest) -> PathBuf {
    let path = file(name);
    manifest.save(&path).expect("saved");
    path
}

/// Returns the message of the failed assertion.
#[track_caller]
fn complaint(path: PathBuf) -> String {
    let panic = catch_unwind(|| assert_manifest!(&path)).expect_err("the manifest is stale");
    fs::remove_dir_all(path.parent().expect("its folder")).expect("removed");
    *panic.downcast::<String>().expect("words")
}

/// Tools of other crates, which this binary links as well, need no entry.
#[test]
fn a_manifest_that_matches_the_code_passes() {
    let path = saved("passes", fixtures::manifest());
    assert_manifest!(&path);
    assert!(Manifest::linked().len() > fixtures::manifest().len());
    fs::remove_dir_all(path.parent().expect("its folder")).expect("removed");
}

#[test]
fn every_difference_is_reported() {
    let mut manifest = fixtures::manifest().clone();
    let mut moved = manifest.remove("add").expect("a fixture");
    moved.description = "Otherwise.".to_owned();
    let mut gone = moved.clone();
    gone.handler = "tool_tests::functions::gone".to_owned();
    manifest.insert("plus", moved);
    manifest.insert("gone", gone);
    let mut sum = manifest.remove("rules.named").expect("a fixture");
    sum.description = "Otherwise.".to_owned();
    manifest.insert("rules.named", sum);
    let missing = manifest.remove("options.all").expect("a fixture");
    let words = complaint(saved("differs", &manifest));
    assert!(words.contains("tools_calls.json does not match the code:\n- "), "{words}");
    assert!(words.contains("`gone` is not in the code: there is no `tool_tests::functions::gone`"), "{words}");
    assert!(words.contains("`plus` is stale: `tool_tests::functions::add` is now called `add`"), "{words}");
    assert!(words.contains("`rules.named` is stale: the description is \"Otherwise.\" in the manifest, "), "{words}");
    assert!(words.contains(&format!("`options.all` is missing: `{}` has no entry", missing.handler)), "{words}");
    assert_eq!(words.lines().count(), 6, "{words}");
    let command = words.lines().last().unwrap_or_default();
    assert!(command.starts_with("`tool-gen write -o ") && command.ends_with("` writes it again."), "{words}");
}

/// This binary also links tools of its own, which a complete manifest contains.
#[test]
fn everything_linked_can_be_asserted() {
    let path = saved("everything", &Manifest::linked());
    assert_manifest!(&path, all);
    fixtures::manifest().save(&path).expect("saved");
    let panic = catch_unwind(|| assert_manifest!(&path, all, keep_words)).expect_err("something is missing");
    let words = panic.downcast::<String>().expect("words");
    assert!(words.contains("` is missing: `all::"), "{words}");
    assert!(words.contains("`tool-gen write -p all -p tool_tests -o ") && words.contains(" --keep-words`"), "{words}");
    fs::remove_dir_all(path.parent().expect("its folder")).expect("removed");
}

#[test]
fn an_empty_manifest_fails() {
    let words = complaint(saved("emptied", &Manifest::default()));
    assert!(words.contains("it has no tools, and "), "{words}");
}

#[test]
fn edited_descriptions_can_be_kept() {
    let mut manifest = fixtures::manifest().clone();
    let mut tool = manifest.remove("rules.named").expect("a fixture");
    tool.description = "Edited.".to_owned();
    manifest.insert("rules.named", tool);
    let path = saved("edited", &manifest);
    assert_manifest!(&path, keep_words);
    assert!(complaint(path).contains("the description is \"Edited.\" in the manifest"));
}

#[test]
fn a_missing_file_is_named() {
    let words = catch_unwind(|| assert_manifest!()).expect_err("there is none");
    let words = words.downcast::<String>().expect("words");
    assert!(words.contains("tests/tools_calls.json") && words.contains("`tool-gen write` writes it."), "{words}");
}
