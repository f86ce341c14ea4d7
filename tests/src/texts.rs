//! Types that are strings in JSON: ids, times, addresses, paths, and types with only `FromStr`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::str::FromStr;

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use tool_runtime::tool;
use url::Url;
use uuid::Uuid;

/// Identifiers.
#[tool(name = "texts.ids")]
pub fn ids(id: Uuid, other: Option<Uuid>, all: Vec<Uuid>) -> String {
    format!("{id} {other:?} {}", all.len())
}

/// Times.
#[tool(name = "texts.times")]
pub fn times(
    utc: DateTime<Utc>,
    offset: DateTime<FixedOffset>,
    date: NaiveDate,
    time: NaiveTime,
    naive: NaiveDateTime,
    since: Option<DateTime<Utc>>,
) -> String {
    format!("{utc:?} {offset:?} {date} {time} {naive} {since:?}")
}

/// Addresses of the web; their crate's `serde` feature is off.
#[tool(name = "texts.urls")]
pub fn urls(url: Url, other: Option<Url>, all: Vec<Url>) -> String {
    let all: Vec<&str> = all.iter().map(Url::as_str).collect();
    format!("{url} {:?} {all:?}", other.as_ref().map(Url::as_str))
}

/// Addresses of hosts.
#[tool(name = "texts.addresses")]
pub fn addresses(any: IpAddr, four: Ipv4Addr) -> String {
    format!("{any} {four}")
}

/// Paths.
#[tool(name = "texts.paths")]
pub fn paths(path: PathBuf, others: Option<Vec<PathBuf>>) -> String {
    format!("{path:?} {others:?}")
}

/// Parsed, never deserialized.
#[derive(Debug, PartialEq)]
pub struct Version(pub u8, pub u8);

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let (major, minor) = text.split_once('.').ok_or(VersionError)?;
        let number = |text: &str| text.parse().map_err(|_| VersionError);
        Ok(Self(number(major)?, number(minor)?))
    }
}

/// Why a text is no version.
#[derive(Debug)]
pub struct VersionError;

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version is written 1.2")
    }
}

/// A type that can only be parsed.
#[tool(name = "texts.parsed")]
pub fn parsed(version: Version, other: Option<Version>, all: Vec<Version>) -> String {
    format!("{version:?} {other:?} {all:?}")
}
