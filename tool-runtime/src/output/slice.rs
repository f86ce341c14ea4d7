//! Parts of a long text, cut between lines where there are any, and never inside a character.

use memchr::{memchr, memchr_iter, memrchr};

/// What a position in a text counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Lines,
    Bytes,
}

impl Unit {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Bytes => "bytes",
        }
    }
}

/// A place in a text: so many lines, or bytes, stand before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) unit: Unit,
    pub(super) offset: usize,
}

/// A part of a text, and where the next one begins if there is one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slice<'a> {
    pub(super) text: &'a str,
    pub(super) next: Option<Place>,
}

/// How many lines a text has. The last one need not be ended.
pub(super) fn line_count(text: &str) -> usize {
    line_ends(text) + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn line_ends(text: &str) -> usize {
    memchr_iter(b'\n', text.as_bytes()).count()
}

/// Where a beginning of at most so many bytes ends: after a line, if that leaves half of it.
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

/// Where an end of at most so many bytes begins: at a line, if that leaves half of it.
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

/// How a place in bytes is best named: as a line if one begins there.
pub(super) fn place_of(text: &str, byte: usize) -> Place {
    let before = &text[..byte];
    if before.is_empty() || before.ends_with('\n') {
        Place { unit: Unit::Lines, offset: line_ends(before) }
    } else {
        Place { unit: Unit::Bytes, offset: byte }
    }
}

/// So many lines or bytes from a place on, but never more than `most` bytes; nothing if the text ends before.
pub(super) fn slice(text: &str, from: Place, limit: usize, most: usize) -> Option<Slice<'_>> {
    let start = match from.unit {
        Unit::Lines => line_start(text, from.offset)?,
        Unit::Bytes => boundary_before(text, from.offset),
    };
    let rest = &text[start..];
    if rest.is_empty() {
        return None;
    }
    let wanted = match from.unit {
        Unit::Lines => line_start(rest, limit.max(1)).unwrap_or(rest.len()),
        Unit::Bytes => limit,
    };
    let length = match wanted {
        wanted if wanted > most => head_end(rest, most),
        wanted => boundary_before(rest, wanted),
    };
    // A reader must get on, however little it asks for.
    let length = length.max(rest.chars().next().map_or(0, char::len_utf8));
    let end = start + length;
    let next = (end < text.len()).then(|| match from.unit {
        Unit::Lines => place_of(text, end),
        Unit::Bytes => Place { unit: Unit::Bytes, offset: end },
    });
    Some(Slice { text: &text[start..end], next })
}

/// Where the line begins before which there are so many.
fn line_start(text: &str, lines: usize) -> Option<usize> {
    match lines {
        0 => Some(0),
        lines => memchr_iter(b'\n', text.as_bytes()).nth(lines - 1).map(|newline| newline + 1),
    }
}

/// The last boundary of a character that is not behind a byte.
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

    const LINES: Unit = Unit::Lines;
    const BYTES: Unit = Unit::Bytes;

    fn at(unit: Unit, offset: usize) -> Place {
        Place { unit, offset }
    }

    #[test]
    fn lines_are_counted_as_people_count_them() {
        assert_eq!(["", "a", "a\n", "a\nb", "\n\n"].map(line_count), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn ends_are_cut_between_lines_where_they_can_be() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(&text[..head_end(text, 9)], "one\ntwo\n");
        assert_eq!(&text[tail_start(text, 9)..], "three\n");
        assert_eq!(&text[tail_start(text, 6)..], "three\n", "it is a line already");
        let long = "a\n".to_owned() + &"é".repeat(20);
        assert_eq!(&long[..head_end(&long, 11)], "a\néééé", "a line that leaves too little is cut");
        assert_eq!(&long[tail_start(&long, 5)..], "éé");
        assert_eq!((head_end("", 5), tail_start("", 5), head_end("é", 0), tail_start("é", 1)), (0, 0, 0, 2));
    }

    #[test]
    fn a_slice_says_where_the_next_one_begins() {
        let text = "one\ntwo\nthree";
        assert_eq!(slice(text, at(LINES, 1), 1, 100), Some(Slice { text: "two\n", next: Some(at(LINES, 2)) }));
        assert_eq!(slice(text, at(LINES, 1), 9, 100), Some(Slice { text: "two\nthree", next: None }));
        assert_eq!(slice(text, at(LINES, 2), 1, 2), Some(Slice { text: "th", next: Some(at(BYTES, 10)) }));
        assert_eq!(slice(text, at(BYTES, 10), 2, 9), Some(Slice { text: "re", next: Some(at(BYTES, 12)) }));
        assert_eq!(slice("é", at(BYTES, 1), 1, 9), Some(Slice { text: "é", next: None }));
        assert_eq!((slice(text, at(LINES, 3), 1, 9), slice(text, at(BYTES, 13), 1, 9)), (None, None));
        assert_eq!(slice("a\n", at(LINES, 1), 1, 9), None);
    }
}
