//! Structs: their names, what is left out, what may be absent, what is looked through.

use super::*;

/// A struct.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Struct {
    /// A number.
    pub number: u32,
    pub text: Option<String>,
}
#[derive(JsonSchema, Serialize)]
pub struct Unit;
#[derive(JsonSchema, Serialize)]
pub struct Newtype(u8);
/// Documented.
#[derive(JsonSchema, Serialize)]
pub struct NewtypeOfStruct(
    /// The field.
    Struct,
);
#[derive(JsonSchema, Serialize)]
pub struct Pair(u8, #[schemars(range(min = 1))] u16);
#[derive(JsonSchema, Serialize)]
pub struct EmptyStruct {}
#[derive(JsonSchema, Serialize)]
pub struct EmptyTuple();
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename = "Other name")]
pub struct Renamed {
    #[serde(rename = "type")]
    kind: u8,
    r#fn: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenamedAll {
    first_name: String,
    #[serde(rename = "LAST")]
    last_name: String,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all(serialize = "SCREAMING_SNAKE_CASE", deserialize = "kebab-case"))]
pub struct RenamedByDirection {
    first_name: String,
    #[serde(rename(serialize = "out", deserialize = "in"))]
    last_name: String,
    #[serde(rename(serialize = "only_out"))]
    third_name: Option<String>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Skips {
    #[serde(skip)]
    never: u8,
    #[serde(skip_serializing)]
    read: u8,
    #[serde(skip_deserializing)]
    written: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    sometimes: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    both: Option<u8>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct SkipsInTuple(#[serde(skip)] u8, u16, #[serde(skip_serializing)] u32, #[serde(skip_deserializing)] u64);
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct NotSkipped {
    #[serde(skip)]
    #[schemars(!skip)]
    there: u8,
    #[serde(rename = "x")]
    #[schemars(!rename)]
    here: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Options {
    a: Option<u8>,
    #[schemars(required)]
    b: Option<u8>,
    #[schemars(required)]
    c: Option<Struct>,
    d: Option<Option<Struct>>,
    e: Box<Option<u8>>,
    #[serde(default)]
    f: Option<Struct>,
    g: Option<Vec<Struct>>,
    h: Option<Bare>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denies {
    a: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Transparent {
    a: u8,
}
/// Documented.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentDocumented(Struct);
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentStruct {
    inner: Struct,
    #[serde(skip)]
    other: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransparentOption(Option<u8>);
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct OptionalTransparent {
    a: TransparentOption,
    #[schemars(required)]
    b: TransparentOption,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Aliased {
    #[serde(alias = "b", alias = "c")]
    a: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Over", rename_all = "PascalCase", !deny_unknown_fields)]
pub struct Overridden {
    some_field: u8,
    #[serde(rename = "x")]
    #[schemars(rename = "y")]
    other_field: u8,
    #[serde(default)]
    #[schemars(!default)]
    third: u8,
    #[schemars(skip)]
    fourth: u8,
}
/// Holds itself.
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Recursive {
    children: Vec<Recursive>,
    parent: Option<Box<Recursive>>,
    by_name: HashMap<String, Recursive>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Mutual {
    other: Option<Box<Mutual2>>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Mutual2 {
    other: Option<Box<Mutual>>,
}
/// Written out.
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(inline)]
pub struct Inlined {
    a: Struct,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct UsesInlined {
    /// My own words.
    a: Inlined,
    b: Option<Inlined>,
    /// Of a reference.
    c: Struct,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub struct Tagged {
    pub a: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct OwnName {
    children: Vec<Self>,
    pair: Option<Box<(Self, OwnNameEnum)>>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum OwnNameEnum {
    Sum(Box<Self>, Box<Self>),
    Of { inner: Box<Self> },
}
