//! Shortening of texts that errors repeat.

use std::borrow::Cow;

/// The number of characters that an error repeats of a name, a path or a value.
pub const LONGEST_EXCERPT: usize = 200;

/// Returns at most `most` characters of a text, with `…` behind them if it is longer.
///
/// ```
/// use tool_model::shorten;
///
/// assert_eq!(shorten("web-1", 5), "web-1");
/// assert_eq!(shorten("web-10", 5), "web-1…");
/// ```
#[must_use]
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
