//! What a program leaves behind when it ends by itself: often the only hint at what is wrong with it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pins::visible;

/// How many lines are kept: what says what happened is followed by where it did.
const LINES: usize = 40;

/// How many characters of a line are kept.
const LONGEST_LINE: usize = 300;

/// The words of the program that runs, or ran last. For people who look after it: there may be anything in them.
#[derive(Default)]
pub(in crate::remote) struct LastWords(Mutex<Arc<Words>>);

impl LastWords {
    fn latest(&self) -> MutexGuard<'_, Arc<Words>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of a program that is started now.
    pub(super) fn begin(&self) -> Arc<Words> {
        let words = Arc::<Words>::default();
        *self.latest() = words.clone();
        words
    }
}

/// What follows a sentence on why the program is not there; nothing if nothing is known.
impl fmt::Display for LastWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.latest().clone();
        words.fmt(f)
    }
}

/// How a program ended, and what it said at last.
#[derive(Default)]
pub(super) struct Words(Mutex<Left>);

#[derive(Default)]
struct Left {
    ended: Option<String>,
    lines: VecDeque<String>,
}

impl Words {
    fn left(&self) -> MutexGuard<'_, Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ended(&self, how: String) {
        self.left().ended = Some(how);
    }

    pub(super) fn said(&self, line: &str) {
        // Of what a line was written over with, the last is what shows.
        let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
        let line: String = line.chars().take(LONGEST_LINE).collect();
        if line.is_empty() {
            return;
        }
        let lines = &mut self.left().lines;
        if lines.len() == LINES {
            lines.pop_front();
        }
        // They are shown in terminals, where a program could write over what stands beside them.
        lines.push_back(visible(&line));
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.left();
        if let Some(how) = &left.ended {
            write!(f, " ({how})")?;
        }
        if !left.lines.is_empty() {
            f.write_str("; at last it wrote to its standard error:")?;
        }
        left.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_of_what_was_said() {
        let last_words = LastWords::default();
        let words = last_words.begin();
        (0..100).for_each(|number| words.said(&format!("{number}\n")));
        words.said(&"x".repeat(1000));
        words.said("a\rb\r\n");
        words.said("\u{1b}[2Jall is well");
        let said = last_words.to_string();
        let lines: Vec<&str> = said.lines().skip(1).map(str::trim_start).collect();
        assert_eq!((lines.len(), lines[0], lines[LINES - 3]), (LINES, "63", &*"x".repeat(LONGEST_LINE)), "{said}");
        assert_eq!(lines[LINES - 2..], ["b", "\\u{1b}[2Jall is well"]);
    }

    #[test]
    fn a_program_does_not_speak_for_the_next() {
        let last_words = LastWords::default();
        let (one, two) = (last_words.begin(), last_words.begin());
        one.said("of the first");
        two.said("of the second");
        one.ended("exit status 1".to_owned());
        let said = last_words.to_string();
        assert!(said.ends_with("of the second") && !said.contains("first") && !said.contains("exit"), "{said}");
    }
}
