//! `edit_file`: one text in another's place.

use memchr::memmem;
use tool_runtime::display::thousands;

use super::failure::{Outcome, quoted, retry};
use super::nearest::nearest;
use super::read::numbered;
use super::text::{line_ending, with_ending};
use crate::count::counted;

/// The most places that are shown of a text that stands in several.
const MOST_PLACES: usize = 5;

/// What is to be replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) all: bool,
}

/// A text after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edited {
    pub(super) text: String,
    pub(super) count: usize,
    /// The line of the first replacement, the first being 1.
    pub(super) line: usize,
}

impl Edit<'_> {
    /// The text with the replacement made. The file's line breaks are kept, whatever the arguments have.
    pub(super) fn apply(self, path: &str, text: &str) -> Outcome<Edited> {
        if self.old.is_empty() {
            return retry("`old_string` is empty; `write_file` creates a file or replaces all of one.");
        }
        let (old, new) = self.in_the_breaks_of(text);
        if old == new {
            return retry("`old_string` and `new_string` are the same: nothing would change.");
        }
        let places: Vec<usize> = memmem::find_iter(text.as_bytes(), old.as_bytes()).collect();
        match places.as_slice() {
            [] => retry(missing(path, text, self.old)),
            [_, _, ..] if !self.all => retry(ambiguous(path, text, &old, &places)),
            [first, ..] => {
                let line = line_of(text, *first);
                Ok(Edited { text: replaced(text, &old, &new, &places), count: places.len(), line })
            }
        }
    }

    fn in_the_breaks_of(self, text: &str) -> (String, String) {
        if !self.old.contains('\n') && !self.new.contains('\n') {
            return (self.old.to_owned(), self.new.to_owned());
        }
        let ending = line_ending(text);
        let new = with_ending(self.new, ending);
        // In a file of mixed breaks the text may stand exactly as it was given.
        let old = match with_ending(self.old, ending) {
            old if old != self.old && memmem::find(text.as_bytes(), self.old.as_bytes()).is_some() => {
                self.old.to_owned()
            }
            old => old,
        };
        (old, new)
    }
}

fn replaced(text: &str, old: &str, new: &str, places: &[usize]) -> String {
    let mut replaced = String::with_capacity(text.len() + places.len() * new.len().saturating_sub(old.len()));
    let mut done = 0;
    for place in places {
        replaced.push_str(&text[done..*place]);
        replaced.push_str(new);
        done = place + old.len();
    }
    replaced.push_str(&text[done..]);
    replaced
}

/// The number of the line that a byte is in, the first being 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
}

fn missing(path: &str, text: &str, old: &str) -> String {
    let path = quoted(path);
    match nearest(text, old) {
        None => format!("`old_string` is not in {path}, nor anything like it. Read the file again."),
        Some(near) => {
            let hint = if near.differs_in_space { "\nThey differ from it in white space only." } else { "" };
            let shown = numbered(&near.text, near.line as u64 - 1);
            format!("`old_string` is not in {path}. The nearest lines are:\n{}{hint}", shown.trim_end_matches('\n'))
        }
    }
}

fn ambiguous(path: &str, text: &str, old: &str, places: &[usize]) -> String {
    let mut message = format!(
        "`old_string` stands in {} {}. Give more of the lines around the one that is meant, or set `replace_all`:",
        quoted(path),
        counted(places.len(), "time"),
    );
    for place in places.iter().take(MOST_PLACES) {
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..*place]).map_or(0, |end| end + 1);
        let end = place + old.lines().next().map_or(0, str::len);
        let rest = memchr::memchr(b'\n', &text.as_bytes()[end..]).unwrap_or(text.len() - end);
        let line = text[start..end + rest].trim_end_matches('\r');
        message.push_str(&format!("\n{:>6}\t{}", line_of(text, *place), super::nearest::cut(line)));
    }
    if places.len() > MOST_PLACES {
        message.push_str(&format!("\n… and {} more", thousands(places.len() - MOST_PLACES)));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize, usize), String> {
        let edited = Edit { old, new, all }.apply("a.txt", text);
        edited.map(|edited| (edited.text, edited.count, edited.line)).map_err(|error| error.to_string())
    }

    #[test]
    fn one_place_or_all() {
        assert_eq!(edit("one\ntwo\n", "two", "three", false), Ok(("one\nthree\n".into(), 1, 2)));
        assert_eq!(edit("a a a", "a", "bb", true), Ok(("bb bb bb".into(), 3, 1)));
        assert_eq!(edit("aaa", "aa", "b", true), Ok(("ba".into(), 1, 1)));
        assert_eq!(edit("x", "x", "", false), Ok((String::new(), 1, 1)));
    }

    #[test]
    fn line_breaks_stay_those_of_the_file() {
        assert_eq!(edit("a\r\nb\r\nc\r\n", "a\nb", "x\ny", false).unwrap().0, "x\r\ny\r\nc\r\n");
        assert_eq!(edit("a\r\nb\r\n", "b", "x\ny", false).unwrap().0, "a\r\nx\r\ny\r\n");
        assert_eq!(edit("a\nb\n", "a\r\nb", "x\r\ny", false).unwrap().0, "x\ny\n");
        // Mixed: what stands exactly so is found.
        assert_eq!(edit("a\nb\r\nc\r\n", "a\nb", "x", false).unwrap().0, "x\r\nc\r\n");
    }

    #[test]
    fn what_stands_in_several_places_is_shown_with_them() {
        let error = edit("let a = 1;\nlet b = 2;\nlet a = 1;\n", "a = 1", "a = 2", false).unwrap_err();
        assert!(error.contains("2 times"), "{error}");
        assert!(error.contains("     1\tlet a = 1;\n     3\tlet a = 1;"), "{error}");
        let error = edit(&"x\n".repeat(10), "x", "y", false).unwrap_err();
        assert!(error.ends_with("… and 5 more"), "{error}");
    }

    #[test]
    fn what_is_missing_is_answered_with_what_is_near() {
        let text = "fn main() {\n    let total = sum(&numbers);\n    println!(\"{total}\");\n}\n";
        let error = edit(text, "fn main() {\n  let total = sum(&numbers);", "", false).unwrap_err();
        assert!(error.contains("     1\tfn main() {\n     2\t    let total = sum(&numbers);"), "{error}");
        assert!(error.contains("white space only"), "{error}");
        let error = edit(text, "    let totals = sum(&number);", "", false).unwrap_err();
        assert!(error.contains("     2\t    let total = sum(&numbers);"), "{error}");
        assert!(!error.contains("white space"), "{error}");
        let error = edit(text, "@@@@", "", false).unwrap_err();
        assert!(error.contains("nor anything like it"), "{error}");
    }

    #[test]
    fn an_edit_that_does_nothing_is_refused() {
        assert!(edit("a", "", "b", false).unwrap_err().contains("write_file"));
        assert!(edit("a", "a", "a", false).unwrap_err().contains("nothing would change"));
    }
}
