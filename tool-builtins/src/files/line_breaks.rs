//! Line breaks: counting, detecting and converting them.

use std::collections::VecDeque;
use std::io::{self, Read};

/// Returns the number of lines, including a last one without line break.
pub(super) fn line_count(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Returns the line break that most lines of a text have.
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

/// Converts all line breaks of a text.
pub(super) fn with_ending(text: &str, ending: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if ending == "\n" { plain } else { plain.replace('\n', ending) }
}

/// A reader that converts every `\r\n` to `\n`.
pub(super) struct FoldingReader<R> {
    inner: R,
    /// `true` if the last byte read was `\r`, which is held back until the next byte is known.
    holds_return: bool,
    /// Bytes read ahead for a buffer that was too small.
    left: VecDeque<u8>,
}

/// The minimum length of a buffer that [`FoldingReader`] reads into directly.
const MIN_BUFFER: usize = 64;

impl<R: Read> FoldingReader<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, holds_return: false, left: VecDeque::new() }
    }

    fn fold_into(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let held = usize::from(self.holds_return);
            let length = self.inner.read(&mut buffer[held..])?;
            buffer[..held].fill(b'\r');
            self.holds_return = length > 0 && buffer[held + length - 1] == b'\r';
            let kept = fold(&mut buffer[..held + length - usize::from(self.holds_return)]);
            if kept > 0 || length == 0 {
                return Ok(kept);
            }
        }
    }
}

impl<R: Read> Read for FoldingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() && buffer.len() >= MIN_BUFFER {
            return self.fold_into(buffer);
        }
        if self.left.is_empty() {
            let mut chunk = [0; MIN_BUFFER];
            let length = self.fold_into(&mut chunk)?;
            self.left.extend(&chunk[..length]);
        }
        self.left.read(buffer)
    }
}

/// Removes every `\r` that is followed by `\n` in place. Returns the remaining length.
fn fold(bytes: &mut [u8]) -> usize {
    let Some(first) = memchr::memchr(b'\r', bytes) else { return bytes.len() };
    let mut kept = first;
    for at in first..bytes.len() {
        if !bytes[at..].starts_with(b"\r\n") {
            bytes[kept] = bytes[at];
            kept += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_last_line_without_line_break() {
        assert_eq!(["", "\n", "a", "a\n", "a\nb"].map(line_count), [0, 1, 1, 1, 2]);
    }

    #[test]
    fn most_lines_decide_the_line_ending() {
        assert_eq!(line_ending("a\r\nb\r\nc\n"), "\r\n");
        assert_eq!(line_ending("a\nb\n"), "\n");
        assert_eq!(with_ending("a\nb\r\nc", "\r\n"), "a\r\nb\r\nc");
    }

    /// Returns a few bytes at a time.
    struct SlowReader<'a>(&'a [u8], usize);

    impl Read for SlowReader<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn folds_line_breaks_across_chunk_boundaries() {
        for text in ["", "\r", "\r\n", "a\r\nb", "a\rb\r\n\r\n", "\r\r\n\r", "a\n\r\nb\r\r", "plain\n"] {
            for (given, taken) in [(1, 1), (2, 1), (1, 7), (3, 100), (64, 64), (100, 100)] {
                let mut folding = FoldingReader::new(SlowReader(text.as_bytes(), given));
                let (mut folded, mut buffer) = (Vec::new(), vec![0; taken]);
                loop {
                    match folding.read(&mut buffer).unwrap() {
                        0 => break,
                        length => folded.extend_from_slice(&buffer[..length]),
                    }
                }
                assert_eq!(String::from_utf8(folded).unwrap(), text.replace("\r\n", "\n"), "{given} {taken}");
            }
        }
    }
}
