//! Return types of handlers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tool_runtime::tool;

/// A struct that is only written.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The host.
    pub host_name: String,
    pub load: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

fn report(host: &str) -> Report {
    Report { host_name: host.to_owned(), load: Some(0.5), warnings: Vec::new() }
}

/// An error that is shown and nothing else.
pub struct Shown(pub &'static str);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Like `anyhow`: the alternate form includes the causes.
        if f.alternate() { write!(f, "{}: because of it", self.0) } else { f.write_str(self.0) }
    }
}

/// An error that could also be written as JSON.
#[derive(Debug, Serialize)]
pub enum Written {
    NotFound,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was not found")
    }
}

impl std::error::Error for Written {}

/// A crate's own alias.
pub type Result<T, E = Written> = std::result::Result<T, E>;

/// A crate's own alias under another name.
pub type Fallible<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A type that is called like an `Option` and is none.
pub mod own {
    /// Always there.
    #[derive(serde::Serialize)]
    pub struct Option<T>(pub T);
}

/// A number.
#[tool(name = "returns.number")]
pub fn number() -> i32 {
    -7
}

/// A boolean.
#[tool(name = "returns.truth")]
pub fn truth() -> bool {
    true
}

/// Nothing, by leaving it out.
#[tool(name = "returns.unit")]
pub fn unit() {}

/// Nothing, written out.
#[tool(name = "returns.written_unit")]
#[allow(clippy::unused_unit)]
pub fn written_unit() -> () {}

/// Nothing, or an error.
#[tool(name = "returns.unit_result")]
pub fn unit_result(fail: bool) -> Result<()> {
    if fail { Err(Written::NotFound) } else { Ok(()) }
}

/// A string.
#[tool(name = "returns.string")]
pub fn string() -> String {
    "a \"b\"\n".to_owned()
}

/// A static string.
#[tool(name = "returns.str")]
pub fn str() -> &'static str {
    "text"
}

/// A string that is borrowed from an argument.
#[tool(name = "returns.borrowed")]
pub fn borrowed(text: &str) -> &str {
    text.trim()
}

/// A string that may be borrowed from an argument.
#[tool(name = "returns.cow")]
pub fn cow(text: &str) -> Cow<'_, str> {
    if text.contains(' ') { text.replace(' ', "_").into() } else { text.into() }
}

/// A shared string.
#[tool(name = "returns.boxed")]
pub fn boxed() -> Box<str> {
    "boxed".into()
}

/// A character.
#[tool(name = "returns.char")]
pub fn char() -> char {
    'ß'
}

/// A string or nothing.
#[tool(name = "returns.option")]
pub fn option(some: bool) -> Option<String> {
    some.then(|| "some".to_owned())
}

/// An `Option` of the crate's own.
#[tool(name = "returns.own_option")]
pub fn own_option() -> own::Option<u8> {
    own::Option(3)
}

/// A struct.
#[tool(name = "returns.structure")]
pub fn structure(host: &str) -> Report {
    report(host)
}

/// A struct or nothing.
#[tool(name = "returns.optional_structure")]
pub fn optional_structure(some: bool) -> Option<Report> {
    some.then(|| report("web-1"))
}

/// A list of structs, or an error.
#[tool(name = "returns.list")]
pub async fn list(hosts: Vec<String>) -> Result<Vec<Report>> {
    if hosts.is_empty() { Err(Written::NotFound) } else { Ok(hosts.iter().map(|host| report(host)).collect()) }
}

/// A map, by the alias that is not called `Result`.
#[tool(name = "returns.map")]
pub fn map(key: String) -> Fallible<BTreeMap<String, u32>> {
    let number: u32 = key.parse()?;
    Ok(BTreeMap::from([(key, number)]))
}

/// An error that is only shown.
#[tool(name = "returns.shown")]
pub fn shown(fail: bool) -> std::result::Result<u8, Shown> {
    if fail { Err(Shown("it failed")) } else { Ok(1) }
}

/// An error that is a plain text.
#[tool(name = "returns.text_error")]
pub fn text_error() -> std::result::Result<(), &'static str> {
    Err("boom")
}

/// Any JSON.
#[tool(name = "returns.value")]
pub fn value(text: bool) -> Value {
    if text { Value::String("plain".to_owned()) } else { serde_json::json!({"b": [1, null], "a": {}}) }
}

/// Something that is not named.
#[tool(name = "returns.unnamed")]
pub fn unnamed() -> impl Serialize {
    vec![(1, "one")]
}

/// A tuple.
#[tool(name = "returns.tuple")]
pub fn tuple() -> (u8, String, Option<bool>) {
    (1, "two".to_owned(), None)
}

/// Behind a pointer.
#[tool(name = "returns.pointer")]
pub fn pointer() -> Box<Report> {
    Box::new(report("web-2"))
}

/// A big number.
#[tool(name = "returns.big")]
pub fn big() -> u128 {
    u128::MAX
}

/// A value that JSON cannot represent.
#[tool(name = "returns.unwritable")]
pub fn unwritable() -> BTreeMap<(u8, u8), u8> {
    BTreeMap::from([((1, 2), 3)])
}

/// An option in a result.
#[tool(name = "returns.option_in_result")]
pub fn option_in_result(some: bool) -> Result<Option<&'static str>, String> {
    Ok(some.then_some("there"))
}
