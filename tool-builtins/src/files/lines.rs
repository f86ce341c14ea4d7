//! Some lines out of the middle of a file, without what follows them.

use std::io::{self, Read};

use encoding_rs::Encoding;
use memchr::{memchr, memchr_iter};

use super::text::{Binary, TextReader};

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Which lines are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// How many lines are left out before them.
    pub(super) offset: u64,
    /// Characters of the first line to leave out.
    pub(super) column: u64,
    /// The most lines.
    pub(super) lines: usize,
    /// The most bytes.
    pub(super) bytes: usize,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) text: String,
    /// How many there are.
    pub(super) count: usize,
    /// What comes after them.
    pub(super) rest: Rest,
    /// The encoding of the file, unless everything that was read of it is ASCII.
    pub(super) encoding: Option<&'static Encoding>,
    /// `true` if bytes were replaced by U+FFFD because they are not valid UTF-8.
    pub(super) has_invalid: bool,
}

/// What follows the lines that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing: the file ends with them.
    Nothing,
    /// More lines.
    Lines,
    /// The rest of the only line, which is too long, from this character on.
    OfTheLine(u64),
}

/// Why there are no lines.
#[derive(Debug)]
pub(super) enum NoLines {
    Unreadable(io::Error),
    Binary(Binary),
    /// The file has only so many.
    PastTheEnd(u64),
    /// The first line has only so many characters.
    PastTheLine(u64),
    Cancelled,
}

impl From<io::Error> for NoLines {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Reads as far as the last of the wanted lines and one chunk further at most, but for what decides the encoding.
pub(super) fn read(file: impl Read, wanted: Wanted, is_cancelled: impl Fn() -> bool) -> Result<Lines, NoLines> {
    let mut content = TextReader::new(file)?.map_err(NoLines::Binary)?;
    let mut taking = Taking { wanted, passed: 0, in_line: false, skipped: 0, taken: Vec::new(), count: 0 };
    let mut chunk = vec![0; CHUNK];
    loop {
        if is_cancelled() {
            return Err(NoLines::Cancelled);
        }
        let length = match content.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if length == 0 {
            return taking.at_end(content.encoding());
        }
        if !content.is_utf16() && memchr(0, &chunk[..length]).is_some() {
            return Err(NoLines::Binary(Binary("application/octet-stream")));
        }
        if let Some(rest) = taking.take(&chunk[..length])? {
            return Ok(taking.lines(rest, content.encoding()));
        }
    }
}

/// The lines as far as they are known.
struct Taking {
    wanted: Wanted,
    /// Lines that were left out.
    passed: u64,
    /// Whether something of a line that is left out was seen, but not its end.
    in_line: bool,
    /// Characters of the first line that were left out.
    skipped: u64,
    taken: Vec<u8>,
    count: usize,
}

/// The rest of the file, once the wanted lines are complete.
type Progress = Result<Option<Rest>, NoLines>;

impl Taking {
    /// Takes what is wanted of a chunk; says what follows once that is everything.
    fn take(&mut self, chunk: &[u8]) -> Progress {
        let Some(chunk) = self.pass(chunk) else { return Ok(None) };
        let chunk = self.skip(chunk)?;
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

    /// Leaves out the first characters of the first line.
    fn skip<'a>(&mut self, chunk: &'a [u8]) -> Result<&'a [u8], NoLines> {
        if self.wanted.column == 0 || !self.taken.is_empty() {
            return Ok(chunk);
        }
        for (index, byte) in chunk.iter().enumerate() {
            match *byte {
                byte if is_continuation(byte) => {}
                _ if self.skipped == self.wanted.column => return Ok(&chunk[index..]),
                b'\n' => return Err(NoLines::PastTheLine(self.skipped)),
                _ => self.skipped += 1,
            }
        }
        Ok(&[])
    }

    /// Leaves out lines before those that are wanted; nothing if the whole chunk belongs to them.
    fn pass<'a>(&mut self, chunk: &'a [u8]) -> Option<&'a [u8]> {
        let missing = self.wanted.offset - self.passed;
        if missing == 0 {
            return Some(chunk);
        }
        let breaks = memchr_iter(b'\n', chunk).count() as u64;
        if breaks < missing {
            self.passed += breaks;
            self.in_line = chunk.last() != Some(&b'\n');
            return None;
        }
        let last = memchr_iter(b'\n', chunk).nth(usize::try_from(missing - 1).ok()?)?;
        self.passed = self.wanted.offset;
        self.in_line = false;
        Some(&chunk[last + 1..])
    }

    /// Takes a line, or a piece of one.
    fn push(&mut self, piece: &[u8]) -> Option<Rest> {
        let begins_line = self.taken.last().is_none_or(|last| *last == b'\n');
        if begins_line && self.count == self.wanted.lines {
            return Some(Rest::Lines);
        }
        let room = self.wanted.bytes - self.taken.len();
        if piece.len() > room {
            if self.count > usize::from(!begins_line) {
                // What was taken of the line that does not fit is left for the next call.
                let whole = memchr::memrchr(b'\n', &self.taken).map_or(0, |end| end + 1);
                self.count -= usize::from(!begins_line);
                self.taken.truncate(whole);
                return Some(Rest::Lines);
            }
            self.count = 1;
            self.taken.extend_from_slice(&piece[..room]);
            return Some(self.cut());
        }
        self.count += usize::from(begins_line);
        self.taken.extend_from_slice(piece);
        None
    }

    /// Ends in the middle of the only line, between two characters.
    fn cut(&mut self) -> Rest {
        let start = self.taken.iter().rposition(|byte| !is_continuation(*byte)).unwrap_or(0);
        if String::from_utf8_lossy(&self.taken[start..]).contains(char::REPLACEMENT_CHARACTER) && start > 0 {
            self.taken.truncate(start);
        }
        let characters = self.taken.iter().filter(|byte| !is_continuation(**byte)).count();
        Rest::OfTheLine(self.wanted.column + characters as u64)
    }

    fn at_end(self, encoding: Option<&'static Encoding>) -> Result<Lines, NoLines> {
        match self.count {
            0 if self.skipped > 0 => Err(NoLines::PastTheLine(self.skipped)),
            0 if self.wanted.offset > 0 => Err(NoLines::PastTheEnd(self.passed + u64::from(self.in_line))),
            _ => Ok(self.lines(Rest::Nothing, encoding)),
        }
    }

    fn lines(self, rest: Rest, encoding: Option<&'static Encoding>) -> Lines {
        let (text, has_invalid) = match String::from_utf8(self.taken) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        };
        Lines { text, count: self.count, rest, encoding, has_invalid }
    }
}

