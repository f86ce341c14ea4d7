//! Content types and text encodings of response bodies.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::bytes::{guess_encoding, media_type};

/// The kind of content that a content type announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentKind {
    Html,
    Text,
    Binary,
    /// The type is missing or generic; the body decides.
    Unknown,
}

/// A parsed `Content-Type` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContentType {
    /// The media type, such as `text/html`, in lower case. Empty if the header was missing.
    pub(super) essence: String,
    pub(super) charset: Option<&'static Encoding>,
}

impl ContentType {
    pub(super) fn parse(header: &str) -> Self {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts
            .filter_map(|part| part.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .and_then(|(_, label)| Encoding::for_label(label.trim().trim_matches('"').as_bytes()));
        Self { essence, charset }
    }

    pub(super) fn kind(&self) -> ContentKind {
        match self.essence.as_str() {
            "text/html" | "application/xhtml+xml" => ContentKind::Html,
            "" | "application/octet-stream" | "binary/octet-stream" | "application/unknown" => ContentKind::Unknown,
            essence if is_text(essence) => ContentKind::Text,
            _ => ContentKind::Binary,
        }
    }

    /// Returns the kind of a body, given its type. For a binary body, returns an error that names what it really is.
    pub(super) fn kind_of(&self, bytes: &[u8]) -> Result<ContentKind, String> {
        let kind = self.kind();
        if kind == ContentKind::Binary {
            return Err(self.essence.clone());
        }
        if looks_binary(bytes) {
            let detected = media_type(bytes).unwrap_or("binary data");
            let declared =
                if kind == ContentKind::Unknown { String::new() } else { format!(" (declared as {})", self.essence) };
            return Err(format!("{detected}{declared}"));
        }
        Ok(match kind {
            ContentKind::Unknown if looks_like_html(bytes) => ContentKind::Html,
            ContentKind::Unknown => ContentKind::Text,
            kind => kind,
        })
    }
}

fn is_text(essence: &str) -> bool {
    let Some((class, name)) = essence.split_once('/') else { return false };
    let name = name.strip_prefix("x-").unwrap_or(name);
    class == "text"
        || name.rsplit_once('+').is_some_and(|(_, form)| matches!(form, "json" | "xml" | "yaml" | "json-seq"))
        || (class == "application" && TEXTS.contains(&name))
}

/// Text formats under `application/`, without the prefix `x-`.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "csv", "ecmascript", "graphql", "httpd-php", "javascript", "json", "json-seq", "json5", "jsonl", "jsonlines",
    "markdown", "ndjson", "perl", "python", "ruby", "sh", "sql", "tex", "toml", "typescript", "www-form-urlencoded", "xml",
    "xml-dtd", "yaml",
];

/// Returns `true` if a body contains control characters that text does not have. UTF-16 contains zeros, but starts with a
/// byte order mark.
fn looks_binary(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f);
    Encoding::for_bom(bytes).is_none() && start.iter().any(is_control)
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(512)])
        .trim_start_matches(['\u{feff}'])
        .trim_start()
        .to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
}

/// Decodes a body to text, and returns the name of its encoding.
///
/// A byte order mark takes precedence over the `charset` of the header, and that over the page's own declaration. A label
/// that contradicts the bytes is ignored, and the encoding is guessed instead.
///
/// In a truncated body the last character may be incomplete.
pub(super) fn decode(bytes: &[u8], cut: bool, labelled: Option<&'static Encoding>) -> (String, &'static str) {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let labels = [marked, labelled, declared_encoding(bytes)].into_iter().flatten();
    for encoding in labels.chain([UTF_8]) {
        if let Some(text) = decode_strictly(bytes, cut, encoding) {
            return (text, encoding.name());
        }
    }
    let encoding = marked.unwrap_or_else(|| guess_encoding(bytes, true));
    (encoding.decode(bytes).0.into_owned(), encoding.name())
}

/// Decodes the text if the bytes are valid in this encoding.
fn decode_strictly(bytes: &[u8], cut: bool, encoding: &'static Encoding) -> Option<String> {
    let (text, _, wrong) = encoding.decode(bytes);
    if !wrong {
        return Some(text.into_owned());
    }
    let whole = text.trim_end_matches('\u{fffd}');
    (cut && !whole.contains('\u{fffd}')).then(|| whole.to_owned())
}

