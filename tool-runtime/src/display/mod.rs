//! Safe display of untrusted text.
//!
//! Text from a model may contain escape sequences that a terminal interprets, and characters that a reader cannot see,
//! such as bidirectional overrides and zero-width letters. These functions escape such characters as `\u{202e}`, so that
//! a user approves what actually runs. Confusable letters are not escaped.

mod pretty_json;

use std::borrow::Cow;
use std::fmt;

use tool_model::{LONGEST_EXCERPT, shorten};

pub use pretty_json::json;
pub(crate) use pretty_json::json_folded;

/// Escapes all invisible and control characters, including line breaks and tabs. The result is one line.
///
/// ```
/// use tool_runtime::display::escape;
///
/// assert_eq!(escape("Grüße, 世界"), "Grüße, 世界");
/// assert_eq!(escape("\x1b[2Jfile\u{202e}gpj.exe\n"), r"\u{1b}[2Jfile\u{202e}gpj.exe\n");
/// ```
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_visible) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_visible(c) { escaped.push(c) } else { escaped.extend(c.escape_default()) }
    }
    Cow::Owned(escaped)
}

/// Returns the first 200 characters of a text, [escaped](escape), with `…` behind them if it is longer.
///
/// Errors that repeat a name, a path or another value of the model use it, since such a value may have any length.
///
/// ```
/// use tool_runtime::display::excerpt;
///
/// assert_eq!(excerpt("notes/a.txt\n"), r"notes/a.txt\n");
/// assert_eq!(excerpt(&"x".repeat(10_000_000)).chars().count(), 201);
/// ```
#[must_use]
pub fn excerpt(text: &str) -> Cow<'_, str> {
    match shorten(text, LONGEST_EXCERPT) {
        Cow::Borrowed(text) => escape(text),
        Cow::Owned(text) => Cow::Owned(escape(&text).into_owned()),
    }
}

/// Returns the lines of a text, each [escaped](escape). A tab becomes four spaces.
///
/// ```
/// use tool_runtime::display::escape_lines;
///
/// let lines: Vec<_> = escape_lines("fn main() {\n\trun()\r\n}").collect();
/// assert_eq!(lines, ["fn main() {", r"    run()\r", "}"]);
/// ```
pub fn escape_lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split_terminator('\n').map(|line| match line.contains('\t') {
        true => Cow::Owned(escape(&line.replace('\t', "    ")).into_owned()),
        false => escape(line),
    })
}

/// Returns the first `limit` characters of a text, and the number of characters left out.
///
/// ```
/// use tool_runtime::display::fold;
///
/// assert_eq!(fold("short", 10), ("short", 0));
/// assert_eq!(fold("too long for that", 8), ("too long", 9));
/// ```
#[must_use]
pub fn fold(text: &str, limit: usize) -> (&str, usize) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], text[end..].chars().count()),
        None => (text, 0),
    }
}

/// Formats an integer with thousands separators.
///
/// ```
/// use tool_runtime::display::thousands;
///
/// assert_eq!(thousands(4312), "4,312");
/// ```
#[must_use]
pub fn thousands(number: impl fmt::Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `true` if a character is visible and has no other effect.
pub(crate) fn is_visible(c: char) -> bool {
    match c {
        ' '..='~' => true,
        c if c.is_ascii() => false,
        c => !is_blank(c) && is_printable(c),
    }
}

/// Returns `true` if std's debug formatting prints the character unescaped. Std escapes control, format, separator,
/// private-use and unassigned characters. Combining marks are printed only after a letter, hence the `a`.
fn is_printable(c: char) -> bool {
    let mut text = [b'a', 0, 0, 0, 0];
    let length = 1 + c.encode_utf8(&mut text[1..]).len();
    str::from_utf8(&text[..length]).is_ok_and(|text| text.escape_debug().count() == 2)
}

/// Returns `true` for characters that std prints but that are invisible: joiners, fillers, the empty Braille cell and
/// variation selectors.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{1d159}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_hostile_texts() {
        let table = [
            ("clears the screen", "\x1b[2J\x1b[H", r"\u{1b}[2J\u{1b}[H"),
            ("sets the title", "\x1b]0;title\x07", r"\u{1b}]0;title\u{7}"),
            ("C1 controls", "\u{9b}31m", r"\u{9b}31m"),
            ("overwrites its line", "rm -rf /\rls", r"rm -rf /\rls"),
            ("backspaces", "harmful\x08\x08\x7f", r"harmful\u{8}\u{8}\u{7f}"),
            ("imitates the prompt", "x\n[y] run", r"x\n[y] run"),
            ("other line breaks", "a\u{2028}b\u{2029}c\u{85}d\x0be", r"a\u{2028}b\u{2029}c\u{85}d\u{b}e"),
            ("bidirectional override", "\u{202e}txt.exe\u{202c}", r"\u{202e}txt.exe\u{202c}"),
            ("isolates", "\u{2066}a\u{2069}\u{200f}\u{61c}", r"\u{2066}a\u{2069}\u{200f}\u{61c}"),
            ("zero width", "pay\u{200b}pal\u{feff}\u{2060}\u{200d}", r"pay\u{200b}pal\u{feff}\u{2060}\u{200d}"),
            ("soft hyphen", "a\u{ad}b", r"a\u{ad}b"),
            ("unusual spaces", "a\u{a0}b\u{3000}\u{2003}", r"a\u{a0}b\u{3000}\u{2003}"),
            ("blank letters", "\u{3164}\u{115f}\u{2800}", r"\u{3164}\u{115f}\u{2800}"),
            ("hidden text in tags", "\u{e0041}\u{e007f}", r"\u{e0041}\u{e007f}"),
            ("hidden text in variations", "a\u{fe00}\u{e0100}", r"a\u{fe00}\u{e0100}"),
            ("private use", "\u{e000}\u{f0000}", r"\u{e000}\u{f0000}"),
            ("noncharacters", "\u{fffe}\u{10ffff}", r"\u{fffe}\u{10ffff}"),
            ("a null", "a\0b", r"a\u{0}b"),
        ];
        for (what, text, expected) in table {
            assert_eq!(escape(text), expected, "{what}");
        }
    }

    #[test]
    fn keeps_ordinary_texts() {
        for text in ["", "C:\\temp \"it's\"", "Grüße", "日本語", "हिन्दी", "e\u{301}", "مرحبا", "שלום", "🦀", "−½€"]
        {
            assert!(matches!(escape(text), Cow::Borrowed(_)), "{text:?} is escaped as {}", escape(text));
        }
    }

    #[test]
    fn no_visible_character_is_a_control_or_whitespace() {
        for c in (char::MIN..=char::MAX).filter(|c| is_visible(*c)) {
            assert!(!c.is_control() && (c == ' ' || !c.is_whitespace()), "{c:?}");
        }
    }

    #[test]
    fn separates_thousands() {
        let numbers = [0, 999, 1000, 4312, 1_234_567].map(thousands);
        assert_eq!(numbers, ["0", "999", "1,000", "4,312", "1,234,567"]);
    }
}
