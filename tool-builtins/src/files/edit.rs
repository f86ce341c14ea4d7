//! The `edit_file` tool: replacing a string in a file.

use std::borrow::Cow;
use std::iter;

use memchr::memmem::Finder;
use memchr::{memchr_iter, memrchr};
use tool_runtime::display::thousands;

use super::controls::{escape_controls, unescape_controls};
use super::errors::{FileResult, quote_path, retry};
use super::line_breaks::with_ending;
use super::nearest::nearest;
use super::read::number_lines;
use super::text::Splice;
use crate::count::format_count;

/// The maximum number of occurrences listed in an error.
const MAX_LISTED: usize = 5;

/// A requested replacement.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextEdit<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) all: bool,
}

/// The splices that carry out an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EditSplices {
    /// The splices. The common beginning and end of the old and new string are not replaced.
    pub(super) splices: Vec<Splice>,
    /// The line number of the first splice, starting at 1.
    pub(super) line: usize,
}

impl TextEdit<'_> {
    /// Computes the splices. Matches `\n` and `\r\n` alike; each occurrence keeps its own line breaks.
    pub(super) fn apply(self, path: &str, text: &str) -> FileResult<EditSplices> {
        if self.old.is_empty() {
            return retry("`old_string` is empty; use `write_file` to create or replace a whole file.");
        }
        let text = FoldedText::new(text);
        let (mut old, mut new) = (with_ending(self.old, "\n"), with_ending(self.new, "\n"));
        if old == new {
            return retry("`old_string` and `new_string` are identical: nothing would change.");
        }
        if let Some(read) = unescape_controls(&old).filter(|read| text.text.contains(read)) {
            if text.text.contains(&old) {
                return retry(format!(
                    "`old_string` occurs in {} both literally and with the control characters that it shows as \
                     escapes. Include more of the lines around the intended occurrence.",
                    quote_path(path)
                ));
            }
            (old, new) = (read, unescape_controls(&new).unwrap_or(new));
        }
        let finder = Finder::new(&old);
        let mut found = occurrences(&text.text, &finder, if self.all { old.len() } else { 1 });
        let Some(first) = found.next() else { return retry(missing(path, &text.text, self.old)) };
        if !self.all && found.next().is_some() {
            return retry(ambiguous(path, &text.text, &finder));
        }
        let splices = iter::once(first).chain(found).map(|at| text.splice(at, &old, &new)).collect();
        Ok(EditSplices { splices, line: line_of(&text.text, first) })
    }
}

/// Returns the positions of a string, each at least `apart` bytes after the previous one.
fn occurrences<'a>(text: &'a str, finder: &'a Finder<'_>, apart: usize) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    iter::from_fn(move || {
        let at = from + finder.find(text.as_bytes().get(from..)?)?;
        from = at + apart;
        Some(at)
    })
}

/// A text with every `\r\n` converted to `\n`.
struct FoldedText<'a> {
    text: Cow<'a, str>,
    /// Positions of the line breaks.
    breaks: Vec<usize>,
    /// Positions of the line breaks that are `\r\n` in the original.
    windows: Vec<usize>,
}

impl<'a> FoldedText<'a> {
    fn new(original: &'a str) -> Self {
        let text = match original.contains("\r\n") {
            true => Cow::Owned(original.replace("\r\n", "\n")),
            false => Cow::Borrowed(original),
        };
        let breaks: Vec<usize> = memchr_iter(b'\n', text.as_bytes()).collect();
        let mut windows = Vec::new();
        for at in &breaks {
            if original.as_bytes()[at + windows.len()] == b'\r' {
                windows.push(*at);
            }
        }
        Self { text, breaks, windows }
    }

    /// Returns the corresponding position in the original. Never splits a `\r\n`.
    fn original(&self, at: usize) -> usize {
        at + self.windows.partition_point(|windows| *windows < at)
    }

