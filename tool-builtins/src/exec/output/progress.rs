//! What is heard of the output while the command runs.

use std::time::{Duration, Instant};

use serde_json::json;
use tool_runtime::Progress;

use super::Stream;

/// How often at most something is reported. More than that nobody reads.
const INTERVAL: Duration = Duration::from_millis(100);
/// How much of one stream at most is reported at once: its newest lines.
const NEWEST: usize = 4 * 1024;

/// Reports the newest lines of a command, now and then.
pub(super) struct Reports<'a> {
    progress: &'a Progress,
    last: Option<Instant>,
    waiting: Vec<(Stream, Vec<u8>)>,
}

impl<'a> Reports<'a> {
    pub fn new(progress: &'a Progress) -> Self {
        Self { progress, last: None, waiting: Vec::new() }
    }

    /// Lines that came just now.
    pub fn take(&mut self, stream: Stream, lines: &[u8]) {
        if !self.progress.is_heard() {
            return;
        }
        let newest = &lines[lines.len().saturating_sub(NEWEST)..];
        match self.waiting.iter_mut().find(|(of, _)| *of == stream) {
            Some((_, waiting)) => {
                waiting.extend_from_slice(newest);
                waiting.drain(..waiting.len().saturating_sub(NEWEST));
            }
            None => self.waiting.push((stream, newest.to_vec())),
        }
        if self.last.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.flush();
        }
    }

    /// Reports what waits.
    pub fn flush(&mut self) {
        self.last = Some(Instant::now());
        for (stream, lines) in self.waiting.drain(..) {
            self.progress.report(json!({"stream": stream, "text": String::from_utf8_lossy(&lines)}));
        }
    }
}
