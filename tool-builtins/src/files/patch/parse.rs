//! Parsing of unified diffs.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::SplitInclusive;

use tool_runtime::display::excerpt;

use crate::files::errors::{FileResult, quote_path, retry};

/// The part of a patch that concerns one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FilePatch<'a> {
    /// The path before, or `None` if the file is created.
    pub(super) old: Option<Cow<'a, str>>,
    /// The path after, or `None` if the file is deleted.
    pub(super) new: Option<Cow<'a, str>>,
    /// The relation of the two paths, if they differ.
    pub(super) relation: Option<PathRelation>,
    /// `true` if the patch makes the file executable, `false` if it removes that.
    pub(super) executable: Option<bool>,
    pub(super) hunks: Vec<Hunk<'a>>,
}

/// The relation of the two paths of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathRelation {
    Rename,
    Copy,
}

/// A block of changed lines with context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk<'a> {
    pub(super) header: &'a str,
    /// The first line in the old file, starting at 1.
    pub(super) start: usize,
    pub(super) lines: Vec<HunkLine<'a>>,
}

/// A line of a hunk, without `\n`. A `\r` before that is part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HunkLine<'a> {
    pub(super) side: LineSide,
    pub(super) text: &'a str,
    /// `true` if a line break follows. Only the last line of a file may lack it.
    pub(super) has_break: bool,
}

/// The version of the file that contains a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineSide {
    Both,
    Old,
    New,
}

impl<'a> Hunk<'a> {
    /// Returns the lines of the old file.
    pub(super) fn old(&self) -> impl Iterator<Item = HunkLine<'a>> + '_ {
        self.lines.iter().filter(|line| line.side != LineSide::New).copied()
    }
}

/// The lines of a patch, with their line breaks.
type PatchLines<'a> = Peekable<SplitInclusive<'a, char>>;

/// Removes the line break of a header line.
fn trim_break(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Parses a patch. Text before the first file, such as a commit message, is ignored.
pub(super) fn parse(patch: &str) -> FileResult<Vec<FilePatch<'_>>> {
    let mut lines = patch.split_inclusive('\n').peekable();
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    while let Some(line) = lines.next().map(trim_break) {
        if let Some(names) = line.strip_prefix("diff --git ") {
            files.push(git_header(names, &mut lines)?);
        } else if let Some(old) = line.strip_prefix("--- ")
            && let Some(new) = lines.next_if(|next| next.starts_with("+++ "))
        {
            let (old, new) = names(old, &trim_break(new)[4..])?;
            match files.last_mut() {
                // The Git header has already described this file.
                Some(file) if file.hunks.is_empty() && follows_header(file, &old, &new) => {
                    (file.old, file.new) = (old, new);
                }
                _ => files.push(FilePatch { old, new, ..FilePatch::default() }),
            }
        } else if line.starts_with("@@") {
            let Some(file) = files.last_mut() else {
                return retry(format!("{} comes before any `--- a/path` and `+++ b/path`.", quote_path(line)));
            };
            file.hunks.push(parse_hunk(line, &mut lines)?);
        }
    }
    if files.is_empty() {
        return retry("This is not a unified diff: files must begin with `--- a/path` and `+++ b/path`.");
    }
    files.iter().try_for_each(check_names)?;
    Ok(files)
}

fn follows_header(file: &FilePatch<'_>, old: &Option<Cow<'_, str>>, new: &Option<Cow<'_, str>>) -> bool {
    let is_compatible = |header: &Option<Cow<'_, str>>, name: &Option<Cow<'_, str>>| {
        header.is_none() || name.is_none() || header == name
    };
    is_compatible(&file.old, old) && is_compatible(&file.new, new)
}

/// Parses the lines that Git writes before `---`, or instead of it if no line changes.
fn git_header<'a>(both: &'a str, lines: &mut PatchLines<'a>) -> FileResult<FilePatch<'a>> {
    let name = same_name(both);
    let mut file = FilePatch { old: name.clone(), new: name, ..FilePatch::default() };
    while let Some(line) =
        lines.next_if(|line| !["--- ", "@@", "diff --git "].iter().any(|next| line.starts_with(next)))
    {
        let line = trim_break(line);
        let after = |key: &str| line.strip_prefix(key);
        if let Some(mode) = after("new file mode ") {
            file.old = None;
            file.executable = Some(is_executable(mode, both)?);
        } else if let Some(mode) = after("deleted file mode ") {
            file.new = None;
            is_executable(mode, both)?;
        } else if let Some(mode) = after("new mode ") {
            file.executable = Some(is_executable(mode, both)?);
        } else if let Some(mode) = after("old mode ").or_else(|| after("index ")?.split_once(' ').map(|(_, mode)| mode))
        {
            is_executable(mode, both)?;
        } else if let Some(name) = after("rename from ") {
            (file.old, file.relation) = (Some(unquoted(name)?), Some(PathRelation::Rename));
        } else if let Some(name) = after("rename to ") {
            (file.new, file.relation) = (Some(unquoted(name)?), Some(PathRelation::Rename));
        } else if let Some(name) = after("copy from ") {
            (file.old, file.relation) = (Some(unquoted(name)?), Some(PathRelation::Copy));
        } else if let Some(name) = after("copy to ") {
            (file.new, file.relation) = (Some(unquoted(name)?), Some(PathRelation::Copy));
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return retry("The patch changes a binary file; only text can be patched.");
        }
    }
    Ok(file)
}

