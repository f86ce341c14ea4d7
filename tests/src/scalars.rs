//! Numbers, booleans and characters.

use std::num::{NonZeroI16, NonZeroU8, NonZeroU64};

use tool_runtime::tool;

/// Signed integers.
#[tool(name = "scalars.signed")]
pub fn signed(i_8: i8, i_16: i16, i_32: i32, i_64: i64, i_128: i128, i_size: isize) -> String {
    format!("{i_8} {i_16} {i_32} {i_64} {i_128} {i_size}")
}

/// Unsigned integers.
#[tool(name = "scalars.unsigned")]
pub fn unsigned(u_8: u8, u_16: u16, u_32: u32, u_64: u64, u_128: u128, u_size: usize) -> String {
    format!("{u_8} {u_16} {u_32} {u_64} {u_128} {u_size}")
}

/// Integers that are not zero.
#[tool(name = "scalars.nonzero")]
pub fn nonzero(small: NonZeroU8, signed: NonZeroI16, large: NonZeroU64) -> String {
    format!("{small} {signed} {large}")
}

/// Floats.
#[tool(name = "scalars.floats")]
pub fn floats(single: f32, double: f64) -> String {
    format!("{single:?} {double:?}")
}

/// A boolean and a character.
#[tool(name = "scalars.small")]
pub fn small(truth: bool, letter: char) -> String {
    format!("{truth} {letter}")
}

/// None of them is required.
#[tool(name = "scalars.optional")]
pub fn optional(
    small: Option<u8>,
    large: Option<i64>,
    single: Option<f32>,
    truth: Option<bool>,
    letter: Option<char>,
    text: Option<String>,
) -> String {
    format!("{small:?} {large:?} {single:?} {truth:?} {letter:?} {text:?}")
}

/// The import path of a type does not matter.
#[tool(name = "scalars.qualified")]
pub fn qualified(text: std::string::String, number: core::option::Option<core::primitive::u16>) -> String {
    format!("{text} {number:?}")
}
