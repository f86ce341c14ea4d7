//! The output of a command in order, limited per stream.

use std::collections::VecDeque;

use serde::Serialize;

use crate::count::format_count;

/// An output stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum OutputStream {
    Stdout,
    Stderr,
}

impl OutputStream {
    fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Keeps the beginning and the end of each stream, so that a flood on one does not displace the other.
pub(in super::super) struct Transcript {
    stdout: StreamExcerpt,
    stderr: StreamExcerpt,
    /// The position of the next chunk in the order of both streams.
    next: u64,
}

/// The beginning and the end of one stream.
struct StreamExcerpt {
    stream: OutputStream,
    head: Vec<OutputChunk>,
    head_room: usize,
    tail: VecDeque<OutputChunk>,
    tail_length: usize,
    tail_room: usize,
    total: u64,
}

/// Consecutive chunks of the tail are joined up to this length.
const SMALL_CHUNK: usize = 512;

struct OutputChunk {
    position: u64,
    bytes: Vec<u8>,
}

impl Transcript {
    /// Creates a transcript that keeps `limit` bytes of each stream: half from its beginning, half from its end.
    pub fn new(limit: usize) -> Self {
        Self {
            stdout: StreamExcerpt::new(OutputStream::Stdout, limit),
            stderr: StreamExcerpt::new(OutputStream::Stderr, limit),
            next: 0,
        }
    }

    /// Appends lines of one stream.
    pub fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        let position = self.next;
        self.next += 1;
        match stream {
            OutputStream::Stdout => self.stdout.push(position, bytes),
            OutputStream::Stderr => self.stderr.push(position, bytes),
        }
    }

    /// Returns the total number of bytes printed to a stream.
    pub fn total(&self, stream: OutputStream) -> u64 {
        match stream {
            OutputStream::Stdout => self.stdout.total,
            OutputStream::Stderr => self.stderr.total,
        }
    }

    /// Returns the kept output in order, with a note where bytes were left out.
    pub fn into_text(self) -> String {
        let mut chunks: Vec<OutputChunk> = self.stdout.into_chunks().chain(self.stderr.into_chunks()).collect();
        chunks.sort_by_key(|chunk| chunk.position);
        let mut text = String::with_capacity(chunks.iter().map(|chunk| chunk.bytes.len()).sum());
        for chunk in chunks {
            text.push_str(&String::from_utf8_lossy(&chunk.bytes));
        }
        text
    }
}

impl StreamExcerpt {
    fn new(stream: OutputStream, limit: usize) -> Self {
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

    fn push(&mut self, position: u64, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_room));
        self.head_room -= head.len();
        if !head.is_empty() {
            match self.head.last_mut() {
                Some(last) if last.position + 1 == position => {
                    last.bytes.extend_from_slice(head);
                    last.position = position;
                }
                _ => self.head.push(OutputChunk { position, bytes: head.to_vec() }),
            }
        }
        // If the chunk exceeds the limit, only its end can be kept.
        let rest = &rest[rest.len().saturating_sub(self.tail_room)..];
        if rest.is_empty() {
            return;
        }
        match self.tail.back_mut() {
            // A chunk per byte would cost far more memory than the byte.
            Some(last) if last.position + 1 == position && last.bytes.len() < SMALL_CHUNK => {
                last.bytes.extend_from_slice(rest);
                last.position = position;
            }
            _ => self.tail.push_back(OutputChunk { position, bytes: rest.to_vec() }),
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

    fn into_chunks(mut self) -> impl Iterator<Item = OutputChunk> {
        let kept: usize = self.head.iter().chain(&self.tail).map(|chunk| chunk.bytes.len()).sum();
        let left_out = self.total - kept as u64;
        if left_out > 0 {
            let position = self.tail.front().map_or(u64::MAX, |chunk| chunk.position);
            let note = format!("\n[… {} of {} left out …]\n", format_count(left_out, "byte"), self.stream.name());
            self.head.push(OutputChunk { position, bytes: note.into_bytes() });
        }
        self.head.into_iter().chain(self.tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(limit: usize, chunks: &[(OutputStream, &str)]) -> String {
        let mut transcript = Transcript::new(limit);
        for (stream, chunk) in chunks {
            transcript.push(*stream, chunk.as_bytes());
        }
        transcript.into_text()
    }

    use OutputStream::{Stderr, Stdout};

    #[test]
    fn keeps_the_order_of_both_streams() {
        let chunks = [(Stdout, "a\n"), (Stderr, "b\n"), (Stdout, "c\n"), (Stdout, "d\n"), (Stderr, "e\n")];
        assert_eq!(text(100, &chunks), "a\nb\nc\nd\ne\n");
    }

    #[test]
    fn keeps_the_beginning_and_the_end_of_each_stream() {
        let flood = "0123456789\n".repeat(50);
        let chunks = [(Stdout, "first\n"), (Stderr, "warning\n"), (Stdout, flood.as_str()), (Stdout, "last\n")];
        let left_out = 6 + 550 + 5 - 20;
        assert_eq!(
            text(20, &chunks),
            format!("first\nwarning\n0123\n[… {left_out} bytes of stdout left out …]\n789\nlast\n")
                .replace("789\nlast\n", "6789\nlast\n")
        );
    }

    #[test]
    fn keeps_output_that_just_fits() {
        assert_eq!(text(8, &[(Stdout, "abcd"), (Stdout, "efgh")]), "abcdefgh");
        assert_eq!(text(8, &[(Stdout, "abcdefgh")]), "abcdefgh");
        assert!(text(8, &[(Stdout, "abcdefghi")]).contains("[… 1 byte of stdout left out …]"));
    }
}
