//! What a server has sent: a page, other text, or neither.

use encoding_rs::Encoding;

use crate::bytes::media_type;

/// What a content type makes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    Binary,
    /// The type says nothing: the body has to.
    Unknown,
}

/// The header `Content-Type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContentType {
    /// Such as `text/html`, in lower case; empty if there was none.
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

    pub(super) fn kind(&self) -> Kind {
        match self.essence.as_str() {
            "text/html" | "application/xhtml+xml" => Kind::Html,
            "" | "application/octet-stream" | "binary/octet-stream" | "application/unknown" => Kind::Unknown,
            essence if is_text(essence) => Kind::Text,
            _ => Kind::Binary,
        }
    }

    /// What a body is, seen with its type. A binary one is named as what it is, whatever it is called.
    pub(super) fn kind_of(&self, bytes: &[u8]) -> Result<Kind, String> {
        let kind = self.kind();
        if kind == Kind::Binary {
            return Err(self.essence.clone());
        }
        if looks_binary(bytes) {
            let found = media_type(bytes).unwrap_or("binary data");
            let called = if kind == Kind::Unknown { String::new() } else { format!(" (called {})", self.essence) };
            return Err(format!("{found}{called}"));
        }
        Ok(match kind {
            Kind::Unknown if looks_like_html(bytes) => Kind::Html,
            Kind::Unknown => Kind::Text,
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

/// The text types that are not called so, without an `x-` before them.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "csv", "ecmascript", "graphql", "httpd-php", "javascript", "json", "json-seq", "json5", "jsonl", "jsonlines",
    "markdown", "ndjson", "perl", "python", "ruby", "sh", "sql", "tex", "toml", "typescript", "www-form-urlencoded", "xml",
    "xml-dtd", "yaml",
];

/// Whether a body is no text: it has characters that no text has. UTF-16 has zeros everywhere, but also says that it is
/// UTF-16.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(header: &str) -> Kind {
        ContentType::parse(header).kind()
    }

    #[test]
    fn types_are_told_apart() {
        for header in ["text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml"] {
            assert_eq!(kind(header), Kind::Html, "{header}");
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
            assert_eq!(kind(header), Kind::Text, "{header}");
        }
        for header in
            ["image/png", "application/pdf", "application/zip", "video/mp4", "nonsense", "application/vnd.ms-excel"]
        {
            assert_eq!(kind(header), Kind::Binary, "{header}");
        }
        for header in ["", ";charset=utf-8", "application/octet-stream"] {
            assert_eq!(kind(header), Kind::Unknown, "{header}");
        }
    }

    #[test]
    fn what_a_type_leaves_open_the_body_says() {
        let unknown = ContentType::parse("");
        assert_eq!(unknown.kind_of(b"\n <!DOCTYPE html><p>x"), Ok(Kind::Html));
        assert_eq!(unknown.kind_of(b"just text"), Ok(Kind::Text));
        assert_eq!(unknown.kind_of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Err("image/png".to_owned()));
        let text = ContentType::parse("text/plain");
        assert_eq!(text.kind_of(b"%PDF-1.7\n\x00\x01"), Err("application/pdf (called text/plain)".to_owned()));
        assert_eq!(text.kind_of(b"a\0b"), Err("binary data (called text/plain)".to_owned()));
        assert_eq!(text.kind_of(b"\xff\xfea\0b\0"), Ok(Kind::Text), "UTF-16");
    }
}
