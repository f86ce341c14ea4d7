//! Defaults as JSON writes them: numbers, and enums in every form.

use super::*;

fn big() -> u64 {
    18_446_744_073_709_551_615
}
fn huge() -> u128 {
    4
}
fn third() -> f32 {
    0.333_333_34
}
fn tiny() -> f64 {
    1e-7
}
fn large() -> f64 {
    1e21
}
fn whole_number() -> f64 {
    3.0
}
fn minus_half() -> f64 {
    -0.5
}
fn hexadecimal() -> u32 {
    0xff
}
fn suffixed() -> f64 {
    2f64
}
fn cast() -> f64 {
    5 as f64
}
fn widened() -> f64 {
    f64::from(4u8)
}
fn one_more() -> usize {
    usize::from(LEAST) + 1
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultNumbers {
    #[serde(default = "cast")]
    cast: f64,
    #[serde(default = "widened")]
    widened: f64,
    #[serde(default = "one_more")]
    one_more: usize,
    #[serde(default = "big")]
    a: u64,
    #[serde(default = "huge")]
    b: u128,
    #[serde(default = "third")]
    c: f32,
    #[serde(default = "tiny")]
    d: f64,
    #[serde(default = "large")]
    e: f64,
    #[serde(default = "whole_number")]
    f: f64,
    #[serde(default = "minus_half")]
    g: f64,
    #[serde(default = "hexadecimal")]
    h: u32,
    #[serde(default = "suffixed")]
    i: f64,
}
fn internal() -> Internal {
    Internal::Fields { a: 2, b: Some(3) }
}
fn internal_unit() -> Internal {
    Internal::Unit
}
fn adjacent() -> Adjacent {
    Adjacent::Tuple(1, 2)
}
fn untagged() -> Untagged {
    Untagged::Text("x".to_string())
}
fn of_struct() -> External {
    External::Of(Struct { number: 1, text: None })
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultEnums {
    #[serde(default = "internal")]
    a: Internal,
    #[serde(default = "internal_unit")]
    b: Internal,
    #[serde(default = "adjacent")]
    c: Adjacent,
    #[serde(default = "untagged")]
    d: Untagged,
    #[serde(default = "of_struct")]
    e: External,
    #[serde(default = "variant")]
    f: Bare,
}
fn tagged() -> Tagged {
    Tagged { a: 1 }
}
#[derive(JsonSchema, Deserialize)]
pub struct DefaultSerdeForms {
    #[serde(default = "tagged")]
    a: Tagged,
    /// Words.
    #[serde(default = "struct_value")]
    b: Struct,
}