/// Returns `true` if a file mode is executable. Fails for anything but a regular file.
fn is_executable(mode: &str, names: &str) -> FileResult<bool> {
    let kind = match u32::from_str_radix(mode.trim(), 8).map(|mode| (mode & 0o170_000, mode & 0o100 != 0)) {
        Ok((0o100_000, executable)) => return Ok(executable),
        Ok((0o120_000, _)) => "a symbolic link",
        Ok((0o160_000, _)) => "a submodule",
        _ => {
            let mode = quote_path(mode);
            return retry(format!("{mode} is not a valid file mode; expected `100644`, or `100755` if executable."));
        }
    };
    let (mode, names) = (excerpt(mode), excerpt(names));
    retry(format!(
        "The patch contains {kind}, mode {mode} under `diff --git {names}`; only regular files can be patched. Leave out \
         that part."
    ))
}

/// Parses `a/name b/name` if both names are the same. They may contain spaces.
fn same_name(both: &str) -> Option<Cow<'_, str>> {
    let half = both.len().checked_sub(1)? / 2;
    let [old, new] = [both.get(..half)?, both.get(half + 1..)?].map(unquoted);
    let (old, new) = (old.ok()?, new.ok()?);
    (old.strip_prefix("a/")? == new.strip_prefix("b/")?).then(|| without_side(old))
}

/// Removes the prefix `a/` or `b/`.
fn without_side(name: Cow<'_, str>) -> Cow<'_, str> {
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(&name[2..]),
        Cow::Owned(name) => Cow::Owned(name[2..].to_owned()),
    }
}

/// Parses a name as written by Git: quoted and escaped if it contains unusual characters.
fn unquoted(name: &str) -> FileResult<Cow<'_, str>> {
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else {
        return Ok(Cow::Borrowed(name));
    };
    match unescaped(inner.as_bytes()).and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(name) => Ok(Cow::Owned(name)),
        None => retry(format!("The name {} is quoted, but not in Git's format; pass it unquoted.", excerpt(name))),
    }
}

/// Decodes Git's escapes.
fn unescaped(escaped: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let [first, after @ ..] = rest {
        rest = after;
        bytes.push(match (*first, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                rest = after;
                (a - b'0') << 6 | (b - b'0') << 3 | (c - b'0')
            }
            (b'\\', [letter, after @ ..]) => {
                rest = after;
                match letter {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => *letter,
                    _ => return None,
                }
            }
            (b'\\' | b'"', _) => return None,
            (byte, _) => byte,
        });
    }
    Some(bytes)
}

/// The path of a file on one side of a change, or `None` for `/dev/null`.
type Name<'a> = Option<Cow<'a, str>>;

/// Parses the names after `---` and `+++`, without Git's prefixes.
fn names<'a>(old: &'a str, new: &'a str) -> FileResult<(Name<'a>, Name<'a>)> {
    // A timestamp may follow after a tab.
    let bare = |name: &'a str| unquoted(name.split('\t').next().unwrap_or(name).trim_end());
    let (old, new) = (bare(old)?, bare(new)?);
    let (none_old, none_new) = (old == "/dev/null", new == "/dev/null");
    let is_git = (none_old || old.starts_with("a/")) && (none_new || new.starts_with("b/"));
    let name = |name: Cow<'a, str>, is_none: bool| match (is_none, is_git) {
        (true, _) => None,
        (false, true) => Some(without_side(name)),
        (false, false) => Some(name),
    };
    Ok((name(old, none_old), name(new, none_new)))
}

fn check_names(file: &FilePatch<'_>) -> FileResult<()> {
    match (&file.old, &file.new) {
        (None, None) => retry("A file of the patch has no name on either side."),
        (Some(name), None) | (None, Some(name)) if file.relation.is_some() => retry(format!(
            "The patch renames or copies {}, but names only one file; include both `from` and `to`.",
            quote_path(name)
        )),
        (Some(old), Some(new)) if old != new && file.relation.is_none() => retry(format!(
            "One change names two files, {} and {}. Use the same name twice to change a file; to rename it, write \
             `rename from` and `rename to` under a `diff --git` line, or `copy from` and `copy to` to keep both.",
            quote_path(old),
            quote_path(new)
        )),
        (Some(old), Some(new)) if old == new && file.hunks.is_empty() && file.executable.is_none() => {
            retry(format!("The patch changes nothing in {}: it has no `@@` hunk.", quote_path(old)))
        }
        _ => Ok(()),
    }
}

