//! Applying hunks to a text.

use super::parse::{Hunk, HunkLine, LineSide};
use crate::files::controls::{escape_controls, unescape_controls};
use crate::files::errors::{FileResult, quote_path, retry};
use crate::files::line_breaks::line_ending;
use crate::files::nearest::nearest;
use crate::files::read::number_lines;
use crate::files::text::Splice;

/// The closeness of a match between the old lines of a hunk and the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MatchQuality {
    /// After escaping control characters as shown to the model. New lines are unescaped accordingly.
    Shown,
    /// Ignoring line breaks and a byte order mark. New lines get the line breaks of the lines around them.
    Loose,
    /// Byte by byte. New lines are inserted unchanged.
    Exact,
}

/// Computes the splices for all hunks.
///
/// Context lines must match the text. Their position may differ from the header if they match at a single position.
pub(super) fn apply(path: &str, text: &str, hunks: &[Hunk<'_>]) -> FileResult<Vec<Splice>> {
    let target = PatchTarget::new(text);
    let mut builder = SpliceBuilder { target: &target, runs: Vec::new() };
    let mut done = 0;
    // The offset of the previous hunk from its stated position, which may be any number.
    let mut shift = 0_i128;
    for hunk in hunks {
        let (at, quality) = target.locate(path, done, shift, hunk)?;
        shift = at as i128 - stated_index(hunk) as i128;
        done = at;
        for line in &hunk.lines {
            match line.side {
                LineSide::Both => done += 1,
                LineSide::Old => {
                    builder.remove(done, quality);
                    done += 1;
                }
                LineSide::New => builder.add(done, line, quality),
            }
        }
    }
    Ok(builder.finish())
}

/// The text to be patched.
struct PatchTarget<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    /// The start positions of the lines, and the end of the last line.
    starts: Vec<usize>,
    ending: &'static str,
}

impl<'a> PatchTarget<'a> {
    fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut starts = vec![0];
        starts.extend(lines.iter().scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        }));
        Self { text, lines, starts, ending: line_ending(text) }
    }

    /// Finds the position of a hunk: the stated line, or else the only position where it matches. Closer matches win.
    fn locate(&self, path: &str, from: usize, shift: i128, hunk: &Hunk<'_>) -> FileResult<(usize, MatchQuality)> {
        let old: Vec<HunkLine<'_>> = hunk.old().collect();
        // Without a line break among the old lines, it is unknown whether the patch preserves `\r`.
        let preserves_breaks = self.ending == "\n"
            || old.iter().any(|line| line.has_break)
            || hunk.lines.iter().any(|line| line.text.ends_with('\r'));
        let best = if preserves_breaks { MatchQuality::Exact } else { MatchQuality::Loose };
        let expected = usize::try_from(stated_index(hunk) as i128 + shift).ok().filter(|at| *at >= from);
        if old.is_empty() {
            return match expected.filter(|at| *at <= self.lines.len()) {
                Some(at) => Ok((at, best)),
                None => retry(format!(
                    "The hunk {} adds after line {}, but {} has {}.",
                    quote_path(hunk.header),
                    hunk.start,
                    quote_path(path),
                    self.lines.len()
                )),
            };
        }
        let last = self.lines.len().checked_sub(old.len());
        let mut several = None;
        for quality in [MatchQuality::Exact, MatchQuality::Loose, MatchQuality::Shown] {
            let matches = |at: &usize| self.matches(*at, &old, quality);
            if let Some(at) = expected.filter(matches) {
                return Ok((at, quality.min(best)));
            }
            let mut positions = last.into_iter().flat_map(|last| from..=last).filter(matches);
            match (positions.next(), positions.next()) {
                (Some(at), None) => return Ok((at, quality.min(best))),
                (Some(one), Some(other)) => several = several.or(Some((one + 1, other + 1))),
                (None, _) => {}
            }
        }
        match several {
            Some((one, other)) => retry(format!(
                "The hunk {} matches {} in several places, such as lines {one} and {other}, but not at the stated line. \
                 Include more context lines.",
                quote_path(hunk.header),
                quote_path(path),
            )),
            None => retry(self.mismatch(path, hunk)),
        }
    }

    fn matches(&self, at: usize, old: &[HunkLine<'_>], quality: MatchQuality) -> bool {
        let Some(found) = self.lines.get(at..).and_then(|rest| rest.get(..old.len())) else { return false };
        let same = |found: &str, old: &HunkLine<'_>| match (quality, found.strip_suffix('\n')) {
            (MatchQuality::Exact, Some(found)) => old.has_break && found == old.text,
            (MatchQuality::Exact, None) => !old.has_break && found == old.text,
            (MatchQuality::Loose, _) => trim_invisible(found) == trim_invisible(old.text),
            (MatchQuality::Shown, _) => escape_controls(trim_invisible(found)) == trim_invisible(old.text),
        };
        found.iter().zip(old).all(|(found, old)| same(found, old))
    }

    fn mismatch(&self, path: &str, hunk: &Hunk<'_>) -> String {
        let old: Vec<&str> = hunk.old().map(|line| line.text).collect();
        let (path, header) = (quote_path(path), quote_path(hunk.header));
        let message = format!("The hunk {header} does not match: its old lines do not occur in {path} in this order.");
        match nearest(self.text, &old.join("\n")) {
            None => format!("{message} Read the file again."),
            Some(near) => {
                let hint = if near.differs_in_space { "\nThey differ from it in white space only." } else { "" };
                let shown = number_lines(&escape_controls(&near.text), near.line as u64 - 1);
                format!("{message} The nearest lines are:\n{}{hint}", shown.trim_end_matches('\n'))
            }
        }
    }

    /// Returns the line break of the previous line, or else of this one.
    fn ending_at(&self, line: usize) -> &'static str {
        let ending = |line: &&str| match line.ends_with("\r\n") {
            true => Some("\r\n"),
            false => line.ends_with('\n').then_some("\n"),
        };
        let before = line.checked_sub(1).and_then(|before| self.lines.get(before)).and_then(ending);
        before.or_else(|| self.lines.get(line).and_then(ending)).unwrap_or(self.ending)
    }
}

