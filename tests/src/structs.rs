//! Structs with serde attributes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::tool;

/// Names that are changed.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Renamed {
    /// By the rule of the struct.
    pub first_name: String,
    /// By its own word.
    #[serde(rename = "family-name")]
    pub last_name: String,
    /// Under another name too.
    #[serde(alias = "mail", alias = "e_mail")]
    pub email: String,
    pub r#type: u8,
}

/// Fields that can be left out.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Defaults {
    #[serde(default)]
    pub count: u16,
    #[serde(default = "seven")]
    pub days: i8,
    pub note: Option<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    pub needed: bool,
}

fn seven() -> i8 {
    7
}

/// All fields can be left out.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The volume.
    pub volume: u8,
    pub name: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self { volume: 5, name: "default".to_owned() }
    }
}

/// Fields that are not read.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    pub seen: u8,
    #[serde(skip)]
    pub cache: u8,
    #[serde(skip_deserializing)]
    pub computed: u8,
    #[serde(skip_serializing)]
    pub password: String,
}

/// Fields shared by several structs.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Paging {
    /// From which one on.
    #[serde(default)]
    pub offset: u32,
    pub limit: u32,
}

/// A struct inside another, on the same level.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flattened {
    pub query: String,
    #[serde(flatten)]
    pub paging: Paging,
    #[serde(flatten)]
    pub more: BTreeMap<String, u8>,
}

/// An identifier that is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CustomerId(pub u32);

/// Transparent.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Email {
    pub address: String,
}

/// A newtype around a struct.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wrapper(pub Paging);

/// Two unnamed fields.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point(pub f64, pub f64);

/// Nothing inside.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Empty {}

/// Nothing at all.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unit;

/// Fields called like keywords of JSON Schema.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Keywords {
    pub title: String,
    pub format: Option<String>,
    pub default: Option<u8>,
    pub description: Option<String>,
    pub required: bool,
    pub properties: Paging,
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    #[serde(rename = "enum")]
    pub values: Vec<u8>,
    #[serde(rename = "additionalProperties")]
    pub additional: Option<bool>,
}

/// Two types of one name.
pub mod other {
    use super::{Deserialize, JsonSchema, Serialize};

    /// The other paging.
    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct Paging {
        pub cursor: String,
    }
}

/// Read as a text, through a conversion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Even(String);

impl TryFrom<String> for Even {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.len().is_multiple_of(2) {
            Ok(Self(text))
        } else {
            Err("an even number of letters is needed".to_owned())
        }
    }
}

impl From<Even> for String {
    fn from(even: Even) -> Self {
        even.0
    }
}

/// Demands that only the schema knows.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounded {
    #[schemars(range(min = 1, max = 10))]
    pub stars: u8,
    #[schemars(length(min = 2), regex(pattern = "^[a-z]+$"))]
    pub word: String,
    #[schemars(length(max = 2))]
    pub list: Vec<u8>,
}

/// Renamed fields.
#[tool(name = "structs.renamed")]
pub fn renamed(person: Renamed) -> Renamed {
    person
}

/// Defaults of fields and of structs.
#[tool(name = "structs.defaults")]
pub fn defaults(
    defaults: Defaults,
    settings: Settings,
    maybe: Option<Settings>,
) -> (Defaults, Settings, Option<Settings>) {
    (defaults, settings, maybe)
}

/// Skipped fields.
#[tool(name = "structs.skipped")]
pub fn skipped(skipped: Skipped) -> String {
    format!("{skipped:?}")
}

/// Flattened fields.
#[tool(name = "structs.flattened")]
pub fn flattened(search: Flattened) -> Flattened {
    search
}

/// Newtypes.
#[tool(name = "structs.newtypes")]
pub fn newtypes(
    id: CustomerId,
    /// Where to write to.
    email: Email,
    wrapper: Wrapper,
    maybe: Option<CustomerId>,
    ids: Vec<CustomerId>,
    by_id: BTreeMap<String, CustomerId>,
) -> String {
    format!("{id:?} {email:?} {wrapper:?} {maybe:?} {ids:?} {by_id:?}")
}

