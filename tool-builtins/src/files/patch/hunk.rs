//! Hunks put into a text.

use super::parse::{Hunk, Side};
use crate::files::failure::{Outcome, quoted, retry};
use crate::files::nearest::nearest;
use crate::files::read::numbered;
use crate::files::text::line_ending;

/// The text with all hunks put in.
///
/// The lines around a change must stand in the text as the patch has them. Where they stand may differ from what the
/// patch says, if they stand in one place only.
pub(super) fn apply(path: &str, text: &str, hunks: &[Hunk<'_>]) -> Outcome<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ending = if text.is_empty() { "\n" } else { line_ending(text) };
    let mut patched = String::with_capacity(text.len() + text.len() / 8);
    let mut done = 0;
    // How much further down the hunk before stands than it says, which may be any number.
    let mut shift = 0_i128;
    for hunk in hunks {
        let at = place(path, text, &lines, done, shift, hunk)?;
        shift = at as i128 - stated(hunk) as i128;
        patched.extend(lines[done..at].iter().copied());
        done = at;
        for line in &hunk.lines {
            match line.side {
                // As it is in the file: its line break stays.
                Side::Both => {
                    end_line(&mut patched, ending);
                    patched.push_str(lines[done]);
                    done += 1;
                }
                Side::Old => done += 1,
                Side::New => {
                    end_line(&mut patched, ending);
                    patched.push_str(line.text.trim_end_matches('\r'));
                    patched.push_str(if line.has_break { ending } else { "" });
                }
            }
        }
    }
    if done < lines.len() {
        end_line(&mut patched, ending);
    }
    patched.extend(lines[done..].iter().copied());
    Ok(patched)
}

/// Nothing is put on the same line behind one that ended without a break.
fn end_line(text: &mut String, ending: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(ending);
    }
}

/// Where the header says that a hunk begins, the first line being 0. Of one without old lines it names the line before.
fn stated(hunk: &Hunk<'_>) -> usize {
    if hunk.old().next().is_none() { hunk.start } else { hunk.start.saturating_sub(1) }
}

/// Where a hunk belongs.
fn place(path: &str, text: &str, lines: &[&str], from: usize, shift: i128, hunk: &Hunk<'_>) -> Outcome<usize> {
    let old: Vec<&str> = hunk.old().map(|line| line.trim_end_matches('\r')).collect();
    let fits = |at: usize| {
        lines.get(at..).and_then(|rest| rest.get(..old.len())).is_some_and(|found| {
            found.iter().zip(&old).all(|(found, old)| found.trim_end_matches(['\r', '\n']) == *old)
        })
    };
    let expected = usize::try_from(stated(hunk) as i128 + shift).ok();
    if let Some(expected) = expected.filter(|at| *at >= from && fits(*at)) {
        return Ok(expected);
    }
    let mut places = (from..=lines.len().saturating_sub(old.len())).filter(|at| !old.is_empty() && fits(*at));
    match (places.next(), places.next()) {
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => retry(format!(
            "The hunk `{}` fits {} in several places, at lines {} and {} among others, and at none that it says. \
             Give more lines around the change.",
            hunk.header,
            quoted(path),
            one + 1,
            other + 1
        )),
        (None, _) => retry(misfit(path, text, lines.len(), hunk, &old)),
    }
}

fn misfit(path: &str, text: &str, count: usize, hunk: &Hunk<'_>, old: &[&str]) -> String {
    let path = quoted(path);
    if old.is_empty() {
        return format!("The hunk `{}` adds behind line {}, but {path} has {count}.", hunk.header, hunk.start);
    }
    let message = format!("The hunk `{}` does not fit: its old lines are not in {path}, in this order.", hunk.header);
    match nearest(text, &old.join("\n")) {
        None => format!("{message} Read the file again."),
        Some(near) => {
            let hint = if near.differs_in_space { "\nThey differ from it in white space only." } else { "" };
            let shown = numbered(&near.text, near.line as u64 - 1);
            format!("{message} The nearest lines are:\n{}{hint}", shown.trim_end_matches('\n'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn patched(text: &str, hunks: &str) -> Result<String, String> {
        let patch = format!("--- a/x\n+++ b/x\n{hunks}");
        let files = parse(&patch).map_err(|error| error.to_string())?;
        apply("x", text, &files[0].hunks).map_err(|error| error.to_string())
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
}
