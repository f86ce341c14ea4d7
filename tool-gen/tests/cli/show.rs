//! `show`

use crate::project::{Project, TOOLS};

#[test]
fn a_table_of_all_tools() {
    let ran = Project::with(TOOLS).run(&["show"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let expected = "\
TOOL            ARGUMENTS                           FLAGS                 TOKENS
──────────────  ──────────────────────────────────  ────────────────────  ──────
metrics.newest  host: string, limit?: integer = 10  read-only                117
metrics.purge   host: string                        destructive               75
                                                    sensitive

2 tools, about 192 tokens
";
    let numberless = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>().replace(' ', "");
    assert_eq!(numberless(&ran.stdout), numberless(expected), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
}

#[test]
fn a_narrow_terminal() {
    let project = Project::with(TOOLS);
    let output = project.command().env("COLUMNS", "60").arg("show").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    assert!(text.contains("limit?: integer = 10"), "{text}");
}

#[test]
fn one_tool_in_detail() {
    let ran = Project::with(TOOLS).run(&["show", "metrics.newest"]);
    let expected = "\
metrics.newest
  The newest points of one host.

Arguments
  host required
    string
    Host name.
  limit optional, default 10
    integer between 0 and 100
    How many at most.

About
  handler   shop::newest
  flags     read-only
  tokens    about ";
    assert!(ran.stdout.starts_with(expected), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn suggests_a_similar_name() {
    let ran = Project::with(TOOLS).run(&["show", "newest"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("no tool named `newest`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean `metrics.newest`?"), "{}", ran.stderr);
}

#[test]
fn from_a_manifest() {
    let project = Project::empty();
    project.write("m.json", r#"{"a": {"description": "A.", "handler": "a", "arguments": {}}}"#);
    let (code, json) = project.json(&["show", "--from", "m.json"]);
    assert_eq!((code, &json["tools"][0]["definition"]["handler"]), (0, &"a".into()));
    assert_eq!(json["tokens"], json["tools"][0]["tokens"]);
    project.write("bad.json", "{");
    let bad = project.run(&["show", "--from", "bad.json"]);
    assert_eq!(bad.code, 2);
    assert!(bad.stderr.contains("bad.json"), "{}", bad.stderr);
}

#[test]
fn shows_that_there_are_no_tools() {
    let ran = Project::with("pub fn plain() {}\n").run(&["show"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "No tools. Add `#[tool]` or `#[tool_class]` to your code.\n"));
}

#[test]
fn aliases_are_shown_and_find_their_tool() {
    let project = Project::with(TOOLS);
    project
        .edit("src/lib.rs", "name = \"metrics.purge\"", "name = \"metrics.purge\", alias = [\"purge\", \"wipe\"]")
        .edit("src/lib.rs", "max = 100", "max = 100, alias = \"count\"");
    let ran = project.run(&["show", "wipe"]);
    assert!(
        ran.stdout.starts_with("metrics.purge\n") && ran.stdout.contains("aliases   purge, wipe\n"),
        "{}",
        ran.stdout
    );
    let ran = project.run(&["show", "metrics.newest"]);
    assert!(ran.stdout.contains("limit optional, default 10, also called count\n"), "{}{}", ran.stdout, ran.stderr);
}
