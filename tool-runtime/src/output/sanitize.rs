//! Removal of control sequences from text that models read.
//!
//! Colours, cursor movements, window titles and bidirectional overrides mean nothing to a model, but a model may repeat
//! them, and the text may end up in a terminal.

/// Removes control sequences from a text. A clean text is returned without copying.
///
/// Removes escape sequences (colours, cursor, titles, hyperlink targets), control characters except `\n` and `\t`, and
/// bidirectional overrides and isolates. `\r\n` and `\r` become `\n`.
#[inline]
pub(crate) fn sanitize(text: String) -> String {
    match next_unclean(text.as_bytes(), 0) {
        None => text,
        Some(first) => sanitize_from(&text, first),
    }
}

#[cold]
fn sanitize_from(text: &str, first: usize) -> String {
    let bytes = text.as_bytes();
    let mut clean = String::with_capacity(text.len());
    let mut kept = 0;
    let mut next = Some(first);
    while let Some(start) = next {
        clean.push_str(&text[kept..start]);
        if bytes[start] == b'\r' {
            clean.push('\n');
        }
        kept = sequence_end(bytes, start);
        next = next_unclean(bytes, kept);
    }
    clean.push_str(&text[kept..]);
    clean
}

/// The number of bytes per iteration, so that the compiler vectorizes the loop.
const CHUNK: usize = 32;

/// Returns the offset of the next character to remove. Most texts have none, so this loop is the fast path.
#[inline]
fn next_unclean(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    // Two more bytes than a chunk, to classify its last character.
    while let Some(window) = bytes.get(at..at + CHUNK + 2) {
        if any_suspect::<CHUNK>(window) && has_unclean(window) {
            return first_unclean(bytes, at);
        }
        at += CHUNK;
    }
    let (eights, rest) = bytes[at..].as_chunks::<8>();
    if eights.iter().any(|eight| any_suspect::<8>(eight)) || rest.iter().any(|byte| is_suspect(*byte)) {
        return first_unclean(bytes, at);
    }
    None
}

/// Returns `true` if one of the first `N` bytes is suspect.
#[inline]
fn any_suspect<const N: usize>(bytes: &[u8]) -> bool {
    bytes[..N].iter().fold(false, |any, byte| any | is_suspect(*byte))
}

#[cold]
fn first_unclean(bytes: &[u8], from: usize) -> Option<usize> {
    let suspects = bytes[from..].iter().enumerate().filter(|(_, byte)| is_suspect(**byte));
    suspects.map(|(index, _)| from + index).find(|at| is_unclean(&bytes[*at..]))
}

/// Returns `true` if a byte is to be removed or may start a character to remove. Branch-free, for vectorization.
#[inline]
fn is_suspect(byte: u8) -> bool {
    is_control(byte) | (byte & !LEAD_DIFFERENCE == LEAD_OF_CONTROLS)
}

#[inline]
fn is_control(byte: u8) -> bool {
    (byte < b' ') & (byte != b'\n') & (byte != b'\t') | (byte == DELETE)
}

const DELETE: u8 = 0x7F;

/// The first byte of U+0080 to U+00BF, of which those up to U+009F are control characters.
const LEAD_OF_CONTROLS: u8 = 0xC2;
/// The first byte of the overrides U+202A to U+202E, the isolates U+2066 to U+2069, and of dashes and quotes.
const LEAD_OF_OVERRIDES: u8 = 0xE2;
const LEAD_DIFFERENCE: u8 = LEAD_OF_CONTROLS ^ LEAD_OF_OVERRIDES;

/// Returns `true` if a chunk has a character to remove: prose has many that only share a first byte. Branch-free as
/// well.
fn has_unclean(window: &[u8]) -> bool {
    let triples = window.iter().zip(&window[1..]).zip(&window[2..]);
    triples.fold(false, |any, ((first, second), third)| any | is_unclean_triple(*first, *second, *third))
}

