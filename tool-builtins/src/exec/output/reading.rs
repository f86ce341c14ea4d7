//! Reads both pipes of a command.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{ChildStderr, ChildStdout};
use tool_runtime::Progress;

use super::lines::Lines;
use super::progress::Reports;
use super::{Stream, Transcript};

/// As much as a pipe holds.
const BUFFER: usize = 64 * 1024;

/// The two pipes of a command, and what has come out of them. However much comes, it takes no more memory.
pub(in super::super) struct Reading<'a> {
    /// The one whose turn it is comes first. Who printed first cannot be told if both have something.
    pipes: [Pipe; 2],
    buffer: Box<[u8]>,
    transcript: Transcript,
    reports: Reports<'a>,
}

struct Pipe {
    stream: Stream,
    /// Nothing once it is closed.
    open: Option<Box<dyn AsyncRead + Send + Unpin>>,
    lines: Lines,
}

impl Pipe {
    fn new(stream: Stream, pipe: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self { stream, open: Some(Box::new(pipe)), lines: Lines::default() }
    }

    /// Reads once. From one that is closed nothing ever comes.
    fn poll_read(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<usize> {
        let Some(pipe) = &mut self.open else { return Poll::Pending };
        let mut buffer = ReadBuf::new(buffer);
        let read = std::task::ready!(Pin::new(pipe).poll_read(context, &mut buffer));
        let length = buffer.filled().len();
        if read.is_err() || length == 0 {
            self.open = None;
        }
        Poll::Ready(length)
    }
}

impl<'a> Reading<'a> {
    pub fn new(stdout: ChildStdout, stderr: ChildStderr, limit: usize, progress: &'a Progress) -> Self {
        Self {
            pipes: [Pipe::new(Stream::Stdout, stdout), Pipe::new(Stream::Stderr, stderr)],
            buffer: vec![0; BUFFER].into(),
            transcript: Transcript::new(limit),
            reports: Reports::new(progress),
        }
    }

    /// Reads until both pipes are closed. It can be dropped and called again: nothing is lost.
    pub async fn read(&mut self) {
        while self.pipes.iter().any(|pipe| pipe.open.is_some()) {
            poll_fn(|context| self.poll_read(context)).await;
        }
    }

    /// Reads once from the pipe whose turn it is, or else from the other.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Self { pipes, buffer, transcript, reports } = self;
        for pipe in pipes.iter_mut() {
            if let Poll::Ready(length) = pipe.poll_read(context, buffer) {
                let stream = pipe.stream;
                pipe.lines.take(&buffer[..length], |lines| {
                    transcript.take(stream, lines);
                    reports.take(stream, lines);
                });
                // The other one's turn is next: neither can keep it from being read.
                if stream == pipes[0].stream {
                    pipes.reverse();
                }
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    /// What has been read.
    pub fn finish(mut self) -> Transcript {
        for pipe in &mut self.pipes {
            if let Some(line) = pipe.lines.finish() {
                self.transcript.take(pipe.stream, &line);
                self.reports.take(pipe.stream, &line);
            }
        }
        self.reports.flush();
        self.transcript
    }
}
