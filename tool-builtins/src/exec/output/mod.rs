//! Reading, limiting and reporting of a command's output.

mod line_buffer;
mod transcript;

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{ChildStderr, ChildStdout};
use tool_runtime::Progress;

use self::line_buffer::LineBuffer;
pub(super) use self::transcript::{OutputStream, Transcript};

/// The read buffer size: the capacity of a pipe.
const BUFFER_SIZE: usize = 64 * 1024;

/// Reads the two pipes of a command into a transcript. Memory use does not grow with the output.
pub(super) struct OutputReader<'a> {
    /// The pipe to poll first comes first. If both have data, the order in which it was written is unknown.
    pipes: [OutputPipe; 2],
    buffer: Box<[u8]>,
    transcript: Transcript,
    reports: ProgressReporter<'a>,
}

struct OutputPipe {
    stream: OutputStream,
    /// `None` once the pipe is closed.
    open: Option<Box<dyn AsyncRead + Send + Unpin>>,
    lines: LineBuffer,
}

impl OutputPipe {
    fn new(stream: OutputStream, pipe: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self { stream, open: Some(Box::new(pipe)), lines: LineBuffer::default() }
    }

    /// Reads once. A closed pipe is never ready.
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

impl<'a> OutputReader<'a> {
    pub fn new(stdout: ChildStdout, stderr: ChildStderr, limit: usize, progress: &'a Progress) -> Self {
        Self {
            pipes: [OutputPipe::new(OutputStream::Stdout, stdout), OutputPipe::new(OutputStream::Stderr, stderr)],
            buffer: vec![0; BUFFER_SIZE].into(),
            transcript: Transcript::new(limit),
            reports: ProgressReporter::new(progress),
        }
    }

    /// Reads until both pipes are closed. Cancel-safe: no data is lost if the future is dropped.
    pub async fn read(&mut self) {
        while self.pipes.iter().any(|pipe| pipe.open.is_some()) {
            poll_fn(|context| self.poll_read(context)).await;
        }
    }

    /// Reads once from the first pipe that is ready.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Self { pipes, buffer, transcript, reports } = self;
        for pipe in pipes.iter_mut() {
            if let Poll::Ready(length) = pipe.poll_read(context, buffer) {
                let stream = pipe.stream;
                pipe.lines.push(&buffer[..length], |lines| {
                    transcript.push(stream, lines);
                    reports.push(stream, lines);
                });
                // Poll the other pipe first next time, so that neither can starve it.
                if stream == pipes[0].stream {
                    pipes.reverse();
                }
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    /// Returns the transcript.
    pub fn finish(mut self) -> Transcript {
        for pipe in &mut self.pipes {
            if let Some(line) = pipe.lines.finish() {
                self.transcript.push(pipe.stream, &line);
                self.reports.push(pipe.stream, &line);
            }
        }
        self.reports.flush();
        self.transcript
    }
}

/// The minimum time between two reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of bytes of one stream per report; older ones are skipped.
const REPORT_SIZE: usize = 4 * 1024;

/// Reports the newest output of a running command at intervals.
struct ProgressReporter<'a> {
    progress: &'a Progress,
    last: Option<Instant>,
    pending: Vec<(OutputStream, Vec<u8>)>,
}

impl<'a> ProgressReporter<'a> {
    pub fn new(progress: &'a Progress) -> Self {
        Self { progress, last: None, pending: Vec::new() }
    }

    /// Adds lines, and reports if the interval has passed.
    pub fn push(&mut self, stream: OutputStream, lines: &[u8]) {
        if !self.progress.is_heard() {
            return;
        }
        let newest = &lines[lines.len().saturating_sub(REPORT_SIZE)..];
        match self.pending.iter_mut().find(|(of, _)| *of == stream) {
            Some((_, pending)) => {
                pending.extend_from_slice(newest);
                pending.drain(..pending.len().saturating_sub(REPORT_SIZE));
            }
            None => self.pending.push((stream, newest.to_vec())),
        }
        if self.last.is_none_or(|last| last.elapsed() >= REPORT_INTERVAL) {
            self.flush();
        }
    }

    /// Reports all pending lines.
    pub fn flush(&mut self) {
        self.last = Some(Instant::now());
        for (stream, lines) in self.pending.drain(..) {
            self.progress.report(json!({"stream": stream, "text": String::from_utf8_lossy(&lines)}));
        }
    }
}