#[inline]
fn is_unclean_triple(first: u8, second: u8, third: u8) -> bool {
    let is_override = (second == 0x80) & (third.wrapping_sub(0xAA) <= 0xAE - 0xAA);
    let is_isolate = (second == 0x81) & (third.wrapping_sub(0xA6) <= 0xA9 - 0xA6);
    is_control(first)
        | (first == LEAD_OF_CONTROLS) & (second < 0xA0)
        | (first == LEAD_OF_OVERRIDES) & (is_override | is_isolate)
}

/// Returns `true` if a text starts with a character to remove.
fn is_unclean(bytes: &[u8]) -> bool {
    match *bytes {
        [first, second, third, ..] => is_unclean_triple(first, second, third),
        // Too short for three-byte characters.
        [first, second] => is_unclean_triple(first, second, 0),
        [first] => is_control(first),
        [] => false,
    }
}

/// Returns the end of the sequence that starts with the character to remove at `start`.
fn sequence_end(bytes: &[u8], start: usize) -> usize {
    match bytes[start..] {
        [b'\r', b'\n', ..] => start + 2,
        [ESCAPE, ..] => escape_end(bytes, start + 1),
        // One character that is equivalent to an escape and a letter.
        [LEAD_OF_CONTROLS, second, ..] => introduced_end(bytes, start + 2, second - 0x40),
        [LEAD_OF_OVERRIDES, ..] => start + 3,
        _ => start + 1,
    }
}

const ESCAPE: u8 = 0x1B;

/// Returns the end of an escape sequence, given the offset after its first character.
fn escape_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(letter @ 0x40..=0x5F) => introduced_end(bytes, at + 1, *letter),
        Some(b' '..=b'/') => {
            let end = skip(bytes, at, b' '..=b'/');
            skip_one(bytes, end, b'0'..=b'~')
        }
        Some(b'0'..=b'~') => at + 1,
        _ => at,
    }
}

/// Returns the end of a sequence, given the offset after its introducing letter.
fn introduced_end(bytes: &[u8], at: usize, letter: u8) -> usize {
    match letter {
        b'[' => {
            let end = skip(bytes, skip(bytes, at, b'0'..=b'?'), b' '..=b'/');
            skip_one(bytes, end, b'@'..=b'~')
        }
        b']' | b'P' | b'X' | b'^' | b'_' => string_end(bytes, at).unwrap_or(at),
        _ => at,
    }
}

/// Returns the end of a control string. A string that is not terminated on its line counts as text.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += bytes[at..].iter().position(|byte| matches!(*byte, 0x07 | ESCAPE | b'\n' | b'\r' | LEAD_OF_CONTROLS))?;
        match bytes[at..] {
            [0x07, ..] => return Some(at + 1),
            [ESCAPE, b'\\', ..] | [LEAD_OF_CONTROLS, 0x9C, ..] => return Some(at + 2),
            // A character that shares its first byte with the terminator.
            [LEAD_OF_CONTROLS, second, ..] if second >= 0xA0 => at += 2,
            _ => return None,
        }
    }
}

fn skip(bytes: &[u8], at: usize, range: std::ops::RangeInclusive<u8>) -> usize {
    at + bytes[at..].iter().take_while(|byte| range.contains(byte)).count()
}

