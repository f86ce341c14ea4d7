//! Fields with a default, by its type or by a function.

use super::*;

#[derive(JsonSchema, Deserialize)]
#[serde(default)]
pub struct Unused {
    a: u8,
}
impl Default for Unused {
    fn default() -> Self {
        Self { a: 1 }
    }
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultFields {
    #[serde(default)]
    a: u8,
    #[serde(default)]
    b: String,
    #[serde(default)]
    c: Option<u8>,
    #[serde(default)]
    d: Vec<Struct>,
    #[serde(default)]
    e: bool,
    #[serde(default)]
    f: f64,
    #[serde(default)]
    g: Struct,
    #[serde(default)]
    h: Bare,
    #[serde(default)]
    i: HashMap<String, u8>,
    #[serde(default)]
    j: (u8, String),
    #[serde(default)]
    k: [u8; 3],
    #[serde(default)]
    l: Box<Struct>,
    #[serde(default)]
    m: std::path::PathBuf,
    #[serde(default)]
    n: char,
    #[serde(default)]
    o: std::time::Duration,
    #[serde(default)]
    p: (),
    #[serde(default)]
    q: std::collections::BTreeSet<u8>,
    #[serde(default)]
    r: serde_json::Value,
    #[serde(default)]
    s: uuid::Uuid,
    #[serde(default)]
    t: i128,
}
pub(super) fn ten() -> u8 {
    10
}
pub(super) fn text() -> String {
    "text".to_string()
}
fn text_into() -> String {
    "into".into()
}
fn text_from() -> String {
    String::from("from")
}
fn text_new() -> String {
    String::new()
}
fn list() -> Vec<u8> {
    vec![1, 2, LEAST]
}
fn texts() -> Vec<String> {
    vec!["a".into(), String::from("b")]
}
pub(super) fn yes() -> bool {
    true
}
pub(super) fn some() -> Option<u8> {
    Some(3)
}
fn negative() -> i64 {
    -5
}
fn half() -> f32 {
    0.1
}
fn product() -> u64 {
    60 * 60 * 24
}
fn most() -> u32 {
    u32::MAX
}
fn five_seconds() -> std::time::Duration {
    std::time::Duration::from_secs(5)
}
pub(super) fn variant() -> Bare {
    Bare::Three
}
fn path() -> std::path::PathBuf {
    std::path::PathBuf::from("/tmp")
}
fn constant() -> u8 {
    a::MOST
}
pub(super) fn struct_value() -> Struct {
    Struct { number: 3, ..Default::default() }
}
fn boxed() -> Box<Struct> {
    Box::new(Struct { number: 1, text: Some(text()) })
}
fn external() -> External {
    External::Fields { a: 1, b: None, c: 2 }
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultPaths {
    #[serde(default = "ten")]
    a: u8,
    #[serde(default = "text")]
    b: String,
    #[serde(default = "text_into")]
    c: String,
    #[serde(default = "text_from")]
    d: String,
    #[serde(default = "text_new")]
    e: String,
    #[serde(default = "list")]
    f: Vec<u8>,
    #[serde(default = "texts")]
    g: Vec<String>,
    #[serde(default = "yes")]
    h: bool,
    #[serde(default = "some")]
    i: Option<u8>,
    #[serde(default = "negative")]
    j: i64,
    #[serde(default = "half")]
    k: f32,
    #[serde(default = "product")]
    l: u64,
    #[serde(default = "most")]
    m: u32,
    #[serde(default = "five_seconds")]
    n: std::time::Duration,
    #[serde(default = "variant")]
    o: Bare,
    #[serde(default = "path")]
    p: std::path::PathBuf,
    #[serde(default = "constant")]
    q: u8,
    #[serde(default = "struct_value")]
    r: Struct,
    #[serde(default = "boxed")]
    s: Box<Struct>,
    #[serde(default = "external")]
    t: External,
    #[serde(default = "Vec::<u8>::new")]
    u: Vec<u8>,
    #[serde(default = "String::default")]
    v: String,
    #[serde(default = "Struct::default")]
    w: Struct,
}
