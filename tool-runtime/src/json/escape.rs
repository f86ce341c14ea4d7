//! Serialization of strings, with escapes for JSON and for characters that are unsafe to print.
//!
//! JSON allows control characters from U+007F on, and characters that change the direction or the lines of a text. A
//! result may be printed on a terminal, so these are escaped as well. ASCII is scanned eight bytes at a time; other text
//! takes a second, slower scan.

use std::fmt::Write;

pub(super) fn push_string(text: &mut String, value: &str) {
    text.push('"');
    push_escaped(text, value);
    text.push('"');
}

#[inline]
pub(super) fn push_escaped(text: &mut String, value: &str) {
    match first_suspect(value.as_bytes()) {
        None => text.push_str(value),
        Some(first) => push_with_escapes(text, value, first),
    }
}

#[inline(never)]
fn push_with_escapes(text: &mut String, mut value: &str, first: usize) {
    let mut next = Some(first);
    while let Some(at) = next {
        let byte = value.as_bytes()[at];
        if byte >= DELETE {
            return push_with_more_escapes(text, value, at);
        }
        text.push_str(&value[..at]);
        push_escape(text, byte);
        value = &value[at + 1..];
        next = first_suspect(value.as_bytes());
    }
    text.push_str(value);
}

/// Continues [`push_with_escapes`] behind the ASCII prefix.
#[inline(never)]
fn push_with_more_escapes(text: &mut String, mut value: &str, mut from: usize) {
    while let Some(at) = first_special(value.as_bytes(), from) {
        text.push_str(&value[..at]);
        value = push_code(text, &value[at..]);
        from = 0;
    }
    text.push_str(value);
}

/// Always inlined: a call costs a text with many line breaks a tenth more instructions.
#[inline(always)]
fn push_escape(text: &mut String, byte: u8) {
    let letter = match byte {
        b'"' | b'\\' => char::from(byte),
        b'\n' => 'n',
        b'\r' => 'r',
        b'\t' => 't',
        0x08 => 'b',
        0x0C => 'f',
        // Writing to a string cannot fail.
        _ => return write!(text, "\\u{byte:04x}").unwrap_or_default(),
    };
    text.push('\\');
    text.push(letter);
}

/// Writes the first character as an escape and returns the rest. All escaped characters have at most four hex digits.
fn push_code<'a>(text: &mut String, value: &'a str) -> &'a str {
    let mut rest = value.chars();
    match rest.next() {
        Some(character @ ..'\x7F') => push_escape(text, character as u8),
        Some(character) => write!(text, "\\u{:04x}", u32::from(character)).unwrap_or_default(),
        None => {}
    }
    rest.as_str()
}

/// Writes raw JSON. Characters that are unsafe to print can only be in its strings.
pub(super) fn push_json(text: &mut String, mut json: &str) {
    let is_unsafe = |bytes: &[u8], at: usize| bytes[at] >= DELETE && is_special(&bytes[at..]);
    while let Some(at) = (0..json.len()).find(|at| is_unsafe(json.as_bytes(), *at)) {
        text.push_str(&json[..at]);
        json = push_code(text, &json[at..]);
    }
    text.push_str(json);
}

const DELETE: u8 = 0x7F;

/// Finds the first byte that JSON escapes or that is not printable ASCII.
#[inline]
pub(super) fn first_suspect(bytes: &[u8]) -> Option<usize> {
    let (eights, rest) = bytes.as_chunks::<8>();
    for (index, eight) in eights.iter().enumerate() {
        let suspects = suspects(u64::from_le_bytes(*eight));
        if suspects != 0 {
            return Some(8 * index + suspects.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| IS_SUSPECT[usize::from(*byte)])?;
    Some(8 * eights.len() + at)
}

/// Sets the high bit of the first special byte. The bits of the bytes behind it may be wrong.
#[inline]
fn suspects(eight: u64) -> u64 {
    let below = |bytes: u64, limit: u8| bytes.wrapping_sub(each(limit));
    // No byte of UTF-8 is 0xFF, so there is no carry.
    let from_delete = eight.wrapping_add(each(1));
    (below(eight, b' ') | below(eight ^ each(b'"'), 1) | below(eight ^ each(b'\\'), 1) | from_delete) & each(0x80)
}

const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Returns the offset of the first character that is escaped, from an offset on.
fn first_special(bytes: &[u8], from: usize) -> Option<usize> {
    let find = |mut range: std::ops::Range<usize>| {
        range.find(|at| IS_SUSPECT[usize::from(bytes[*at])] && is_special(&bytes[*at..]))
    };
    let (eights, rest) = bytes[from..].as_chunks::<8>();
    let suspicious = eights.iter().enumerate().filter(|(_, eight)| may_have_special(u64::from_le_bytes(**eight)));
    let starts = suspicious.map(|(index, _)| from + 8 * index);
    starts.filter_map(|start| find(start..start + 8)).next().or_else(|| find(bytes.len() - rest.len()..bytes.len()))
}

/// Returns `true` if one of eight bytes is special or begins a character that may be. Most text in any language has none.
#[inline]
fn may_have_special(eight: u64) -> bool {
    let below = |bytes: u64, limit: u8| bytes.wrapping_sub(each(limit)) & !bytes;
    let is = |byte: u8| below(eight ^ each(byte), 1);
    // 0xC2 and 0xE2 differ in one bit.
    let leads = below((eight | each(0x20)) ^ each(0xE2), 1) | is(0xD8) | is(DELETE);
    (below(eight, b' ') | is(b'"') | is(b'\\') | leads) & each(0x80) != 0
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

static IS_SUSPECT: [bool; 256] = {
    let mut is_suspect = [true; 256];
    let mut printable = b' ';
    while printable < DELETE {
        is_suspect[printable as usize] = printable == b'"' || printable == b'\\';
        printable += 1;
    }
    is_suspect
};
