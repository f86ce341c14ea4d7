//! Splitting of a pipe's bytes into lines.

use memchr::memrchr;

/// The length in bytes from which an incomplete line is passed on anyway.
const MAX_PENDING: usize = 8 * 1024;

/// Holds back an incomplete line, so that lines of two pipes do not get mixed.
#[derive(Default)]
pub(in super::super) struct LineBuffer {
    pending: Vec<u8>,
}

impl LineBuffer {
    /// Appends bytes and passes complete lines, including their line breaks, to `complete`.
    pub fn push(&mut self, bytes: &[u8], mut complete: impl FnMut(&[u8])) {
        let (whole, rest) = match memrchr(b'\n', bytes) {
            Some(end) => bytes.split_at(end + 1),
            None => (&[][..], bytes),
        };
        if !whole.is_empty() {
            if self.pending.is_empty() {
                complete(whole);
            } else {
                self.pending.extend_from_slice(whole);
                complete(&std::mem::take(&mut self.pending));
            }
        }
        self.pending.extend_from_slice(rest);
        if self.pending.len() >= MAX_PENDING {
            let end = self.pending.len() - incomplete_character(&self.pending);
            let rest = self.pending.split_off(end);
            complete(&std::mem::replace(&mut self.pending, rest));
        }
    }

    /// Returns the last, unterminated line, if any.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.pending)).filter(|pending| !pending.is_empty())
    }
}

/// Returns the number of bytes at the end that belong to an incomplete UTF-8 character.
fn incomplete_character(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(3).position(|&byte| byte >= 0b1100_0000);
    match last {
        Some(place) => {
            let first = bytes[bytes.len() - 1 - place];
            let length = if first >= 0b1111_0000 {
                4
            } else if first >= 0b1110_0000 {
                3
            } else {
                2
            };
            if place + 1 < length { place + 1 } else { 0 }
        }
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(parts: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut seen) = (LineBuffer::default(), Vec::new());
        for part in parts {
            lines.push(part, |line| seen.push(String::from_utf8(line.to_vec()).unwrap()));
        }
        seen.extend(lines.finish().map(|rest| String::from_utf8(rest).unwrap()));
        seen
    }

    #[test]
    fn yields_whole_lines() {
        assert_eq!(lines_of(&[b"a", b"b\nc", b"d\ne\nf"]), ["ab\n", "cd\ne\n", "f"]);
        assert_eq!(lines_of(&[b"\n"]), ["\n"]);
        assert!(lines_of(&[b""]).is_empty());
    }

    #[test]
    fn splits_a_long_line_only_between_characters() {
        let long = "€".repeat(MAX_PENDING);
        for size in [1000, 1001, 1002] {
            let parts: Vec<_> = long.as_bytes().chunks(size).collect();
            let seen = lines_of(&parts);
            assert!(seen.len() > 1);
            assert_eq!(seen.concat(), long);
        }
    }
}
