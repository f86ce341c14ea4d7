//! Explicit schemas with `arguments(..)`.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_runtime::tool;

/// Ping a host.
#[tool(name = "explicit.ping", arguments(host(type = "string", required = true)))]
pub fn ping(host: String, #[inject] ping_host: &str) -> String {
    format!("{host} from {ping_host}")
}

/// Keywords for texts.
#[tool(
    name = "explicit.texts",
    arguments(
        host(type = "string", required = true, pattern = "^[a-z0-9-]+$", minLength = 2, maxLength = 8),
        at(type = "string", format = "date-time", required = false),
        unit(type = "string", "enum" = ["ms", "s"], default = "ms"),
        exactly(type = "string", const = "yes", description = "Only one word."),
    )
)]
pub fn texts(
    host: &str,
    at: Option<String>,
    unit: String,
    /// Overridden.
    exactly: String,
) -> String {
    format!("{host} {at:?} {unit} {exactly}")
}

/// Keywords for numbers.
#[tool(
    name = "explicit.numbers",
    arguments(
        port(type = "integer", minimum = 1, maximum = 65535),
        ratio(type = "number", exclusiveMinimum = 0, exclusiveMaximum = 1.5),
        even(type = "integer", multipleOf = 2, required = true),
        maybe(type = "integer", minimum = -10, required = false),
        flag(type = "boolean", default = false),
    )
)]
pub fn numbers(port: u16, ratio: f64, even: i32, maybe: Option<i8>, flag: bool) -> String {
    format!("{port} {ratio} {even} {maybe:?} {flag}")
}

/// Keywords for lists and objects.
#[tool(
    name = "explicit.nested",
    arguments(
        ports(type = "array", items(type = "integer", minimum = 1), minItems = 1, maxItems = 3, uniqueItems),
        point(
            type = "object",
            properties(x(type = "number"), y(type = "number", description = "Upwards.")),
            required = true,
            additionalProperties = false,
        ),
        labels(
            type = "object",
            additionalProperties(type = "string", maxLength = 3),
            maxProperties = 2,
            required = false
        ),
        anything(required = false, description = "Whatever."),
        not_text(type = "any", not(type = "string")),
    )
)]
pub fn nested(
    ports: Vec<u16>,
    point: BTreeMap<String, f64>,
    labels: Option<BTreeMap<String, String>>,
    anything: Option<Value>,
    not_text: Value,
) -> String {
    format!("{ports:?} {point:?} {labels:?} {anything:?} {not_text}")
}

/// Descriptions come from the parameters where the schema has none.
///
/// # Arguments
/// * `section` - From the section.
#[tool(
    name = "explicit.described",
    arguments(own(type = "integer"), section(type = "integer"), r#type(type = "string"))
)]
pub fn described(
    /// From the parameter.
    own: u8,
    section: u8,
    r#type: &str,
) -> String {
    format!("{own} {section} {}", r#type)
}

/// A name that is no identifier.
#[tool(name = "explicit.renamed", arguments("user-name"(type = "string")))]
pub fn renamed(#[arg(rename = "user-name")] user: String) -> String {
    user
}

/// The schema decides, not the type.
#[tool(
    name = "explicit.flags",
    arguments(needed(type = "integer", required = true), defaulted(type = "integer", default = 3))
)]
pub fn flags(needed: Option<u8>, defaulted: Option<u8>) -> String {
    format!("{needed:?} {defaulted:?}")
}

/// The schema is narrower than the type.
#[tool(name = "explicit.narrow", arguments(value(type = "object", maxProperties = 1), not_null(not(type = "null"))))]
pub fn narrow(value: Value, not_null: Value) -> (Value, Value) {
    (value, not_null)
}

/// No arguments at all.
#[tool(name = "explicit.nothing", arguments())]
pub fn nothing() -> u8 {
    0
}
