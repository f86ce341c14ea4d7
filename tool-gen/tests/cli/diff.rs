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

Compatible (1) every call that was right still is
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
    assert_eq!((same.code, same.stderr.as_str()), (0, "✓ new.json → sources: no change\n"));
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
