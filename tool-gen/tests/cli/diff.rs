//! `diff`

use crate::project::{Project, TOOLS};

#[test]
fn manifests() {
    let project = Project::with(TOOLS);
    project.run(&["write", "-o", "old.json"]);
    project
        .edit("src/lib.rs", "max = 100", "max = 500")
        .edit("src/lib.rs", "The newest points", "The latest points")
        .edit("src/lib.rs", "metrics.purge", "metrics.forget");
    project.run(&["write", "-o", "new.json"]);
    let ran = project.run(&["diff", "old.json", "new.json"]);
    let expected = "\
Breaking (1) calls that were right may fail
  metrics.purge
    • was renamed to `metrics.forget`, it seems; calls of the old name are
      refused

Compatible (1) calls that fitted the old schemas fit the new ones
  metrics.newest
    • arguments.limit: must be at most 500; it was at most 100

Text (1) only what the model reads
  metrics.newest
    • description: is \"The latest points of one host.\"; it was \"The newest
      points of one host.\"
";
    assert_eq!((ran.code, ran.stdout.as_str()), (1, expected), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("✗ old.json → new.json: 1 breaking change, 1 compatible change, 1 text change\n"));
    let same = project.run(&["diff", "new.json"]);
    assert_eq!((same.code, same.stderr.as_str()), (0, "✓ new.json → sources: no change in the manifest\n"));
}

#[test]
fn revisions_with_and_without_a_manifest() {
    let project = Project::with(TOOLS);
    project.git(&["init", "--quiet"]);
    project.commit();
    project.git(&["tag", "sources-only"]);
    project.run(&["write"]);
    project.commit();
    project.git(&["tag", "with-manifest"]);
    project.edit("src/lib.rs", "max = 100", "max = 50");
    for revision in ["sources-only", "with-manifest", "HEAD~1"] {
        let (code, json) = project.json(&["diff", revision]);
        assert_eq!(code, 1, "{json}");
        assert_eq!(json["breaking"][0]["path"], "arguments.limit", "{revision}");
        assert_eq!((&json["old"], &json["new"]), (&revision.into(), &"sources".into()));
    }
    let between = project.run(&["diff", "sources-only", "with-manifest"]);
    assert_eq!(between.code, 0, "{}{}", between.stdout, between.stderr);
    assert!(project.read("src/lib.rs").contains("max = 50"), "the working tree was touched");
}

#[test]
fn neither_file_nor_revision() {
    let project = Project::with(TOOLS);
    let ran = project.run(&["diff", "nothing"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`nothing` is neither a manifest nor a git revision"), "{}", ran.stderr);
}

/// A tool in a source that cannot be read is not gone.
#[test]
fn sources_that_cannot_be_read_are_not_compared() {
    let project = Project::with(TOOLS);
    project.run(&["write"]);
    project.edit("src/lib.rs", "pub fn purge(", "pub fn purge(((");
    for command in [&["diff", "tools_calls.json"][..], &["show"], &["lint"]] {
        let ran = project.run(command);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command:?} {}", ran.stderr);
        assert!(ran.stderr.contains("lib.rs:"), "{}", ran.stderr);
    }
    let ran = project.run(&["diff", "tools_calls.json"]);
    assert!(ran.stderr.ends_with("error: sources cannot be compared, because of 1 error\n"), "{}", ran.stderr);
}

/// A tool that takes a struct with one field, and types for it.
const ORDER: &str = r#"
use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::tool;

#[derive(Deserialize, JsonSchema)]
pub struct Level(u8);

#[derive(Deserialize, JsonSchema)]
pub struct Order {
    id: u32,
    FIELD
}

/// Places an order.
#[tool]
pub fn place(
    /// The order.
    order: Order,
) {
}
"#;

/// The exit code and the lines for a field that becomes another.
fn field_changes(old: &str, new: &str) -> (i32, Vec<String>) {
    let project = Project::with(&ORDER.replace("FIELD", old));
    project.run(&["write", "-o", "old.json"]);
    project.write("src/lib.rs", &ORDER.replace("FIELD", new));
    let (code, json) = project.json(&["diff", "old.json"]);
    let lines = |kind: &str| {
        let changes = json[kind].as_array().cloned().unwrap_or_default().into_iter();
        let kind = kind.to_owned();
        changes.map(move |change| {
            format!("{kind} {}: {}", change["path"].as_str().unwrap(), change["message"].as_str().unwrap())
        })
    };
    (code, ["breaking", "compatible", "text"].into_iter().flat_map(lines).collect())
}

#[test]
fn a_newtype_is_what_it_holds() {
    let same = (0, vec!["text : is written in another way and means the same".to_owned()]);
    assert_eq!(field_changes("level: Option<u8>,", "level: Option<Level>,"), same);
    assert_eq!(field_changes("level: Option<Level>,", "level: Option<u8>,"), same);
    assert_eq!(field_changes("level: u8,", "level: Level,"), (0, Vec::new()));
}

#[test]
fn a_type_that_cannot_be_seen_takes_anything() {
    let (code, lines) = field_changes("level: u8,", "level: elsewhere::Level,");
    assert_eq!(
        (code, lines),
        (0, vec!["compatible arguments.order: can be any value; it was object Order".to_owned()])
    );
}

/// The manifest does not say which other names a field has.
#[test]
fn a_renamed_field_is_said_to_break_unless_it_keeps_its_old_name() {
    let (code, lines) = field_changes("old: u8,", "#[serde(alias = \"old\")] new: u8,");
    let expected = "breaking arguments.order.old: was renamed to `new`, it seems; what is sent for it is ignored, \
                    unless `new` has `#[serde(alias = \"old\")]`";
    assert_eq!((code, lines), (1, vec![expected.to_owned()]));
}

#[test]
fn keys_that_become_texts_are_widened() {
    let map = |key: &str| format!("map: std::collections::BTreeMap<{key}, u8>,");
    for (old, new) in [("u32", "String"), ("u32", "i64")] {
        let (code, lines) = field_changes(&map(old), &map(new));
        assert_eq!((code, lines.len()), (0, 1), "{lines:?}");
        let (code, _) = field_changes(&map(new), &map(old));
        assert_eq!(code, 1, "{new} to {old}");
    }
}

/// Types that have one schema are not told apart, and nothing is promised of them.
#[test]
fn a_narrower_type_is_not_called_harmless() {
    let (code, lines) = field_changes("n: u64,", "n: i64,");
    let expected = "compatible arguments.order.n: need not be at least 0; if its type is `i64` now, it must be at most \
                    9223372036854775807";
    assert_eq!((code, lines), (0, vec![expected.to_owned()]));
    let project = Project::with(&ORDER.replace("FIELD", "n: u128,"));
    project.run(&["write", "-o", "old.json"]);
    project.edit("src/lib.rs", "u128", "u64");
    let ran = project.run(&["diff", "old.json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "✓ old.json → sources: no change in the manifest\n"));
}
