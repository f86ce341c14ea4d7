//! Every key of `#[arg(..)]`.

use std::collections::BTreeMap;

use tool_runtime::tool;

use crate::collections::Order;
use crate::enums::Direction;

/// Defaults that the model sees.
#[tool(name = "rules.defaults")]
#[allow(clippy::too_many_arguments)]
pub fn defaults(
    #[arg(default = 10)] number: u32,
    #[arg(default = -3)] negative: i8,
    #[arg(default = 2.5)] float: f64,
    #[arg(default = "text")] text: &str,
    #[arg(default = 'c')] letter: char,
    #[arg(default = true)] truth: bool,
    #[arg(default = [1, 2])] list: Vec<u8>,
    #[arg(default = ["a", "b"])] words: &[String],
    #[arg(default = "down_wards")] direction: Direction,
    #[arg(default = 4)] maybe: Option<u8>,
    #[arg(default = "x")] generic: impl AsRef<str>,
    #[arg(default = 18446744073709551615)] largest: u64,
) -> String {
    let generic = generic.as_ref();
    format!(
        "{number} {negative} {float} {text} {letter} {truth} {list:?} {words:?} {direction:?} {maybe:?} {generic} {largest}"
    )
}

/// Defaults that the model does not see.
#[tool(name = "rules.silent_defaults")]
pub fn silent_defaults(
    #[arg(default)] number: u32,
    #[arg(default)] text: &str,
    #[arg(default)] list: Vec<Order>,
    #[arg(default)] map: BTreeMap<String, u8>,
    #[arg(default)] settings: crate::structs::Settings,
) -> String {
    format!("{number} {text:?} {list:?} {map:?} {settings:?}")
}

/// Bounds of numbers.
#[tool(name = "rules.bounds")]
pub fn bounds(
    #[arg(min = 1, max = 100)] both: u32,
    #[arg(min = -5)] least: i64,
    #[arg(max = 5)] most: u8,
    #[arg(min = 0.5, max = 1.5)] float: f64,
    #[arg(min = 1, max = 2)] whole: f32,
    #[arg(min = 3)] maybe: Option<u16>,
    #[arg(default = 7, min = 5, max = 9)] defaulted: u8,
) -> String {
    format!("{both} {least} {most} {float} {whole} {maybe:?} {defaulted}")
}

/// Bounds wider than the type: the type's own hold.
#[tool(name = "rules.wide_bounds")]
pub fn wide_bounds(
    #[arg(max = 1000)] small: u8,
    #[arg(min = -5)] unsigned: u32,
    #[arg(min = -5, max = 300)] both: i8,
) -> String {
    format!("{small} {unsigned} {both}")
}

/// Rules on values that can be anything.
#[tool(name = "rules.anything")]
pub fn anything(#[arg(one_of = ["a", 1, true])] value: serde_json::Value) -> Vec<serde_json::Value> {
    vec![value]
}

/// Lengths of strings, lists and maps.
#[tool(name = "rules.lengths")]
pub fn lengths(
    #[arg(min_length = 2, max_length = 4)] text: &str,
    #[arg(min_length = 1)] list: &[u8],
    #[arg(max_length = 2)] map: BTreeMap<String, u8>,
    #[arg(max_length = 3)] maybe: Option<String>,
    #[arg(min_length = 1, max_length = 2)] words: Option<Vec<String>>,
) -> String {
    format!("{text} {list:?} {map:?} {maybe:?} {words:?}")
}

/// Patterns.
#[tool(name = "rules.patterns")]
pub fn patterns(
    #[arg(pattern = "^[a-z]+$")] word: &str,
    #[arg(pattern = r"\d{2}")] somewhere: Option<String>,
    #[arg(pattern = "^(a|b)", max_length = 3)] short: std::borrow::Cow<'_, str>,
) -> String {
    format!("{word} {somewhere:?} {short}")
}

/// Lists of values.
#[tool(name = "rules.choices")]
pub fn choices(
    #[arg(one_of = ["asc", "desc"])] order: &str,
    #[arg(one_of = [1, 2, 4, 8])] size: u8,
    #[arg(one_of = ["a", "b"], default = "b")] defaulted: String,
    #[arg(one_of = ["x", "y"])] maybe: Option<&str>,
    #[arg(one_of = ["up_wards", "none"])] direction: Direction,
    #[arg(one_of = [0.5, 1.0])] factor: f64,
) -> String {
    format!("{order} {size} {defaulted} {maybe:?} {direction:?} {factor}")
}

/// Names, descriptions and secrets.
#[tool(name = "rules.named")]
pub fn named(
    #[arg(rename = "user-name")] user: &str,
    #[arg(rename = "weird.but_allowed")] weird: u8,
    /// Not this.
    #[arg(description = "This.")]
    described: u8,
    #[arg(secret)] password: String,
    #[arg(secret, min_length = 3, description = "A token.")] token: Option<String>,
    #[arg(secret = false)] open: u8,
    #[arg] bare: u8,
    #[arg()] empty: u8,
) -> String {
    format!("{user} {weird} {described} {} {token:?} {open} {bare} {empty}", password.len())
}

/// Secrets of types that say in their errors what they were given.
#[tool(name = "rules.secrets")]
pub fn secrets(
    #[arg(secret)] opaque: &crate::opaque::Opaque,
    #[arg(secret)] id: uuid::Uuid,
    #[arg(secret, one_of = ["a", "b"])] choice: &str,
    #[arg(secret)] map: BTreeMap<String, u8>,
) -> usize {
    usize::from(opaque.x) + id.as_bytes().len() + choice.len() + map.len()
}

/// Names that are injected otherwise.
#[tool(name = "rules.reserved")]
pub fn reserved(#[arg] session: String, #[arg(rename = "repo")] repository: &str) -> String {
    format!("{session} {repository}")
}