/// A newtype of an `Option` that is not transparent.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Newtype(pub Option<u8>);

/// A newtype of an `Option` that is.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Transparent(pub Option<u8>);

/// Newtypes of an `Option`: serde lets the transparent one be left out.
#[tool(name = "structs.optional_newtypes")]
pub fn optional_newtypes(newtype: Newtype, transparent: Transparent) -> String {
    format!("{newtype:?} {transparent:?}")
}

/// Structs without named fields.
#[tool(name = "structs.unnamed")]
pub fn unnamed(point: Point, empty: Empty, unit: Unit) -> String {
    format!("{point:?} {empty:?} {unit:?}")
}

/// Fields called like keywords.
#[tool(name = "structs.keywords")]
pub fn keywords(keywords: Keywords) -> Keywords {
    keywords
}

/// Two types of one name.
#[tool(name = "structs.same_name")]
pub fn same_name(paging: Paging, other: other::Paging) -> (Paging, other::Paging) {
    (paging, other)
}

/// A conversion that can fail.
#[tool(name = "structs.converted")]
pub fn converted(even: Even, all: Option<Vec<Even>>) -> String {
    format!("{even:?} {all:?}")
}

/// Bounds inside a struct.
#[tool(name = "structs.bounded")]
pub fn bounded(
    bounded: Bounded,
    /// The argument's own words go first.
    other: Option<Bounded>,
    list: Vec<Bounded>,
) -> usize {
    usize::from(bounded.stars) + usize::from(other.is_some()) + list.len()
}

/// Types of other crates inside of a struct.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Foreign {
    #[schemars(with = "String")]
    #[serde(with = "as_text")]
    pub version: (u8, u8),
    pub pair: (u8, Option<String>),
    pub array: [i16; 2],
    pub big: u128,
    pub size: usize,
    pub letter: char,
    pub single: f32,
    pub anything: serde_json::Value,
}

mod as_text {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(version: &(u8, u8), serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}.{}", version.0, version.1))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(u8, u8), D::Error> {
        let text = String::deserialize(deserializer)?;
        let version: crate::texts::Version = text.parse().map_err(D::Error::custom)?;
        Ok((version.0, version.1))
    }
}

/// Types of other crates.
#[tool(name = "structs.foreign")]
pub fn foreign(foreign: Foreign) -> Foreign {
    foreign
}

/// The subject of a webhook.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Topic {
    Push { branch: String },
    Ping,
}

/// For whom it is.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Target {
    User { user: String },
    Team { team: u8 },
}

/// Enums beside all that is not known.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Webhook {
    pub id: u32,
    #[serde(flatten)]
    pub topic: Topic,
    #[serde(flatten)]
    pub target: Option<Target>,
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// The amount.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    Exact(u8),
    Between { least: u8, most: u8 },
}

/// An enum beside entries of one type.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    pub id: u32,
    #[serde(flatten)]
    pub amount: Amount,
    #[serde(flatten)]
    pub counts: BTreeMap<String, u8>,
}

/// An enum beside nothing else.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    pub id: u32,
    #[serde(flatten)]
    pub amount: Amount,
}

/// Flattened enums.
#[tool(name = "structs.flattened_enums")]
pub fn flattened_enums(webhook: Webhook, counters: Counters, closed: Closed) -> String {
    let Webhook { id, topic, target, extra } = webhook;
    format!("{id} {topic:?} {target:?} {} {counters:?} {closed:?}", extra.contains_key("more"))
}

/// Closed for schemars, not for serde.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ShownClosed {
    pub count: u32,
}

/// Demands that only schemars knows.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownRequired {
    #[serde(default)]
    #[schemars(!default)]
    pub count: u8,
    #[schemars(range(min = 0))]
    pub since: Option<i64>,
    #[schemars(email)]
    pub mail: Option<String>,
}

/// Requirements of schemars that serde lacks.
#[tool(name = "structs.shown")]
pub fn shown(closed: ShownClosed, required: ShownRequired, all: Option<Vec<ShownClosed>>) -> String {
    format!("{closed:?} {required:?} {all:?}")
}
