//! Fields whose own fields stand beside their siblings.

use super::*;

#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Flattened {
    own: u8,
    #[serde(flatten)]
    rest: Struct,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedOption {
    own: u8,
    #[serde(flatten)]
    rest: Option<Struct>,
    #[serde(flatten)]
    choice: Option<External>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedEnums {
    own: u8,
    #[serde(flatten)]
    a: External,
    #[serde(flatten)]
    b: Internal,
    #[serde(flatten)]
    c: Adjacent,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedBare {
    #[serde(flatten)]
    a: Bare,
    #[serde(flatten)]
    #[schemars(required)]
    b: Option<Mixed>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedUntagged {
    #[serde(flatten)]
    a: Untagged,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedOptionalUntagged {
    x: u8,
    #[serde(flatten)]
    a: Option<Untagged>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedMap {
    own: u8,
    #[serde(flatten)]
    rest: HashMap<String, Struct>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedValue {
    own: u8,
    #[serde(flatten)]
    rest: serde_json::Value,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedDenying {
    own: u8,
    #[serde(flatten)]
    a: Denies,
    #[serde(flatten)]
    b: InternalDenying,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedTwice {
    #[serde(flatten)]
    a: FlattenedEnums,
    #[serde(flatten)]
    b: BTreeMap<u8, u8>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedOpen {
    own: u8,
    #[serde(flatten)]
    a: Internal,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct FlattenedOpenTo {
    #[serde(flatten)]
    rest: HashMap<String, Struct>,
    #[serde(flatten)]
    a: Option<Untagged>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlattenedClosed {
    own: u8,
    #[serde(flatten)]
    a: External,
}
