//! Text files: detecting and keeping their encoding, and replacing parts without touching other bytes.

use std::io::{self, Cursor, Read};
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;
use tool_runtime::HandlerError;

use super::errors::{FileResult, quote_path, retry};
use crate::bytes::{guess_encoding, is_mostly_utf8, media_type};

/// The number of bytes at the beginning of a file that decide whether it is text.
const SAMPLE: usize = 64 * 1024;
/// The number of bytes that decide the encoding, starting shortly before the first non-ASCII byte. The choice depends on
/// the file alone, so every tool decodes it the same way, whatever part it reads.
const EVIDENCE: usize = 1024 * 1024;
/// The number of bytes before the first non-ASCII byte that count as evidence; they help to recognize the language.
const EVIDENCE_BEFORE: usize = 64;

/// The media type of a file that is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BinaryFile(pub(super) &'static str);

/// Checks that a file that begins with these bytes can be text.
fn check_text(start: &[u8]) -> Result<(), BinaryFile> {
    let kind = media_type(start);
    match Encoding::for_bom(start) {
        Some(_) => Ok(()),
        None if memchr::memchr(0, start).is_some() => Err(BinaryFile(kind.unwrap_or("application/octet-stream"))),
        // Text may begin like another file type, such as `BM`. It is taken for that type only if it is not UTF-8.
        None if std::str::from_utf8(start).is_err() && !is_mostly_utf8(start) => match kind {
            Some(kind) if !is_cut_utf8(start) => Err(BinaryFile(kind)),
            _ => Ok(()),
        },
        None => Ok(()),
    }
}

/// Returns `true` if the bytes are valid UTF-8 except for an incomplete character at the end.
fn is_cut_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Decides the encoding by the evidence. Evidence shorter than [`EVIDENCE`] reaches to the end of the file.
fn decide_encoding(evidence: &[u8]) -> &'static Encoding {
    let is_cut = evidence.len() >= EVIDENCE;
    if std::str::from_utf8(evidence).is_ok() || is_cut && is_cut_utf8(evidence) {
        return UTF_8;
    }
    let whole_lines = memchr::memrchr(b'\n', evidence).filter(|_| is_cut).map_or(evidence.len(), |end| end + 1);
    guess_encoding(&evidence[..whole_lines], true)
}

/// Returns the index of the first byte that is not ASCII.
fn first_non_ascii(bytes: &[u8]) -> Option<usize> {
    if bytes.is_ascii() { None } else { bytes.iter().position(|byte| !byte.is_ascii()) }
}

fn is_utf16(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

/// A reader that decodes a file to UTF-8, without a byte order mark.
///
/// Invalid bytes of a UTF-8 file are passed on unchanged. The encoding is decided at the first non-ASCII byte; before
/// that it makes no difference.
pub(super) struct TextReader<'a> {
    content: Box<dyn Read + 'a>,
    encoding: Option<&'static Encoding>,
    /// The last bytes read before the encoding was decided.
    before: Vec<u8>,
}

impl<'a> TextReader<'a> {
    /// Opens a text file.
    ///
    /// # Errors
    /// Fails if the file cannot be read. The inner result is an error if it is not text.
    pub(super) fn new(mut file: impl Read + 'a) -> io::Result<Result<Self, BinaryFile>> {
        let mut start = Vec::with_capacity(SAMPLE);
        file.by_ref().take(SAMPLE as u64).read_to_end(&mut start)?;
        if let Err(binary) = check_text(&start) {
            return Ok(Err(binary));
        }
        let marked = Encoding::for_bom(&start);
        let mut start = Cursor::new(start);
        start.set_position(marked.map_or(0, |(_, mark)| mark as u64));
        let content: Box<dyn Read + 'a> = Box::new(start.chain(file));
        let mut reader = Self { content, encoding: None, before: Vec::new() };
        if let Some((encoding, _)) = marked {
            reader.decode_from(encoding);
        }
        Ok(Ok(reader))
    }

