//! Arguments without a schema, which are `any` in the manifest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tool_runtime::tool;

/// Can be read, but says nothing of its form.
#[derive(Debug, PartialEq, Deserialize)]
pub struct Opaque {
    pub x: u8,
    pub more: BTreeMap<String, u8>,
}

/// Has a field that can be anything.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    pub topic: String,
    /// Any value.
    pub payload: Value,
    pub attributes: Option<Map<String, Value>>,
}

/// Types without a schema.
#[tool(name = "opaque.unknown")]
pub fn unknown(
    opaque: Opaque,
    /// The description of the argument.
    borrowed: &Opaque,
    maybe: Option<Opaque>,
    list: Vec<Opaque>,
    slice: &[Opaque],
) -> String {
    format!("{opaque:?} {borrowed:?} {maybe:?} {list:?} {slice:?}")
}

/// Any JSON.
#[tool(name = "opaque.value")]
pub fn value(value: Value, maybe: Option<Value>) -> (Value, Option<Value>) {
    (value, maybe)
}

/// Return any value.
#[tool(name = "opaque.echo")]
pub fn echo(value: Value) -> Vec<Value> {
    vec![value]
}

/// Any JSON inside of other types.
#[tool(name = "opaque.inside")]
pub fn inside(
    map: Map<String, Value>,
    list: Vec<Value>,
    by_name: BTreeMap<String, Value>,
    envelope: Envelope,
) -> Envelope {
    assert!(map.len() + list.len() + by_name.len() < 1000);
    envelope
}
