//! From bytes to text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::bytes::guess_encoding;

/// The text of a body, and the name of its encoding.
///
/// A byte order mark goes before what the header says, that before what the page says of itself. A label that the bytes
/// contradict is not believed: what fits them is guessed instead.
///
/// In a body that was cut, a character may be cut as well.
pub(super) fn decode(bytes: &[u8], cut: bool, labelled: Option<&'static Encoding>) -> (String, &'static str) {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let labels = [marked, labelled, declared(bytes)].into_iter().flatten();
    for encoding in labels.chain([UTF_8]) {
        if let Some(text) = strictly(bytes, cut, encoding) {
            return (text, encoding.name());
        }
    }
    let encoding = marked.unwrap_or_else(|| guess_encoding(bytes, true));
    (encoding.decode(bytes).0.into_owned(), encoding.name())
}

/// The text, if the bytes are of this encoding.
fn strictly(bytes: &[u8], cut: bool, encoding: &'static Encoding) -> Option<String> {
    let (text, _, wrong) = encoding.decode(bytes);
    if !wrong {
        return Some(text.into_owned());
    }
    let whole = text.trim_end_matches('\u{fffd}');
    (cut && !whole.contains('\u{fffd}')).then(|| whole.to_owned())
}

/// What a page says of itself, in a `meta` element or an XML declaration near its beginning. One that says UTF-16 was
/// read, and so is not.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let after = |sign: &str, key: &str| {
        let tag = &start[start.find(sign)?..];
        let value = tag[tag.find(key)? + key.len()..].trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(['"', '\'', ' ', ';', '>', '/', '?']).unwrap_or(value.len());
        Encoding::for_label(&value.as_bytes()[..end])
    };
    let encoding = after("<meta", "charset").or_else(|| after("<?xml", "encoding"))?;
    Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], label: &str) -> (String, &'static str) {
        decode(bytes, false, Encoding::for_label(label.as_bytes()))
    }

    #[test]
    fn the_label_the_page_and_the_bytes_are_asked() {
        assert_eq!(decoded(b"caf\xe9", "latin1"), ("café".to_owned(), "windows-1252"));
        assert_eq!(decoded(b"\xef\xbb\xbfcaf\xc3\xa9", "latin1"), ("café".to_owned(), "UTF-8"), "a mark goes first");
        assert_eq!(decoded(b"\xff\xfea\0", ""), ("a".to_owned(), "UTF-16LE"));
        let page = b"<meta charset='shift_jis'><p>\x93\xfa\x96{";
        assert_eq!(decoded(page, ""), ("<meta charset='shift_jis'><p>日本".to_owned(), "Shift_JIS"));
        let page = b"<meta http-equiv=Content-Type content=\"text/html; charset=koi8-r\">\xd0\xd2";
        assert_eq!(decoded(page, "").1, "KOI8-R");
        assert_eq!(decoded(b"<?xml version='1.0' encoding='ISO-8859-2'?>\xb1", "").1, "ISO-8859-2");
    }

    #[test]
    fn a_wrong_label_is_not_believed() {
        assert_eq!(decoded("naïve café".as_bytes(), "").1, "UTF-8");
        assert_eq!(
            decoded(b"un caf\xe9 tr\xe8s fran\xe7ais, d\xe9j\xe0 vu", "utf-8").0,
            "un café très français, déjà vu"
        );
        assert_eq!(decoded(b"<meta charset=utf-16>caf\xc3\xa9", "").1, "UTF-8");
    }

    #[test]
    fn a_cut_character_is_no_contradiction() {
        let bytes = &"naïve é".as_bytes()[..8];
        assert_eq!(decode(bytes, true, None), ("naïve ".to_owned(), "UTF-8"));
        assert_ne!(decode(bytes, false, None).1, "UTF-8");
    }
}