/// Removes what a model does not see of a line: its line break and a byte order mark.
fn trim_invisible(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n']).trim_start_matches('\u{feff}')
}

/// Returns the line index stated in the header, starting at 0. Without old lines, the header names the line before.
fn stated_index(hunk: &Hunk<'_>) -> usize {
    if hunk.old().next().is_none() { hunk.start } else { hunk.start.saturating_sub(1) }
}

/// Builds the splices in the order of the text.
struct SpliceBuilder<'a> {
    target: &'a PatchTarget<'a>,
    /// Each splice, and how closely its hunk matches.
    runs: Vec<(Splice, MatchQuality)>,
}

impl SpliceBuilder<'_> {
    fn remove(&mut self, line: usize, quality: MatchQuality) {
        let end = self.target.starts[line + 1];
        self.at(line, quality).range.end = end;
    }

    fn add(&mut self, line: usize, new: &HunkLine<'_>, quality: MatchQuality) {
        let target = self.target;
        let around = target.ending_at(line);
        let splice = self.at(line, quality);
        // A new line is not appended to a line without line break.
        let before = if splice.new.is_empty() { &target.text[..splice.range.start] } else { &splice.new };
        if !before.ends_with('\n') && !trim_invisible(before).is_empty() {
            splice.new.push_str(around);
        }
        let plain = new.text.trim_end_matches('\r');
        match quality {
            MatchQuality::Exact => splice.new.push_str(new.text),
            MatchQuality::Loose => splice.new.push_str(plain),
            MatchQuality::Shown => splice.new.push_str(unescape_controls(plain).as_deref().unwrap_or(plain)),
        }
        if new.has_break {
            splice.new.push_str(if quality == MatchQuality::Exact { "\n" } else { around });
        }
    }

    /// Returns the splice that covers or continues at the beginning of a line.
    fn at(&mut self, line: usize, quality: MatchQuality) -> &mut Splice {
        let start = self.target.starts[line];
        if self.runs.last().is_none_or(|(last, _)| last.range.end != start) {
            self.runs.push((Splice { range: start..start, new: String::new() }, quality));
        }
        let last = self.runs.len() - 1;
        let (splice, worst) = &mut self.runs[last];
        *worst = quality.min(*worst);
        splice
    }

    fn finish(self) -> Vec<Splice> {
        let text = self.target.text;
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let finish = |(mut splice, quality): (Splice, MatchQuality)| {
            // A byte order mark that the patch ignores is kept.
            if quality != MatchQuality::Exact && splice.range.start == 0 {
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
    fn applies_hunks_at_the_stated_lines() {
        let two = "@@ -2,2 +2,3 @@\n 2\n-3\n+three\n+3.5\n@@ -9,2 +10,1 @@\n-9\n 10\n";
        assert_eq!(patched(TEN, two).unwrap(), "1\n2\nthree\n3.5\n4\n5\n6\n7\n8\n10\n");
        assert_eq!(patched(TEN, "@@ -0,0 +1 @@\n+0\n").unwrap(), format!("0\n{TEN}"));
        assert_eq!(patched(TEN, "@@ -10,0 +11 @@\n+11\n").unwrap(), format!("{TEN}11\n"));
        assert_eq!(patched("", "@@ -0,0 +1,2 @@\n+a\n+b\n").unwrap(), "a\nb\n");
    }

    #[test]
    fn applies_a_hunk_elsewhere_if_it_matches_once() {
        assert_eq!(patched(TEN, "@@ -1,2 +1,2 @@\n 7\n-8\n+eight\n").unwrap(), TEN.replace('8', "eight"));
        let error = patched("a\nb\na\nb\n", "@@ -9,2 +9,2 @@\n a\n-b\n+c\n").unwrap_err();
        assert!(error.contains("lines 1 and 3"), "{error}");
        // A shifted hunk shifts the following ones.
        let moved = "x\ny\n".to_owned() + &"a\n".repeat(6);
        let hunks = "@@ -9,1 +9,1 @@\n-y\n+z\n@@ -12 +12 @@\n-a\n+b\n";
        assert_eq!(patched(&moved, hunks).unwrap(), "x\nz\na\na\nb\na\na\na\n");
    }

    #[test]
    fn shows_the_nearest_lines_if_a_hunk_does_not_match() {
        let error = patched("fn main() {\n    run();\n}\n", "@@ -1,2 +1,2 @@\n fn main() {\n-  run();\n+  walk();\n");
        let error = error.unwrap_err();
        assert!(error.contains("     1\tfn main() {\n     2\t    run();") && error.contains("white space"), "{error}");
        let error = patched("a\n", "@@ -7,0 +8 @@\n+b\n").unwrap_err();
        assert!(error.contains("after line 7, but `x` has 1"), "{error}");
    }

    /// The numbers of a header come from the model. Whatever they are, the lines decide.
    #[test]
    fn accepts_huge_line_numbers() {
        for start in [usize::MAX, usize::MAX - 1, isize::MAX as usize + 1, isize::MAX as usize + 2] {
            let one = format!("@@ -{start},2 +1,2 @@\n 2\n-3\n+three\n");
            let two = format!("{one}@@ -{start} +1 @@\n-5\n+five\n");
            assert_eq!(patched(TEN, &one).unwrap(), TEN.replace('3', "three"), "{start}");
            assert_eq!(patched(TEN, &two).unwrap(), TEN.replace('3', "three").replace('5', "five"), "{start}");
            let error = patched(TEN, &format!("@@ -{start},0 +1 @@\n+x\n")).unwrap_err();
            assert!(error.contains(&format!("after line {start}, but `x` has 10")), "{error}");
            // A hunk without old lines can only be placed by its header.
            patched(TEN, &format!("{one}@@ -5,0 +6 @@\n+x\n")).unwrap_err();
        }
    }

    #[test]
    fn keeps_the_line_breaks_of_the_file() {
        assert_eq!(patched("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n").unwrap(), "a\r\nc\r\n");
        let no_break = "\\ No newline at end of file\n";
        assert_eq!(patched("a\nb", &format!("@@ -1,2 +1,2 @@\n a\n-b\n{no_break}+c\n{no_break}")).unwrap(), "a\nc");
        assert_eq!(patched("a\nb", &format!("@@ -1,2 +1,3 @@\n a\n-b\n{no_break}+b\n+c\n")).unwrap(), "a\nb\nc\n");
        assert_eq!(patched("a\nb", "@@ -2 +2,2 @@\n b\n+c\n").unwrap(), "a\nb\nc\n");
    }

    /// A patch that preserves the line breaks of the file is taken literally.
    #[test]
    fn changes_line_breaks_if_the_patch_does() {
        assert_eq!(patched("1\r\n2\r\n", "@@ -1,2 +1,2 @@\n-1\r\n+1\n 2\r\n").unwrap(), "1\n2\r\n");
        assert_eq!(patched("1\n2\n", "@@ -1,2 +1,2 @@\n 1\n-2\n+2\r\n").unwrap(), "1\n2\r\n");
        assert_eq!(patched("", "@@ -0,0 +1,2 @@\n+a\r\n+b\r\n").unwrap(), "a\r\nb\r\n");
        assert_eq!(patched("a\r\nx\nb\r\n", "@@ -2 +2 @@\n-x\n+y\n").unwrap(), "a\r\ny\nb\r\n");
        assert_eq!(patched("a\r\n", "@@ -1,0 +2 @@\n+b\r\n").unwrap(), "a\r\nb\r\n");
        // An exact match takes precedence over a loose one.
        assert_eq!(patched("x\n-\nx\r\n", "@@ -2 +2 @@\n-x\r\n+y\r\n").unwrap(), "x\n-\ny\r\n");
        // These patches ignore line breaks: new lines get those of the lines around them.
        assert_eq!(patched("a\r\n", "@@ -1,0 +2 @@\n+b\n").unwrap(), "a\r\nb\r\n");
        assert_eq!(patched("a\nb\r\nc\r\n", "@@ -2,2 +2,2 @@\n-b\n+x\n c\n").unwrap(), "a\nx\r\nc\r\n");
        assert_eq!(patched("a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n").unwrap(), "a\nc\n");
        let no_break = "\\ No newline at end of file\n";
        assert_eq!(patched("a\r\nb", &format!("@@ -2 +2,2 @@\n-b\n{no_break}+b\n+c\n")).unwrap(), "a\r\nb\r\nc\r\n");
    }

    /// Escapes are decoded only where the context lines require it.
    #[test]
    fn accepts_escaped_control_characters() {
        let text = "\x1b[31mred\nplain\nfn a() {}\n";
        let shown = "@@ -1,2 +1,2 @@\n \\u{1b}[31mred\n-plain\n+\\u{1b}[32mgreen\n";
        let source = "@@ -3 +3 @@\n-fn a() {}\n+const A: char = '\\u{1b}';\n";
        let expected = "\x1b[31mred\n\x1b[32mgreen\nconst A: char = '\\u{1b}';\n";
        assert_eq!(patched(text, &format!("{shown}{source}")).unwrap(), expected);
    }

    #[test]
    fn keeps_a_byte_order_mark_that_the_patch_ignores() {
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