/// Returns `true` for the bytes of a UTF-8 character after its first.
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what is read of it.
    struct Counting<'a, R>(R, &'a std::cell::Cell<u64>);

    impl<R: Read> Read for Counting<'_, R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.read(buffer)?;
            self.1.set(self.1.get() + length as u64);
            Ok(length)
        }
    }

    fn some(bytes: &[u8], offset: u64, lines: usize) -> Result<Lines, NoLines> {
        read(bytes, Wanted { offset, column: 0, lines, bytes: 1_000_000 }, || false)
    }

    #[test]
    fn lines_are_those_of_the_text_wherever_chunks_end() {
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
                            let rest =
                                if all.len() > offset.saturating_add(lines) { Rest::Lines } else { Rest::Nothing };
                            assert_eq!(read.rest, rest, "{offset} {lines}");
                        }
                        Err(NoLines::PastTheEnd(count)) => {
                            assert_eq!((count, expected.len()), (all.len() as u64, 0));
                        }
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn what_follows_the_lines_is_not_read() {
        let line = b"0123456789\n".repeat(10_000_000 / 11);
        let read_bytes = std::cell::Cell::new(0);
        let wanted = Wanted { offset: 450_000, column: 0, lines: 100, bytes: 1_000_000 };
        let lines = read(Counting(&*line, &read_bytes), wanted, || false).unwrap();
        assert_eq!((lines.count, lines.rest), (100, Rest::Lines));
        let needed = (450_000 + 100) * 11;
        assert!(read_bytes.get() <= needed + CHUNK as u64, "{} of {needed}", read_bytes.get());
    }

    #[test]
    fn what_is_too_long_is_cut_between_lines_or_within_the_only_one() {
        let cut = |text: &str, bytes| {
            read(text.as_bytes(), Wanted { offset: 0, column: 0, lines: 10, bytes }, || false).unwrap()
        };
        let lines = cut("abc\ndef\n", 6);
        assert_eq!((lines.text.as_str(), lines.count, lines.rest), ("abc\n", 1, Rest::Lines));
        let lines = cut("grüße\n", 3);
        assert_eq!((lines.text.as_str(), lines.count, lines.rest), ("gr", 1, Rest::OfTheLine(2)));
    }

    /// Read part by part, a long line is what it is; the end of one part is the beginning of the next.
    #[test]
    fn a_line_that_was_cut_is_read_on() {
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
                    let wanted = Wanted { offset: 1, column, lines: 1, bytes: bytes_each };
                    let lines = read(&*bytes, wanted, || false).unwrap();
                    whole.push_str(&lines.text);
                    match lines.rest {
                        Rest::OfTheLine(next) => column = next,
                        rest => break assert_eq!(rest, Rest::Lines),
                    }
                }
                assert!(whole == text.split_inclusive('\n').nth(1).unwrap(), "{} {bytes_each}", encoding.name());
            }
        }
        let at =
            |text: &str, column| read(text.as_bytes(), Wanted { offset: 0, column, lines: 9, bytes: 100 }, || false);
        assert_eq!(at("größe\nx\n", 4).unwrap().text, "e\nx\n");
        assert_eq!(at("größe\nx\n", 5).unwrap().text, "\nx\n");
        assert!(matches!(at("größe\nx\n", 6), Err(NoLines::PastTheLine(5))));
        assert!(matches!(at("größe", 5), Err(NoLines::PastTheLine(5))));
    }

    /// One invalid byte is shown as such; the lines around it are the same wherever one begins to read.
    #[test]
    fn no_offset_changes_how_a_file_is_read() {
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
    fn a_zero_byte_that_shows_late_is_found() {
        let mut bytes = b"plain\n".repeat(CHUNK);
        bytes.push(0);
        assert!(matches!(some(&bytes, CHUNK as u64, 5), Err(NoLines::Binary(_))));
    }

    #[test]
    fn utf16_has_lines_too() {
        let bytes: Vec<u8> = "\u{feff}one\ntwo\nthree\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let lines = some(&bytes, 1, 1).unwrap();
        assert_eq!((lines.text.as_str(), lines.rest), ("two\n", Rest::Lines));
    }

    #[test]
    fn a_call_that_is_stopped_reads_no_further() {
        let endless = io::repeat(b'\n');
        let chunks = std::cell::Cell::new(0);
        let stopped = || chunks.replace(chunks.get() + 1) > 10;
        let wanted = Wanted { offset: u64::MAX, column: 0, lines: 1, bytes: 10 };
        assert!(matches!(read(endless, wanted, stopped), Err(NoLines::Cancelled)));
    }
}