fn skip_one(bytes: &[u8], at: usize, range: std::ops::RangeInclusive<u8>) -> usize {
    if bytes.get(at).is_some_and(|byte| range.contains(byte)) { at + 1 } else { at }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{is_unclean, sanitize};
    use crate::testing::properties;

    fn sanitized(text: &str) -> String {
        sanitize(text.to_owned())
    }

    #[test]
    fn returns_a_clean_text_without_copying() {
        for text in ["", "plain", "tabs\tand\nlines", &"é – “…” £ 中文 😀 \u{200d}".repeat(20)] {
            let text = text.to_owned();
            let (address, before) = (text.as_ptr(), text.clone());
            let after = sanitize(text);
            assert_eq!((after.as_ptr(), &after), (address, &before));
        }
    }

    #[test]
    fn removes_escape_sequences() {
        for (text, expected) in [
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b[?25l\x1b[2J\x1b[H!", "!"),
            ("\x1b[38:2::1:2:3mx", "x"),
            ("\x1b[1 qx", "x"),
            ("\x1b]0;title\x07text", "text"),
            ("\x1b]8;;https://a.example/£\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bPsome data\x1b\\x", "x"),
            ("\x1b_a\x1b\\\x1b^b\x1b\\\x1bXc\x1b\\x", "x"),
            ("\x1b(B\x1b7\x1b8\x1bM\x1bcx", "x"),
            ("\u{9b}31mred\u{9b}m", "red"),
            ("\u{9d}0;title\u{9c}x\u{85}y", "xy"),
        ] {
            assert_eq!(sanitized(text), expected, "{text:?}");
        }
    }

    #[test]
    fn keeps_the_text_of_incomplete_sequences() {
        for (text, expected) in [
            ("\x1b", ""),
            ("\x1b[", ""),
            ("\x1b[31", ""),
            ("\x1b[31é", "é"),
            ("\x1bé", "é"),
            ("\x1b\x1b[mx", "x"),
            ("\x1b]0;never ended\nnext", "0;never ended\nnext"),
            ("\x1b]0;never ended", "0;never ended"),
            ("\x1b]0;a\x1b[31mb\x07", "0;ab"),
            ("a\0b\x08c\x07d\x7fe", "abcde"),
        ] {
            assert_eq!(sanitized(text), expected, "{text:?}");
        }
    }

    #[test]
    fn normalizes_line_ends() {
        assert_eq!(sanitized("a\r\nb\rc\n\r\n\r"), "a\nb\nc\n\n\n");
    }

    #[test]
    fn removes_bidirectional_overrides() {
        let text = "if \u{202e}admin\u{2066} then\u{2069}\u{202c}; \u{200f}\u{2030}\u{2070}";
        assert_eq!(sanitized(text), "if admin then; \u{200f}\u{2030}\u{2070}");
    }

    #[test]
    fn checks_every_position_of_a_chunk() {
        for position in 0..100 {
            for unclean in ["\0", "\x7f", "\u{9b}m", "\u{202e}", "\u{2069}"] {
                let text = format!("{}{unclean}{}", "a".repeat(position), "b".repeat(100 - position));
                assert_eq!(sanitized(&text), format!("{}{}", "a".repeat(position), "b".repeat(100 - position)));
            }
        }
    }

    /// Generates ordinary text mixed with parts of sequences.
    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[ -~\n\t]{0,40}",
            any::<char>().prop_map(String::from),
            proptest::sample::select(vec![
                "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x07", "\x1b\\", "\r", "\r\n", "\u{9b}", "\u{9c}", "\u{9d}",
                "\u{202e}", "\u{2066}", "0;1", "m", "£", "é", "…", "\x7f", "\0",
            ])
            .prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    fn stays(c: char) -> bool {
        !(c.is_control() && c != '\n' && c != '\t' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    }

    proptest! {
        #![proptest_config(properties(500))]

        #[test]
        fn sanitizing_is_complete_and_idempotent(text in any_text()) {
            let once = sanitized(&text);
            prop_assert!(once.chars().all(stays), "{once:?}");
            prop_assert_eq!(sanitized(&once), once);
        }

        #[test]
        fn keeps_ordinary_characters_without_an_introducer(text in any_text()) {
            let text: String = text.chars().filter(|c| *c != '\x1b' && !('\u{80}'..'\u{a0}').contains(c)).collect();
            let expected: String = text.replace("\r\n", "\n").replace('\r', "\n").chars().filter(|c| stays(*c)).collect();
            prop_assert_eq!(sanitized(&text), expected);
        }

        #[test]
        fn keeps_lines_without_sequences(before in any_text(), line in "[a-zé ]{1,50}", after in any_text()) {
            let cleaned = sanitized(&format!("{before}\n{line}\n{after}"));
            prop_assert!(cleaned.contains(&line));
        }

        #[test]
        fn classifies_a_character_by_its_first_bytes(c in any::<char>()) {
            let mut buffer = [0; 4];
            prop_assert_eq!(is_unclean(c.encode_utf8(&mut buffer).as_bytes()), !stays(c));
        }
    }
}
