//! A unified diff, read.

use std::iter::Peekable;
use std::str::Lines;

use crate::files::failure::{Outcome, retry};

/// What a patch does to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FilePatch<'a> {
    /// The file as it is; nothing if it is to be created.
    pub(super) old: Option<&'a str>,
    /// The file as it shall be; nothing if it is to be deleted.
    pub(super) new: Option<&'a str>,
    pub(super) hunks: Vec<Hunk<'a>>,
}

/// Lines that change together, with lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk<'a> {
    pub(super) header: &'a str,
    /// The line of the old file where it begins, the first being 1.
    pub(super) start: usize,
    pub(super) lines: Vec<Line<'a>>,
}

/// A line of a hunk, without its break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) side: Side,
    pub(super) text: &'a str,
    /// Whether a line break follows; only the last line of a file may have none.
    pub(super) has_break: bool,
}

/// Which of the two files a line stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Old,
    New,
}

impl<'a> Hunk<'a> {
    /// The lines of the old file.
    pub(super) fn old(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.lines.iter().filter(|line| line.side != Side::New).map(|line| line.text)
    }
}

/// Reads a patch. Whatever stands before the first file, such as a message, is left alone.
pub(super) fn parse(patch: &str) -> Outcome<Vec<FilePatch<'_>>> {
    let mut lines = patch.lines().peekable();
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            files.push(git_header(names, &mut lines)?);
        } else if let Some(old) = line.strip_prefix("--- ")
            && let Some(new) = lines.next_if(|next| next.starts_with("+++ "))
        {
            let (old, new) = names(old, &new[4..])?;
            match files.last_mut() {
                // Its git header has said it already, and more: a deletion, or another name.
                Some(file) if file.hunks.is_empty() && follows_header(file, old, new) => {
                    (file.old, file.new) = (old, new);
                }
                _ if old.is_some() && new.is_some() && old != new => {
                    return retry(format!(
                        "`{line}` and its `+++` name two files. To change one, name it twice; to give it another name, \
                         write `rename from` and `rename to` under a `diff --git` line."
                    ));
                }
                _ => files.push(FilePatch { old, new, hunks: Vec::new() }),
            }
        } else if line.starts_with("@@") {
            let Some(file) = files.last_mut() else {
                return retry(format!("`{line}` stands before any `--- a/path` and `+++ b/path`."));
            };
            file.hunks.push(hunk(line, &mut lines)?);
        }
    }
    if files.is_empty() {
        return retry("This is no unified diff: it has no file, which begins with `--- a/path` and `+++ b/path`.");
    }
    files.iter().try_for_each(check_names)?;
    Ok(files)
}

fn follows_header(file: &FilePatch<'_>, old: Option<&str>, new: Option<&str>) -> bool {
    (old.is_none() || file.old.is_none() || file.old == old) && (new.is_none() || file.new.is_none() || file.new == new)
}

/// The lines that git writes before `---`, or in its place where no line changes.
fn git_header<'a>(both: &'a str, lines: &mut Peekable<Lines<'a>>) -> Outcome<FilePatch<'a>> {
    let (mut old, mut new) = same_name(both).map_or((None, None), |name| (Some(name), Some(name)));
    while let Some(line) =
        lines.next_if(|line| !["--- ", "@@", "diff --git "].iter().any(|next| line.starts_with(next)))
    {
        if line.starts_with("new file mode ") {
            old = None;
        } else if line.starts_with("deleted file mode ") {
            new = None;
        } else if let Some(name) = line.strip_prefix("rename from ") {
            old = Some(name);
        } else if let Some(name) = line.strip_prefix("rename to ") {
            new = Some(name);
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return retry("The patch changes a binary file; only text can be patched.");
        }
    }
    Ok(FilePatch { old, new, hunks: Vec::new() })
}

/// `a/name b/name` is one name, with spaces in it or without.
fn same_name(both: &str) -> Option<&str> {
    let half = both.len().checked_sub(1)? / 2;
    let (old, new) = (both.get(..half)?.strip_prefix("a/")?, both.get(half + 1..)?.strip_prefix("b/")?);
    (old == new).then_some(old)
}

/// The names behind `---` and `+++`. What git puts before them is no part of them.
fn names<'a>(old: &'a str, new: &'a str) -> Outcome<(Option<&'a str>, Option<&'a str>)> {
    // A time may stand behind a tab.
    let bare = |name: &'a str| name.split('\t').next().unwrap_or(name).trim_end();
    let (old, new) = (bare(old), bare(new));
    if old.starts_with('"') || new.starts_with('"') {
        return retry(format!(
            "The name {} is quoted; give it as it is.",
            if old.starts_with('"') { old } else { new }
        ));
    }
    let (none_old, none_new) = (old == "/dev/null", new == "/dev/null");
    let is_git = (none_old || old.starts_with("a/")) && (none_new || new.starts_with("b/"));
    let name = |name: &'a str, is_none: bool| match (is_none, is_git) {
        (true, _) => None,
        (false, true) => Some(&name[2..]),
        (false, false) => Some(name),
    };
    Ok((name(old, none_old), name(new, none_new)))
}

fn check_names(file: &FilePatch<'_>) -> Outcome<()> {
    match (file.old, file.new) {
        (None, None) => retry("A file of the patch has no name on either side."),
        (Some(old), Some(new)) if old == new && file.hunks.is_empty() => {
            retry(format!("The patch changes no line of `{old}`: it has no `@@` for it."))
        }
        _ => Ok(()),
    }
}

