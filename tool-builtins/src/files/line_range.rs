//! Reading a range of lines from a file.

use std::io::{self, Read};

use encoding_rs::Encoding;
use memchr::{memchr, memchr_iter};

use super::text::{BinaryFile, TextReader};

/// The number of bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// The range of lines to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRange {
    /// The number of lines to skip.
    pub(super) offset: u64,
    /// The number of characters to skip in the first line.
    pub(super) column: u64,
    /// The maximum number of lines.
    pub(super) lines: usize,
    /// The maximum number of bytes.
    pub(super) bytes: usize,
}

/// Lines read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileLines {
    pub(super) text: String,
    /// The number of lines.
    pub(super) count: usize,
    /// The content after the lines.
    pub(super) rest: LinesLeft,
    /// The encoding of the file, unless everything read so far is ASCII.
    pub(super) encoding: Option<&'static Encoding>,
    /// `true` if bytes were replaced by U+FFFD because they are not valid UTF-8.
    pub(super) has_invalid: bool,
}

/// The content after the lines that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinesLeft {
    /// The end of the file.
    Nothing,
    /// More lines.
    Lines,
    /// The rest of the only line, which is too long, from this character on.
    OfTheLine(u64),
}

/// The reason why no lines could be read.
#[derive(Debug)]
pub(super) enum LinesError {
    Unreadable(io::Error),
    Binary(BinaryFile),
    /// The file has only this many lines.
    PastTheEnd(u64),
    /// The first line has only this many characters.
    PastTheLine(u64),
    Cancelled,
}

impl From<io::Error> for LinesError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Reads a range of lines. Apart from detecting the encoding, reads at most one chunk beyond the last line.
pub(super) fn read(
    file: impl Read,
    range: LineRange,
    is_cancelled: impl Fn() -> bool,
) -> Result<FileLines, LinesError> {
    let mut content = TextReader::new(file)?.map_err(LinesError::Binary)?;
    let mut collector =
        LineCollector { range, skipped_lines: 0, in_line: false, skipped_characters: 0, taken: Vec::new(), count: 0 };
    let mut chunk = vec![0; CHUNK];
    loop {
        if is_cancelled() {
            return Err(LinesError::Cancelled);
        }
        let length = match content.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if length == 0 {
            return collector.at_end(content.encoding());
        }
        if !content.is_utf16() && memchr(0, &chunk[..length]).is_some() {
            return Err(LinesError::Binary(BinaryFile("application/octet-stream")));
        }
        if let Some(rest) = collector.take(&chunk[..length])? {
            return Ok(collector.lines(rest, content.encoding()));
        }
    }
}

/// Collects lines from chunks.
struct LineCollector {
    range: LineRange,
    /// The number of lines skipped so far.
    skipped_lines: u64,
    /// `true` if the beginning of a skipped line was seen, but not its end.
    in_line: bool,
    /// The number of characters skipped in the first line.
    skipped_characters: u64,
    taken: Vec<u8>,
    count: usize,
}

/// The content after the lines, once they are complete.
type Progress = Result<Option<LinesLeft>, LinesError>;

impl LineCollector {
    /// Collects lines from a chunk. Returns what follows once all lines are complete.
    fn take(&mut self, chunk: &[u8]) -> Progress {
        let Some(chunk) = self.skip_lines(chunk) else { return Ok(None) };
        let chunk = self.skip_characters(chunk)?;
        let mut start = 0;
        for end in memchr_iter(b'\n', chunk) {
            if let Some(rest) = self.push(&chunk[start..=end]) {
                return Ok(Some(rest));
            }
            start = end + 1;
        }
        let tail = &chunk[start..];
        Ok(if tail.is_empty() { None } else { self.push(tail) })
    }

