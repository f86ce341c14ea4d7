//! What a command has printed, in order, with a bound on what is kept of each stream.

use std::collections::VecDeque;

use serde::Serialize;

use crate::count::counted;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Keeps the beginning and the end of both streams, so that a flood of one does not drown the other.
pub(in super::super) struct Transcript {
    stdout: Kept,
    stderr: Kept,
    /// Counts what came, to tell the order.
    next: u64,
}

/// What is kept of one stream.
struct Kept {
    stream: Stream,
    head: Vec<Part>,
    head_room: usize,
    tail: VecDeque<Part>,
    tail_length: usize,
    tail_room: usize,
    total: u64,
}

/// Parts that follow one another are joined below this length.
const SMALL: usize = 512;

struct Part {
    place: u64,
    bytes: Vec<u8>,
}

impl Transcript {
    /// Keeps this many bytes of each stream: one half from its beginning, the other from its end.
    pub fn new(limit: usize) -> Self {
        Self { stdout: Kept::new(Stream::Stdout, limit), stderr: Kept::new(Stream::Stderr, limit), next: 0 }
    }

    /// Takes lines of one stream.
    pub fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let place = self.next;
        self.next += 1;
        match stream {
            Stream::Stdout => self.stdout.take(place, bytes),
            Stream::Stderr => self.stderr.take(place, bytes),
        }
    }

    /// How many bytes a stream has had.
    pub fn total(&self, stream: Stream) -> u64 {
        match stream {
            Stream::Stdout => self.stdout.total,
            Stream::Stderr => self.stderr.total,
        }
    }

    /// Everything that is kept, in order, and what is left out in words.
    pub fn into_text(self) -> String {
        let mut parts: Vec<Part> = self.stdout.into_parts().chain(self.stderr.into_parts()).collect();
        parts.sort_by_key(|part| part.place);
        let mut text = String::with_capacity(parts.iter().map(|part| part.bytes.len()).sum());
        for part in parts {
            text.push_str(&String::from_utf8_lossy(&part.bytes));
        }
        text
    }
}

impl Kept {
    fn new(stream: Stream, limit: usize) -> Self {
        Self {
            stream,
            head: Vec::new(),
            head_room: limit / 2,
            tail: VecDeque::new(),
            tail_length: 0,
            tail_room: limit - limit / 2,
            total: 0,
        }
    }

    fn take(&mut self, place: u64, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_room));
        self.head_room -= head.len();
        if !head.is_empty() {
            match self.head.last_mut() {
                Some(last) if last.place + 1 == place => {
                    last.bytes.extend_from_slice(head);
                    last.place = place;
                }
                _ => self.head.push(Part { place, bytes: head.to_vec() }),
            }
        }
        // Of more than fits only the end can matter.
        let rest = &rest[rest.len().saturating_sub(self.tail_room)..];
        if rest.is_empty() {
            return;
        }
        match self.tail.back_mut() {
            // Single letters would cost more than they are.
            Some(last) if last.place + 1 == place && last.bytes.len() < SMALL => {
                last.bytes.extend_from_slice(rest);
                last.place = place;
            }
            _ => self.tail.push_back(Part { place, bytes: rest.to_vec() }),
        }
        self.tail_length += rest.len();
        while self.tail_length > self.tail_room {
            let excess = self.tail_length - self.tail_room;
            let Some(first) = self.tail.front_mut() else { break };
            if first.bytes.len() <= excess {
                self.tail_length -= first.bytes.len();
                self.tail.pop_front();
            } else {
                first.bytes.drain(..excess);
                self.tail_length -= excess;
            }
        }
    }

    fn into_parts(mut self) -> impl Iterator<Item = Part> {
        let kept: usize = self.head.iter().chain(&self.tail).map(|part| part.bytes.len()).sum();
        let left_out = self.total - kept as u64;
        if left_out > 0 {
            let place = self.tail.front().map_or(u64::MAX, |part| part.place);
            let note = format!("\n[… {} of {} left out …]\n", counted(left_out, "byte"), self.stream.name());
            self.head.push(Part { place, bytes: note.into_bytes() });
        }
        self.head.into_iter().chain(self.tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(limit: usize, parts: &[(Stream, &str)]) -> String {
        let mut transcript = Transcript::new(limit);
        for (stream, part) in parts {
            transcript.take(*stream, part.as_bytes());
        }
        transcript.into_text()
    }

    use Stream::{Stderr, Stdout};

    #[test]
    fn both_streams_in_order() {
        let parts = [(Stdout, "a\n"), (Stderr, "b\n"), (Stdout, "c\n"), (Stdout, "d\n"), (Stderr, "e\n")];
        assert_eq!(text(100, &parts), "a\nb\nc\nd\ne\n");
    }

    #[test]
    fn the_beginning_and_the_end_of_each_are_kept() {
        let flood = "0123456789\n".repeat(50);
        let parts = [(Stdout, "first\n"), (Stderr, "warning\n"), (Stdout, flood.as_str()), (Stdout, "last\n")];
        let left_out = 6 + 550 + 5 - 20;
        assert_eq!(
            text(20, &parts),
            format!("first\nwarning\n0123\n[… {left_out} bytes of stdout left out …]\n789\nlast\n")
                .replace("789\nlast\n", "6789\nlast\n")
        );
    }

    #[test]
    fn what_just_fits_is_whole() {
        assert_eq!(text(8, &[(Stdout, "abcd"), (Stdout, "efgh")]), "abcdefgh");
        assert_eq!(text(8, &[(Stdout, "abcdefgh")]), "abcdefgh");
        assert!(text(8, &[(Stdout, "abcdefghi")]).contains("[… 1 byte of stdout left out …]"));
    }
}
