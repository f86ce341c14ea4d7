//! Percent-encoding of header values. Without it, a line break in an id from a model could start another header.

use std::borrow::Cow;

/// Encodes a text as a header value.
pub(super) fn encode(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            encoded.push('%');
            encoded.push(char::from(DIGITS[usize::from(byte >> 4)]));
            encoded.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    Cow::Owned(encoded)
}

/// Decodes a header value. Returns `None` if it is invalid.
pub(super) fn decode(header: &str) -> Option<Cow<'_, str>> {
    if !header.contains('%') {
        return Some(Cow::Borrowed(header));
    }
    let mut bytes = Vec::with_capacity(header.len());
    let mut rest = header.bytes();
    while let Some(byte) = rest.next() {
        let decoded = match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            plain => plain,
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'%'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip_without_line_breaks() {
        for text in ["call_1", "", " spaces ", "a\r\nTool-Consent: yes", "100 %", "Grüße 🦀", "\0", "%41"] {
            let encoded = encode(text);
            assert!(encoded.bytes().all(|byte| byte.is_ascii_graphic()), "{encoded}");
            assert_eq!(decode(&encoded).as_deref(), Some(text));
        }
    }

    #[test]
    fn rejects_invalid_encodings() {
        for wrong in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
