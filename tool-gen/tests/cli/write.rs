//! `write` and `check`.

use crate::project::{Project, TOOLS};

#[test]
fn a_manifest_is_written_once() {
    let project = Project::with(TOOLS);
    let ran = project.run(&["write"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("metrics.newest\n    • is new"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("✓ tools_calls.json written, 2 tools\n"), "{}", ran.stderr);
    let text = project.read("tools_calls.json");
    assert!(
        text.starts_with("{\n  \"metrics.newest\": {\n    \"description\": \"The newest points of one host.\","),
        "{text}"
    );
    assert!(text.contains("\"handler\": \"shop::newest\""), "{text}");

    let again = project.run(&["write"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, "✓ tools_calls.json is up to date, 2 tools\n"));
    let fresh = project.run(&["check"]);
    assert_eq!((fresh.code, fresh.stderr.as_str()), (0, "✓ tools_calls.json is up to date, 2 tools\n"));
}

#[test]
fn check_fails_for_a_stale_manifest_and_shows_it() {
    let project = Project::with(TOOLS);
    let missing = project.run(&["check"]);
    assert_eq!(missing.code, 1);
    let expected = ("", "✗ tools_calls.json does not exist; run `tool-gen write`\n");
    assert_eq!((missing.stdout.as_str(), missing.stderr.as_str()), expected);
    project.run(&["write"]);
    project.edit("src/lib.rs", "max = 100", "max = 50");
    let stale = project.run(&["check"]);
    assert_eq!(stale.code, 1);
    assert!(stale.stdout.contains("--- tools_calls.json\n+++ sources\n"), "{}", stale.stdout);
    assert!(stale.stdout.contains("-        \"maximum\": 100,\n+        \"maximum\": 50,\n"), "{}", stale.stdout);
    assert!(
        stale.stdout.ends_with(
            "Breaking (1) valid calls may fail\n  metrics.newest\n    \
             • arguments.limit: must be at most 50; it was at most 100\n"
        ),
        "{}",
        stale.stdout
    );
    assert!(stale.stderr.ends_with("✗ tools_calls.json is stale; run `tool-gen write`\n"), "{}", stale.stderr);
    assert!(project.read("tools_calls.json").contains("\"maximum\": 100"), "check must not write");
}

#[test]
fn json_output_is_one_value() {
    let project = Project::with(TOOLS);
    let (code, written) = project.json(&["write"]);
    assert_eq!((code, &written["written"], &written["tools"]), (0, &true.into(), &2.into()), "{written}");
    assert_eq!(written["changes"][0]["kind"], "compatible");
    project.edit("src/lib.rs", "max = 100", "max = 50");
    let (code, checked) = project.json(&["check"]);
    assert_eq!((code, &checked["fresh"]), (1, &false.into()));
    assert_eq!(
        checked["changes"],
        serde_json::json!([{
            "tool": "metrics.newest",
            "path": "arguments.limit",
            "kind": "breaking",
            "message": "must be at most 50; it was at most 100"
        }])
    );
}

#[test]
fn an_error_shows_its_line_and_keeps_the_manifest() {
    let project = Project::with(TOOLS);
    project.run(&["write"]);
    let before = project.read("tools_calls.json");
    project.edit("src/lib.rs", "name = \"metrics.purge\"", "nam = \"metrics.purge\"");
    let ran = project.run(&["write"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("nam = \"metrics.purge\""), "no source line: {}", ran.stderr);
    assert!(ran.stderr.contains("^^^"), "no caret: {}", ran.stderr);
    assert!(ran.stderr.contains("lib.rs:"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("error: nothing was written because of 1 error\n"), "{}", ran.stderr);
    assert_eq!(project.read("tools_calls.json"), before);
    let (code, json) = project.json(&["check"]);
    assert_eq!((code, &json["diagnostics"][0]["severity"]), (2, &"error".into()), "{json}");
    assert!(json["diagnostics"][0]["place"]["line"].as_u64() > Some(1));
}

#[test]
fn writes_to_another_file() {
    let project = Project::with(TOOLS);
    let ran = project.run(&["write", "-o", "other.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(project.path("other.json").exists() && !project.path("tools_calls.json").exists());
    assert_eq!(project.run(&["write", "-o", "new/other.json"]).code, 0);
    assert_eq!(project.read("new/other.json"), project.read("other.json"));
    let nowhere = project.run(&["write", "-o", "Cargo.toml/other.json"]);
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.stderr.starts_with("error: cannot write the manifest Cargo.toml/other.json"), "{}", nowhere.stderr);
}

#[test]
fn uses_colours_only_on_request() {
    let project = Project::with(TOOLS);
    assert!(!project.run(&["show"]).stdout.contains('\u{1b}'));
    assert!(project.run(&["show", "--color", "always"]).stdout.contains('\u{1b}'));
    let (_, json) = project.json(&["show", "--color", "always"]);
    assert_eq!(json["tools"][0]["name"], "metrics.newest");
}

#[cfg(unix)]
#[test]
fn writes_to_a_path_that_is_not_a_regular_file() {
    let project = Project::with(TOOLS);
    let ran = project.run(&["write", "-o", "/dev/stdout"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    project.run(&["write"]);
    assert_eq!(ran.stdout, project.read("tools_calls.json"));
    assert_eq!(project.run(&["write", "-o", "/dev/null"]).code, 0);
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn does_not_replace_a_read_only_file() {
    let project = Project::with(TOOLS);
    project.write("tools_calls.json", "{}");
    let mut permissions = std::fs::metadata(project.path("tools_calls.json")).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(project.path("tools_calls.json"), permissions).unwrap();
    let ran = project.run(&["write"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.ends_with("tools_calls.json: it is read-only\n"), "{}", ran.stderr);
    assert_eq!(project.read("tools_calls.json"), "{}");
}

#[test]
fn does_not_remove_all_tools_without_allow_empty() {
    let project = Project::with(TOOLS);
    project.run(&["write"]);
    let before = project.read("tools_calls.json");
    project.write("src/lib.rs", "pub fn plain() {}\n");
    let ran = project.run(&["write"]);
    assert_eq!(ran.code, 2);
    let refusal = "error: the sources have no tools, but tools_calls.json has 2 tools; nothing was written\n";
    assert!(ran.stderr.contains(refusal) && ran.stderr.contains("`--allow-empty`"), "{}", ran.stderr);
    assert_eq!(project.read("tools_calls.json"), before);
    assert_eq!(project.run(&["write", "--allow-empty"]).code, 0);
    assert_eq!(project.read("tools_calls.json"), "{}\n");
}

#[test]
fn keeps_edited_texts_on_request() {
    let project = Project::with(TOOLS);
    project.run(&["write"]);
    project.edit("tools_calls.json", "The newest points of one host.", "Edited.");
    let stale = project.run(&["check"]);
    assert_eq!(stale.code, 1);
    assert!(stale.stderr.contains("has other descriptions; run `tool-gen write`, or keep them with `--keep-words`"));
    assert_eq!(project.run(&["check", "--keep-words"]).code, 0);
    project.edit("src/lib.rs", "max = 100", "max = 50");
    assert_eq!(project.run(&["check", "--keep-words"]).code, 1);
    assert_eq!(project.run(&["write", "--keep-words"]).code, 0);
    let text = project.read("tools_calls.json");
    assert!(text.contains("\"Edited.\"") && text.contains("\"maximum\": 50"), "{text}");
    assert_eq!(project.run(&["check", "--keep-words"]).code, 0);
    project.write("tools_calls.json", "{");
    assert_eq!(project.run(&["write", "--keep-words"]).code, 2, "words that cannot be read cannot be kept");
    assert_eq!(project.read("tools_calls.json"), "{");
}

#[test]
fn rejects_a_manifest_that_is_not_json() {
    let project = Project::with(TOOLS);
    project.write("tools_calls.json", "{\n<<<<<<< HEAD\n");
    let ran = project.run(&["check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: cannot read tools_calls.json: not a manifest: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 2 column 1"), "{}", ran.stderr);
}

#[test]
fn ignores_windows_line_endings() {
    let project = Project::with(TOOLS);
    project.run(&["write"]);
    project.write("tools_calls.json", &project.read("tools_calls.json").replace('\n', "\r\n"));
    let ran = project.run(&["check"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_failure_is_one_json_value() {
    let project = Project::with(TOOLS);
    let error = |arguments: &[&str]| {
        let (code, json) = project.json(arguments);
        assert_eq!(code, 2, "{json}");
        assert!(json["diagnostics"].is_array() && json.get("help").is_some(), "{json}");
        json["error"].as_str().unwrap().to_owned()
    };
    assert_eq!(error(&["show", "newest"]), "no tool named `newest`");
    assert_eq!(error(&["diff", "nothing"]), "`nothing` is neither a manifest file nor a git revision");
    assert!(error(&["write", "--no-such-flag"]).contains("--no-such-flag"));
    assert!(error(&["shwo"]).contains("shwo"));
    project.edit("src/lib.rs", "name = \"metrics.purge\"", "nam = \"metrics.purge\"");
    for command in ["write", "check", "show", "docs", "lint"] {
        assert!(error(&[command]).ends_with(" because of 1 error"), "{command}");
        let (_, json) = project.json(&[command]);
        assert_eq!(json["diagnostics"][0]["severity"], "error", "{command}");
    }
}
