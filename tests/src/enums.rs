//! Enums: with unit variants only, and with data in each serde representation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::tool;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Plain {
    Zebra,
    Apple,
    Mango,
}

/// Where to sort to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The smallest first.
    UpWards,
    /// The largest first,
    /// in two lines.
    DownWards,
    /// Not at all.
    #[serde(rename = "none", alias = "never")]
    Unsorted,
}

/// Some variants say what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Mixed {
    /// The first.
    First,
    Second,
    /// The third.
    Third,
    Fourth,
}

/// Some variants are not for models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Partly {
    Known,
    #[serde(skip)]
    Internal,
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Single {
    Only,
}

/// External: the variant is the key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum External {
    /// Nothing inside.
    Bare,
    /// One value.
    One(u8),
    /// Two values.
    Two(u8, String),
    /// Fields.
    Named {
        /// A field.
        x: i32,
        direction: Direction,
    },
}

/// Internal: the variant is a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Internal {
    Nothing,
    SomeFields { how_many: u32 },
    Held(Held),
}

/// The content of [`Internal`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    pub mixed: Mixed,
}

/// Adjacent: variant and content are fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    Bare,
    One(Vec<u8>),
    Named { x: i32 },
}

/// Untagged: the form decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Untagged {
    Number(i64),
    Text(String),
    Named { x: i32 },
    List(Vec<Untagged>),
}

/// Bare variants.
#[tool(name = "enums.bare")]
pub fn bare(
    plain: Plain,
    documented: Direction,
    /// The argument's own words.
    described: Direction,
    mixed: Mixed,
    partly: Partly,
    single: Single,
) -> String {
    format!("{plain:?} {documented:?} {described:?} {mixed:?} {partly:?} {single:?}")
}

/// Bare variants that can be left out.
#[tool(name = "enums.optional")]
pub fn optional(plain: Option<Plain>, mixed: Option<Mixed>, #[arg(default = "none")] direction: Direction) -> String {
    format!("{plain:?} {mixed:?} {direction:?}")
}

/// Bare variants inside of other types.
#[tool(name = "enums.nested")]
pub fn nested(
    list: Vec<Mixed>,
    map: BTreeMap<String, Mixed>,
    keyed: BTreeMap<Plain, u8>,
    held: Held,
    pair: (Plain, Option<Mixed>),
    borrowed: &Mixed,
    slice: Option<&[Mixed]>,
) -> String {
    format!("{list:?} {map:?} {keyed:?} {held:?} {pair:?} {borrowed:?} {slice:?}")
}

/// Variants with data.
#[tool(name = "enums.data")]
pub fn data(
    external: External,
    internal: Internal,
    adjacent: Adjacent,
    untagged: Untagged,
) -> (External, Internal, Adjacent, Untagged) {
    (external, internal, adjacent, untagged)
}

/// Variants with data that can be left out, or are many.
#[tool(name = "enums.many")]
pub fn many(maybe: Option<External>, list: Vec<Internal>, map: BTreeMap<String, Adjacent>) -> String {
    format!("{maybe:?} {list:?} {map:?}")
}

/// Gives a bare variant back.
#[tool(name = "enums.given")]
pub fn given(plain: Plain) -> Plain {
    plain
}
