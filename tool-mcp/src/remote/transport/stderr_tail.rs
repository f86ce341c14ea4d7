//! The last lines of a program's standard error, often the only hint at why it ended.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pins::escape_invisible;

/// The number of lines that are kept: enough for an error message and its backtrace.
const MAX_LINES: usize = 40;

/// The number of characters of a line that are kept.
const MAX_LINE_LENGTH: usize = 300;

/// The exit status and last lines of the current or most recent program. For users, not for models: the text is untrusted.
#[derive(Default)]
pub(in crate::remote) struct StderrTail(Mutex<Arc<ProcessTail>>);

impl StderrTail {
    fn latest(&self) -> MutexGuard<'_, Arc<ProcessTail>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts recording a new program.
    pub(super) fn start(&self) -> Arc<ProcessTail> {
        let tail = Arc::<ProcessTail>::default();
        *self.latest() = tail.clone();
        tail
    }
}

/// A suffix for the reason why a program is unavailable; empty if nothing is known.
impl fmt::Display for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tail = self.latest().clone();
        tail.fmt(f)
    }
}

/// The exit status and last lines of one program.
#[derive(Default)]
pub(super) struct ProcessTail(Mutex<TailContent>);

#[derive(Default)]
struct TailContent {
    exit: Option<String>,
    lines: VecDeque<String>,
}

impl ProcessTail {
    fn content(&self) -> MutexGuard<'_, TailContent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_exit(&self, exit: String) {
        self.content().exit = Some(exit);
    }

    pub(super) fn push(&self, line: &str) {
        // After a carriage return only the last part is visible.
        let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
        let line: String = line.chars().take(MAX_LINE_LENGTH).collect();
        if line.is_empty() {
            return;
        }
        let lines = &mut self.content().lines;
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        // In a terminal, control characters could overwrite other output.
        lines.push_back(escape_invisible(&line));
    }
}

impl fmt::Display for ProcessTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = self.content();
        if let Some(exit) = &content.exit {
            write!(f, " ({exit})")?;
        }
        if !content.lines.is_empty() {
            f.write_str("; last lines of its standard error:")?;
        }
        content.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_lines() {
        let stderr = StderrTail::default();
        let tail = stderr.start();
        (0..100).for_each(|number| tail.push(&format!("{number}\n")));
        tail.push(&"x".repeat(1000));
        tail.push("a\rb\r\n");
        tail.push("\u{1b}[2Jall is well");
        let text = stderr.to_string();
        let lines: Vec<&str> = text.lines().skip(1).map(str::trim_start).collect();
        assert_eq!(
            (lines.len(), lines[0], lines[MAX_LINES - 3]),
            (MAX_LINES, "63", &*"x".repeat(MAX_LINE_LENGTH)),
            "{text}"
        );
        assert_eq!(lines[MAX_LINES - 2..], ["b", "\\u{1b}[2Jall is well"]);
    }

    #[test]
    fn keeps_the_lines_of_the_latest_program_only() {
        let stderr = StderrTail::default();
        let (one, two) = (stderr.start(), stderr.start());
        one.push("of the first");
        two.push("of the second");
        one.set_exit("exit status 1".to_owned());
        let text = stderr.to_string();
        assert!(text.ends_with("of the second") && !text.contains("first") && !text.contains("exit"), "{text}");
    }
}
