//! Source files.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proc_macro2::Span;

use crate::text::{NestingError, annotations, check_nesting, without_bodies};
use crate::{Diagnostic, Severity, SourcePlace};

/// The largest file that is parsed. Generated tables can be huge, but tools and their types are written by people.
const LARGEST_PARSED: usize = 32_000_000;

/// The number of characters of a line that a diagnostic shows.
const LONGEST_SHOWN: usize = 400;

/// A file and its text.
#[derive(Debug, Default)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    text: RefCell<Option<Rc<String>>>,
}

impl SourceFile {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Box<Diagnostic>> {
        let bytes =
            std::fs::read(path).map_err(|error| Self::broken(path, format!("cannot read the file: {error}"), None))?;
        match String::from_utf8(bytes) {
            Ok(text) => {
                Ok(Self { path: path.to_owned(), text: RefCell::new(Some(Rc::new(without_byte_order_mark(text)))) })
            }
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = memchr::memchr_iter(b'\n', valid).count() + 1;
                let message = format!("the file is not UTF-8: byte {} in line {line}", valid.len() + 1);
                Err(Self::broken(path, message, Some("save it as UTF-8".to_owned())))
            }
        }
    }

    /// Returns the text, and reads it again if it was dropped.
    pub(crate) fn text(&self) -> Rc<String> {
        let mut text = self.text.borrow_mut();
        text.get_or_insert_with(|| {
            without_byte_order_mark(std::fs::read_to_string(&self.path).unwrap_or_default()).into()
        })
        .clone()
    }

    /// Drops the text: most files are needed only once.
    pub(crate) fn drop_text(&self) {
        self.text.take();
    }

    fn broken(path: &Path, message: String, help: Option<String>) -> Box<Diagnostic> {
        let place = SourcePlace { file: path.to_owned(), line: 0, column: 0, width: 0, text: String::new() };
        Box::new(Diagnostic { severity: Severity::Error, message, help, place: Some(place), compile_error: true })
    }

    /// Returns an error if the file is too large to be parsed.
    pub(crate) fn check_size(&self) -> Result<(), Box<Diagnostic>> {
        let size = self.text().len();
        if size <= LARGEST_PARSED {
            return Ok(());
        }
        let message = format!(
            "the file has {} MB; files with tools or types can have up to {} MB",
            size / 1_000_000,
            LARGEST_PARSED / 1_000_000
        );
        let help = "move generated code to another module".to_owned();
        // Our own limit: rustc compiles such a file.
        Err(Box::new(Diagnostic { compile_error: false, ..*Self::broken(&self.path, message, Some(help)) }))
    }

    /// Returns the place of a span of this file.
    pub(crate) fn place(&self, span: Span) -> SourcePlace {
        let (start, end) = (span.start(), span.end());
        let text = self.line(start.line, start.column);
        let last = if end.line == start.line { end.column } else { text.chars().count() };
        SourcePlace {
            file: self.path.clone(),
            line: start.line,
            column: start.column + 1,
            width: last.saturating_sub(start.column).max(1),
            text,
        }
    }

    /// Returns the place of a byte offset.
    pub(crate) fn place_at(&self, offset: usize) -> SourcePlace {
        let text = self.text();
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        SourcePlace { file: self.path.clone(), line, column, width: 1, text: self.line(line, column - 1) }
    }

    /// Returns a line, or the part of a long line around a column, counted from 0. The part cut off before it is blank,
    /// so that columns stay the same.
    fn line(&self, line: usize, column: usize) -> String {
        let text = self.text();
        let text = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let is_short = text.chars().nth(LONGEST_SHOWN).is_none();
        let cut = if is_short { 0 } else { column.saturating_sub(LONGEST_SHOWN / 2) };
        let shown = text.chars().skip(cut).take(LONGEST_SHOWN);
        std::iter::repeat_n(' ', cut).chain(shown).collect()
    }
}

/// Removes the byte-order mark, as rustc does.
fn without_byte_order_mark(mut text: String) -> String {
    const MARK: &str = "\u{feff}";
    if text.starts_with(MARK) {
        text.drain(..MARK.len());
    }
    text
}

/// Parses a file without its function bodies.
pub(super) fn parse_outline(file: &SourceFile) -> Result<syn::File, Box<Diagnostic>> {
    file.check_size()?;
    let error = |wrong: &syn::Error| {
        Box::new(Diagnostic {
            severity: Severity::Error,
            message: syntax_message(wrong),
            help: Some("its types and tools are missing until it compiles".to_owned()),
            place: Some(file.place(wrong.span())),
            compile_error: true,
        })
    };
    let text = file.text();
    let outline = without_bodies(&text, &annotations(text.as_bytes())).map_err(|deep| too_deep(file, deep))?;
    syn::parse_file(&outline).or_else(|wrong| match check_nesting(&text) {
        // If the outline is wrong, the parser decides.
        Ok(()) => syn::parse_file(&text).map_err(|wrong| error(&wrong)),
        Err(_) => Err(error(&wrong)),
    })
}

/// Reports nesting beyond our own limit. rustc may well compile it.
pub(super) fn too_deep(file: &SourceFile, deep: NestingError) -> Box<Diagnostic> {
    Box::new(Diagnostic {
        severity: Severity::Error,
        message: "nested too deeply to be parsed".to_owned(),
        help: Some(
            "move it to a file without tools and their types, or use the program's manifest with `Manifest::linked()`"
                .to_owned(),
        ),
        place: Some(file.place_at(deep.at)),
        compile_error: false,
    })
}

fn syntax_message(wrong: &syn::Error) -> String {
    match wrong.to_string() {
        lexer if lexer.contains("token stream") => "unbalanced bracket, quote or comment".to_owned(),
        parser => format!("syntax error: {parser}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_place_far_to_the_right() {
        let text =
            format!("struct A;\n/* {} */ fn größe(a: Thing) {{}} /* {} */", "x".repeat(1_000), "y".repeat(1_000));
        let file = SourceFile { path: "a.rs".into(), text: RefCell::new(Some(Rc::new(text.clone()))) };
        let place = file.place_at(text.find("Thing").unwrap());
        assert_eq!((place.line, place.column), (2, 1_020));
        assert!(place.text.chars().skip(place.column - 1).collect::<String>().starts_with("Thing"), "{}", place.text);
        assert!(place.text.trim().chars().count() <= LONGEST_SHOWN);
        let near = file.place_at(0);
        assert_eq!((near.column, near.text.as_str()), (1, "struct A;"));
    }
}
