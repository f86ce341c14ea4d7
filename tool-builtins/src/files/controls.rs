//! Escaping of control characters.
//!
//! Results are sanitized on their way to the model: escape sequences, control characters and bidirectional overrides are
//! removed. Tools that show the text of a file escape these characters first, so that the model can see and name them.

use std::borrow::Cow;

/// Returns `true` for a character that sanitizing would remove. `\r` is kept only before `\n`.
fn is_removed(c: char, next: Option<char>) -> bool {
    match c {
        '\n' | '\t' => false,
        '\r' => next != Some('\n'),
        c => c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'),
    }
}

/// Escapes every character that sanitizing would remove, such as `\u{1b}` or `\r`.
pub(super) fn escape_controls(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut done = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if is_removed(c, chars.peek().map(|(_, next)| *next)) {
            shown.push_str(&text[done..at]);
            shown.extend(c.escape_default());
            done = at + c.len_utf8();
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[done..]);
    Cow::Owned(shown)
}

/// Reverts [`escape_controls`]. Returns `None` if the text contains no such escapes.
pub(super) fn unescape_controls(text: &str) -> Option<String> {
    let mut read = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escaped) = rest.split_at(at);
        read.push_str(before);
        let (c, length) = match parse_escape(escaped) {
            Some((c, length)) if is_removed(c, None) => (c, length),
            _ => ('\\', 1),
        };
        read.push(c);
        rest = &escaped[length..];
    }
    read.push_str(rest);
    (read != text).then_some(read)
}

/// Parses an escaped character at the beginning of a text, and returns it with the length of its escape.
pub(super) fn parse_escape(text: &str) -> Option<(char, usize)> {
    let named = [(r"\t", '\t'), (r"\n", '\n'), (r"\r", '\r')];
    if let Some((escape, c)) = named.into_iter().find(|(escape, _)| text.starts_with(escape)) {
        return Some((c, escape.len()));
    }
    let (hex, _) = text.strip_prefix(r"\u{")?.split_once('}')?;
    let c = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() <= 6).and_then(char::from_u32)?;
    Some((c, r"\u{}".len() + hex.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_unescapes_removed_characters() {
        for (text, expected) in [
            ("\x1b[31mred\x1b[0m", r"\u{1b}[31mred\u{1b}[0m"),
            ("a\rb\r\nc\r", "a\\rb\r\nc\\r"),
            ("a\r\r\n", "a\\r\r\n"),
            ("\u{202e}x\u{2066}\u{9b}\x7f\0", r"\u{202e}x\u{2066}\u{9b}\u{7f}\u{0}"),
        ] {
            assert_eq!(escape_controls(text), expected);
            assert_eq!(unescape_controls(expected).as_deref(), Some(text));
        }
    }

    #[test]
    fn leaves_visible_characters_unchanged() {
        for text in ["", "tabs\tand\nlines\r\n", "é – “…” £ 中文 😀", r"C:\new\table", r#"print!("\u{41}\n\t\\")"#]
        {
            assert!(matches!(escape_controls(text), Cow::Borrowed(_)), "{text}");
            assert_eq!(unescape_controls(text), None, "{text}");
        }
    }
}
