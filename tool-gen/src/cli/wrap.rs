//! Text wrapping and tables.
//!
//! `comfy-table` 8.0 and `textwrap` 0.16 were tried instead. comfy-table breaks names at any letter and arguments inside
//! their no-break spaces, and has no setting for which column to narrow first. textwrap appends a hyphen where a name is cut
//! at its dot, and cuts names that would fit on the next line.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::terminal::{BOLD, DIM, styled};

/// A space without a line break. It is printed as an ordinary one.
pub(super) const NO_BREAK: &str = "\u{a0}";

/// Wraps text at spaces. A word that is too long is cut.
pub(super) fn wrap_text(text: &str, width: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrap_line(line, width.max(1))).collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let words = line.split([' ', '\t']).filter(|word| !word.is_empty());
    for word in words.flat_map(|word| pieces(word, width)) {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last] = word;
        } else if lines[last].width() + 1 + word.width() <= width {
            lines[last].push(' ');
            lines[last].push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines.iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// Cuts a word to pieces that fit, preferably at dots and similar characters.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        let last = pieces.len() - 1;
        let mut buffer = [0; 4];
        if pieces[last].width() + UnicodeWidthStr::width(&*c.encode_utf8(&mut buffer)) > width
            && !pieces[last].is_empty()
        {
            let cut = pieces[last]
                .rfind(['.', '_', ':', '/', '|', '\u{a0}'])
                .filter(|cut| *cut > 0)
                .map(|cut| cut + pieces[last][cut..].chars().next().map_or(1, char::len_utf8));
            let rest = cut.map(|cut| pieces[last].split_off(cut)).unwrap_or_default();
            pieces.push(rest);
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces
}

/// A column of a table.
pub(super) struct TableColumn {
    pub(super) title: &'static str,
    pub(super) style: Style,
    pub(super) right: bool,
    /// The share of a shortage of width that this column takes, relative to the others.
    pub(super) gives: usize,
    /// The least width.
    pub(super) least: usize,
}

/// Renders rows of cells under their titles, as wide as needed or possible.
pub(super) fn table(columns: &[TableColumn], rows: &[Vec<String>], width: usize) -> String {
    let widths = widths(columns, rows, width);
    let titles: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
    let mut text = row(&titles, &widths, columns, |_| BOLD);
    let ruler = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("  ");
    text.push_str(&format!("{}\n", styled(DIM, ruler)));
    for cells in rows {
        text.push_str(&row(cells, &widths, columns, |column| column.style));
    }
    text
}

fn widths(columns: &[TableColumn], rows: &[Vec<String>], width: usize) -> Vec<usize> {
    let natural = |index: usize| {
        let cells =
            rows.iter().filter_map(|row| row.get(index)).flat_map(|cell| cell.lines()).map(UnicodeWidthStr::width);
        cells.chain([columns[index].title.width()]).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns.len()).map(natural).collect();
    let room = width.saturating_sub(2 * columns.len().saturating_sub(1));
    // Take one character at a time from the column that can give most.
    while widths.iter().sum::<usize>() > room {
        let givers = columns.iter().enumerate().filter(|(index, column)| widths[*index] > column.least);
        match givers.max_by_key(|(index, column)| widths[*index] * column.gives) {
            Some((index, column)) if column.gives > 0 => widths[index] -= 1,
            _ => break,
        }
    }
    widths
}

fn row(cells: &[String], widths: &[usize], columns: &[TableColumn], style: impl Fn(&TableColumn) -> Style) -> String {
    let wrapped: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, width)| wrap_text(cell, *width)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for line in 0..height {
        let mut shown = String::new();
        let mut missing = 0;
        for ((cell, width), column) in wrapped.iter().zip(widths).zip(columns) {
            let part = cell.get(line).map_or("", String::as_str);
            let room = width.saturating_sub(part.width());
            let before = if column.right { missing + room } else { missing };
            if !part.is_empty() {
                shown.push_str(&" ".repeat(before));
                shown.push_str(&styled(style(column), part));
                missing = 0;
                missing += if column.right { 0 } else { room };
            } else {
                missing += room;
            }
            missing += 2;
        }
        text.push_str(&shown);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_spaces_and_cuts_long_words() {
        assert_eq!(wrap_text("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap_text("größe 長い名前", 6), ["größe", "長い名", "前"]);
        assert_eq!(wrap_text("metrics.newest", 9), ["metrics.", "newest"]);
        assert_eq!(wrap_text("a\n\nb", 9), ["a", "", "b"]);
    }

    #[test]
    fn a_table_fits_the_width() {
        let columns = [("NAME", 1), ("TEXT", 3)].map(|(title, gives)| TableColumn {
            title,
            style: Style::new(),
            right: false,
            gives,
            least: 4,
        });
        let rows = vec![vec!["metrics.newest".to_owned(), "the newest points of one host".to_owned()]];
        for width in [24, 40, 80] {
            let shown = anstream::adapter::strip_str(&table(&columns, &rows, width)).to_string();
            assert!(shown.lines().all(|line| line.width() <= width), "{width}:\n{shown}");
        }
    }
}
