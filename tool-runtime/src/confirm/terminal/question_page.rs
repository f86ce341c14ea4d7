//! The text of a question, with untrusted text behind a bar so that it cannot imitate the prompt.
//!
//! `textwrap` 0.16 was tried for the line breaks. It drops spaces at a break, so that two different commands look the
//! same, and gives combining letters no width. Here no character is dropped and doubtful letters count as wide.

use std::borrow::Cow;

use crate::display::thousands;

/// The width of framed text. A terminal would break longer lines itself, without a bar on the continuation.
const COLUMNS: usize = 72;

const BAR: &str = "  │ ";
/// The bar of a continued line.
const BAR_CONTINUED: &str = "  ┊ ";

#[derive(Clone, Copy)]
pub(super) enum PageColour {
    Bold,
    Red,
    Green,
    Cyan,
    Yellow,
}

impl PageColour {
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

/// The text of a question while it is built.
pub(super) struct QuestionPage {
    pub(super) text: String,
    /// Parts of the question are folded.
    pub(super) folded: bool,
    pub(super) colours: bool,
    pub(super) in_full: bool,
}

impl QuestionPage {
    pub(super) fn paint(&mut self, text: &str, colour: Option<PageColour>) {
        match colour.filter(|_| self.colours) {
            Some(colour) => self.text.extend([colour.code(), text, "\x1b[0m"]),
            None => self.text.push_str(text),
        }
    }

    /// Appends a line of trusted text.
    pub(super) fn line(&mut self, text: &str, colour: Option<PageColour>) {
        self.paint(text, colour);
        self.text.push('\n');
    }

    /// Appends lines of untrusted text, which must be escaped already. Folds them after `most` rows.
    pub(super) fn framed<'t>(
        &mut self,
        lines: impl IntoIterator<Item = (Cow<'t, str>, Option<PageColour>)>,
        most: usize,
    ) {
        let mut rows: usize = 0;
        for (line, colour) in lines {
            for (index, row) in wrap(&line).enumerate() {
                rows += 1;
                if self.in_full || rows <= most {
                    self.text.push_str(if index == 0 { BAR } else { BAR_CONTINUED });
                    self.line(row, colour);
                }
            }
        }
        if let Some(more) = rows.checked_sub(most).filter(|more| *more > 0 && !self.in_full) {
            self.folded = true;
            self.line(&format!("  … {} more lines", thousands(more)), Some(PageColour::Yellow));
        }
    }
}

/// Splits a line into rows that fit. Letters of doubtful width count as wide.
fn wrap(line: &str) -> impl Iterator<Item = &str> {
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
    fn wraps_long_lines_without_dropping_characters() {
        assert_eq!(wrap("").collect::<Vec<_>>(), [""]);
        let line = format!("{}[y] run", " ".repeat(COLUMNS));
        assert_eq!(wrap(&line).collect::<Vec<_>>(), [" ".repeat(COLUMNS).as_str(), "[y] run"]);
        assert_eq!(wrap(&"世".repeat(100)).map(|row| row.chars().count()).collect::<Vec<_>>(), [36, 36, 28]);
    }
}