    /// Skips the first characters of the first line.
    fn skip_characters<'a>(&mut self, chunk: &'a [u8]) -> Result<&'a [u8], LinesError> {
        if self.range.column == 0 || !self.taken.is_empty() {
            return Ok(chunk);
        }
        for (index, byte) in chunk.iter().enumerate() {
            match *byte {
                byte if is_continuation(byte) => {}
                _ if self.skipped_characters == self.range.column => return Ok(&chunk[index..]),
                b'\n' => return Err(LinesError::PastTheLine(self.skipped_characters)),
                _ => self.skipped_characters += 1,
            }
        }
        Ok(&[])
    }

    /// Skips the lines before the range. Returns `None` if the whole chunk was skipped.
    fn skip_lines<'a>(&mut self, chunk: &'a [u8]) -> Option<&'a [u8]> {
        let missing = self.range.offset - self.skipped_lines;
        if missing == 0 {
            return Some(chunk);
        }
        let breaks = memchr_iter(b'\n', chunk).count() as u64;
        if breaks < missing {
            self.skipped_lines += breaks;
            self.in_line = chunk.last() != Some(&b'\n');
            return None;
        }
        let last = memchr_iter(b'\n', chunk).nth(usize::try_from(missing - 1).ok()?)?;
        self.skipped_lines = self.range.offset;
        self.in_line = false;
        Some(&chunk[last + 1..])
    }

    /// Appends a line, or a piece of one.
    fn push(&mut self, piece: &[u8]) -> Option<LinesLeft> {
        let begins_line = self.taken.last().is_none_or(|last| *last == b'\n');
        if begins_line && self.count == self.range.lines {
            return Some(LinesLeft::Lines);
        }
        let room = self.range.bytes - self.taken.len();
        if piece.len() > room {
            if self.count > usize::from(!begins_line) {
                // The beginning of a line that does not fit is left for the next call.
                let whole = memchr::memrchr(b'\n', &self.taken).map_or(0, |end| end + 1);
                self.count -= usize::from(!begins_line);
                self.taken.truncate(whole);
                return Some(LinesLeft::Lines);
            }
            self.count = 1;
            self.taken.extend_from_slice(&piece[..room]);
            return Some(self.cut());
        }
        self.count += usize::from(begins_line);
        self.taken.extend_from_slice(piece);
        None
    }

    /// Truncates the only line between two characters.
    fn cut(&mut self) -> LinesLeft {
        let start = self.taken.iter().rposition(|byte| !is_continuation(*byte)).unwrap_or(0);
        if String::from_utf8_lossy(&self.taken[start..]).contains(char::REPLACEMENT_CHARACTER) && start > 0 {
            self.taken.truncate(start);
        }
        let characters = self.taken.iter().filter(|byte| !is_continuation(**byte)).count();
        LinesLeft::OfTheLine(self.range.column + characters as u64)
    }

    fn at_end(self, encoding: Option<&'static Encoding>) -> Result<FileLines, LinesError> {
        match self.count {
            0 if self.skipped_characters > 0 => Err(LinesError::PastTheLine(self.skipped_characters)),
            0 if self.range.offset > 0 => Err(LinesError::PastTheEnd(self.skipped_lines + u64::from(self.in_line))),
            _ => Ok(self.lines(LinesLeft::Nothing, encoding)),
        }
    }

    fn lines(self, rest: LinesLeft, encoding: Option<&'static Encoding>) -> FileLines {
        let (text, has_invalid) = match String::from_utf8(self.taken) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        FileLines { text, count: self.count, rest, encoding, has_invalid }
    }
}