    /// Returns the encoding, or `None` if everything so far was ASCII.
    pub(super) fn encoding(&self) -> Option<&'static Encoding> {
        self.encoding
    }

    /// Returns `true` for UTF-16, the only encoding in which text contains zero bytes.
    pub(super) fn is_utf16(&self) -> bool {
        self.encoding.is_some_and(is_utf16)
    }

    fn decode_from(&mut self, encoding: &'static Encoding) {
        self.encoding = Some(encoding);
        if encoding != UTF_8 {
            let content = std::mem::replace(&mut self.content, Box::new(io::empty()));
            let mut decoding = DecodeReaderBytesBuilder::new();
            self.content = Box::new(decoding.encoding(Some(encoding)).bom_sniffing(false).build(content));
        }
    }

    /// Decides the encoding of the remaining content, which begins with the non-ASCII byte in `rest`.
    fn decide(&mut self, rest: &[u8]) -> io::Result<()> {
        let mut evidence = std::mem::take(&mut self.before);
        let before = evidence.len();
        evidence.extend_from_slice(rest);
        let wanting = EVIDENCE.saturating_sub(evidence.len());
        self.content.by_ref().take(wanting as u64).read_to_end(&mut evidence)?;
        let encoding = decide_encoding(&evidence[..evidence.len().min(EVIDENCE)]);
        let mut evidence = Cursor::new(evidence);
        evidence.set_position(before as u64);
        let content = std::mem::replace(&mut self.content, Box::new(io::empty()));
        self.content = Box::new(evidence.chain(content));
        self.decode_from(encoding);
        Ok(())
    }

    fn remember(&mut self, ascii: &[u8]) {
        self.before.extend_from_slice(&ascii[ascii.len().saturating_sub(EVIDENCE_BEFORE)..]);
        self.before.drain(..self.before.len().saturating_sub(EVIDENCE_BEFORE));
    }
}

impl Read for TextReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(buffer)?;
        if self.encoding.is_some() {
            return Ok(length);
        }
        let first = first_non_ascii(&buffer[..length]);
        self.remember(&buffer[..first.unwrap_or(length)]);
        match first {
            None => Ok(length),
            Some(first) => {
                self.decide(&buffer[first..length])?;
                if first > 0 { Ok(first) } else { self.content.read(buffer) }
            }
        }
    }
}

/// The content of a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextFile {
    /// The text, including a byte order mark if the file has one.
    pub(super) text: String,
    pub(super) encoding: &'static Encoding,
    /// The bytes of a UTF-8 file that contains invalid ones. In `text` those are U+FFFD.
    invalid: Option<Vec<u8>>,
}

/// A range of a text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) new: String,
}

impl TextFile {
    pub(super) const EMPTY: Self = Self { text: String::new(), encoding: UTF_8, invalid: None };

    /// Decodes bytes. Valid UTF-8 is not copied.
    pub(super) fn decode(bytes: Vec<u8>) -> Result<Self, BinaryFile> {
        check_text(&bytes[..bytes.len().min(SAMPLE)])?;
        let marked = Encoding::for_bom(&bytes).map(|(encoding, _)| encoding);
        if !marked.is_some_and(is_utf16) && memchr::memchr(0, &bytes).is_some() {
            return Err(BinaryFile("application/octet-stream"));
        }
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => return Ok(Self { text, ..Self::EMPTY }),
            Err(error) => error.into_bytes(),
        };
        let encoding = marked.unwrap_or_else(|| {
            let start = first_non_ascii(&bytes).unwrap_or(0).saturating_sub(EVIDENCE_BEFORE);
            decide_encoding(&bytes[start..bytes.len().min(start + EVIDENCE)])
        });
        if encoding == UTF_8 {
            return Ok(Self::from_utf8(bytes));
        }
        let (text, _) = encoding.decode_without_bom_handling(&bytes);
        let decoded = Self { text: text.into_owned(), encoding, invalid: None };
        // The encoding must round-trip: otherwise writing the file would change its other parts.
        match decoded.encode() {
            Ok(again) if again == bytes => Ok(decoded),
            _ => Err(BinaryFile("text in an unknown encoding")),
        }
    }

    /// Decodes bytes as UTF-8, valid or not.
    fn from_utf8(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { text, ..Self::EMPTY },
            Err(error) => {
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Self { text, invalid: Some(error.into_bytes()), ..Self::EMPTY }
            }
        }
    }

    /// Applies splices, which are in order and do not overlap. Returns the new text and the bytes of the file; bytes
    /// outside the splices are unchanged.
    ///
    /// # Errors
    /// Fails if the file's encoding lacks a character, or if a replacement repeats the U+FFFD that stands for invalid
    /// bytes in its range.
    pub(super) fn apply_splices(&self, path: &str, splices: &[Splice]) -> FileResult<(Self, Vec<u8>)> {
        if let Some(bytes) = &self.invalid {
            let bytes = splice_bytes(bytes, path, splices)?;
            return Ok((Self::from_utf8(bytes.clone()), bytes));
        }
        let mut text = String::with_capacity(self.text.len());
        let mut done = 0;
        for Splice { range, new } in splices {
            text.push_str(&self.text[done..range.start]);
            text.push_str(new);
            done = range.end;
        }
        text.push_str(&self.text[done..]);
        let spliced = Self { text, invalid: None, ..*self };
        let bytes = spliced.encode().map_err(|c| {
            let encoding = self.encoding.name();
            let code = u32::from(c);
            HandlerError::retry(format!(
                "{} is encoded as {encoding}, which has no `{c}` (U+{code:04X}).",
                quote_path(path)
            ))
        })?;
        Ok((spliced, bytes))
    }

    /// Encodes the text.
    ///
    /// # Errors
    /// Returns the first character that the encoding lacks.
    fn encode(&self) -> Result<Vec<u8>, char> {
        let text = self.text.as_str();
        if self.encoding == UTF_16LE {
            return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        }
        if self.encoding == UTF_16BE {
            return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        }
        if self.encoding == UTF_8 {
            return Ok(self.invalid.clone().unwrap_or_else(|| text.as_bytes().to_vec()));
        }
        let (bytes, _, has_unmapped) = self.encoding.encode(text);
        if !has_unmapped {
            return Ok(bytes.into_owned());
        }
        Err(text.chars().find(|c| self.encoding.encode(c.encode_utf8(&mut [0; 4])).2).unwrap_or_default())
    }
}

