//! Strings, with escapes where JSON needs them.

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
        push_escape(text, value.as_bytes()[at]);
        value = &value[at + 1..];
        next = first_special(value.as_bytes());
    }
    text.push_str(value);
}

fn push_escape(text: &mut String, byte: u8) {
    let letter = match byte {
        b'"' | b'\\' => char::from(byte),
        b'\n' => 'n',
        b'\r' => 'r',
        b'\t' => 't',
        0x08 => 'b',
        0x0C => 'f',
        // A text takes whatever is written.
        _ => return write!(text, "\\u{byte:04x}").unwrap_or_default(),
    };
    text.push('\\');
    text.push(letter);
}

/// Where the first byte stands that cannot stand in a JSON string as it is.
#[inline]
pub(super) fn first_special(bytes: &[u8]) -> Option<usize> {
    let (eights, rest) = bytes.as_chunks::<8>();
    for (index, eight) in eights.iter().enumerate() {
        let specials = specials(u64::from_le_bytes(*eight));
        if specials != 0 {
            return Some(8 * index + specials.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| IS_SPECIAL[usize::from(*byte)])?;
    Some(8 * eights.len() + at)
}

/// The high bit of each byte that is special, as far as the first such byte; those behind it may be wrong.
#[inline]
fn specials(eight: u64) -> u64 {
    const fn each(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let below = |bytes: u64, limit: u8| bytes.wrapping_sub(each(limit)) & !bytes;
    (below(eight, b' ') | below(eight ^ each(b'"'), 1) | below(eight ^ each(b'\\'), 1)) & each(0x80)
}

static IS_SPECIAL: [bool; 256] = {
    let mut is_special = [false; 256];
    let mut control = 0;
    while control < b' ' {
        is_special[control as usize] = true;
        control += 1;
    }
    is_special[b'"' as usize] = true;
    is_special[b'\\' as usize] = true;
    is_special
};
