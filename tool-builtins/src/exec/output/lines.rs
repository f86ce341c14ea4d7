//! From what a pipe gives to whole lines.

use memchr::memrchr;

/// Longer than any line that is worth waiting for.
const LONG: usize = 8 * 1024;

/// Holds back the line that is not complete yet, so that lines of two pipes do not run into each other.
#[derive(Default)]
pub(in super::super) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes bytes, and gives the lines that are now complete, with their ends.
    pub fn take(&mut self, bytes: &[u8], mut complete: impl FnMut(&[u8])) {
        let (whole, rest) = match memrchr(b'\n', bytes) {
            Some(end) => bytes.split_at(end + 1),
            None => (&[][..], bytes),
        };
        if !whole.is_empty() {
            if self.begun.is_empty() {
                complete(whole);
            } else {
                self.begun.extend_from_slice(whole);
                complete(&std::mem::take(&mut self.begun));
            }
        }
        self.begun.extend_from_slice(rest);
        if self.begun.len() >= LONG {
            let end = self.begun.len() - incomplete_character(&self.begun);
            let rest = self.begun.split_off(end);
            complete(&std::mem::replace(&mut self.begun, rest));
        }
    }

    /// The line that was begun and has no end, if there is one.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.begun)).filter(|begun| !begun.is_empty())
    }
}

/// How many bytes at the end begin a character that goes on.
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
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for part in parts {
            lines.take(part, |line| seen.push(String::from_utf8(line.to_vec()).unwrap()));
        }
        seen.extend(lines.finish().map(|rest| String::from_utf8(rest).unwrap()));
        seen
    }

    #[test]
    fn lines_come_whole() {
        assert_eq!(lines_of(&[b"a", b"b\nc", b"d\ne\nf"]), ["ab\n", "cd\ne\n", "f"]);
        assert_eq!(lines_of(&[b"\n"]), ["\n"]);
        assert!(lines_of(&[b""]).is_empty());
    }

    #[test]
    fn a_long_line_comes_in_parts_but_no_character_does() {
        let long = "€".repeat(LONG);
        for size in [1000, 1001, 1002] {
            let parts: Vec<_> = long.as_bytes().chunks(size).collect();
            let seen = lines_of(&parts);
            assert!(seen.len() > 1);
            assert_eq!(seen.concat(), long);
        }
    }
}
