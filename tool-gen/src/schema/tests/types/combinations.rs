//! Attributes that meet.

use super::*;

#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Lifetimes<'a> {
    a: &'a str,
    #[serde(borrow)]
    b: std::borrow::Cow<'a, str>,
    c: std::borrow::Cow<'a, [u8]>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThroughGeneric<T> {
    a: Vec<T>,
}
#[derive(JsonSchema)]
#[schemars(transparent)]
pub struct ThroughValidated(#[schemars(range(min = 1))] u8);
#[derive(JsonSchema)]
pub struct UsesThrough {
    a: ThroughGeneric<Struct>,
    b: Option<ThroughGeneric<u8>>,
    c: ThroughValidated,
    d: NamedPage<ThroughGeneric<Struct>>,
    e: NamedPage<ThroughValidated>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(inline)]
pub enum InlineEnum {
    A,
    B(Struct),
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct MoreFields {
    /// Flattened, with words.
    #[serde(flatten, default)]
    a: Struct,
    b: Option<InlineEnum>,
    #[serde(default = "some")]
    #[schemars(with = "String")]
    c: Option<u8>,
    #[serde(default)]
    #[schemars(range(min = 1), extend("default" = 7))]
    d: u8,
    #[serde(default, skip_serializing)]
    e: u8,
    #[serde(default, skip_deserializing)]
    f: u8,
    #[schemars(default)]
    g: u8,
    #[schemars(default = "ten", title = "Gee")]
    gg: u8,
    #[serde(default)]
    h: TransparentOption2,
    i: Vec<(Bare, Option<Struct>)>,
    j: Box<[Struct]>,
    k: Box<str>,
    l: Option<serde_json::Map<String, serde_json::Value>>,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct TransparentOption2(Option<u8>);
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "SCREAMING-KEBAB-CASE", tag = "the-tag")]
/// Enum words.
///
/// # Not a title
pub enum MoreVariants {
    FirstOne {
        some_field: Option<u8>,
        #[serde(default = "ten")]
        other_field: u8,
        #[serde(flatten)]
        rest: Struct,
    },
    /// # Title of a variant
    /// Text of it.
    #[serde(rename = "2nd")]
    Second(InlineEnumFields),
    #[schemars(with = "Struct")]
    Third(u8),
    #[serde(skip_serializing)]
    Fourth,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(inline)]
pub struct InlineEnumFields {
    a: u8,
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "tag", content = "content")]
pub enum MoreAdjacent {
    A(()),
    B(Option<Struct>),
    C(Vec<MoreAdjacent>),
    #[schemars(with = "u8")]
    D,
    E {},
    /// Words.
    #[schemars(extend("x" = [TITLE]))]
    F(#[schemars(range(min = 2))] u8),
}
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum MoreUntagged {
    A {
        a: u8,
    },
    B(u8, u8),
    C(Box<MoreUntagged>),
    /// Nothing.
    D,
    #[schemars(title = "Given")]
    E(Vec<String>),
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub enum SkippedFields {
    A(#[serde(skip)] u8, u16),
    B {
        #[serde(skip_serializing)]
        a: u8,
        #[serde(skip_deserializing)]
        b: u8,
        #[serde(skip)]
        c: u8,
    },
}
#[derive(JsonSchema, Deserialize)]
pub struct Bounded<T, U = u8>
where
    T: std::fmt::Debug,
{
    #[schemars(with = "Vec<T>")]
    a: T,
    b: Option<U>,
}
#[derive(JsonSchema)]
#[schemars(bound = "")]
pub struct Unbound<T> {
    #[schemars(with = "u8")]
    a: T,
}
#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "SCREAMING_SNAKE_CASE")]
/// Settings.
pub struct Settings {
    /// The number of names.
    how_many: std::num::Wrapping<u8>,
    names: Vec<String>,
    nested: Option<Box<Settings>>,
    limits: (u8, Option<u8>),
    by_name: BTreeMap<String, Struct>,
    bare: Bare,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<String>,
    list: [Bare; 2],
}
