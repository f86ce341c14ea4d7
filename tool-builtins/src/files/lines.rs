//! Some lines out of the middle of a file, without what follows them.

use std::io::{self, Cursor, Read};

use encoding_rs_io::DecodeReaderBytesBuilder;
use memchr::{memchr, memchr_iter};

use super::text::{Binary, Form, form};
use crate::bytes::guess_encoding;

/// How much is read at a time, and looked at to tell the encoding.
const CHUNK: usize = 64 * 1024;

/// Which lines are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// How many lines are left out before them.
    pub(super) offset: u64,
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
    pub(super) form: Form,
}

/// What follows the lines that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing: the file ends with them.
    Nothing,
    /// More lines.
    Lines,
    /// The rest of the last line, which is too long.
    OfTheLine,
}

/// Why there are no lines.
#[derive(Debug)]
pub(super) enum NoLines {
    Unreadable(io::Error),
    Binary(Binary),
    /// The file has only so many.
    PastTheEnd(u64),
    Cancelled,
}

impl From<io::Error> for NoLines {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Reads as far as the last of the wanted lines, and one chunk further at most.
pub(super) fn read(mut file: impl Read, wanted: Wanted, is_cancelled: impl Fn() -> bool) -> Result<Lines, NoLines> {
    let mut sample = Vec::with_capacity(CHUNK);
    file.by_ref().take(CHUNK as u64).read_to_end(&mut sample)?;
    let form = form(&sample, sample.len() < CHUNK).map_err(NoLines::Binary)?;
    let content = Cursor::new(&sample[form.mark..]).chain(file);
    if !form.is_utf16() {
        return take(content, wanted, is_cancelled, form, &sample);
    }
    let mut decoding = DecodeReaderBytesBuilder::new();
    let decoded = decoding.encoding(Some(form.encoding)).bom_sniffing(false).build(content);
    take(decoded, wanted, is_cancelled, form, &sample)
}

fn take(
    mut content: impl Read,
    wanted: Wanted,
    is_cancelled: impl Fn() -> bool,
    form: Form,
    sample: &[u8],
) -> Result<Lines, NoLines> {
    let mut taking = Taking { wanted, passed: 0, in_line: false, taken: Vec::new(), count: 0 };
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
            return taking.at_end(form, sample);
        }
        if !form.is_utf16() && memchr(0, &chunk[..length]).is_some() {
            return Err(NoLines::Binary(Binary("application/octet-stream")));
        }
        if let Some(rest) = taking.take(&chunk[..length]) {
            return Ok(taking.lines(rest, form, sample));
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
    taken: Vec<u8>,
    count: usize,
}

impl Taking {
    /// Takes what is wanted of a chunk; says what follows once that is everything.
    fn take(&mut self, chunk: &[u8]) -> Option<Rest> {
        let chunk = self.pass(chunk)?;
        let mut start = 0;
        for end in memchr_iter(b'\n', chunk) {
            if let Some(rest) = self.push(&chunk[start..=end]) {
                return Some(rest);
            }
            start = end + 1;
        }
        let tail = &chunk[start..];
        if tail.is_empty() { None } else { self.push(tail) }
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
            return Some(Rest::OfTheLine);
        }
        self.count += usize::from(begins_line);
        self.taken.extend_from_slice(piece);
        None
    }

    fn at_end(self, form: Form, sample: &[u8]) -> Result<Lines, NoLines> {
        let is_past = self.count == 0 && self.wanted.offset > 0;
        match is_past {
            true => Err(NoLines::PastTheEnd(self.passed + u64::from(self.in_line))),
            false => Ok(self.lines(Rest::Nothing, form, sample)),
        }
    }

    fn lines(mut self, rest: Rest, mut form: Form, sample: &[u8]) -> Lines {
        if rest == Rest::OfTheLine && form.encoding == encoding_rs::UTF_8 {
            // A character that was cut is left out.
            let whole = std::str::from_utf8(&self.taken).map_err(|error| (error.valid_up_to(), error.error_len()));
            if let Err((end, None)) = whole {
                self.taken.truncate(end);
            }
        }
        let text = if form.is_utf16() || form.encoding == encoding_rs::UTF_8 {
            String::from_utf8(self.taken).unwrap_or_else(|error| {
                // The beginning did not show that the file is in another encoding.
                let bytes = error.into_bytes();
                form.encoding = guess_encoding(&[sample, &bytes].concat(), true);
                form.encoding.decode_without_bom_handling(&bytes).0.into_owned()
            })
        } else {
            form.encoding.decode_without_bom_handling(&self.taken).0.into_owned()
        };
        Lines { text, count: self.count, rest, form }
    }
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
        read(bytes, Wanted { offset, lines, bytes: 1_000_000 }, || false)
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
        let wanted = Wanted { offset: 450_000, lines: 100, bytes: 1_000_000 };
        let lines = read(Counting(&*line, &read_bytes), wanted, || false).unwrap();
        assert_eq!((lines.count, lines.rest), (100, Rest::Lines));
        let needed = (450_000 + 100) * 11;
        assert!(read_bytes.get() <= needed + CHUNK as u64, "{} of {needed}", read_bytes.get());
    }

    #[test]
    fn what_is_too_long_is_cut_between_lines_or_within_the_only_one() {
        let cut = |text: &str, bytes| read(text.as_bytes(), Wanted { offset: 0, lines: 10, bytes }, || false).unwrap();
        let lines = cut("abc\ndef\n", 6);
        assert_eq!((lines.text.as_str(), lines.count, lines.rest), ("abc\n", 1, Rest::Lines));
        let lines = cut("grüße\n", 3);
        assert_eq!((lines.text.as_str(), lines.count, lines.rest), ("gr", 1, Rest::OfTheLine));
    }

    #[test]
    fn an_encoding_that_shows_late_is_still_found() {
        let mut bytes = b"plain\n".repeat(CHUNK);
        bytes.extend_from_slice(b"sch\xF6ne Gr\xFC\xDFe aus K\xF6ln\n");
        let lines = some(&bytes, CHUNK as u64, 1).unwrap();
        assert_eq!((lines.text.as_str(), lines.form.encoding), ("schöne Grüße aus Köln\n", encoding_rs::WINDOWS_1252));
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
        let wanted = Wanted { offset: u64::MAX, lines: 1, bytes: 10 };
        assert!(matches!(read(endless, wanted, stopped), Err(NoLines::Cancelled)));
    }
}
