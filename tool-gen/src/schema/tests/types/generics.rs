//! Types with parameters.

use super::*;

/// A page.
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct Page<T> {
    items: Vec<T>,
    next: Option<Box<Page<T>>>,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct TwoPages {
    a: Page<u8>,
    b: Page<Struct>,
    c: Page<Vec<u8>>,
    d: Page<Vec<u8>>,
    e: Page<std::collections::VecDeque<u8>>,
}
#[derive(JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct NamedPage<T> {
    items: Vec<T>,
}
#[derive(JsonSchema)]
#[schemars(rename = "{{x}}{T}")]
pub struct Braces<T> {
    items: Vec<T>,
}
#[derive(JsonSchema)]
pub struct NamedPages {
    a: NamedPage<u8>,
    b: NamedPage<Struct>,
    c: NamedPage<HashMap<String, Bare>>,
    d: NamedPage<(u8, Option<bool>)>,
    e: NamedPage<std::collections::BTreeMap<u8, [Struct; 2]>>,
    f: NamedPage<Result<(), std::time::Duration>>,
    g: NamedPage<std::ops::Range<std::collections::HashSet<char>>>,
    h: Braces<Page<u8>>,
    i: NamedPage<std::ops::Bound<chrono::NaiveDate>>,
    j: NamedPage<[u8; 0]>,
}
#[derive(JsonSchema)]
pub struct Phantom<T> {
    a: PhantomData<T>,
    b: u8,
}
#[derive(JsonSchema)]
pub struct PhantomTwice {
    a: Phantom<u8>,
    b: Phantom<u16>,
    c: Skipped<u8>,
    d: Skipped<u16>,
}
#[derive(JsonSchema)]
pub struct Skipped<T> {
    #[schemars(skip)]
    a: T,
    b: u8,
}
#[derive(JsonSchema)]
pub struct Both<A, B> {
    a: A,
    b: Option<B>,
}
#[derive(JsonSchema)]
pub enum GenericEnum<T> {
    A(T),
    B { x: Vec<T> },
}
#[derive(JsonSchema, Deserialize)]
pub struct GenericDefault<T: Default> {
    #[serde(default)]
    a: T,
    #[serde(default)]
    b: Vec<T>,
    #[serde(default)]
    c: u8,
    #[serde(default)]
    d: PhantomData<T>,
}
#[derive(JsonSchema, Deserialize)]
pub struct GenericSerialize<T: Default + Serialize> {
    #[serde(default)]
    a: T,
}
#[derive(JsonSchema, Serialize, Deserialize)]
pub struct GenericOwnName<T> {
    value: T,
    #[serde(default)]
    children: Vec<Self>,
}
