//! Borrowed and generic parameters: the owned form is decoded, then borrowed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::tool;

/// Is not `Clone`.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Part {
    pub id: u32,
    pub label: Option<String>,
}

/// Has a lifetime of its own.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Filter<'a> {
    pub name: Cow<'a, str>,
}

/// `&str`
#[tool(name = "borrowed.text")]
pub fn text(text: &str) -> usize {
    text.chars().count()
}

/// `&Path`
#[tool(name = "borrowed.path")]
pub fn path(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// `&[T]`
#[tool(name = "borrowed.slice")]
pub fn slice(numbers: &[i32]) -> i32 {
    numbers.iter().fold(0, |sum, number| sum.wrapping_add(*number))
}

/// `&[T]` of owned strings
#[tool(name = "borrowed.strings")]
pub fn strings(words: &[String]) -> String {
    words.join(" ")
}

/// `&T`
#[tool(name = "borrowed.part")]
pub fn part(part: &Part) -> String {
    format!("{part:?}")
}

/// `&[T]` of structs that are not `Clone`
#[tool(name = "borrowed.parts")]
pub fn parts(parts: &[Part]) -> u32 {
    parts.iter().fold(0, |sum, part| sum.wrapping_add(part.id))
}

/// References to what is small or already owned
#[tool(name = "borrowed.owned")]
#[allow(clippy::ptr_arg)]
pub fn owned(
    number: &u64,
    truth: &bool,
    text: &String,
    list: &Vec<u8>,
    path: &PathBuf,
    map: &HashMap<String, u8>,
) -> String {
    format!("{number} {truth} {text} {list:?} {} {map:?}", path.display())
}

/// A reference to an `Option`
#[tool(name = "borrowed.ref_option")]
#[allow(clippy::ref_option)]
pub fn ref_option(part: &Option<Part>) -> bool {
    part.is_some()
}

/// `Option<&str>`
#[tool(name = "borrowed.optional_text")]
pub fn optional_text(text: Option<&str>) -> String {
    text.unwrap_or("none").to_owned()
}

/// `Option<&[T]>`
#[tool(name = "borrowed.optional_slice")]
pub fn optional_slice(numbers: Option<&[i32]>) -> Option<i32> {
    numbers.map(slice)
}

/// `Option<&T>`
#[tool(name = "borrowed.optional_part")]
pub fn optional_part(part: Option<&Part>, path: Option<&Path>) -> String {
    format!("{part:?} {path:?}")
}

/// `Cow<str>`, with and without a lifetime
#[tool(name = "borrowed.cow")]
pub fn cow(text: Cow<str>, other: Option<Cow<'_, str>>, all: Vec<Cow<'static, str>>) -> String {
    format!("{text} {other:?} {all:?}")
}

/// `impl AsRef<Path>`
#[tool(name = "borrowed.as_path")]
pub async fn as_path(path: impl AsRef<Path>) -> PathBuf {
    path.as_ref().join("x")
}

/// `impl AsRef<str>` beside other bounds
#[tool(name = "borrowed.as_str")]
pub async fn as_str(text: impl AsRef<str> + Send + 'static) -> String {
    crate::functions::tokio_yield().await;
    text.as_ref().to_uppercase()
}

/// `impl AsRef<[T]>`
#[tool(name = "borrowed.as_slice")]
pub fn as_slice(numbers: impl AsRef<[u8]>, parts: impl AsRef<[Part]>) -> usize {
    numbers.as_ref().len() + parts.as_ref().len()
}

/// `impl Into<String>`
#[tool(name = "borrowed.into_string")]
pub fn into_string(text: impl Into<String>, path: impl Into<PathBuf>) -> String {
    format!("{} {}", text.into(), path.into().display())
}

/// `impl Into<Option<T>>`
#[tool(name = "borrowed.into_option")]
pub fn into_option(number: impl Into<Option<u32>>, text: impl Into<Option<String>>) -> String {
    format!("{:?} {:?}", number.into(), text.into())
}

/// Lifetimes with names
#[tool(name = "borrowed.named")]
pub fn named<'a, 'b: 'a>(first: &'a str, second: &'b str, all: &'a [String], part: Option<&'b Part>) -> &'a str {
    match part {
        Some(part) if part.id > 1 => all.first().map_or(second, String::as_str),
        _ => first,
    }
}

/// Named lifetimes in an async function
#[tool(name = "borrowed.named_later")]
pub async fn named_later<'a>(first: &'a str, second: &'a str) -> &'a str {
    crate::functions::tokio_yield().await;
    if first.len() > second.len() { first } else { second }
}

/// A type with a lifetime
#[tool(name = "borrowed.filter")]
pub fn filter(filter: Filter<'_>, other: &Filter<'_>, third: Option<Filter<'static>>) -> String {
    format!("{} {} {:?}", filter.name, other.name, third.map(|filter| filter.name))
}

/// Owned forms behind pointers
#[tool(name = "borrowed.boxed")]
pub fn boxed(text: Box<str>, part: Box<Part>, list: Box<[u8]>) -> String {
    format!("{text} {part:?} {list:?}")
}

/// Borrowed on a thread that may block
#[tool(name = "borrowed.blocking", blocking)]
pub fn blocking(text: &str, numbers: &[i32], part: Option<&Part>) -> String {
    format!("{text} {numbers:?} {part:?}")
}
