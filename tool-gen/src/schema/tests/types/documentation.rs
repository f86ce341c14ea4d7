//! Titles and descriptions.

use super::*;

/// # The title
///
/// And the text.
#[derive(JsonSchema)]
pub struct Titled {
    /// ## A title
    a: u8,
}
/// # Only
#[derive(JsonSchema)]
pub struct OnlyTitle;
///
/// First.
///
///
/// Second,
/// third.
///
#[derive(JsonSchema)]
pub struct BlankLines;
///   Indented
///     more
///less
/** block
comment */
#[derive(JsonSchema)]
pub struct Indented;
#[doc = "one"]
#[doc(hidden)]
#[doc = concat!("two", 3)]
#[derive(JsonSchema)]
pub struct DocAttributes;
pub(super) const TITLE: &str = "A title";
/// Docs.
#[derive(JsonSchema)]
#[schemars(title = "Given", description = "also given")]
pub struct Described {
    /// Overridden
    #[schemars(description = "")]
    a: u8,
}
#[derive(JsonSchema)]
#[deprecated]
pub struct Deprecated {
    #[deprecated = "why"]
    a: Struct,
}
#[derive(JsonSchema)]
#[schemars(title = TITLE)]
pub struct WithConstants {
    #[schemars(range(min = LEAST, max = a::MOST), description = concat!("x", "y"))]
    a: u8,
    #[schemars(range(max = u8::MAX))]
    b: u8,
}
pub(super) const LEAST: u8 = 2;
/// Raw \n text with "quotes" and \u{e4}.
#[derive(JsonSchema)]
pub struct Raw(#[doc = r" raw \d"] u8);
