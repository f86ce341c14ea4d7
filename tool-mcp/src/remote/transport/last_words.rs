//! What a program leaves behind when it ends by itself: often the only hint at what is wrong with it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many lines are kept: the last one alone is often the least.
const LINES: usize = 10;

/// How many characters of a line are kept.
const LONGEST_LINE: usize = 300;

/// How a program ended, and what it said at last. For people who look after it: there may be anything in it.
#[derive(Default)]
pub(in crate::remote) struct LastWords(Mutex<Left>);

#[derive(Default)]
struct Left {
    ended: Option<String>,
    lines: VecDeque<String>,
}

impl LastWords {
    fn left(&self) -> MutexGuard<'_, Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program is started again.
    pub(super) fn forget(&self) {
        *self.left() = Left::default();
    }

    pub(super) fn ended(&self, how: String) {
        self.left().ended = Some(how);
    }

    pub(super) fn said(&self, line: &str) {
        if line.is_empty() {
            return;
        }
        let lines = &mut self.left().lines;
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line.chars().take(LONGEST_LINE).collect());
    }
}

/// What follows a sentence on why the program is not there; nothing if nothing is known.
impl fmt::Display for LastWords {
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
