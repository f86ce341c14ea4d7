//! Showing text that somebody else wrote.
//!
//! What a model sends may contain what a terminal obeys (escape sequences that clear the screen or set its title) and
//! what an eye cannot see (text that runs backwards, letters of no width). Here such characters are shown as what they
//! are, `\u{202e}`, so that what is seen is what runs. Letters that merely look alike are left alone.

mod json;

use std::borrow::Cow;
use std::fmt;

pub use json::json;
pub(crate) use json::json_folded;

/// The text on one line, with everything that does not show escaped, line breaks and tabs too.
///
/// ```
/// use tool_runtime::display::escape;
///
/// assert_eq!(escape("Grüße, 世界"), "Grüße, 世界");
/// assert_eq!(escape("\x1b[2Jfile\u{202e}gpj.exe\n"), r"\u{1b}[2Jfile\u{202e}gpj.exe\n");
/// ```
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if text.chars().all(shows) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if shows(c) { escaped.push(c) } else { escaped.extend(c.escape_default()) }
    }
    Cow::Owned(escaped)
}

/// The lines of a text, each escaped. A tab is four spaces.
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

/// As much of a text as `limit` characters, and how many there are more.
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

/// A whole number with its thousands set apart.
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

/// Whether a character shows as itself and does nothing else.
pub(crate) fn shows(c: char) -> bool {
    match c {
        ' '..='~' => true,
        c if c.is_ascii() => false,
        c => !is_blank(c) && is_printable(c),
    }
}

/// Whether the standard library prints it when it prints for debugging, which it does not do for controls, formats,
/// separators, private and unassigned characters. A mark that combines with a letter is printed only after one.
fn is_printable(c: char) -> bool {
    let mut text = [b'a', 0, 0, 0, 0];
    let length = 1 + c.encode_utf8(&mut text[1..]).len();
    str::from_utf8(&text[..length]).is_ok_and(|text| text.escape_debug().count() == 2)
}

/// What counts as printable, but shows nothing: joiners, fillers, an empty Braille cell, variation selectors.
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
    fn nasty_texts() {
        let table = [
            ("clears the screen", "\x1b[2J\x1b[H", r"\u{1b}[2J\u{1b}[H"),
            ("sets the title", "\x1b]0;title\x07", r"\u{1b}]0;title\u{7}"),
            ("controls of one byte more", "\u{9b}31m", r"\u{9b}31m"),
            ("overwrites its line", "rm -rf /\rls", r"rm -rf /\rls"),
            ("takes letters back", "harmful\x08\x08\x7f", r"harmful\u{8}\u{8}\u{7f}"),
            ("imitates the prompt", "x\n[y] run", r"x\n[y] run"),
            ("other line breaks", "a\u{2028}b\u{2029}c\u{85}d\x0be", r"a\u{2028}b\u{2029}c\u{85}d\u{b}e"),
            ("runs backwards", "\u{202e}txt.exe\u{202c}", r"\u{202e}txt.exe\u{202c}"),
            ("isolates", "\u{2066}a\u{2069}\u{200f}\u{61c}", r"\u{2066}a\u{2069}\u{200f}\u{61c}"),
            ("no width", "pay\u{200b}pal\u{feff}\u{2060}\u{200d}", r"pay\u{200b}pal\u{feff}\u{2060}\u{200d}"),
            ("soft hyphen", "a\u{ad}b", r"a\u{ad}b"),
            ("spaces that are none", "a\u{a0}b\u{3000}\u{2003}", r"a\u{a0}b\u{3000}\u{2003}"),
            ("letters that are none", "\u{3164}\u{115f}\u{2800}", r"\u{3164}\u{115f}\u{2800}"),
            ("hidden text in tags", "\u{e0041}\u{e007f}", r"\u{e0041}\u{e007f}"),
            ("hidden text in variations", "a\u{fe00}\u{e0100}", r"a\u{fe00}\u{e0100}"),
            ("private use", "\u{e000}\u{f0000}", r"\u{e000}\u{f0000}"),
            ("no character", "\u{fffe}\u{10ffff}", r"\u{fffe}\u{10ffff}"),
            ("a null", "a\0b", r"a\u{0}b"),
        ];
        for (what, text, expected) in table {
            assert_eq!(escape(text), expected, "{what}");
        }
    }

    #[test]
    fn ordinary_texts() {
        for text in ["", "C:\\temp \"it's\"", "Grüße", "日本語", "हिन्दी", "e\u{301}", "مرحبا", "שלום", "🦀", "−½€"]
        {
            assert!(matches!(escape(text), Cow::Borrowed(_)), "{text:?} is shown as {}", escape(text));
        }
    }

    #[test]
    fn whatever_comes_no_control_is_left() {
        for c in (char::MIN..=char::MAX).filter(|c| shows(*c)) {
            assert!(!c.is_control() && (c == ' ' || !c.is_whitespace()), "{c:?}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        let numbers = [0, 999, 1000, 4312, 1_234_567].map(thousands);
        assert_eq!(numbers, ["0", "999", "1,000", "4,312", "1,234,567"]);
    }
}