/// A hunk from its header on. The header's numbers must be right: they show whether the patch is whole.
fn hunk<'a>(header: &'a str, lines: &mut Peekable<Lines<'a>>) -> Outcome<Hunk<'a>> {
    let Some((old, new)) = ranges(header) else {
        return retry(format!("`{header}` is no header of a hunk; it is written `@@ -12,3 +12,4 @@`."));
    };
    let mut hunk = Hunk { header, start: old.0, lines: Vec::new() };
    let wanted = old.1.saturating_add(new.1);
    let mut taken = 0;
    while let Some(line) = lines.next_if(|line| is_body(line, taken < wanted)) {
        match side(line) {
            Some(side) => {
                taken += if side == Side::Both { 2 } else { 1 };
                hunk.lines.push(Line { side, text: line.get(1..).unwrap_or(""), has_break: true });
            }
            None => {
                if let Some(last) = hunk.lines.last_mut() {
                    last.has_break = false;
                }
            }
        }
    }
    let count = |other| hunk.lines.iter().filter(|line| line.side != other).count();
    if (count(Side::New), count(Side::Old)) != (old.1, new.1) {
        return retry(format!(
            "The hunk `{header}` has {} old and {} new lines, not {} and {}: write `@@ -{},{} +{},{} @@`, or complete it.",
            count(Side::New),
            count(Side::Old),
            old.1,
            new.1,
            old.0,
            count(Side::New),
            new.0,
            count(Side::Old),
        ));
    }
    Ok(hunk)
}

/// Whether a line belongs to a hunk, of which lines are wanting or none is. A line too many belongs to it as well, so
/// that it is counted and not lost.
fn is_body(line: &str, is_wanting: bool) -> bool {
    match line.as_bytes().first() {
        None => is_wanting,
        Some(b'\\' | b'+' | b' ') => true,
        // What follows the last hunk may begin with a dash as well: another file, or a signature.
        Some(b'-') => is_wanting || !(line.starts_with("--- ") || line.starts_with("-- ") || line == "--"),
        _ => false,
    }
}

fn side(line: &str) -> Option<Side> {
    match line.as_bytes().first() {
        Some(b'+') => Some(Side::New),
        Some(b'-') => Some(Side::Old),
        Some(b'\\') => None,
        // Editors take the space off an empty line.
        _ => Some(Side::Both),
    }
}

/// The start and the number of lines, of the old file and of the new one.
fn ranges(header: &str) -> Option<((usize, usize), (usize, usize))> {
    let (old, rest) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    Some((range(old)?, range(new)?))
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(patch: &str) -> Vec<(Option<&str>, Option<&str>, usize)> {
        parse(patch).unwrap().into_iter().map(|file| (file.old, file.new, file.hunks.len())).collect()
    }

    #[test]
    fn several_files_with_and_without_gits_headers() {
        let patch = "A message\n\ndiff --git a/one b/one\nindex 1..2 100644\n--- a/one\n+++ b/one\n@@ -1,2 +1,2 @@ fn\n a\n-b\n+c\n\
            --- two\t2024-01-01\n+++ two\n@@ -1 +1 @@\n-x\n+y\n@@ -9 +9,2 @@\n z\n+w\n\
            diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
            diff --git a/empty b/empty\nnew file mode 100644\nindex 0..e\n\
            diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n-- \n2.40\n";
        assert_eq!(
            shapes(patch),
            [
                (Some("one"), Some("one"), 1),
                (Some("two"), Some("two"), 2),
                (Some("gone"), None, 1),
                (None, Some("empty"), 0),
                (Some("from"), Some("to"), 0),
            ]
        );
    }

    #[test]
    fn lines_that_look_like_headers_belong_to_their_hunk() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n--- old\n+++ new\n\n";
        let files = parse(patch).unwrap();
        let lines: Vec<(Side, &str)> = files[0].hunks[0].lines.iter().map(|line| (line.side, line.text)).collect();
        assert_eq!(lines, [(Side::Both, "a"), (Side::Old, "-- old"), (Side::New, "++ new"), (Side::Both, "")]);
    }

    #[test]
    fn the_end_of_a_file_without_a_break() {
        let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        let breaks: Vec<bool> = parse(patch).unwrap()[0].hunks[0].lines.iter().map(|line| line.has_break).collect();
        assert_eq!(breaks, [false, true]);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_right() {
        let error = |patch: &str| parse(patch).unwrap_err().to_string();
        assert!(error("hello").contains("--- a/path"));
        assert!(error("--- a/x\n+++ b/x\n@@ ... @@\n a\n").contains("`@@ -12,3 +12,4 @@`"));
        let short = error("--- a/x\n+++ b/x\n@@ -3,5 +3,5 @@\n a\n-b\n+c\n");
        assert!(short.contains("has 2 old and 2 new lines, not 5 and 5: write `@@ -3,2 +3,2 @@`"), "{short}");
        let long = error("--- a/x\n+++ b/x\n@@ -3,1 +3,1 @@\n a\n-b\n+c\n");
        assert!(long.contains("write `@@ -3,2 +3,2 @@`"), "{long}");
        assert!(error("@@ -1 +1 @@\n-a\n+b\n").contains("stands before any"));
        assert!(error("--- a/x\n+++ b/x\n").contains("changes no line"));
        assert!(error("diff --git a/x b/x\nBinary files a/x and b/x differ\n").contains("binary"));
    }
}