    fn ending(&self, at: usize) -> &'static str {
        if self.windows.binary_search(&at).is_ok() { "\r\n" } else { "\n" }
    }

    /// Replaces `old`, which occurs at `at`. Existing line breaks keep their form; additional ones take the form of the
    /// last replaced one, or of the nearest.
    fn splice(&self, at: usize, old: &str, new: &str) -> Splice {
        let (before, after) = common_ends(old, new);
        let (start, end) = (at + before, at + old.len() - after);
        let new = &new[before..new.len() - after];
        let range = self.original(start)..self.original(end);
        if self.windows.is_empty() || !new.contains('\n') {
            return Splice { range, new: new.to_owned() };
        }
        let [first, next] = [start, end].map(|at| self.breaks.partition_point(|line_break| *line_break < at));
        let further = match self.breaks[first..next].last() {
            Some(last) => Some(last),
            None => self.breaks.get(next).or_else(|| self.breaks.last()),
        };
        let further = further.map_or("\n", |at| self.ending(*at));
        let mut own = self.breaks[first..next].iter().map(|at| self.ending(*at));
        let mut ended = String::with_capacity(new.len() + 16);
        for line in new.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                Some(line) => ended.extend([line, own.next().unwrap_or(further)]),
                None => ended.push_str(line),
            }
        }
        Splice { range, new: ended }
    }
}

/// Returns the length in bytes of the common beginning of two texts and, after that, of their common end.
fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new);
    let before = same.map(|(c, _)| c.len_utf8()).sum();
    let same = old[before..].chars().rev().zip(new[before..].chars().rev()).take_while(|(old, new)| old == new);
    (before, same.map(|(c, _)| c.len_utf8()).sum())
}

/// Returns the number of the line that contains a byte, starting at 1.
fn line_of(text: &str, at: usize) -> usize {
    memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
}

fn missing(path: &str, text: &str, old: &str) -> String {
    let path = quote_path(path);
    match nearest(text, old) {
        None => format!("`old_string` is not in {path}, and no similar lines were found. Read the file again."),
        Some(near) => {
            let hint = if near.differs_in_space { "\nThey differ from it in white space only." } else { "" };
            let shown = number_lines(&escape_controls(&near.text), near.line as u64 - 1);
            format!("`old_string` is not in {path}. The nearest lines are:\n{}{hint}", shown.trim_end_matches('\n'))
        }
    }
}

