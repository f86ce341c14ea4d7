//! Defaults of whole structs, and of fields that hold some.

use super::*;

#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct DefaultContainer {
    a: u8,
    #[serde(default = "ten")]
    b: u8,
    c: Option<Struct>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    d: Vec<u8>,
    #[serde(skip_serializing)]
    e: u8,
    #[serde(skip_deserializing)]
    f: u8,
}
#[derive(JsonSchema, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DefaultContainerByHand {
    page_size: u32,
    name: String,
    ratio: f64,
    kind: Bare,
    nested: Struct,
}
impl Default for DefaultContainerByHand {
    fn default() -> Self {
        Self { page_size: 20, name: "x".into(), ratio: 0.5, kind: Bare::One, nested: Struct::default() }
    }
}
#[derive(JsonSchema, Deserialize)]
#[serde(default = "whole")]
pub struct DefaultContainerFunction {
    a: u8,
    b: Option<String>,
}
fn whole() -> DefaultContainerFunction {
    DefaultContainerFunction { a: 3, b: Some("b".to_owned()) }
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct DefaultSkipped {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    a: Option<u8>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    b: Vec<u8>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    c: String,
    #[serde(default = "text", skip_serializing_if = "String::is_empty")]
    d: String,
    #[serde(default, skip_serializing_if = "HashMap::is_empty")]
    e: HashMap<String, u8>,
    #[serde(default = "yes", skip_serializing_if = "std::ops::Not::not")]
    f: bool,
}
#[derive(JsonSchema, Deserialize, Default)]
pub struct OnlyRead {
    a: u8,
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultNotSerialised {
    #[serde(default)]
    a: OnlyRead,
    #[serde(default)]
    b: Vec<OnlyRead>,
    #[serde(default)]
    c: Option<OnlyRead>,
    #[serde(default)]
    d: u8,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Nest {
    some_thing: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u8>,
    #[serde(rename(serialize = "out"))]
    #[schemars(rename = "elsewhere")]
    renamed: u8,
    #[serde(skip)]
    skipped: u8,
    #[serde(flatten)]
    flat: Struct,
    pair: (u8, Bare),
    wrapped: Wrapped,
    unit: Unit3,
    through: Through,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
pub struct Wrapped(u8);
#[derive(JsonSchema, Serialize, Deserialize, Default)]
pub struct Unit3;
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Through {
    inner: Bare,
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultNested {
    #[serde(default)]
    a: Nest,
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultGenericHolder {
    #[serde(default)]
    a: Holder<u8>,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
pub struct Holder<T> {
    held: T,
    list: Vec<T>,
}
