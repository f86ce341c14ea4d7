//! `lint`

use crate::project::{Project, TOOLS};

const UNDOCUMENTED: &str = "#[tool_runtime::tool]\npub fn guess(host: String) {}\n";

#[test]
fn a_documented_tool_has_no_findings() {
    let ran = Project::with(TOOLS).run(&["lint", "--deny", "warnings"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "✓ no findings in 2 tools\n"), "{}", ran.stdout);
}

#[test]
fn a_finding_has_its_place_and_help() {
    let project = Project::with(UNDOCUMENTED);
    let ran = project.run(&["lint"]);
    assert_eq!(ran.code, 0, "warnings are not denied by default");
    assert!(ran.stdout.contains("warning: `guess` has no description [undocumented-tool]\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("2 | pub fn guess(host: String) {}\n  |        ^^^^^\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("= help: describe it in a doc comment"), "{}", ran.stdout);
    assert!(ran.stdout.contains("`guess` arguments.host has no description [undocumented-argument]"), "{}", ran.stdout);
    assert!(ran.stderr.ends_with("! 0 errors, 2 warnings in 1 tool\n"), "{}", ran.stderr);
}

#[test]
fn an_argument_marked_any_is_not_a_finding() {
    let tool = |mark: &str| {
        format!(
            "/// Stores a value.\n#[tool_runtime::tool]\npub fn store(\n/// The value.\n{mark}value: serde_json::Value) {{}}\n"
        )
    };
    let ran = Project::with(&tool("")).run(&["lint", "--deny", "warnings"]);
    assert!(ran.code == 1 && ran.stdout.contains("arguments.value has no type [any-argument]"), "{}", ran.stdout);
    let ran = Project::with(&tool("#[arg(any)] ")).run(&["lint", "--deny", "warnings"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

#[test]
fn levels() {
    let project = Project::with(UNDOCUMENTED);
    assert_eq!(project.run(&["lint", "--deny", "warnings"]).code, 1);
    let (code, json) = project.json(&["lint", "-D", "warnings"]);
    assert_eq!((code, &json["denied"]), (1, &2.into()));
    assert_eq!(json["findings"][0]["rule"], "undocumented-tool");
    assert_eq!(json["findings"][0]["place"]["line"], 2);
    let tool = r#"{"description": "A.", "handler": "a", "arguments": {}}"#;
    project.write("long.json", &format!(r#"{{"{}": {tool}}}"#, "x".repeat(70)));
    assert_eq!(project.run(&["lint", "--from", "long.json"]).code, 0, "it has a shorter name for providers");
    assert_eq!(project.run(&["lint", "--from", "long.json", "-D", "warnings"]).code, 1);
    project.write("clash.json", &format!(r#"{{"a.b": {tool}, "a__b": {tool}}}"#));
    assert_eq!(project.run(&["lint", "--from", "clash.json"]).code, 1);
    assert_eq!(project.run(&["lint", "--from", "clash.json", "--deny", "nothing"]).code, 0);
}

#[test]
fn checks_the_format_of_a_provider() {
    let project = Project::with(TOOLS);
    let map = r#"{"labels.set": {"description": "Set labels.", "handler": "app::set", "arguments": {
        "labels": {"type": "object", "required": true, "description": "By name.", "additionalProperties": {"type": "string"}},
        "site": {"type": "string", "required": true, "description": "Where.", "format": "uri"}
    }}}"#;
    project.write("map.json", map);
    assert_eq!(project.run(&["lint", "--from", "map.json", "-D", "warnings", "--dialect", "openai"]).code, 0);
    let (code, json) =
        project.json(&["lint", "--from", "map.json", "-D", "warnings", "--dialect", "openai", "--strict"]);
    assert_eq!((code, &json["findings"][0]["path"]), (1, &"arguments.labels".into()));
    assert_eq!((&json["findings"][0]["rule"], &json["findings"][0]["level"]), (&"map".into(), &"warning".into()));
    let (code, json) = project.json(&["lint", "--from", "map.json", "-D", "nothing", "--dialect", "gemini"]);
    let levels: Vec<_> =
        json["findings"].as_array().expect("findings").iter().filter_map(|found| found["level"].as_str()).collect();
    assert_eq!((code, levels), (0, vec!["warning", "note"]));
    let ran = project.run(&["lint", "--from", "map.json", "--dialect", "nobody"]);
    assert!(ran.stderr.contains("unknown dialect `nobody`; expected one of openai,"), "{}", ran.stderr);
    assert_ne!(project.run(&["lint", "--from", "map.json", "--strict"]).code, 0, "strict is a provider's mode");
}
