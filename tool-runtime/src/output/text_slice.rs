//! Slices of a long text, cut between lines if possible and never inside a character.

use memchr::{memchr, memchr_iter, memrchr};

/// The unit of a position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextUnit {
    Lines,
    Bytes,
}

impl TextUnit {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Bytes => "bytes",
        }
    }
}

/// A position in a text, as the number of lines or bytes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextPosition {
    pub(super) unit: TextUnit,
    pub(super) offset: usize,
}

/// A part of a text, and the position of the next part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextSlice<'a> {
    pub(super) text: &'a str,
    pub(super) next: Option<TextPosition>,
}

/// Returns the number of lines. The last line may lack a line end.
pub(super) fn line_count(text: &str) -> usize {
    line_ends(text) + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn line_ends(text: &str) -> usize {
    memchr_iter(b'\n', text.as_bytes()).count()
}

/// Returns the end of the head of at most `bytes` bytes: after a line, if that keeps at least half of the head.
pub(super) fn head_end(text: &str, bytes: usize) -> usize {
    let end = boundary_before(text, bytes);
    if end == text.len() {
        return end;
    }
    match memrchr(b'\n', &text.as_bytes()[..end]) {
        Some(newline) if newline >= end / 2 => newline + 1,
        _ => end,
    }
}

/// Returns the start of the tail of at most `bytes` bytes: at a line, if that keeps at least half of the tail.
pub(super) fn tail_start(text: &str, bytes: usize) -> usize {
    let from = text.len().saturating_sub(bytes);
    let start = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    if start == 0 || text.as_bytes()[start - 1] == b'\n' {
        return start;
    }
    match memchr(b'\n', &text.as_bytes()[start..]) {
        Some(newline) if newline < bytes / 2 => start + newline + 1,
        _ => start,
    }
}

/// Converts a byte offset to a position: in lines if a line starts there, otherwise in bytes.
pub(super) fn position_at(text: &str, byte: usize) -> TextPosition {
    let before = &text[..byte];
    if before.is_empty() || before.ends_with('\n') {
        TextPosition { unit: TextUnit::Lines, offset: line_ends(before) }
    } else {
        TextPosition { unit: TextUnit::Bytes, offset: byte }
    }
}

/// Returns `limit` lines or bytes from a position on, but at most `max_bytes` bytes. Returns `None` past the end.
pub(super) fn slice(text: &str, from: TextPosition, limit: usize, max_bytes: usize) -> Option<TextSlice<'_>> {
    let start = match from.unit {
        TextUnit::Lines => line_start(text, from.offset)?,
        TextUnit::Bytes => boundary_before(text, from.offset),
    };
    let rest = &text[start..];
    if rest.is_empty() {
        return None;
    }
    let wanted = match from.unit {
        TextUnit::Lines => line_start(rest, limit.max(1)).unwrap_or(rest.len()),
        TextUnit::Bytes => limit,
    };
    let length = match wanted {
        wanted if wanted > max_bytes => head_end(rest, max_bytes),
        wanted => boundary_before(rest, wanted),
    };
    // At least one character, so that a reader always advances.
    let length = length.max(rest.chars().next().map_or(0, char::len_utf8));
    let end = start + length;
    let next = (end < text.len()).then(|| match from.unit {
        TextUnit::Lines => position_at(text, end),
        TextUnit::Bytes => TextPosition { unit: TextUnit::Bytes, offset: end },
    });
    Some(TextSlice { text: &text[start..end], next })
}

/// Returns the byte offset of the line after the first `lines` lines.
fn line_start(text: &str, lines: usize) -> Option<usize> {
    match lines {
        0 => Some(0),
        lines => memchr_iter(b'\n', text.as_bytes()).nth(lines - 1).map(|newline| newline + 1),
    }
}

/// Returns the last character boundary at or before a byte offset.
fn boundary_before(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: TextUnit = TextUnit::Lines;
    const BYTES: TextUnit = TextUnit::Bytes;

    fn at(unit: TextUnit, offset: usize) -> TextPosition {
        TextPosition { unit, offset }
    }

    #[test]
    fn counts_a_last_line_without_line_end() {
        assert_eq!(["", "a", "a\n", "a\nb", "\n\n"].map(line_count), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn cuts_heads_and_tails_between_lines() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(&text[..head_end(text, 9)], "one\ntwo\n");
        assert_eq!(&text[tail_start(text, 9)..], "three\n");
        assert_eq!(&text[tail_start(text, 6)..], "three\n", "it starts at a line");
        let long = "a\n".to_owned() + &"é".repeat(20);
        assert_eq!(&long[..head_end(&long, 11)], "a\néééé", "cutting at the line would keep too little");
        assert_eq!(&long[tail_start(&long, 5)..], "éé");
        assert_eq!((head_end("", 5), tail_start("", 5), head_end("é", 0), tail_start("é", 1)), (0, 0, 0, 2));
    }

    #[test]
    fn a_slice_has_the_position_of_the_next_one() {
        let text = "one\ntwo\nthree";
        assert_eq!(slice(text, at(LINES, 1), 1, 100), Some(TextSlice { text: "two\n", next: Some(at(LINES, 2)) }));
        assert_eq!(slice(text, at(LINES, 1), 9, 100), Some(TextSlice { text: "two\nthree", next: None }));
        assert_eq!(slice(text, at(LINES, 2), 1, 2), Some(TextSlice { text: "th", next: Some(at(BYTES, 10)) }));
        assert_eq!(slice(text, at(BYTES, 10), 2, 9), Some(TextSlice { text: "re", next: Some(at(BYTES, 12)) }));
        assert_eq!(slice("é", at(BYTES, 1), 1, 9), Some(TextSlice { text: "é", next: None }));
        assert_eq!((slice(text, at(LINES, 3), 1, 9), slice(text, at(BYTES, 13), 1, 9)), (None, None));
        assert_eq!(slice("a\n", at(LINES, 1), 1, 9), None);
    }
}
