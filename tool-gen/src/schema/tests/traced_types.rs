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

#[derive(PartialEq, Eq, Hash)]
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

#[derive(Deserialize)]
#[serde(transparent)]
pub struct Tree(Vec<Tree>);

#[derive(Deserialize)]
#[serde(from = "Option<Box<Chained>>")]
pub struct Chained(Option<Box<Chained>>);

impl From<Option<Box<Chained>>> for Chained {
    fn from(inner: Option<Box<Chained>>) -> Self {
        Self(inner)
    }
}

#[derive(Deserialize)]
#[serde(transparent)]
pub struct Forest {
    all: HashMap<String, Forest>,
}

#[derive(Deserialize)]
#[serde(transparent)]
pub struct ChangeSet(Vec<u8>);

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colors {
    #[serde(alias = "crimson")]
    Red,
    #[serde(alias = "b", alias = "azure")]
    Blue(u8),
    Green,
}

#[derive(Deserialize)]
pub struct Hashes {
    pair: (Delegating, u8),
    map: HashMap<Delegating, u8>,
    choice: HashChoice,
}

#[derive(Deserialize)]
pub enum HashChoice {
    A(Delegating, u8),
    B { code: Delegating, n: u8 },
    C(Delegating),
}

/// Each level contains the next one eight times: a value has more parts than a sample value may have.
#[derive(Deserialize)]
pub struct Wide {
    a: Wide2,
    b: Wide2,
    c: Wide2,
    d: Wide2,
    e: Wide2,
    f: Wide2,
    g: Wide2,
    h: Wide2,
}

#[derive(Deserialize)]
pub struct Wide2 {
    a: Wide3,
    b: Wide3,
    c: Wide3,
    d: Wide3,
    e: Wide3,
    f: Wide3,
    g: Wide3,
    h: Wide3,
}

#[derive(Deserialize)]
pub struct Wide3 {
    a: Wide4,
    b: Wide4,
    c: Wide4,
    d: Wide4,
    e: Wide4,
    f: Wide4,
    g: Wide4,
    h: Wide4,
}

#[derive(Deserialize)]
pub struct Wide4 {
    a: Wide5,
    b: Wide5,
}

#[derive(Deserialize)]
pub struct Wide5 {
    a: u8,
    b: String,
}

#[derive(Deserialize)]
pub struct FieldVisitorOptions {
    a: u8,
    b: u8,
}
