//! Bytes as text: which encoding they are in, and whether they are text at all.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::bytes::{guess_encoding, media_type};

/// How the bytes of a file are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) encoding: &'static Encoding,
    /// How many bytes at the beginning say which encoding it is.
    pub(super) mark: usize,
}

impl Form {
    pub(super) const PLAIN: Self = Self { encoding: UTF_8, mark: 0 };

    pub(super) fn is_utf16(self) -> bool {
        self.encoding == UTF_16LE || self.encoding == UTF_16BE
    }

    /// What to say of it in a result; nothing of what everybody expects.
    pub(super) fn name(self) -> Option<&'static str> {
        (self.encoding != UTF_8).then(|| self.encoding.name())
    }
}

/// Bytes that are no text, and what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binary(pub(super) &'static str);

/// The form of a text, from its beginning or all of it.
pub(super) fn form(bytes: &[u8], is_all: bool) -> Result<Form, Binary> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return Ok(Form { encoding, mark });
    }
    if memchr::memchr(0, bytes).is_some() {
        return Err(Binary(media_type(bytes).unwrap_or("application/octet-stream")));
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(Form::PLAIN),
        // A character that is cut off at the end of the sample is none that is wrong.
        Err(error) if !is_all && error.error_len().is_none() => Ok(Form::PLAIN),
        Err(_) => match media_type(bytes) {
            Some(kind) => Err(Binary(kind)),
            None => Ok(Form { encoding: guess_encoding(bytes, is_all), mark: 0 }),
        },
    }
}

/// A file's content as text, and how to make bytes of text again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) form: Form,
}

impl Text {
    /// Reads bytes as text. UTF-8 is not copied.
    pub(super) fn decode(bytes: Vec<u8>) -> Result<Self, Binary> {
        let form = form(&bytes, true)?;
        if form == Form::PLAIN {
            let text = String::from_utf8(bytes).map_err(|_| Binary("application/octet-stream"))?;
            return Ok(Self { text, form });
        }
        let (text, _) = form.encoding.decode_without_bom_handling(&bytes[form.mark..]);
        let decoded = Self { text: text.into_owned(), form };
        // What would not come back as it was must not be written: the rest of the file would change with it.
        match decoded.encode(&decoded.text) {
            Ok(again) if again == bytes => Ok(decoded),
            _ => Err(Binary("text in an unknown encoding")),
        }
    }

    /// The bytes of another text in the same form.
    ///
    /// # Errors
    /// The first character that the encoding does not have.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u8>, char> {
        let Form { encoding, mark } = self.form;
        if encoding == UTF_16LE {
            return Ok(utf16(text, mark, u16::to_le_bytes));
        }
        if encoding == UTF_16BE {
            return Ok(utf16(text, mark, u16::to_be_bytes));
        }
        if encoding == UTF_8 {
            let mark: &[u8] = if mark > 0 { "\u{feff}".as_bytes() } else { b"" };
            return Ok([mark, text.as_bytes()].concat());
        }
        let (bytes, _, has_unmapped) = encoding.encode(text);
        if !has_unmapped {
            return Ok(bytes.into_owned());
        }
        Err(text.chars().find(|c| encoding.encode(c.encode_utf8(&mut [0; 4])).2).unwrap_or_default())
    }
}

fn utf16(text: &str, mark: usize, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mark = (mark > 0).then_some(0xFEFF);
    mark.into_iter().chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// How many lines a text has. What follows the last line break is a line if there is any.
pub(super) fn line_count(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// How the lines of a text end.
pub(super) fn line_ending(text: &str) -> &'static str {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes());
    let (mut plain, mut windows) = (0_usize, 0_usize);
    for at in breaks {
        match at.checked_sub(1).map(|before| text.as_bytes()[before]) {
            Some(b'\r') => windows += 1,
            _ => plain += 1,
        }
    }
    if windows > plain { "\r\n" } else { "\n" }
}

/// A text with its lines ended as others are.
pub(super) fn with_ending(text: &str, ending: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if ending == "\n" { plain } else { plain.replace('\n', ending) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways(bytes: &[u8]) -> (String, &'static str) {
        let text = Text::decode(bytes.to_vec()).unwrap();
        assert_eq!(text.encode(&text.text).unwrap(), bytes, "comes back as it was");
        (text.text, text.form.encoding.name())
    }

    #[test]
    fn encodings_are_told_apart_and_kept() {
        assert_eq!(both_ways("Grüße, 世界".as_bytes()), ("Grüße, 世界".into(), "UTF-8"));
        assert_eq!(both_ways(b"\xEF\xBB\xBFmarked"), ("marked".into(), "UTF-8"));
        assert_eq!(both_ways(b"\xFF\xFEh\0i\0"), ("hi".into(), "UTF-16LE"));
        assert_eq!(both_ways(b"\xFE\xFF\0h\0i"), ("hi".into(), "UTF-16BE"));
        assert_eq!(both_ways(b"Gr\xFC\xDFe aus K\xF6ln, sch\xF6n").0, "Grüße aus Köln, schön");
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("日本語のテキストファイルです。これは試験です。");
        assert_eq!(both_ways(&japanese), ("日本語のテキストファイルです。これは試験です。".into(), "Shift_JIS"));
    }

    #[test]
    fn what_is_no_text_is_named() {
        let kind = |bytes: &[u8]| form(bytes, true).unwrap_err().0;
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "image/png");
        assert_eq!(kind(b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n"), "application/pdf");
        assert_eq!(kind(b"a\0b"), "application/octet-stream");
        assert!(form(b"BM is how bitmaps begin, and sentences", true).is_ok());
    }

    #[test]
    fn a_character_cut_off_by_the_sample_is_not_wrong() {
        let bytes = "schön".as_bytes();
        assert_eq!(form(&bytes[..4], false), Ok(Form::PLAIN));
        assert_ne!(form(&bytes[..4], true), Ok(Form::PLAIN));
    }

    #[test]
    fn what_an_encoding_does_not_have_is_named() {
        let text = Text::decode(b"Gr\xFC\xDFe aus K\xF6ln".to_vec()).unwrap();
        assert_eq!(text.encode("Grüße nach 東京"), Err('東'));
    }

    #[test]
    fn a_last_line_without_its_break_counts() {
        assert_eq!(["", "\n", "a", "a\n", "a\nb"].map(line_count), [0, 1, 1, 1, 2]);
    }

    #[test]
    fn most_lines_decide_how_lines_end() {
        assert_eq!(line_ending("a\r\nb\r\nc\n"), "\r\n");
        assert_eq!(line_ending("a\nb\n"), "\n");
        assert_eq!(with_ending("a\nb\r\nc", "\r\n"), "a\r\nb\r\nc");
    }
}
