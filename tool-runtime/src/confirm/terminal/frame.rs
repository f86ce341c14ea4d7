//! Foreign text behind a bar, so that no line of it can pass for one of ours.

use std::borrow::Cow;

use crate::display::thousands;

/// Narrower than any terminal, which would break a longer line itself and begin the rest of it without a bar.
const COLUMNS: usize = 72;

const BAR: &str = "  │ ";
/// A line that goes on.
const BAR_CONTINUED: &str = "  ┊ ";

#[derive(Clone, Copy)]
pub(super) enum Colour {
    Bold,
    Red,
    Green,
    Cyan,
    Yellow,
}

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "\x1b[1m",
            Self::Red => "\x1b[31m",
            Self::Green => "\x1b[32m",
            Self::Cyan => "\x1b[36m",
            Self::Yellow => "\x1b[33m",
        }
    }
}

/// The text of a question while it is put together.
pub(super) struct Page {
    pub(super) text: String,
    /// Whether something was left out.
    pub(super) folded: bool,
    pub(super) colours: bool,
    pub(super) in_full: bool,
}

impl Page {
    pub(super) fn paint(&mut self, text: &str, colour: Option<Colour>) {
        match colour.filter(|_| self.colours) {
            Some(colour) => self.text.extend([colour.code(), text, "\x1b[0m"]),
            None => self.text.push_str(text),
        }
    }

    /// A line of our own words.
    pub(super) fn line(&mut self, text: &str, colour: Option<Colour>) {
        self.paint(text, colour);
        self.text.push('\n');
    }

    /// Lines of somebody else's words, which must be escaped already, folded after so many rows.
    pub(super) fn framed<'t>(&mut self, lines: impl IntoIterator<Item = (Cow<'t, str>, Option<Colour>)>, most: usize) {
        let mut rows: usize = 0;
        for (line, colour) in lines {
            for (index, row) in wrapped(&line).enumerate() {
                rows += 1;
                if self.in_full || rows <= most {
                    self.text.push_str(if index == 0 { BAR } else { BAR_CONTINUED });
                    self.line(row, colour);
                }
            }
        }
        if let Some(more) = rows.checked_sub(most).filter(|more| *more > 0 && !self.in_full) {
            self.folded = true;
            self.line(&format!("  … {} more lines", thousands(more)), Some(Colour::Yellow));
        }
    }
}

/// A line in pieces that fit. Where a letter's width is in doubt it counts as wide.
fn wrapped(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest.take()?;
        let mut width = 0;
        let end = line.char_indices().find_map(|(index, c)| {
            width += if c.is_ascii() { 1 } else { 2 };
            (width > COLUMNS).then_some(index)
        });
        let (row, left) = line.split_at(end.unwrap_or(line.len()));
        rest = end.map(|_| left);
        Some(row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_before_the_terminal_does() {
        assert_eq!(wrapped("").collect::<Vec<_>>(), [""]);
        let line = format!("{}[y] run", " ".repeat(COLUMNS));
        assert_eq!(wrapped(&line).collect::<Vec<_>>(), [" ".repeat(COLUMNS).as_str(), "[y] run"]);
        assert_eq!(wrapped(&"世".repeat(100)).map(|row| row.chars().count()).collect::<Vec<_>>(), [36, 36, 28]);
    }
}