/// Returns the encoding that a page declares in a `meta` element or an XML declaration near its beginning. A page whose
/// ASCII declaration could be read is not UTF-16, whatever it declares.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
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

    fn kind(header: &str) -> ContentKind {
        ContentType::parse(header).kind()
    }

    #[test]
    fn classifies_content_types() {
        for header in ["text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml"] {
            assert_eq!(kind(header), ContentKind::Html, "{header}");
        }
        for header in [
            "text/plain",
            "application/json",
            "application/ld+json",
            "application/rss+xml",
            "image/svg+xml",
            "application/x-yaml",
            "text/x-rust",
        ] {
            assert_eq!(kind(header), ContentKind::Text, "{header}");
        }
        for header in
            ["image/png", "application/pdf", "application/zip", "video/mp4", "nonsense", "application/vnd.ms-excel"]
        {
            assert_eq!(kind(header), ContentKind::Binary, "{header}");
        }
        for header in ["", ";charset=utf-8", "application/octet-stream"] {
            assert_eq!(kind(header), ContentKind::Unknown, "{header}");
        }
    }

    #[test]
    fn detects_the_kind_of_untyped_bodies() {
        let unknown = ContentType::parse("");
        assert_eq!(unknown.kind_of(b"\n <!DOCTYPE html><p>x"), Ok(ContentKind::Html));
        assert_eq!(unknown.kind_of(b"just text"), Ok(ContentKind::Text));
        assert_eq!(unknown.kind_of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Err("image/png".to_owned()));
        let text = ContentType::parse("text/plain");
        assert_eq!(text.kind_of(b"%PDF-1.7\n\x00\x01"), Err("application/pdf (declared as text/plain)".to_owned()));
        assert_eq!(text.kind_of(b"a\0b"), Err("binary data (declared as text/plain)".to_owned()));
        assert_eq!(text.kind_of(b"\xff\xfea\0b\0"), Ok(ContentKind::Text), "UTF-16");
    }

    fn decoded(bytes: &[u8], label: &str) -> (String, &'static str) {
        decode(bytes, false, Encoding::for_label(label.as_bytes()))
    }

    #[test]
    fn reads_the_encoding_from_the_label_the_page_or_the_bytes() {
        assert_eq!(decoded(b"caf\xe9", "latin1"), ("café".to_owned(), "windows-1252"));
        assert_eq!(
            decoded(b"\xef\xbb\xbfcaf\xc3\xa9", "latin1"),
            ("café".to_owned(), "UTF-8"),
            "a mark takes precedence"
        );
        assert_eq!(decoded(b"\xff\xfea\0", ""), ("a".to_owned(), "UTF-16LE"));
        let page = b"<meta charset='shift_jis'><p>\x93\xfa\x96{";
        assert_eq!(decoded(page, ""), ("<meta charset='shift_jis'><p>日本".to_owned(), "Shift_JIS"));
        let page = b"<meta http-equiv=Content-Type content=\"text/html; charset=koi8-r\">\xd0\xd2";
        assert_eq!(decoded(page, "").1, "KOI8-R");
        assert_eq!(decoded(b"<?xml version='1.0' encoding='ISO-8859-2'?>\xb1", "").1, "ISO-8859-2");
    }

    #[test]
    fn ignores_a_wrong_label() {
        assert_eq!(decoded("naïve café".as_bytes(), "").1, "UTF-8");
        assert_eq!(
            decoded(b"un caf\xe9 tr\xe8s fran\xe7ais, d\xe9j\xe0 vu", "utf-8").0,
            "un café très français, déjà vu"
        );
        assert_eq!(decoded(b"<meta charset=utf-16>caf\xc3\xa9", "").1, "UTF-8");
    }

    #[test]
    fn accepts_a_truncated_last_character() {
        let bytes = &"naïve é".as_bytes()[..8];
        assert_eq!(decode(bytes, true, None), ("naïve ".to_owned(), "UTF-8"));
        assert_ne!(decode(bytes, false, None).1, "UTF-8");
    }
}
