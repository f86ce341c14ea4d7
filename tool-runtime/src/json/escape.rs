//! Strings, with escapes where JSON needs them and for the characters that are not safe to print.
//!
//! JSON allows control characters from U+007F on, and those that change the direction or the lines of a text. A result
//! may end in a terminal, so they are escaped as well.

use std::fmt::Write;

pub(super) fn push_string(text: &mut String, value: &str) {
    text.push('"');
    push_escaped(text, value);
    text.push('"');
}

#[inline]
pub(super) fn push_escaped(text: &mut String, value: &str) {
    match first_special(value.as_bytes()) {
        None => text.push_str(value),
        Some(first) => push_with_escapes(text, value, first),
    }
}

#[inline(never)]
fn push_with_escapes(text: &mut String, mut value: &str, first: usize) {
    let mut next = Some(first);
    while let Some(at) = next {
        text.push_str(&value[..at]);
        value = push_escape(text, &value[at..]);
        next = first_special(value.as_bytes());
    }
    text.push_str(value);
}

/// Writes the first character as an escape, and returns what follows it.
fn push_escape<'a>(text: &mut String, value: &'a str) -> &'a str {
    let letter = match value.as_bytes()[0] {
        byte @ (b'"' | b'\\') => char::from(byte),
        b'\n' => 'n',
        b'\r' => 'r',
        b'\t' => 't',
        0x08 => 'b',
        0x0C => 'f',
        _ => return push_code(text, value),
    };
    text.push('\\');
    text.push(letter);
    &value[1..]
}

/// Writes the first character as `\uXXXX`, and returns what follows it. None that is escaped has a longer code.
fn push_code<'a>(text: &mut String, value: &'a str) -> &'a str {
    let mut rest = value.chars();
    if let Some(character) = rest.next() {
        // Writing to a string cannot fail.
        write!(text, "\\u{:04x}", u32::from(character)).unwrap_or_default();
    }
    rest.as_str()
}

/// Writes what is JSON already. Whatever is not safe to print can only stand in its strings.
pub(super) fn push_json(text: &mut String, mut json: &str) {
    while let Some(at) = first_unsafe(json) {
        text.push_str(&json[..at]);
        json = push_code(text, &json[at..]);
    }
    text.push_str(json);
}

fn first_unsafe(json: &str) -> Option<usize> {
    let bytes = json.as_bytes();
    (0..bytes.len()).find(|at| bytes[*at] >= DELETE && is_special(&bytes[*at..]))
}

const DELETE: u8 = 0x7F;

/// Finds the first character that is written as an escape.
#[inline]
pub(super) fn first_special(bytes: &[u8]) -> Option<usize> {
    let (eights, rest) = bytes.as_chunks::<8>();
    for (index, eight) in eights.iter().enumerate() {
        let suspects = suspects(u64::from_le_bytes(*eight));
        if suspects != 0 {
            let at = suspects.trailing_zeros() as usize / 8;
            if eight[at] < DELETE {
                return Some(8 * index + at);
            }
            if let Some(at) = special_within(bytes, 8 * index) {
                return Some(at);
            }
        }
    }
    let start = 8 * eights.len();
    let is_special = |(at, byte): (usize, &u8)| MAY_BE_SPECIAL[usize::from(*byte)] && is_special(&rest[at..]);
    Some(start + rest.iter().enumerate().position(is_special)?)
}

/// Finds the first such character among the eight bytes from there, one of which is not ASCII.
#[inline(never)]
fn special_within(bytes: &[u8], start: usize) -> Option<usize> {
    (start..start + 8).find(|at| MAY_BE_SPECIAL[usize::from(bytes[*at])] && is_special(&bytes[*at..]))
}

/// Sets the high bit of each byte that needs a look: what JSON escapes, and everything from U+007F on. It is right up to
/// the first such byte; those behind it may be wrong.
#[inline]
fn suspects(eight: u64) -> u64 {
    const fn each(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let below = |bytes: u64, limit: u8| bytes.wrapping_sub(each(limit));
    // No byte of UTF-8 is 0xFF, so that nothing is carried.
    let from_delete = eight.wrapping_add(each(1));
    (below(eight, b' ') | below(eight ^ each(b'"'), 1) | below(eight ^ each(b'\\'), 1) | from_delete) & each(0x80)
}

/// Returns `true` if a text begins with a character that is written as an escape.
fn is_special(bytes: &[u8]) -> bool {
    matches!(
        *bytes,
        [0..=0x1F | b'"' | b'\\' | DELETE, ..]
            // U+0080 to U+009F
            | [0xC2, 0x80..=0x9F, ..]
            // U+061C
            | [0xD8, 0x9C, ..]
            // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069
            | [0xE2, 0x80, 0x8E | 0x8F | 0xA8..=0xAE, ..]
            | [0xE2, 0x81, 0xA6..=0xA9, ..]
    )
}

/// The bytes that characters begin with which may be special.
static MAY_BE_SPECIAL: [bool; 256] = {
    let mut may_be_special = [false; 256];
    let mut control = 0;
    while control < b' ' {
        may_be_special[control as usize] = true;
        control += 1;
    }
    may_be_special[b'"' as usize] = true;
    may_be_special[b'\\' as usize] = true;
    may_be_special[DELETE as usize] = true;
    may_be_special[0xC2] = true;
    may_be_special[0xD8] = true;
    may_be_special[0xE2] = true;
    may_be_special
};