/// Parses a hunk. The line counts of the header must be correct, because they show whether the patch is complete.
fn parse_hunk<'a>(header: &'a str, lines: &mut PatchLines<'a>) -> FileResult<Hunk<'a>> {
    let Some((old, new)) = ranges(header) else {
        return retry(format!("{} is not a valid hunk header; expected `@@ -12,3 +12,4 @@`.", quote_path(header)));
    };
    let mut hunk = Hunk { header, start: old.0, lines: Vec::new() };
    let wanted = old.1.saturating_add(new.1);
    let mut taken = 0;
    while let Some(line) = lines.next_if(|line| is_hunk_line(line, taken < wanted)) {
        match side(line) {
            Some(side) => {
                taken += if side == LineSide::Both { 2 } else { 1 };
                let line = line.strip_suffix('\n').unwrap_or(line);
                let text = if line == "\r" { line } else { line.get(1..).unwrap_or("") };
                hunk.lines.push(HunkLine { side, text, has_break: true });
            }
            None => {
                if let Some(last) = hunk.lines.last_mut() {
                    last.has_break = false;
                }
            }
        }
    }
    let count = |other| hunk.lines.iter().filter(|line| line.side != other).count();
    if (count(LineSide::New), count(LineSide::Old)) != (old.1, new.1) {
        return retry(format!(
            "The hunk {} has {} old and {} new lines, not {} and {}; write `@@ -{},{} +{},{} @@`, or complete it.",
            quote_path(header),
            count(LineSide::New),
            count(LineSide::Old),
            old.1,
            new.1,
            old.0,
            count(LineSide::New),
            new.0,
            count(LineSide::Old),
        ));
    }
    Ok(hunk)
}

/// Returns `true` if a line belongs to the hunk. `is_incomplete` says that the hunk lacks lines. Surplus lines belong to it
/// too, so that they are counted rather than lost.
fn is_hunk_line(line: &str, is_incomplete: bool) -> bool {
    match line.as_bytes().first() {
        _ if trim_break(line).is_empty() => is_incomplete,
        Some(b'\\' | b'+' | b' ') => true,
        // After the last hunk, a dash may also begin another file or a signature.
        Some(b'-') => {
            is_incomplete || !(line.starts_with("--- ") || line.starts_with("-- ") || trim_break(line) == "--")
        }
        _ => false,
    }
}

fn side(line: &str) -> Option<LineSide> {
    match line.as_bytes().first() {
        Some(b'+') => Some(LineSide::New),
        Some(b'-') => Some(LineSide::Old),
        Some(b'\\') => None,
        // Editors may strip the space of an empty line.
        _ => Some(LineSide::Both),
    }
}