fn ambiguous(path: &str, text: &str, finder: &Finder<'_>) -> String {
    let count = occurrences(text, finder, 1).count();
    let mut message = format!(
        "`old_string` occurs in {} {}. Include more of the lines around the intended one, or set `replace_all`:",
        quote_path(path),
        format_count(count, "time"),
    );
    for at in occurrences(text, finder, 1).take(MAX_LISTED) {
        let start = memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or("");
        let line = escape_controls(line);
        message.push_str(&format!("\n{:>6}\t{}", line_of(text, at), super::nearest::shorten_line(&line)));
    }
    if count > MAX_LISTED {
        message.push_str(&format!("\n… and {} more", thousands(count - MAX_LISTED)));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize, usize), String> {
        let edited = TextEdit { old, new, all }.apply("a.txt", text).map_err(|error| error.to_string())?;
        let mut after = text.to_owned();
        for splice in edited.splices.iter().rev() {
            after.replace_range(splice.range.clone(), &splice.new);
        }
        Ok((after, edited.splices.len(), edited.line))
    }

    #[test]
    fn replaces_one_occurrence_or_all() {
        assert_eq!(edit("one\ntwo\n", "two", "three", false), Ok(("one\nthree\n".into(), 1, 2)));
        assert_eq!(edit("a a a", "a", "bb", true), Ok(("bb bb bb".into(), 3, 1)));
        assert_eq!(edit("aaa", "aa", "b", true), Ok(("ba".into(), 1, 1)));
        assert_eq!(edit("x", "x", "", false), Ok((String::new(), 1, 1)));
        assert_eq!(edit("é-è", "-", "—", false), Ok(("é—è".into(), 1, 1)));
    }

    #[test]
    fn counts_overlapping_occurrences() {
        for (text, old, count) in [("aaa", "aa", 2), ("aaaaa", "aa", 4), ("x\n\n\ny", "\n\n", 2), ("ééé", "éé", 2)]
        {
            let error = edit(text, old, "b", false).unwrap_err();
            assert!(error.contains(&format!("occurs in `a.txt` {count} times")), "{error}");
        }
        assert_eq!(edit("aab", "aa", "b", false), Ok(("bb".into(), 1, 1)));
    }

    #[test]
    fn keeps_the_line_breaks_of_the_file() {
        assert_eq!(edit("a\r\nb\r\nc\r\n", "a\nb", "x\ny", false).unwrap().0, "x\r\ny\r\nc\r\n");
        assert_eq!(edit("a\r\nb\r\n", "b", "x\ny", false).unwrap().0, "a\r\nx\r\ny\r\n");
        assert_eq!(edit("a\nb\n", "a\r\nb", "x\r\ny", false).unwrap().0, "x\ny\n");
        assert_eq!(edit("a\r\nb", "b", "b\n", false).unwrap().0, "a\r\nb\r\n");
        assert_eq!(edit("one\r\ntwo\r\n", "e\n", "", false).unwrap().0, "ontwo\r\n");
        assert_eq!(edit("a\r\n\r\nb", "\n\n", "\n", false).unwrap().0, "a\r\nb");
    }

    /// In a file with mixed line breaks, a string matches regardless of them, and each occurrence keeps its own.
    #[test]
    fn matches_mixed_line_breaks_alike() {
        let (windows, plain) = ("a\r\nb\r\n", "a\nb\n");
        for text in [format!("{windows}-\r\n{windows}-\r\n{plain}"), format!("{plain}-\n{plain}-\n{windows}")] {
            assert!(edit(&text, "a\nb", "x", false).unwrap_err().contains("3 times"));
            let (after, count, line) = edit(&text, "a\nb", "Z\nZ\nZ", true).unwrap();
            assert_eq!((count, line), (3, 1));
            assert_eq!(after, text.replace("a\r\nb", "Z\r\nZ\r\nZ").replace("a\nb", "Z\nZ\nZ"));
        }
        assert_eq!(edit("a\r\nb\nc\nd\n", "a\nb", "z\ny", false).unwrap().0, "z\r\ny\nc\nd\n");
        assert_eq!(edit("a\nb\r\nc\r\n", "a\nb\nc", "x\ny\nz\nw", false).unwrap().0, "x\ny\r\nz\r\nw\r\n");
        assert_eq!(edit("a\nb\r\nc", "c", "c\nd\n", false).unwrap().0, "a\nb\r\nc\r\nd\r\n");
        assert_eq!(edit("a\nb\r\nc\n", "a\n", "", false).unwrap().0, "b\r\nc\n");
    }

    /// With all line breaks normalized to `\n`, the result equals a plain replacement. No `\r` is lost or added elsewhere.
    #[test]
    fn random_edits_equal_plain_replacements() {
        let mut random = 1_u64;
        let mut below = |end: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % end
        };
        for _ in 0..20_000 {
            let mut some = |most: usize, breaks: &[&str]| -> String {
                (0..below(most)).map(|_| ["a", "b", "é", breaks[below(breaks.len())]][below(4)]).collect()
            };
            let (text, old, new) = (some(30, &["\n", "\r\n"]), some(4, &["\n"]), some(5, &["\n"]));
            let plain = text.replace("\r\n", "\n");
            match edit(&text, &old, &new, true) {
                Ok((after, count, _)) => {
                    assert_eq!(after.replace("\r\n", "\n"), plain.replace(&old, &new), "{text:?} {old:?} {new:?}");
                    assert!(!after.replace("\r\n", "\n").contains('\r'), "{text:?} {old:?} {new:?}");
                    assert_eq!(count, plain.matches(&old).count());
                    let breaks = |text: &str| text.matches("\r\n").count();
                    let same_breaks = old.matches('\n').count() == new.matches('\n').count();
                    assert!(!same_breaks || breaks(&after) == breaks(&text), "{text:?} {old:?} {new:?} {after:?}");
                }
                Err(_) => assert!(old.is_empty() || old == new || !plain.contains(&old), "{text:?} {old:?} {new:?}"),
            }
        }
    }

    /// Only the difference is replaced, so that invalid bytes around it are kept.
    #[test]
    fn does_not_replace_common_parts() {
        let edited = TextEdit { old: "bad \u{fffd} byte", new: "good \u{fffd} byte", all: false };
        let edited = edited.apply("a", "a bad \u{fffd} byte").unwrap();
        assert_eq!(edited.splices, [Splice { range: 2..4, new: "goo".to_owned() }]);
        assert_eq!(common_ends("aa", "aaa"), (2, 0));
        assert_eq!(common_ends("é1ü", "é2ü"), (2, 2));
    }

    /// A model writes control characters as it was shown them.
    #[test]
    fn accepts_escaped_control_characters() {
        let text = "\x1b[31mERROR\x1b[0m bad\rworse\n";
        let (old, new) = (r"\u{1b}[31mERROR\u{1b}[0m bad\r", r"\u{1b}[32mOK\u{1b}[0m good\r");
        assert_eq!(edit(text, old, new, false).unwrap().0, "\x1b[32mOK\x1b[0m good\rworse\n");
        assert_eq!(edit(r"print(\u{1b})", r"\u{1b}", r"\u{1c}", false).unwrap().0, r"print(\u{1c})");
        // The two lines look the same to a model.
        let both = "red = \"\x1b[31m\"\nred = \"\\u{1b}[31m\"\nend";
        for all in [false, true] {
            let error = edit(both, r"\u{1b}[31m", "x", all).unwrap_err();
            assert!(error.contains("both literally and with the control characters"), "{error}");
        }
        let (written, raw) = ("\\u{1b}[31m\"\nend", "\\u{1b}[31m\"\nred");
        assert_eq!(edit(both, written, "\"\nend", false).unwrap().0, both.replace("\\u{1b}[31m", ""));
        assert_eq!(edit(both, raw, "\"\nred", false).unwrap().0, both.replace("\x1b[31m", ""));
        let error = edit(text, "\x1b[31mERROR\x1b[0m bad worse", "x", false).unwrap_err();
        assert!(error.contains(r"\u{1b}[31mERROR\u{1b}[0m bad\rworse"), "{error}");
    }

    #[test]
    fn lists_the_occurrences_of_an_ambiguous_string() {
        let error = edit("let a = 1;\nlet b = 2;\nlet a = 1;\n", "a = 1", "a = 2", false).unwrap_err();
        assert!(error.contains("2 times"), "{error}");
        assert!(error.contains("     1\tlet a = 1;\n     3\tlet a = 1;"), "{error}");
        let error = edit(&"x\n".repeat(10), "x", "y", false).unwrap_err();
        assert!(error.ends_with("… and 5 more"), "{error}");
    }

    #[test]
    fn shows_the_nearest_lines_if_the_string_is_missing() {
        let text = "fn main() {\n    let total = sum(&numbers);\n    println!(\"{total}\");\n}\n";
        let error = edit(text, "fn main() {\n  let total = sum(&numbers);", "", false).unwrap_err();
        assert!(error.contains("     1\tfn main() {\n     2\t    let total = sum(&numbers);"), "{error}");
        assert!(error.contains("white space only"), "{error}");
        let error = edit(text, "    let totals = sum(&number);", "", false).unwrap_err();
        assert!(error.contains("     2\t    let total = sum(&numbers);"), "{error}");
        assert!(!error.contains("white space"), "{error}");
        let error = edit(text, "@@@@", "", false).unwrap_err();
        assert!(error.contains("no similar lines"), "{error}");
    }

    #[test]
    fn rejects_an_edit_without_effect() {
        assert!(edit("a", "", "b", false).unwrap_err().contains("write_file"));
        assert!(edit("a", "a", "a", false).unwrap_err().contains("nothing would change"));
    }
}
