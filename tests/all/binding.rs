//! What `build()` makes of tools whose source promises more than their types keep, and of handlers that share a path.
//!
//! The tools stand here, not among the fixtures: a dispatcher may refuse them, and each has a dispatcher of its own.

use tool_runtime::{BuildError, Dispatcher, Manifest, tool, tool_class};
use tool_tests::texts::Version;

use crate::fixtures::call_on;

/// A dispatcher for the tools of this file that have this prefix.
fn build(prefix: &str) -> Result<Dispatcher, BuildError> {
    let linked = Manifest::linked();
    let own = linked.iter().filter(|(name, tool)| name.starts_with(prefix) && tool.handler.contains("::binding::"));
    let own: Manifest = own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
    assert!(!own.is_empty(), "no tool with {prefix}");
    Dispatcher::builder().manifest(own).build()
}

/// Either the dispatcher is not built, or the promise is kept.
#[track_caller]
fn refused_or_kept(name: &str, text: &str) {
    if let Ok(tools) = build(name) {
        let result = call_on(&tools, name, text);
        assert!(result.success, "{}", result.output);
    }
}

/// The manifest calls the argument optional, and nothing says what it is when it is left out.
#[tool(name = "binding.optional", arguments(number(type = "integer", required = false)))]
fn optional(number: u8) -> u8 {
    number
}

#[test]
fn an_argument_that_is_called_optional_can_be_left_out() {
    refused_or_kept("binding.optional", "{}");
}

/// The schema takes any string for a default, the type does not.
#[tool(name = "binding.unreadable_default")]
fn unreadable_default(#[arg(default = "one")] version: Version) -> String {
    format!("{version:?}")
}

#[test]
fn a_default_that_cannot_be_read_is_found_when_the_dispatcher_is_built() {
    refused_or_kept("binding.unreadable_default", "{}");
}

#[tool(name = "binding.schema_default")]
fn schema_default(#[arg(default = 300)] number: u8) -> u8 {
    number
}

#[test]
fn a_default_that_the_schema_refuses_is_found_when_the_dispatcher_is_built() {
    let error = build("binding.schema_default").expect_err("300 is no u8").to_string();
    assert!(
        error.contains("`binding.schema_default`") && error.contains("`number`") && error.contains("300"),
        "{error}"
    );
}

#[tool(name = "binding.explicit_default", arguments(number(type = "integer", default = 300)))]
fn explicit_default(number: u8) -> u8 {
    number
}

#[test]
fn an_explicit_default_that_the_type_refuses_is_found_when_the_dispatcher_is_built() {
    refused_or_kept("binding.explicit_default", "{}");
}

struct Form<T>(T);

#[tool_class(prefix = "binding.small", per_call)]
impl Form<u8> {
    pub fn new() -> Self {
        Self(1)
    }

    /// Of one form.
    pub fn get(&self) -> u8 {
        self.0
    }
}

#[tool_class(prefix = "binding.large", per_call)]
impl Form<u64> {
    pub fn new() -> Self {
        Self(2)
    }

    /// Of another.
    pub fn get(&self) -> u64 {
        self.0
    }
}

/// The handlers of both have one path, as far as the macro can see.
#[test]
fn two_forms_of_a_generic_type_can_be_offered_side_by_side() {
    let small = build("binding.small").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call_on(&small, "binding.small.get", "{}").output, "1");
    let large = build("binding.large").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call_on(&large, "binding.large.get", "{}").output, "2");
}

type Five = [u8; 5];

/// Bounds, and lists of values, that no value of the type keeps.
#[tool(name = "binding.contradictory")]
fn contradictory(
    #[arg(max_length = 2)] five: Five,
    #[arg(min = 300)] number: u8,
    #[arg(one_of = [1, 256])] listed: u8,
    #[arg(one_of = ["to the left", "left"])] side: Side,
) -> String {
    format!("{five:?} {number} {listed} {side:?}")
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Side {
    Left,
    Right,
}

#[test]
fn rules_that_contradict_the_type_are_found_when_the_dispatcher_is_built() {
    let error = build("binding.contradictory").expect_err("nothing can be sent").to_string();
    for part in [
        "no value of `five` would be accepted: `minItems` is 5, `maxItems` is 2",
        "no value of `number` would be accepted: `minimum` is 300, `maximum` is 255",
        "`one_of` of `listed` lists an invalid value: `listed`: got 256, expected",
        "`one_of` of `side` lists an invalid value: `side`: got \"to the left\", expected exactly \"left\"",
    ] {
        assert!(error.contains(part), "{part} is not in {error}");
    }
}