/// Parses the start and the number of lines of the old and the new file.
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

    fn shapes(patch: &str) -> Vec<(Option<String>, Option<String>, usize)> {
        let files = parse(patch).unwrap().into_iter();
        files.map(|file| (file.old.map(Cow::into_owned), file.new.map(Cow::into_owned), file.hunks.len())).collect()
    }

    fn shape(old: &str, new: &str, hunks: usize) -> (Option<String>, Option<String>, usize) {
        let name = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        (name(old), name(new), hunks)
    }

    #[test]
    fn parses_several_files_with_and_without_git_headers() {
        let patch = "A message\n\ndiff --git a/one b/one\nindex 1..2 100644\n--- a/one\n+++ b/one\n@@ -1,2 +1,2 @@ fn\n a\n-b\n+c\n\
            --- two\t2024-01-01\n+++ two\n@@ -1 +1 @@\n-x\n+y\n@@ -9 +9,2 @@\n z\n+w\n\
            diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
            diff --git a/empty b/empty\nnew file mode 100644\nindex 0..e\n\
            diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n\
            diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-x\n+y\n-- \n2.40\n";
        let expected = [
            shape("one", "one", 1),
            shape("two", "two", 2),
            shape("gone", "", 1),
            shape("", "empty", 0),
            shape("from", "to", 0),
            shape("x", "y", 1),
        ];
        assert_eq!(shapes(patch), expected);
        assert_eq!(shapes(&patch.replace('\n', "\r\n")), expected);
        let relations: Vec<_> = parse(patch).unwrap().iter().map(|file| file.relation).collect();
        assert_eq!(relations, [None, None, None, None, Some(PathRelation::Rename), Some(PathRelation::Copy)]);
    }

    #[test]
    fn parses_names_quoted_by_git() {
        let patch = "diff --git \"a/gr\\303\\274n\\t\\\"\" \"b/gr\\303\\274n\\t\\\"\"\nold mode 100644\nnew mode 100755\n\
            diff --git \"a/\\303\\274\" b/u\nrename from \"\\303\\274\"\nrename to u\n\
            --- \"a/tab\\tname\"\n+++ \"b/tab\\tname\"\n@@ -1 +1 @@\n-x\n+y\n";
        let expected = [shape("grün\t\"", "grün\t\"", 0), shape("ü", "u", 0), shape("tab\tname", "tab\tname", 1)];
        assert_eq!(shapes(patch), expected);
        let error = parse("--- \"a/\\377\"\n+++ \"b/\\377\"\n").unwrap_err().to_string();
        assert!(error.contains("pass it unquoted"), "{error}");
    }

    #[test]
    fn accepts_modes_of_regular_files_only() {
        let header = |mode: &str| format!("diff --git a/x b/x\n{mode}\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n");
        for (mode, executable) in [
            ("new mode 100755", Some(true)),
            ("old mode 100755\nnew mode 100644", Some(false)),
            ("index 1..2 100755", None),
            ("index 1..2", None),
        ] {
            assert_eq!(parse(&header(mode)).unwrap()[0].executable, executable, "{mode}");
        }
        for mode in ["new file mode 120000", "deleted file mode 120000", "index 1..2 120000", "old mode 120000"] {
            let error = parse(&header(mode)).unwrap_err().to_string();
            assert!(error.contains("contains a symbolic link, mode 120000 under `diff --git a/x b/x`"), "{error}");
        }
        assert!(parse(&header("index 1..2 160000")).unwrap_err().to_string().contains("a submodule"));
        assert!(parse(&header("new mode rwx")).unwrap_err().to_string().contains("`rwx` is not a valid file mode"));
    }

    /// Without an explicit rename or copy, two names are an error.
    #[test]
    fn requires_an_explicit_rename_or_copy() {
        let hunk = "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-x\n+y\n";
        for patch in [
            hunk.to_owned(),
            format!("diff --git a/x b/y\n{hunk}"),
            format!("diff --git a/x b/y\nindex 1..2 100644\n{hunk}"),
        ] {
            let error = parse(&patch).unwrap_err().to_string();
            assert!(error.contains("names two files, `x` and `y`"), "{error}");
        }
        for line in ["rename from x", "rename to x", "copy from x", "copy to x"] {
            let error = parse(&format!("diff --git a/x b/y\n{line}\n")).unwrap_err().to_string();
            assert!(error.contains("renames or copies `x`, but names only one file"), "{error}");
        }
    }

    #[test]
    fn lines_that_look_like_headers_belong_to_their_hunk() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n--- old\n+++ new\n\n";
        let files = parse(patch).unwrap();
        let lines: Vec<(LineSide, &str)> = files[0].hunks[0].lines.iter().map(|line| (line.side, line.text)).collect();
        assert_eq!(
            lines,
            [(LineSide::Both, "a"), (LineSide::Old, "-- old"), (LineSide::New, "++ new"), (LineSide::Both, "")]
        );
    }

    #[test]
    fn parses_a_missing_line_break_at_the_end() {
        let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        let breaks: Vec<bool> = parse(patch).unwrap()[0].hunks[0].lines.iter().map(|line| line.has_break).collect();
        assert_eq!(breaks, [false, true]);
    }

    #[test]
    fn errors_show_the_expected_form() {
        let error = |patch: &str| parse(patch).unwrap_err().to_string();
        assert!(error("hello").contains("--- a/path"));
        assert!(error("--- a/x\n+++ b/x\n@@ ... @@\n a\n").contains("`@@ -12,3 +12,4 @@`"));
        let short = error("--- a/x\n+++ b/x\n@@ -3,5 +3,5 @@\n a\n-b\n+c\n");
        assert!(short.contains("has 2 old and 2 new lines, not 5 and 5; write `@@ -3,2 +3,2 @@`"), "{short}");
        let long = error("--- a/x\n+++ b/x\n@@ -3,1 +3,1 @@\n a\n-b\n+c\n");
        assert!(long.contains("write `@@ -3,2 +3,2 @@`"), "{long}");
        assert!(error("@@ -1 +1 @@\n-a\n+b\n").contains("comes before any"));
        assert!(error("--- a/x\n+++ b/x\n").contains("changes nothing"));
        assert!(error("diff --git a/x b/x\nBinary files a/x and b/x differ\n").contains("binary"));
    }
}