/// Returns `true` for continuation bytes of a UTF-8 character.
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the bytes read.
    struct CountingReader<'a, R>(R, &'a std::cell::Cell<u64>);

    impl<R: Read> Read for CountingReader<'_, R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.read(buffer)?;
            self.1.set(self.1.get() + length as u64);
            Ok(length)
        }
    }

    fn some(bytes: &[u8], offset: u64, lines: usize) -> Result<FileLines, LinesError> {
        read(bytes, LineRange { offset, column: 0, lines, bytes: 1_000_000 }, || false)
    }

    #[test]
    fn reads_lines_across_chunk_boundaries() {
        let texts = [
            String::new(),
            "\n".to_owned(),
            "a".to_owned(),
            "a\nb\nc".to_owned(),
            "a\r\n\r\nb\r\n".to_owned(),
            "x".repeat(CHUNK - 1) + "\n" + &"y\n".repeat(CHUNK),
            ("z".repeat(99) + "\n").repeat(3_000),
        ];
        for text in &texts {
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            for offset in [0, 1, 2, 655, 656, 1_999, all.len().saturating_sub(1)] {
                for lines in [1, 2, 100, usize::MAX] {
                    let expected: Vec<&str> = all.iter().skip(offset).take(lines).copied().collect();
                    match some(text.as_bytes(), offset as u64, lines) {
                        Ok(read) => {
                            assert_eq!(read.text, expected.concat());
                            assert_eq!(read.count, expected.len());
                            let rest = if all.len() > offset.saturating_add(lines) {
                                LinesLeft::Lines
                            } else {
                                LinesLeft::Nothing
                            };
                            assert_eq!(read.rest, rest, "{offset} {lines}");
                        }
                        Err(LinesError::PastTheEnd(count)) => {
                            assert_eq!((count, expected.len()), (all.len() as u64, 0));
                        }
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn does_not_read_beyond_the_lines() {
        let line = b"0123456789\n".repeat(10_000_000 / 11);
        let read_bytes = std::cell::Cell::new(0);
        let range = LineRange { offset: 450_000, column: 0, lines: 100, bytes: 1_000_000 };
        let lines = read(CountingReader(&*line, &read_bytes), range, || false).unwrap();
        assert_eq!((lines.count, lines.rest), (100, LinesLeft::Lines));
        let needed = (450_000 + 100) * 11;
        assert!(read_bytes.get() <= needed + CHUNK as u64, "{} of {needed}", read_bytes.get());
    }

    #[test]
    fn truncates_between_lines_or_within_the_only_line() {
        let cut = |text: &str, bytes| {
            read(text.as_bytes(), LineRange { offset: 0, column: 0, lines: 10, bytes }, || false).unwrap()
        };
        let lines = cut("abc\ndef\n", 6);
        assert_eq!((lines.text.as_str(), lines.count, lines.rest), ("abc\n", 1, LinesLeft::Lines));
        let lines = cut("grüße\n", 3);
        assert_eq!((lines.text.as_str(), lines.count, lines.rest), ("gr", 1, LinesLeft::OfTheLine(2)));
    }

    /// Reading a long line in parts returns all of it, without gaps or overlaps.
    #[test]
    fn continues_in_a_truncated_line() {
        let long: String = "naïve 漢字 😀 x".chars().cycle().take(30_000).collect();
        for encoding in [encoding_rs::UTF_8, encoding_rs::UTF_16LE, encoding_rs::GBK] {
            let text = format!("first\n{long}\nlast\n");
            let text = if encoding == encoding_rs::GBK { text.replace(['ï', '😀'], "字") } else { text };
            let bytes = match encoding == encoding_rs::UTF_16LE {
                true => "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
                false => encoding.encode(&text).0.into_owned(),
            };
            for bytes_each in [7_000, 65_536, 70_001] {
                let (mut whole, mut column) = (String::new(), 0);
                loop {
                    let range = LineRange { offset: 1, column, lines: 1, bytes: bytes_each };
                    let lines = read(&*bytes, range, || false).unwrap();
                    whole.push_str(&lines.text);
                    match lines.rest {
                        LinesLeft::OfTheLine(next) => column = next,
                        rest => break assert_eq!(rest, LinesLeft::Lines),
                    }
                }
                assert!(whole == text.split_inclusive('\n').nth(1).unwrap(), "{} {bytes_each}", encoding.name());
            }
        }
        let at =
            |text: &str, column| read(text.as_bytes(), LineRange { offset: 0, column, lines: 9, bytes: 100 }, || false);
        assert_eq!(at("größe\nx\n", 4).unwrap().text, "e\nx\n");
        assert_eq!(at("größe\nx\n", 5).unwrap().text, "\nx\n");
        assert!(matches!(at("größe\nx\n", 6), Err(LinesError::PastTheLine(5))));
        assert!(matches!(at("größe", 5), Err(LinesError::PastTheLine(5))));
    }

    /// An invalid byte is shown as such, and the lines around it do not depend on the offset.
    #[test]
    fn detects_the_same_encoding_at_every_offset() {
        let mut bytes = "Größe\n".repeat(20_000).into_bytes();
        bytes.extend_from_slice(b"bad \xFF byte\n");
        bytes.extend_from_slice("Größe\n".repeat(5).as_bytes());
        for (offset, expected) in
            [(3, "Größe\n"), (19_999, "Größe\n"), (20_000, "bad \u{fffd} byte\n"), (20_002, "Größe\n")]
        {
            let lines = some(&bytes, offset, 1).unwrap();
            assert_eq!((lines.text.as_str(), lines.encoding), (expected, Some(encoding_rs::UTF_8)), "{offset}");
            assert_eq!(lines.has_invalid, offset == 20_000);
        }
    }

    #[test]
    fn detects_a_late_zero_byte() {
        let mut bytes = b"plain\n".repeat(CHUNK);
        bytes.push(0);
        assert!(matches!(some(&bytes, CHUNK as u64, 5), Err(LinesError::Binary(_))));
    }

    #[test]
    fn reads_lines_of_utf16() {
        let bytes: Vec<u8> = "\u{feff}one\ntwo\nthree\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let lines = some(&bytes, 1, 1).unwrap();
        assert_eq!((lines.text.as_str(), lines.rest), ("two\n", LinesLeft::Lines));
    }

    #[test]
    fn stops_reading_when_cancelled() {
        let endless = io::repeat(b'\n');
        let chunks = std::cell::Cell::new(0);
        let stopped = || chunks.replace(chunks.get() + 1) > 10;
        let range = LineRange { offset: u64::MAX, column: 0, lines: 1, bytes: 10 };
        assert!(matches!(read(endless, range, stopped), Err(LinesError::Cancelled)));
    }
}
