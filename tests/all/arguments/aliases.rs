//! Values sent under a serde alias. `tool-gen diff` relies on this behaviour.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::{Dispatcher, Manifest, tool};

use crate::fixtures::call_on;

#[derive(Debug, Deserialize, JsonSchema)]
struct Open {
    #[serde(alias = "old")]
    new: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {
    #[serde(alias = "old")]
    new: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Choice {
    #[serde(alias = "Old")]
    New,
    #[serde(alias = "OldPart")]
    Part(Open),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Ruled {
    #[schemars(range(max = 9))]
    count: u8,
    #[serde(alias = "old")]
    new: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct RuledAndOptional {
    #[schemars(range(max = 9))]
    count: u8,
    #[serde(alias = "old")]
    new: Option<u8>,
}

/// Reads two structs.
#[tool(name = "aliases.fields")]
fn fields(open: Open, closed: Closed) -> String {
    format!("{} {}", open.new, closed.new)
}

/// Reads variants.
#[tool(name = "aliases.variants")]
fn variants(choices: Vec<Choice>) -> String {
    let name = |choice: &Choice| match choice {
        Choice::New => "new".to_owned(),
        Choice::Part(part) => format!("part {}", part.new),
    };
    choices.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Reads a struct with a rule that only the schema has.
#[tool(name = "aliases.ruled")]
fn ruled(ruled: Ruled) -> String {
    format!("{} {}", ruled.count, ruled.new)
}

/// Reads a struct with such a rule, and a field that can be left out.
#[tool(name = "aliases.optional")]
fn optional(ruled: RuledAndOptional) -> String {
    format!("{} {:?}", ruled.count, ruled.new)
}

#[track_caller]
fn output(name: &str, text: &str) -> Result<String, String> {
    static TOOLS: OnceLock<Dispatcher> = OnceLock::new();
    let tools = TOOLS.get_or_init(|| {
        let linked = Manifest::linked();
        let own = linked.iter().filter(|(name, _)| name.starts_with("aliases."));
        let own: Manifest = own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
        Dispatcher::builder().manifest(own).build().unwrap_or_else(|error| panic!("{error}"))
    });
    let result = call_on(tools, name, text);
    if result.success { Ok(result.output.to_string()) } else { Err(result.output.to_string()) }
}

#[test]
fn a_field_is_read_under_its_alias() {
    // The first call probes whether the type enforces its schema.
    for _ in 0..2 {
        assert_eq!(output("aliases.fields", r#"{"open": {"old": 1}, "closed": {"old": 2}}"#), Ok("1 2".to_owned()));
    }
}

#[test]
fn a_variant_is_read_under_its_alias() {
    let text = r#"{"choices": ["Old", {"OldPart": {"old": 1}}, "New"]}"#;
    assert_eq!(output("aliases.variants", text), Ok("new, part 1, new".to_owned()));
}

/// The validator knows only the names in the schema.
#[test]
fn a_validated_argument_rejects_the_alias_of_a_required_field() {
    assert_eq!(output("aliases.ruled", r#"{"ruled": {"count": 1, "new": 2}}"#), Ok("1 2".to_owned()));
    let refusal =
        output("aliases.ruled", r#"{"ruled": {"count": 1, "old": 2}}"#).expect_err("the argument is validated");
    assert!(refusal.contains("ruled.new"), "{refusal}");
    assert_eq!(output("aliases.optional", r#"{"ruled": {"count": 1, "old": 2}}"#), Ok("1 Some(2)".to_owned()));
    assert!(output("aliases.optional", r#"{"ruled": {"count": 10, "old": 2}}"#).is_err());
}