/// Applies splices to bytes that contain invalid UTF-8. The ranges refer to the decoded text.
fn splice_bytes(original: &[u8], path: &str, splices: &[Splice]) -> FileResult<Vec<u8>> {
    let mut chunks = original.utf8_chunks();
    let mut chunk = chunks.next();
    // The start of the chunk in the text, and in the bytes.
    let (mut text, mut byte) = (0, 0);
    let mut in_bytes = |at: usize| loop {
        match &chunk {
            Some(passed) if at > text + passed.valid().len() => {
                text += passed.valid().len() + char::REPLACEMENT_CHARACTER.len_utf8();
                byte += passed.valid().len() + passed.invalid().len();
                chunk = chunks.next();
            }
            _ => break byte + at - text,
        }
    };
    let mut bytes = Vec::with_capacity(original.len());
    let mut done = 0;
    for Splice { range, new } in splices {
        let (start, end) = (in_bytes(range.start), in_bytes(range.end));
        if new.contains(char::REPLACEMENT_CHARACTER) && std::str::from_utf8(&original[start..end]).is_err() {
            return retry(format!(
                "{} contains bytes here that are not valid UTF-8 and are shown as U+FFFD. They cannot be written back: \
                 exclude them from the replaced text, or replace them by something else.",
                quote_path(path)
            ));
        }
        bytes.extend_from_slice(&original[done..start]);
        bytes.extend_from_slice(new.as_bytes());
        done = end;
    }
    bytes.extend_from_slice(&original[done..]);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> (String, &'static str) {
        let text = TextFile::decode(bytes.to_vec()).unwrap();
        assert_eq!(text.encode().unwrap(), bytes, "must round-trip");
        (text.text, text.encoding.name())
    }

    /// Returns the text and encoding from a reader with buffers of `piece` bytes.
    fn read(bytes: &[u8], piece: usize) -> (String, &'static str) {
        let mut reader = TextReader::new(bytes).unwrap().unwrap();
        let (mut text, mut buffer) = (Vec::new(), vec![0; piece]);
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => break,
                length => text.extend_from_slice(&buffer[..length]),
            }
        }
        (String::from_utf8_lossy(&text).into_owned(), reader.encoding().unwrap_or(UTF_8).name())
    }

    /// Asserts that all ways of reading a file agree.
    #[track_caller]
    fn is_read_as(bytes: &[u8], text: &str, encoding: &str) {
        assert_eq!(round_trip(bytes), (text.to_owned(), encoding));
        for piece in [if bytes.len() < SAMPLE { 7 } else { 777 }, 1 << 20] {
            assert_eq!(read(bytes, piece), (text.trim_start_matches('\u{feff}').to_owned(), encoding), "{piece}");
        }
    }

    #[test]
    fn detects_and_keeps_encodings() {
        is_read_as("Grüße, 世界".as_bytes(), "Grüße, 世界", "UTF-8");
        is_read_as(b"\xEF\xBB\xBFmarked", "\u{feff}marked", "UTF-8");
        is_read_as(b"\xFF\xFEh\0i\0", "\u{feff}hi", "UTF-16LE");
        is_read_as(b"\xFE\xFF\0h\0i", "\u{feff}hi", "UTF-16BE");
        is_read_as(b"Gr\xFC\xDFe aus K\xF6ln, sch\xF6n", "Grüße aus Köln, schön", "windows-1252");
        for (encoding, text) in [
            (encoding_rs::SHIFT_JIS, "日本語のテキストファイルです。これは試験です。"),
            (encoding_rs::EUC_JP, "日本語のテキストファイルです。これは試験です。"),
            (encoding_rs::GBK, "模型可以调用工具。这是一个测试文件，用于检查编码。"),
            (encoding_rs::BIG5, "模型可以調用工具。這是一個測試文件，用於檢查編碼。"),
            (encoding_rs::EUC_KR, "한국어 텍스트 파일입니다. 이것은 시험입니다."),
            (encoding_rs::WINDOWS_1251, "Русский текст, это проверка кодировки файлов."),
            (encoding_rs::WINDOWS_874, "ภาษาไทยเป็นภาษาราชการของประเทศไทย"),
        ] {
            is_read_as(&encoding.encode(text).0, text, encoding.name());
        }
    }

    #[test]
    fn a_few_invalid_bytes_do_not_change_the_encoding() {
        let line = "Größe: naïve café — 漢字 日本語\n";
        for lines in [1, 5, 30_000] {
            for at in [0, lines / 2, lines] {
                let (before, after) = (line.repeat(at), line.repeat(lines - at));
                let bytes = [before.as_bytes(), b"bad \xFF byte, cut \xE6\xBC\n", after.as_bytes()].concat();
                let text = format!("{before}bad \u{fffd} byte, cut \u{fffd}\n{after}");
                is_read_as(&bytes, &text, "UTF-8");
            }
        }
    }

    /// The evidence begins at the first non-ASCII byte, however late that is.
    #[test]
    fn detects_an_encoding_that_shows_late() {
        for length in [SAMPLE - 1, SAMPLE, 3 * EVIDENCE] {
            let ascii = "x".repeat(length);
            let latin = [ascii.as_bytes(), b" sch\xF6ne Gr\xFC\xDFe aus K\xF6ln\n"].concat();
            is_read_as(&latin, &format!("{ascii} schöne Grüße aus Köln\n"), "windows-1252");
        }
        // Bytes beyond the evidence have no influence.
        let valid = "schön\n".repeat(EVIDENCE / 6);
        let bytes = [valid.as_bytes(), &b"sch\xF6n\n".repeat(EVIDENCE)].concat();
        is_read_as(&bytes, &(valid + &"sch\u{fffd}n\n".repeat(EVIDENCE)), "UTF-8");
    }

    #[test]
    fn keeps_the_bytes_outside_of_splices() {
        let text = b"Gr\xC3\xB6\xC3\x9Fe \xFF na\xC3\xAFve \xE6\xBC \xE6\xBC\xA2\xE5\xAD\x97 ende".to_vec();
        let text = TextFile::decode(text).unwrap();
        assert_eq!(text.text, "Größe \u{fffd} naïve \u{fffd} 漢字 ende");
        let splice = |old: &str, new: &str| {
            let start = text.text.find(old).unwrap();
            Splice { range: start..start + old.len(), new: new.to_owned() }
        };
        let (spliced, bytes) = text.apply_splices("a", &[splice("Grö", "XXXXX"), splice("naïve", "é")]).unwrap();
        assert_eq!(bytes, b"XXXXX\xC3\x9Fe \xFF \xC3\xA9 \xE6\xBC \xE6\xBC\xA2\xE5\xAD\x97 ende");
        assert_eq!(spliced, TextFile::from_utf8(bytes));
        let (_, bytes) = text.apply_splices("a", &[splice("e \u{fffd} n", "-"), splice("ende", "")]).unwrap();
        assert_eq!(bytes, b"Gr\xC3\xB6\xC3\x9F-a\xC3\xAFve \xE6\xBC \xE6\xBC\xA2\xE5\xAD\x97 ");
        let error = text.apply_splices("a", &[splice("e \u{fffd} n", "e \u{fffd} m")]).unwrap_err().to_string();
        assert!(error.contains("`a` contains bytes here that are not valid UTF-8"), "{error}");
    }

    /// Bytes outside of the splices are copied, whatever they are.
    #[test]
    fn random_splices_of_invalid_bytes_copy_the_rest() {
        let pieces: [&[u8]; 7] = [b"a", b"\n", "ö".as_bytes(), "漢".as_bytes(), b"\xFF", b"\xE6\xBC", b"\x80\xBF"];
        let mut random = 1_u64;
        let mut below = |end: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % end
        };
        for _ in 0..5_000 {
            let bytes: Vec<u8> = (0..below(20)).flat_map(|_| pieces[below(7)]).copied().collect();
            let text = TextFile::from_utf8(bytes.clone());
            assert_eq!(text.encode().unwrap(), bytes);
            // Each character with its bytes in the file.
            let mut characters: Vec<(usize, Vec<u8>)> = Vec::new();
            for chunk in bytes.utf8_chunks() {
                let valid = chunk.valid().chars().map(|c| c.to_string().into_bytes());
                let invalid = Some(chunk.invalid().to_vec()).filter(|invalid| !invalid.is_empty());
                characters.extend(valid.chain(invalid).map(|bytes| (0, bytes)));
            }
            for (character, (at, _)) in characters.iter_mut().zip(text.text.char_indices()) {
                character.0 = at;
            }
            let (mut splices, mut expected) = (Vec::new(), Vec::new());
            for (number, (at, bytes)) in characters.iter().enumerate() {
                let end = characters.get(number + 1).map_or(text.text.len(), |next| next.0);
                match below(4) {
                    0 => {
                        splices.push(Splice { range: *at..end, new: "é".to_owned() });
                        expected.extend_from_slice("é".as_bytes());
                    }
                    1 => {
                        splices.push(Splice { range: *at..*at, new: "-".to_owned() });
                        expected.push(b'-');
                        expected.extend_from_slice(bytes);
                    }
                    _ => expected.extend_from_slice(bytes),
                }
            }
            let (after, written) = text.apply_splices("a", &splices).unwrap();
            assert_eq!(written, expected, "{bytes:?} {splices:?}");
            assert_eq!(after, TextFile::from_utf8(expected));
        }
    }

    #[test]
    fn names_the_type_of_binary_files() {
        let kind = |bytes: &[u8]| TextFile::decode(bytes.to_vec()).unwrap_err().0;
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "image/png");
        assert_eq!(kind(b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n"), "application/pdf");
        assert_eq!(kind(b"a\0b"), "application/octet-stream");
        assert_eq!(kind(&[&[b'x'; SAMPLE][..], b"\0"].concat()), "application/octet-stream");
        assert!(TextFile::decode(b"BM is how bitmaps begin, and sentences".to_vec()).is_ok());
        assert!(TextFile::decode("BMW fährt größere Übungen\n".bytes().chain([0xFF]).collect()).is_ok());
    }

    #[test]
    fn accepts_a_character_split_by_the_sample() {
        let text = format!("{}ö{}", "x".repeat(SAMPLE - 1), "y".repeat(SAMPLE));
        is_read_as(text.as_bytes(), &text, "UTF-8");
        let text = format!("ö{}ö{}", "x".repeat(EVIDENCE - 3), "y".repeat(SAMPLE));
        is_read_as(text.as_bytes(), &text, "UTF-8");
    }

    #[test]
    fn names_a_character_that_the_encoding_lacks() {
        let text = TextFile::decode(b"Gr\xFC\xDFe aus K\xF6ln".to_vec()).unwrap();
        let end = text.text.len();
        let error = text.apply_splices("a", &[Splice { range: end..end, new: "東京".to_owned() }]).unwrap_err();
        assert_eq!(error.to_string(), "`a` is encoded as windows-1252, which has no `東` (U+6771).");
    }
}
