//! Hunks put into a text.

use super::parse::{Hunk, Line, Side};
use crate::files::controls::{read_controls, show_controls};
use crate::files::failure::{Outcome, quoted, retry};
use crate::files::nearest::nearest;
use crate::files::read::numbered;
use crate::files::text::{Splice, line_ending};

/// The degree to which the old lines of a hunk match the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// With control characters as they are shown to a model, which writes new ones in the same way.
    Shown,
    /// But for line breaks and a byte order mark, which the patch was written without regard to. New lines end as the
    /// lines around them.
    Loose,
    /// Byte by byte. New lines are put in so as well.
    Exact,
}

/// Works out what all hunks change in a text.
///
/// The lines around a change must stand in the text as the patch has them. Where they stand may differ from what the
/// patch says, if they stand in one place only.
pub(super) fn apply(path: &str, text: &str, hunks: &[Hunk<'_>]) -> Outcome<Vec<Splice>> {
    let target = Target::new(text);
    let mut changes = Changes { target: &target, runs: Vec::new() };
    let mut done = 0;
    // How much further down the hunk before stands than it says, which may be any number.
    let mut shift = 0_i128;
    for hunk in hunks {
        let (at, fit) = target.place(path, done, shift, hunk)?;
        shift = at as i128 - stated(hunk) as i128;
        done = at;
        for line in &hunk.lines {
            match line.side {
                Side::Both => done += 1,
                Side::Old => {
                    changes.remove(done, fit);
                    done += 1;
                }
                Side::New => changes.add(done, line, fit),
            }
        }
    }
    Ok(changes.finish())
}

/// The text that is patched.
struct Target<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    /// Indices at which the lines begin, and the end of the last.
    starts: Vec<usize>,
    ending: &'static str,
}

impl<'a> Target<'a> {
    fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut starts = vec![0];
        starts.extend(lines.iter().scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        }));
        Self { text, lines, starts, ending: line_ending(text) }
    }

    /// Finds the place of a hunk: the line it states, or the only one where it fits. Better matches take precedence.
    fn place(&self, path: &str, from: usize, shift: i128, hunk: &Hunk<'_>) -> Outcome<(usize, Fit)> {
        let old: Vec<Line<'_>> = hunk.old().collect();
        // Without a line break among the old lines nothing shows whether the patch regards them.
        let regards_breaks = self.ending == "\n"
            || old.iter().any(|line| line.has_break)
            || hunk.lines.iter().any(|line| line.text.ends_with('\r'));
        let best = if regards_breaks { Fit::Exact } else { Fit::Loose };
        let expected = usize::try_from(stated(hunk) as i128 + shift).ok().filter(|at| *at >= from);
        if old.is_empty() {
            return match expected.filter(|at| *at <= self.lines.len()) {
                Some(at) => Ok((at, best)),
                None => retry(format!(
                    "The hunk `{}` adds behind line {}, but {} has {}.",
                    hunk.header,
                    hunk.start,
                    quoted(path),
                    self.lines.len()
                )),
            };
        }
        let last = self.lines.len().checked_sub(old.len());
        let mut several = None;
        for fit in [Fit::Exact, Fit::Loose, Fit::Shown] {
            let fits = |at: &usize| self.fits(*at, &old, fit);
            if let Some(at) = expected.filter(fits) {
                return Ok((at, fit.min(best)));
            }
            let mut places = last.into_iter().flat_map(|last| from..=last).filter(fits);
            match (places.next(), places.next()) {
                (Some(at), None) => return Ok((at, fit.min(best))),
                (Some(one), Some(other)) => several = several.or(Some((one + 1, other + 1))),
                (None, _) => {}
            }
        }
        match several {
            Some((one, other)) => retry(format!(
                "The hunk `{}` fits {} in several places, at lines {one} and {other} among others, and at none that it \
                 says. Give more lines around the change.",
                hunk.header,
                quoted(path),
            )),
            None => retry(self.misfit(path, hunk)),
        }
    }

    fn fits(&self, at: usize, old: &[Line<'_>], fit: Fit) -> bool {
        let Some(found) = self.lines.get(at..).and_then(|rest| rest.get(..old.len())) else { return false };
        let same = |found: &str, old: &Line<'_>| match (fit, found.strip_suffix('\n')) {
            (Fit::Exact, Some(found)) => old.has_break && found == old.text,
            (Fit::Exact, None) => !old.has_break && found == old.text,
            (Fit::Loose, _) => loosely(found) == loosely(old.text),
            (Fit::Shown, _) => show_controls(loosely(found)) == loosely(old.text),
        };
        found.iter().zip(old).all(|(found, old)| same(found, old))
    }

    fn misfit(&self, path: &str, hunk: &Hunk<'_>) -> String {
        let old: Vec<&str> = hunk.old().map(|line| line.text).collect();
        let (path, header) = (quoted(path), hunk.header);
        let message = format!("The hunk `{header}` does not fit: its old lines are not in {path}, in this order.");
        match nearest(self.text, &old.join("\n")) {
            None => format!("{message} Read the file again."),
            Some(near) => {
                let hint = if near.differs_in_space { "\nThey differ from it in white space only." } else { "" };
                let shown = numbered(&show_controls(&near.text), near.line as u64 - 1);
                format!("{message} The nearest lines are:\n{}{hint}", shown.trim_end_matches('\n'))
            }
        }
    }

    /// Returns the line break of the line before, or of this one.
    fn ending_at(&self, line: usize) -> &'static str {
        let ending = |line: &&str| match line.ends_with("\r\n") {
            true => Some("\r\n"),
            false => line.ends_with('\n').then_some("\n"),
        };
        let before = line.checked_sub(1).and_then(|before| self.lines.get(before)).and_then(ending);
        before.or_else(|| self.lines.get(line).and_then(ending)).unwrap_or(self.ending)
    }
}

