//! Checks of `build()`: tools whose source promises more than their types keep, and handlers that share a path.
//!
//! These tools are not fixtures: a dispatcher may reject them, so each gets its own dispatcher.

use tool_runtime::{BuildError, Dispatcher, Manifest, tool, tool_class};
use tool_tests::conversions::Even;
use tool_tests::texts::Version;

use crate::fixtures::call_on;

/// Returns a dispatcher for the tools of this file with this prefix.
fn build(prefix: &str) -> Result<Dispatcher, BuildError> {
    let linked = Manifest::linked();
    let own = linked.iter().filter(|(name, tool)| name.starts_with(prefix) && tool.handler.contains("::binding::"));
    let own: Manifest = own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
    assert!(!own.is_empty(), "no tool with {prefix}");
    Dispatcher::builder().manifest(own).build()
}

/// Asserts that either the dispatcher is not built, or the promise is kept.
#[track_caller]
fn refused_or_kept(name: &str, text: &str) {
    if let Ok(tools) = build(name) {
        let result = call_on(&tools, name, text);
        assert!(result.success, "{}", result.output);
    }
}

/// The manifest calls the argument optional, but there is no default for it.
#[tool(name = "binding.optional", arguments(number(type = "integer", required = false)))]
fn optional(number: u8) -> u8 {
    number
}

#[test]
fn an_optional_argument_can_be_omitted() {
    refused_or_kept("binding.optional", "{}");
}

/// The schema accepts any string as the default, the type does not.
#[tool(name = "binding.unreadable_default")]
fn unreadable_default(#[arg(default = "one")] version: Version) -> String {
    format!("{version:?}")
}

#[test]
fn build_rejects_a_default_that_the_type_cannot_parse() {
    refused_or_kept("binding.unreadable_default", "{}");
}

#[tool(name = "binding.converted_default")]
fn converted_default(#[arg(via(u8), default = 3)] even: Even) -> String {
    format!("{even:?}")
}

#[test]
fn build_rejects_a_default_that_the_conversion_refuses() {
    let error = build("binding.converted_default").expect_err("3 is odd").to_string();
    assert!(error.contains("`binding.converted_default`") && error.contains("3 is odd"), "{error}");
}

/// The macro does not see the type behind an alias.
type Byte = u8;

#[tool(name = "binding.schema_default")]
fn schema_default(#[arg(default = 300)] number: Byte) -> u8 {
    number
}

#[test]
fn build_rejects_a_default_that_violates_the_schema() {
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
fn build_rejects_an_explicit_default_that_violates_the_type() {
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

/// As far as the macro can see, the handlers of both have the same path.
#[test]
fn two_instantiations_of_a_generic_type_can_coexist() {
    let small = build("binding.small").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call_on(&small, "binding.small.get", "{}").output, "1");
    let large = build("binding.large").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call_on(&large, "binding.large.get", "{}").output, "2");
}

type Five = [u8; 5];

/// Bounds and lists of values that no value of the type satisfies.
#[tool(name = "binding.contradictory")]
fn contradictory(
    #[arg(max_length = 2)] five: Five,
    #[arg(min = 300)] number: Byte,
    #[arg(one_of = [1, 256])] listed: Byte,
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

/// The schema shows a string and an integer; only the conversions know what they accept.
#[tool(name = "binding.converted")]
fn converted(
    #[arg(parse, one_of = ["1", "one"])] parsed: u8,
    #[arg(via(u16), one_of = [1, 300])] narrowed: u8,
    #[arg(one_of = ["127.0.0.1", "::1"])] fine: std::net::IpAddr,
) -> String {
    format!("{parsed} {narrowed} {fine}")
}

#[test]
fn build_rejects_listed_values_that_a_conversion_refuses() {
    let error = build("binding.converted").expect_err("two values cannot be read").to_string();
    for part in [
        "the argument `parsed`: `one_of` lists \"one\", which cannot be read: invalid digit found in string",
        "the argument `narrowed`: `one_of` lists 300, which cannot be read: out of range",
    ] {
        assert!(error.contains(part), "{part} is not in {error}");
    }
    assert_eq!(error.matches("which cannot be read").count(), 2, "{error}");
}

#[test]
fn build_rejects_rules_that_contradict_the_type() {
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
