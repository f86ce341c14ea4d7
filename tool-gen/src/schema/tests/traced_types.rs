//! Types that are compiled and parsed, without `JsonSchema`.
#![allow(dead_code, missing_docs, clippy::all)]

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
pub struct Task {
    id: usize,
    #[serde(default)]
    tags: Vec<String>,
    parent: Option<Box<Task>>,
    level: Level,
    #[serde(rename = "when")]
    due: Option<i64>,
    env: HashMap<String, Vec<u8>>,
    kinds: std::collections::BTreeSet<Level>,
    shape: Shape,
    window: [u16; 3],
    #[serde(skip)]
    cache: u8,
    #[serde(skip_serializing)]
    secret: String,
    options: Options,
    at: chrono::DateTime<chrono::Utc>,
    #[serde(default)]
    last: f32,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Options {
    dry_run: bool,
    max_count: u8,
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    VeryLow,
    High,
    #[serde(skip)]
    Hidden,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Shape {
    Point,
    Circle(f64),
    Line(u8, u8),
    Rectangle {
        width: u32,
        height: Option<u32>,
    },
    #[serde(rename = "other_one")]
    Other(Level),
}

#[derive(Deserialize)]
pub struct Wrapper(Level);

#[derive(Deserialize)]
pub struct Couple(u8, Option<Level>);

#[derive(Deserialize)]
pub struct Nothing;

#[derive(Deserialize)]
pub struct Generic<T> {
    item: T,
    more: Vec<T>,
}

#[derive(Deserialize)]
pub struct Both {
    a: Generic<u8>,
    b: Generic<String>,
    again: Generic<u8>,
}

#[derive(Deserialize)]
pub struct Recursive(Vec<Recursive>);

#[derive(Deserialize)]
#[serde(try_from = "String")]
pub struct Converted;

impl TryFrom<String> for Converted {
    type Error = String;

    fn try_from(_: String) -> Result<Self, String> {
        Err("never".to_owned())
    }
}

pub struct Delegating;

impl<'de> Deserialize<'de> for Delegating {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.starts_with("sha:") { Ok(Self) } else { Err(serde::de::Error::custom("not a hash")) }
    }
}

pub struct Visiting;

struct TextVisitor;

impl serde::de::Visitor<'_> for TextVisitor {
    type Value = Visiting;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Visiting, E> {
        if text.len() == 7 { Ok(Visiting) } else { Err(E::custom("seven letters")) }
    }
}

impl<'de> Deserialize<'de> for Visiting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

pub struct Number;

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D>(d: D) -> Result<Self, D::Error>
    where
        D: Deserializer<'de>,
    {
        <u32 as Deserialize>::deserialize(d).map(|_| Self)
    }
}

#[derive(Deserialize)]
pub struct Clock {
    #[serde(default, with = "text")]
    zone: Option<u8>,
    #[serde(deserialize_with = "minutes")]
    after: u64,
    #[serde(with = "text")]
    place: Option<u8>,
    before: Delegating,
}

#[derive(Deserialize)]
pub struct Ambiguous {
    hash: Delegating,
    #[serde(default)]
    rest: bool,
}

fn minutes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    u64::deserialize(deserializer).map(|minutes| minutes * 60)
}

mod text {
    use serde::{Deserialize, Deserializer};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
        String::deserialize(deserializer).map(|text| text.parse().ok())
    }
}

#[derive(Deserialize)]
#[serde(tag = "type")]
pub enum Tagged {
    One {
        a: u8,
    },
    #[serde(alias = "deux")]
    Two,
}

#[derive(Deserialize)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    One { a: u8 },
    Two(String),
    Three,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
pub enum Open {
    One,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Untagged {
    A(u8),
    B(String),
}

#[derive(Deserialize)]
pub enum PartlyUntagged {
    A(u8),
    #[serde(untagged)]
    B(String),
}

#[derive(Deserialize)]
pub struct Flat {
    a: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub struct Aliased {
    #[serde(alias = "aaa", alias = "zzz")]
    name: Option<String>,
    #[serde(alias = "count")]
    number: u8,
    tagged: Tagged,
    flat: Flat,
    untagged: Untagged,
}

#[derive(Deserialize)]
#[serde(rename = "Renamed")]
pub struct Named {
    #[serde(rename(deserialize = "in", serialize = "out"))]
    a: u8,
}

#[derive(Deserialize)]
pub struct Libraries {
    uuid: uuid::Uuid,
    url: url::Url,
    date: chrono::NaiveDate,
    span: chrono::TimeDelta,
    month: chrono::Month,
    zoned: jiff::Zoned,
    civil: jiff::civil::DateTime,
    day: time::Date,
    moment: time::OffsetDateTime,
    price: rust_decimal::Decimal,
    total: Option<bigdecimal::BigDecimal>,
    blob: bytes::Bytes,
    version: semver::Version,
    needs: semver::VersionReq,
    id: ulid::Ulid,
    word: smol_str::SmolStr,
    choice: either::Either<u8, Level>,
    map: indexmap::IndexMap<String, Level>,
    set: indexmap::IndexSet<u8>,
    net: ipnet::IpNet,
    address: std::net::IpAddr,
    socket: std::net::SocketAddr,
    path: std::path::PathBuf,
    count: std::num::NonZeroU16,
    offset: std::num::NonZero<i64>,
    value: serde_json::Value,
    object: serde_json::Map<String, serde_json::Value>,
    number: serde_json::Number,
    timeout: std::time::Duration,
    since: std::time::SystemTime,
    cow: std::borrow::Cow<'static, str>,
    wrapping: std::num::Wrapping<u8>,
    nothing: (),
    result: Result<u8, String>,
    #[serde(default)]
    last: bool,
}

#[derive(Deserialize)]
#[serde(transparent)]
pub struct Transparent {
    inner: Vec<uuid::Uuid>,
}

#[derive(Deserialize)]
pub struct Newtypes {
    id: Id,
    link: Link,
    at: At,
    #[serde(default)]
    price: Price,
    list: List,
}

#[derive(Deserialize)]
#[serde(transparent)]
pub struct Id(uuid::Uuid);

#[derive(Deserialize)]
pub struct Link(url::Url);

#[derive(Deserialize)]
#[serde(transparent)]
pub struct At(chrono::DateTime<chrono::Utc>);

#[derive(Deserialize, Default)]
#[serde(transparent)]
pub struct Price(rust_decimal::Decimal);

#[derive(Deserialize)]
pub struct List(Option<Vec<Id>>);

#[derive(Deserialize)]
pub struct Ranges {
    a: std::ops::Range<u8>,
    b: std::ops::RangeInclusive<i64>,
    c: std::ops::Bound<u8>,
    d: std::ops::RangeFrom<u8>,
}
