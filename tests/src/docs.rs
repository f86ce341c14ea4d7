//! Sources of descriptions.
// Links of every form are reduced to their texts.
#![allow(rustdoc::redundant_explicit_links)]

use tool_runtime::{tool, tool_class};

/// One line.
#[tool(name = "docs.one_line")]
pub fn one_line() {}

/// Two lines
/// that are joined.
#[tool(name = "docs.joined")]
pub fn joined() {}

/// The first paragraph.
///
/// The second paragraph is for programmers.
#[tool(name = "docs.first_paragraph")]
pub fn first_paragraph() {}

///
///
/// Blank lines before.
///
/// And after.
#[tool(name = "docs.blank_lines")]
pub fn blank_lines() {}

/// Attributes
#[inline]
#[tool(name = "docs.attributes_between")]
/// stand between
#[allow(unused_variables)]
/// the lines.
pub fn attributes_between(
    /// So they do
    #[allow(unused)]
    /// here.
    #[arg(min = 1)]
    number: u8,
) {
}

/** A block comment. */
#[tool(name = "docs.block")]
pub fn block() {}

/**
 * A block comment
 * with stars.
 *
 * And more.
 */
#[tool(name = "docs.stars")]
pub fn stars() {}

/**
A block comment
without stars.

* `none` - no argument
*/
#[tool(name = "docs.no_stars")]
pub fn no_stars() {}

#[doc = "From an attribute."]
#[tool(name = "docs.attribute")]
pub fn attribute() {}

/// Overridden.
#[tool(name = "docs.overridden", description = "From `description`.")]
pub fn overridden(
    /** Block. */
    a: u8,
    #[doc = "Attribute."] b: u8,
    /// Comment.
    #[arg(description = "From `arg`.")]
    c: u8,
) -> u8 {
    a.wrapping_add(b).wrapping_add(c)
}

#[tool(name = "docs.none")]
pub fn none(a: u8) -> u8 {
    a
}

/// Special characters: "quotes", \backslashes\, {braces}, tabs	and ünïcödé 🦀.
#[tool(name = "docs.special")]
pub fn special() {}

/// The section of arguments.
///
/// # Arguments
///
/// * `host` - Host name,
///   such as `web-1`.
/// * `limit` - How many.
/// * `own` - Not this.
/// - plain: With a colon.
/// * `dashed` — With a dash.
///
/// * `after` - After a blank line.
///
/// # Errors
/// * `late` - Not of the section.
///
/// # Examples
/// ```
/// let x = 1;
/// ```
#[tool(name = "docs.section")]
#[allow(clippy::too_many_arguments)]
pub fn section(
    host: &str,
    #[arg(default = 10)] limit: u32,
    /// Its own words.
    own: u8,
    plain: u8,
    dashed: u8,
    after: u8,
    late: u8,
    #[arg(rename = "new_name")] r#type: u8,
) -> String {
    format!("{host} {limit} {own} {plain} {dashed} {after} {late} {}", r#type)
}

/// A renamed parameter is documented by its name in the source.
///
/// # Arguments
/// * `inside` - Known inside as this.
/// * `type` - A keyword.
#[tool(name = "docs.renamed")]
pub fn renamed(#[arg(rename = "outside")] inside: u8, r#type: u8) -> u8 {
    inside.wrapping_add(r#type)
}

pub struct DocsService;

#[tool_class(prefix = "docs.class", per_call)]
impl DocsService {
    pub fn new() -> Self {
        Self
    }

    /// A method.
    ///
    /// # Arguments
    /// * `number` - Of the section.
    #[must_use]
    pub fn method(&self, number: u8) -> u8 {
        number
    }

    pub fn undocumented(&self) {}
}

/// Outer and
#[tool(name = "docs.inner")]
pub fn inner(number: u8) -> u8 {
    //! inner comments.
    // Not this.
    #![allow(clippy::let_and_return)]
    /*! In a block, too.
     *
     * Not this.
     */
    let same = number;
    same
}

#[doc = include_str!("docs/included.md")]
#[tool(name = "docs.included")]
pub fn included(number: u8) -> u8 {
    number
}

#[doc = concat!("Put together ", "from ", 2, " parts.")]
#[tool(name = "docs.concatenated")]
pub fn concatenated() {}

/// # A title
/// Text below it.
/// ```
/// # use tool_tests::docs::titled;
/// titled(1, 2, 3);
/// ```
/// # Arguments
/// * **bold** - Such as
///   ```text
///   # Arguments
///   * `raw` - in code
///   ```
/// * [`linked`](crate) (optional): A link.
/// * `typed: u8`, r#raw — Two of them.
/// * <i>html</i> - Not understood.
#[tool(name = "docs.titled")]
pub fn titled(bold: u8, linked: Option<u8>, typed: u8, raw: u8, html: u8) -> u8 {
    [linked.unwrap_or(0), typed, raw, html].into_iter().fold(bold, u8::wrapping_add)
}

/// A documented type: see [`titled`] and [the fields](#fields), or [the web](https://example.org).
///
/// [the fields]: crate::docs
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Linked {
    /// A [`u8`](std::primitive::u8), as in [titled][crate::docs::titled].
    pub number: u8,
}

/// Links to [`Linked`], [its number](Linked::number), [crate::docs] and [the type],
/// but not [a, b], `[Linked]` or [a page](https://example.org).
///
/// [the type]: Linked
///
/// # Arguments
/// * `text` - Another [`Linked`](crate::docs::Linked), of [the type].
#[tool(name = "docs.links")]
pub fn links(text: String, linked: Linked) -> String {
    format!("{text} {}", linked.number)
}
