//! Reads both pipes of a command.

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdout};
use tool_runtime::Progress;

use super::lines::Lines;
use super::progress::Reports;
use super::{Stream, Transcript};

/// As much as a pipe holds.
const BUFFER: usize = 64 * 1024;

/// The two pipes of a command, and what has come out of them. However much comes, it takes no more memory.
pub(in super::super) struct Reading<'a> {
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
    transcript: Transcript,
    reports: Reports<'a>,
}

struct Pipe<R> {
    pipe: R,
    lines: Lines,
    buffer: Box<[u8]>,
    is_open: bool,
}

impl<R> Pipe<R> {
    fn new(pipe: R) -> Self {
        Self { pipe, lines: Lines::default(), buffer: vec![0; BUFFER].into(), is_open: true }
    }
}

impl<'a> Reading<'a> {
    pub fn new(stdout: ChildStdout, stderr: ChildStderr, limit: usize, progress: &'a Progress) -> Self {
        Self {
            stdout: Pipe::new(stdout),
            stderr: Pipe::new(stderr),
            transcript: Transcript::new(limit),
            reports: Reports::new(progress),
        }
    }

    /// Reads until both pipes are closed. It can be dropped and called again: nothing is lost.
    pub async fn read(&mut self) {
        let Self { stdout, stderr, transcript, reports } = self;
        let mut take = |stream, lines: &[u8]| {
            transcript.take(stream, lines);
            reports.take(stream, lines);
        };
        while stdout.is_open || stderr.is_open {
            tokio::select! {
                read = stdout.pipe.read(&mut stdout.buffer), if stdout.is_open => match read {
                    Ok(length @ 1..) => stdout.lines.take(&stdout.buffer[..length], |lines| take(Stream::Stdout, lines)),
                    Ok(0) | Err(_) => stdout.is_open = false,
                },
                read = stderr.pipe.read(&mut stderr.buffer), if stderr.is_open => match read {
                    Ok(length @ 1..) => stderr.lines.take(&stderr.buffer[..length], |lines| take(Stream::Stderr, lines)),
                    Ok(0) | Err(_) => stderr.is_open = false,
                },
            }
        }
    }

    /// What has been read.
    pub fn finish(mut self) -> Transcript {
        let begun = [(Stream::Stdout, self.stdout.lines.finish()), (Stream::Stderr, self.stderr.lines.finish())];
        for (stream, line) in begun {
            if let Some(line) = line {
                self.transcript.take(stream, &line);
                self.reports.take(stream, &line);
            }
        }
        self.reports.flush();
        self.transcript
    }
}
