//! `diff`

use serde_json::json;

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
Breaking (1) valid calls may fail
  metrics.purge
    • was probably renamed to `metrics.forget`; calls with the old name are
      refused

Compatible (1) calls that were valid still are
  metrics.newest
    • arguments.limit: must be at most 500; it was at most 100

Text (1) only descriptions for the model
  metrics.newest
    • description: is \"The latest points of one host.\"; it was \"The newest
      points of one host.\"
";
    assert_eq!((ran.code, ran.stdout.as_str()), (1, expected), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("✗ old.json → new.json: 1 breaking change, 1 compatible change, 1 text change\n"));
    let same = project.run(&["diff", "new.json"]);
    let note = "note: new.json does not show 64- and 128-bit integer types, `f32`, parsed strings: not compared";
    let expected = format!("{note}\n✓ new.json → sources: no change in the manifest\n");
    assert_eq!((same.code, same.stderr), (0, expected));
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
fn rejects_a_name_that_is_neither_file_nor_revision() {
    let project = Project::with(TOOLS);
    let ran = project.run(&["diff", "nothing"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`nothing` is neither a manifest file nor a git revision"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("no commits yet"), "{}", ran.stderr);
    project.git(&["init", "--quiet"]);
    let ran = project.run(&["diff", "HEAD"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("the repository has no commits yet: commit first"), "{}", ran.stderr);
}

/// A tool in a file with errors was not removed.
#[test]
fn does_not_compare_sources_with_errors() {
    let project = Project::with(TOOLS);
    project.run(&["write"]);
    project.edit("src/lib.rs", "pub fn purge(", "pub fn purge(((");
    for command in [&["diff", "tools_calls.json"][..], &["show"], &["lint"]] {
        let ran = project.run(command);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command:?} {}", ran.stderr);
        assert!(ran.stderr.contains("lib.rs:"), "{}", ran.stderr);
    }
    let ran = project.run(&["diff", "tools_calls.json"]);
    assert!(ran.stderr.ends_with("error: cannot compare sources because of 1 error\n"), "{}", ran.stderr);
}

/// A tool with a struct argument, and types for its field.
const ORDER: &str = r#"
use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::tool;

#[derive(Deserialize, JsonSchema)]
pub struct Level(u8);

#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Port(u16);

#[derive(JsonSchema)]
pub struct Checked(u16);

impl<'de> Deserialize<'de> for Checked {}

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

/// Compares a manifest with sources in which a field has become another.
fn field_changes(old: &str, new: &str) -> (i32, Vec<String>) {
    let project = Project::with(&ORDER.replace("FIELD", old));
    project.run(&["write", "-o", "old.json"]);
    project.write("src/lib.rs", &ORDER.replace("FIELD", new));
    diff(&project, "old.json")
}

/// Compares two versions of the sources.
fn source_changes(old: &str, new: &str) -> (i32, Vec<String>) {
    let project = Project::with(old);
    project.git(&["init", "--quiet"]);
    project.commit();
    project.write("src/lib.rs", new);
    diff(&project, "HEAD")
}

/// Compares the sources before and after a field has become another.
fn field_source_changes(old: &str, new: &str) -> (i32, Vec<String>) {
    source_changes(&ORDER.replace("FIELD", old), &ORDER.replace("FIELD", new))
}

/// Returns the exit code and one line for each change.
fn diff(project: &Project, old: &str) -> (i32, Vec<String>) {
    let (code, json) = project.json(&["diff", old]);
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
fn a_newtype_equals_its_content() {
    let same = (0, vec!["text : is written differently and means the same".to_owned()]);
    assert_eq!(field_changes("level: Option<u8>,", "level: Option<Level>,"), same);
    assert_eq!(field_changes("level: Option<Level>,", "level: Option<u8>,"), same);
    assert_eq!(field_changes("level: u8,", "level: Level,"), (0, Vec::new()));
}

#[test]
fn an_unseen_type_accepts_any_value() {
    let (code, lines) = field_changes("level: u8,", "level: elsewhere::Level,");
    assert_eq!(
        (code, lines),
        (0, vec!["compatible arguments.order.level: can be any value; it was integer between 0 and 255".to_owned()])
    );
}

/// The old side may be a manifest: only the new type's aliases matter.
#[test]
fn a_renamed_field_that_keeps_its_old_name_as_an_alias_is_compatible() {
    let aliased = "#[serde(alias = \"old\")] new: u8,";
    let expected =
        "compatible arguments.order.old: was renamed to `new`; it is still read (`#[serde(alias = \"old\")]`)";
    for compare in [field_changes, field_source_changes] {
        assert_eq!(compare("old: u8,", aliased), (0, vec![expected.to_owned()]));
        // The control.
        let lost = "breaking arguments.order.old: was probably renamed to `new`; its value is ignored";
        assert_eq!(compare("old: u8,", "new: u8,"), (1, vec![lost.to_owned()]));
    }
    // A call that sends both names is refused.
    let (code, _) = field_source_changes("old: u8, new: u8,", aliased);
    assert_eq!(code, 1);
    let (code, _) = field_source_changes(
        "old: Option<u8>, older: Option<u8>,",
        "#[serde(alias = \"old\", alias = \"older\")] new: Option<u8>,",
    );
    assert_eq!(code, 1);
}

/// The validator knows the schema, which has no aliases. `tests/all/arguments/aliases.rs` calls such tools.
#[test]
fn an_alias_of_a_validated_argument_does_not_help_a_required_field() {
    let rule = "#[schemars(range(max = 9))] count: u8,";
    let renamed = |rule: &str, ty: &str| {
        field_source_changes(&format!("{rule} old: {ty},"), &format!("{rule} #[serde(alias = \"old\")] new: {ty},"))
    };
    let (code, lines) = renamed(rule, "u8");
    assert_eq!((code, lines.len()), (1, 1), "{lines:?}");
    assert!(lines[0].ends_with("validated against its schema, which has no aliases"), "{lines:?}");
    assert_eq!(renamed(rule, "Option<u8>").0, 0);
    assert_eq!(renamed("#[schemars(email)] mail: String,", "u8").0, 1);
    assert_eq!(renamed("", "u8").0, 0);
}

const LEVELS: &str = r#"
use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::tool;

#[derive(Deserialize, JsonSchema)]
pub enum Level {
    VARIANTS
}

/// Logs a line.
#[tool]
pub fn log(
    /// The level.
    level: Level,
    /// The levels.
    levels: Vec<Level>,
) {
}
"#;

#[test]
fn a_renamed_variant_that_keeps_its_old_name_as_an_alias_is_compatible() {
    let compare =
        |old: &str, new: &str| source_changes(&LEVELS.replace("VARIANTS", old), &LEVELS.replace("VARIANTS", new));
    for rest in ["High,", "/** The highest. */ High,"] {
        let (old, new) = (format!("Low, {rest}"), format!("#[serde(alias = \"Low\")] Least, {rest}"));
        let (code, lines) = compare(&old, &new);
        assert_eq!(code, 0, "{lines:?}");
        assert!(lines[0].contains("no longer lists \"Low\", which is still read"), "{lines:?}");
        assert_eq!(compare(&old, &format!("Least, {rest}")).0, 1);
    }
    let (code, lines) = compare("Low(u8), High", "#[serde(alias = \"Low\")] Least(u8), High");
    assert_eq!(code, 0, "{lines:?}");
    assert_eq!(compare("Low(u8), High", "Least(u8), High").0, 1);
}

#[test]
fn string_keys_are_wider_than_integer_keys() {
    let map = |key: &str| format!("map: std::collections::BTreeMap<{key}, u8>,");
    for (old, new) in [("u32", "String"), ("u32", "i64")] {
        let (code, lines) = field_changes(&map(old), &map(new));
        assert_eq!((code, lines.len()), (0, 1), "{lines:?}");
        let (code, _) = field_changes(&map(new), &map(old));
        assert_eq!(code, 1, "{new} to {old}");
    }
}

/// One schema for several types.
#[test]
fn a_type_that_accepts_less_breaks_callers() {
    let max = i64::MAX;
    for (old, new, expected) in [
        ("u128", "u64", format!("must be at most {}", u64::MAX)),
        ("u64", "i64", format!("must be at most {max}; it was at most {}", u64::MAX)),
        ("Option<u64>", "Option<i64>", format!("must be at most {max}; it was at most {}", u64::MAX)),
        ("i128", "i64", format!("must be at most {max}; it was at most {}", i128::MAX)),
        ("u128", "i128", format!("must be at most {}", i128::MAX)),
        ("f64", "f32", "is rounded to `f32`; it was `f64`".to_owned()),
        ("Vec<f64>", "Vec<f32>", "is rounded to `f32`; it was `f64`".to_owned()),
        (
            "String",
            "std::net::SocketAddr",
            "is parsed as `SocketAddr`, which may refuse values that were accepted".to_owned(),
        ),
        ("String", "std::net::IpAddr", "is parsed as `IpAddr`, which may refuse values that were accepted".to_owned()),
        ("String", "Port", "is parsed as `Port`, which may refuse values that were accepted".to_owned()),
        ("u16", "Checked", "is parsed as `Checked`, which may refuse values that were accepted".to_owned()),
        ("String", "uuid::Uuid", "must have the format uuid".to_owned()),
    ] {
        let (code, lines) = field_source_changes(&format!("n: {old},"), &format!("n: {new},"));
        assert_eq!(code, 1, "{old} to {new}: {lines:?}");
        let breaking: Vec<_> = lines.iter().filter(|line| line.starts_with("breaking")).collect();
        assert!(
            breaking.len() <= 2 && breaking.iter().any(|line| line.ends_with(&expected)),
            "{old} to {new}: {lines:?}"
        );
        let (code, back) = field_source_changes(&format!("n: {new},"), &format!("n: {old},"));
        // Between types with different values, both directions break some calls.
        let is_wider = !["i64", "Option<i64>", "i128"].contains(&new) || old == "i128";
        assert_eq!(code, i32::from(!is_wider), "{new} to {old}: {back:?}");
    }
    for (old, new) in [("u64", "usize"), ("String", "std::path::PathBuf"), ("u64", "u64"), ("Port", "Port")] {
        assert_eq!(
            field_source_changes(&format!("n: {old},"), &format!("n: {new},")),
            (0, Vec::new()),
            "{old} to {new}"
        );
    }
}

#[test]
fn a_parameter_that_is_parsed_now_breaks_callers() {
    let tool = |ty: &str| {
        format!(
            "use tool_runtime::tool;\npub struct Code(u8);\nimpl std::str::FromStr for Code {{ type Err = String; }}\n\
             /// Checks it.\n#[tool]\npub fn check(\n    /// The code.\n    code: {ty},\n) {{}}\n"
        )
    };
    for form in ["*", "Option<*>", "Vec<*>"] {
        let of = |ty: &str| tool(&form.replace('*', ty));
        let (code, lines) = source_changes(&of("String"), &of("Code"));
        assert_eq!((code, lines.len()), (1, 1), "{form}: {lines:?}");
        assert!(lines[0].ends_with("is parsed as `Code`, which may refuse values that were accepted"), "{lines:?}");
        let (code, lines) = source_changes(&of("Code"), &of("String"));
        assert_eq!(code, 0, "{lines:?}");
    }
}

/// Only the schemas can be compared then.
#[test]
fn a_manifest_without_sources_is_compared_with_a_note() {
    let (code, lines) = field_changes("n: u64,", "n: i64,");
    let expected = "compatible arguments.order.n: need not be at least 0; if its type is `i64` now, it must be at most \
                    9223372036854775807";
    assert_eq!((code, lines), (0, vec![expected.to_owned()]));
    let project = Project::with(&ORDER.replace("FIELD", "n: u128,"));
    project.run(&["write", "-o", "old.json"]);
    project.edit("src/lib.rs", "u128", "u64");
    project.run(&["write", "-o", "new.json"]);
    let note = |names: &str, aliases: &str| {
        format!("note: {names} not show 64- and 128-bit integer types, `f32`, parsed strings{aliases}: not compared\n")
    };
    let ran = project.run(&["diff", "old.json"]);
    let summary = "✓ old.json → sources: no change in the manifest\n";
    assert_eq!((ran.code, ran.stderr), (0, note("old.json does", "") + summary));
    let ran = project.run(&["diff", "old.json", "new.json"]);
    let summary = "✓ old.json → new.json: no change in the manifest\n";
    assert_eq!((ran.code, ran.stderr), (0, note("old.json and new.json do", " or serde aliases") + summary));
}

/// The sources beside a committed manifest show what it does not, as long as it is up to date.
#[test]
fn a_committed_manifest_is_read_with_its_sources() {
    for (is_stale, code) in [(false, 1), (true, 0)] {
        let project = Project::with(&ORDER.replace("FIELD", "n: u128,"));
        project.run(&["write"]);
        project.edit("tools_calls.json", "Places an order.", "Orders it.");
        if is_stale {
            project.edit("src/lib.rs", "id: u32", "id: u16");
        }
        project.git(&["init", "--quiet"]);
        project.commit();
        project.edit("src/lib.rs", "u128", "u64");
        let (found, json) = project.json(&["diff", "HEAD"]);
        assert_eq!(found, code + i32::from(is_stale), "{json}");
        assert_eq!(json["breaking"].as_array().map(Vec::len), Some(1), "{json}");
        assert_eq!(json["note"].is_null(), !is_stale, "{json}");
    }
}

#[test]
fn a_lost_alias_is_breaking() {
    let project = Project::with(TOOLS);
    project.run(&["write", "-o", "old.json"]);
    project.edit("src/lib.rs", "name = \"metrics.purge\"", "name = \"metrics.purge\", alias = \"purge\"").edit(
        "src/lib.rs",
        "max = 100",
        "max = 100, alias = \"count\"",
    );
    project.run(&["write", "-o", "new.json"]);
    let (code, json) = project.json(&["diff", "old.json", "new.json"]);
    assert_eq!((code, json["compatible"].as_array().unwrap().len()), (0, 2), "{json}");
    let (code, json) = project.json(&["diff", "new.json", "old.json"]);
    let paths: Vec<_> = json["breaking"].as_array().unwrap().iter().map(|change| &change["path"]).collect();
    assert_eq!((code, json!(paths)), (1, json!(["arguments.limit", "alias"])), "{json}");
}