/// A line without what a model does not see of it: its break, and a byte order mark.
fn loosely(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n']).trim_start_matches('\u{feff}')
}

/// Where the header says that a hunk begins, the first line being 0. Of one without old lines it names the line before.
fn stated(hunk: &Hunk<'_>) -> usize {
    if hunk.old().next().is_none() { hunk.start } else { hunk.start.saturating_sub(1) }
}

/// The changes so far, in the order of the text.
struct Changes<'a> {
    target: &'a Target<'a>,
    /// Each change, and how its hunk fits.
    runs: Vec<(Splice, Fit)>,
}

impl Changes<'_> {
    fn remove(&mut self, line: usize, fit: Fit) {
        let end = self.target.starts[line + 1];
        self.at(line, fit).range.end = end;
    }

    fn add(&mut self, line: usize, new: &Line<'_>, fit: Fit) {
        let target = self.target;
        let around = target.ending_at(line);
        let splice = self.at(line, fit);
        // Nothing is put on the same line behind one that ended without a break.
        let before = if splice.new.is_empty() { &target.text[..splice.range.start] } else { &splice.new };
        if !before.ends_with('\n') && !loosely(before).is_empty() {
            splice.new.push_str(around);
        }
        let plain = new.text.trim_end_matches('\r');
        match fit {
            Fit::Exact => splice.new.push_str(new.text),
            Fit::Loose => splice.new.push_str(plain),
            Fit::Shown => splice.new.push_str(read_controls(plain).as_deref().unwrap_or(plain)),
        }
        if new.has_break {
            splice.new.push_str(if fit == Fit::Exact { "\n" } else { around });
        }
    }

    /// The change that goes on at the beginning of a line.
    fn at(&mut self, line: usize, fit: Fit) -> &mut Splice {
        let start = self.target.starts[line];
        if self.runs.last().is_none_or(|(last, _)| last.range.end != start) {
            self.runs.push((Splice { range: start..start, new: String::new() }, fit));
        }
        let last = self.runs.len() - 1;
        let (splice, worst) = &mut self.runs[last];
        *worst = fit.min(*worst);
        splice
    }

    fn finish(self) -> Vec<Splice> {
        let text = self.target.text;
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let finish = |(mut splice, fit): (Splice, Fit)| {
            // A byte order mark of which the patch knows nothing stays where it is.
            if fit != Fit::Exact && splice.range.start == 0 {
                splice.range = mark..splice.range.end.max(mark);
                splice.new = splice.new.trim_start_matches('\u{feff}').to_owned();
            }
            if splice.range.end < text.len() && !splice.new.is_empty() && !splice.new.ends_with('\n') {
                splice.new.push_str(self.target.ending);
            }
            splice
        };
        self.runs.into_iter().map(finish).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn patched(text: &str, hunks: &str) -> Result<String, String> {
        let patch = format!("--- a/x\n+++ b/x\n{hunks}");
        let files = parse(&patch).map_err(|error| error.to_string())?;
        let splices = apply("x", text, &files[0].hunks).map_err(|error| error.to_string())?;
        let mut patched = text.to_owned();
        for splice in splices.into_iter().rev() {
            patched.replace_range(splice.range, &splice.new);
        }
        Ok(patched)
    }

    const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

    #[test]
    fn hunks_are_put_where_they_say() {
        let two = "@@ -2,2 +2,3 @@\n 2\n-3\n+three\n+3.5\n@@ -9,2 +10,1 @@\n-9\n 10\n";
        assert_eq!(patched(TEN, two).unwrap(), "1\n2\nthree\n3.5\n4\n5\n6\n7\n8\n10\n");
        assert_eq!(patched(TEN, "@@ -0,0 +1 @@\n+0\n").unwrap(), format!("0\n{TEN}"));
        assert_eq!(patched(TEN, "@@ -10,0 +11 @@\n+11\n").unwrap(), format!("{TEN}11\n"));
        assert_eq!(patched("", "@@ -0,0 +1,2 @@\n+a\n+b\n").unwrap(), "a\nb\n");
    }

    #[test]
    fn or_where_they_fit_if_that_is_one_place() {
        assert_eq!(patched(TEN, "@@ -1,2 +1,2 @@\n 7\n-8\n+eight\n").unwrap(), TEN.replace('8', "eight"));
        let error = patched("a\nb\na\nb\n", "@@ -9,2 +9,2 @@\n a\n-b\n+c\n").unwrap_err();
        assert!(error.contains("lines 1 and 3"), "{error}");
        // One that is moved moves those behind it.
        let moved = "x\ny\n".to_owned() + &"a\n".repeat(6);
        let hunks = "@@ -9,1 +9,1 @@\n-y\n+z\n@@ -12 +12 @@\n-a\n+b\n";
        assert_eq!(patched(&moved, hunks).unwrap(), "x\nz\na\na\nb\na\na\na\n");
    }

    #[test]
    fn or_not_at_all_with_the_nearest_lines() {
        let error = patched("fn main() {\n    run();\n}\n", "@@ -1,2 +1,2 @@\n fn main() {\n-  run();\n+  walk();\n");
        let error = error.unwrap_err();
        assert!(error.contains("     1\tfn main() {\n     2\t    run();") && error.contains("white space"), "{error}");
        let error = patched("a\n", "@@ -7,0 +8 @@\n+b\n").unwrap_err();
        assert!(error.contains("behind line 7, but `x` has 1"), "{error}");
    }

    /// The header is the model's own: whatever its numbers are, the lines decide.
    #[test]
    fn no_number_is_too_great() {
        for start in [usize::MAX, usize::MAX - 1, isize::MAX as usize + 1, isize::MAX as usize + 2] {
            let one = format!("@@ -{start},2 +1,2 @@\n 2\n-3\n+three\n");
            let two = format!("{one}@@ -{start} +1 @@\n-5\n+five\n");
            assert_eq!(patched(TEN, &one).unwrap(), TEN.replace('3', "three"), "{start}");
            assert_eq!(patched(TEN, &two).unwrap(), TEN.replace('3', "three").replace('5', "five"), "{start}");
            let error = patched(TEN, &format!("@@ -{start},0 +1 @@\n+x\n")).unwrap_err();
            assert!(error.contains(&format!("behind line {start}, but `x` has 10")), "{error}");
            // Lines that are only added stand where the header says, or nowhere.
            patched(TEN, &format!("{one}@@ -5,0 +6 @@\n+x\n")).unwrap_err();
        }
    }

    #[test]
    fn breaks_stay_those_of_the_file() {
        assert_eq!(patched("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n").unwrap(), "a\r\nc\r\n");
        let no_break = "\\ No newline at end of file\n";
        assert_eq!(patched("a\nb", &format!("@@ -1,2 +1,2 @@\n a\n-b\n{no_break}+c\n{no_break}")).unwrap(), "a\nc");
        assert_eq!(patched("a\nb", &format!("@@ -1,2 +1,3 @@\n a\n-b\n{no_break}+b\n+c\n")).unwrap(), "a\nb\nc\n");
        assert_eq!(patched("a\nb", "@@ -2 +2,2 @@\n b\n+c\n").unwrap(), "a\nb\nc\n");
    }

    /// A patch that has the breaks of the file is taken literally.
    #[test]
    fn breaks_that_change_are_changed() {
        assert_eq!(patched("1\r\n2\r\n", "@@ -1,2 +1,2 @@\n-1\r\n+1\n 2\r\n").unwrap(), "1\n2\r\n");
        assert_eq!(patched("1\n2\n", "@@ -1,2 +1,2 @@\n 1\n-2\n+2\r\n").unwrap(), "1\n2\r\n");
        assert_eq!(patched("", "@@ -0,0 +1,2 @@\n+a\r\n+b\r\n").unwrap(), "a\r\nb\r\n");
        assert_eq!(patched("a\r\nx\nb\r\n", "@@ -2 +2 @@\n-x\n+y\n").unwrap(), "a\r\ny\nb\r\n");
        assert_eq!(patched("a\r\n", "@@ -1,0 +2 @@\n+b\r\n").unwrap(), "a\r\nb\r\n");
        // Of two places that fit, the one that fits exactly is meant.
        assert_eq!(patched("x\n-\nx\r\n", "@@ -2 +2 @@\n-x\r\n+y\r\n").unwrap(), "x\n-\ny\r\n");
        // Whoever wrote this saw no breaks: new lines end as those around them.
        assert_eq!(patched("a\r\n", "@@ -1,0 +2 @@\n+b\n").unwrap(), "a\r\nb\r\n");
        assert_eq!(patched("a\nb\r\nc\r\n", "@@ -2,2 +2,2 @@\n-b\n+x\n c\n").unwrap(), "a\nx\r\nc\r\n");
        assert_eq!(patched("a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n").unwrap(), "a\nc\n");
        let no_break = "\\ No newline at end of file\n";
        assert_eq!(patched("a\r\nb", &format!("@@ -2 +2,2 @@\n-b\n{no_break}+b\n+c\n")).unwrap(), "a\r\nb\r\nc\r\n");
    }

    /// Escapes are read where the lines around them need it, and nowhere else.
    #[test]
    fn control_characters_may_be_escaped() {
        let text = "\x1b[31mred\nplain\nfn a() {}\n";
        let shown = "@@ -1,2 +1,2 @@\n \\u{1b}[31mred\n-plain\n+\\u{1b}[32mgreen\n";
        let source = "@@ -3 +3 @@\n-fn a() {}\n+const A: char = '\\u{1b}';\n";
        let expected = "\x1b[31mred\n\x1b[32mgreen\nconst A: char = '\\u{1b}';\n";
        assert_eq!(patched(text, &format!("{shown}{source}")).unwrap(), expected);
    }

    #[test]
    fn a_byte_order_mark_is_part_of_the_first_line_or_not_seen() {
        let marked = "\u{feff}one\ntwo\n";
        for (hunk, expected) in [
            ("@@ -1,2 +1,2 @@\n-\u{feff}one\n+\u{feff}eins\n two\n", "\u{feff}eins\ntwo\n"),
            ("@@ -1,2 +1,2 @@\n-one\n+eins\n two\n", "\u{feff}eins\ntwo\n"),
            ("@@ -1,2 +1,2 @@\n \u{feff}one\n-two\n+zwei\n", "\u{feff}one\nzwei\n"),
            ("@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n", "\u{feff}one\nzwei\n"),
            ("@@ -1,2 +1,3 @@\n+zero\n one\n two\n", "\u{feff}zero\none\ntwo\n"),
            ("@@ -1 +1 @@\n-\u{feff}one\n+one\n", "one\ntwo\n"),
            ("@@ -1,2 +1 @@\n-one\n two\n", "\u{feff}two\n"),
        ] {
            assert_eq!(patched(marked, hunk).unwrap(), expected, "{hunk}");
        }
        assert_eq!(patched("one\n", "@@ -1 +1 @@\n-one\n+\u{feff}one\n").unwrap(), "\u{feff}one\n");
    }
}
