//! `search_files`: ripgrep's libraries over a confined walk.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_fs_ext::FollowSymlinks;
use cap_std::fs::{Dir, File};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use tool_runtime::display::thousands;
use tool_runtime::{CancellationToken, HandlerError};

use super::controls::show_controls;
use super::failure::{Outcome, quoted, retry};
use super::glob::Glob;
use super::list::of_walk;
use super::text::TextReader;
use super::walk::{Found, Visitor, Walk, Walked, in_order};
use super::workspace::{Workspace, open_file};
use crate::count::counted;

/// As much of a line as is shown.
const MOST_SHOWN: usize = 400;
/// A file with a longer line is left out.
const MOST_LINE_BYTES: usize = 32 * 1024 * 1024;
/// The most that a pattern may take in memory.
const MOST_PATTERN_BYTES: usize = 10 * 1024 * 1024;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Query<'a> {
    pub(super) pattern: &'a str,
    /// Whether it is to stand there letter by letter.
    pub(super) literal: bool,
    pub(super) ignore_case: bool,
    /// How many lines to show before and after each.
    pub(super) context: usize,
    /// The most lines that are shown, context aside.
    pub(super) limit: usize,
}

impl Query<'_> {
    fn matcher(&self) -> Outcome<RegexMatcher> {
        let mut builder = RegexMatcherBuilder::new();
        builder.fixed_strings(self.literal).case_insensitive(self.ignore_case).multi_line(true);
        builder.size_limit(MOST_PATTERN_BYTES).dfa_size_limit(MOST_PATTERN_BYTES);
        if !self.spans_lines() {
            builder.line_terminator(Some(b'\n'));
        }
        builder.build(self.pattern).map_err(|error| {
            HandlerError::retry(format!(
                "{} is no regular expression that can be searched for; set `literal` to look for it as it stands. {error}",
                quoted(self.pattern)
            ))
        })
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .heap_limit(Some(MOST_LINE_BYTES))
            .bom_sniffing(false)
            .multi_line(self.spans_lines())
            .build()
    }

    /// Returns `true` if the pattern names `\r`. Otherwise `\r\n` is read as `\n`, as in everything the model is shown.
    fn has_carriage_return(&self) -> bool {
        self.pattern.contains('\r') || (!self.literal && self.pattern.contains(r"\r"))
    }

    fn spans_lines(&self) -> bool {
        self.pattern.contains('\n') || (!self.literal && self.pattern.contains(r"\n"))
    }
}

/// The matches of one file.
#[derive(Debug)]
struct Matches {
    path: PathBuf,
    lines: Vec<Line>,
    /// Lines that match, those that are not kept included.
    count: usize,
}

/// A line that is shown.
#[derive(Debug)]
enum Line {
    Match(u64, String),
    Context(u64, String),
    /// Lines are left out between the one before and the one after.
    Gap,
}

/// What one thread has found.
struct Search<'a> {
    start: &'a Path,
    workspace: &'a Workspace,
    glob: Option<&'a Glob>,
    matcher: RegexMatcher,
    searcher: Searcher,
    has_carriage_return: bool,
    limit: usize,
    cancelled: &'a CancellationToken,
    found: Vec<Matches>,
    kept: usize,
    tally: Tally,
}

/// How much was searched, and found.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    searched: usize,
    files: usize,
    lines: usize,
    /// Files that could not be read, or have other names.
    left_out: usize,
}

impl Visitor for Search<'_> {
    fn visit(&mut self, folder: &Dir, found: Found) {
        let fits = |glob: &Glob| glob.fits(found.path.strip_prefix(self.start).unwrap_or(&found.path));
        if !found.kind.is_file() || !self.glob.is_none_or(fits) {
            return;
        }
        match open_file(folder, found.name(), FollowSymlinks::No) {
            Ok((file, metadata)) if metadata.is_file() && !self.workspace.rule.is_shared(&metadata) => {
                self.search(file, found.path);
            }
            _ => self.tally.left_out += 1,
        }
    }
}

impl Search<'_> {
    fn search(&mut self, file: File, path: PathBuf) {
        self.tally.searched += 1;
        let mut sink = Collecting { matcher: &self.matcher, limit: self.limit, lines: Vec::new(), count: 0, kept: 0 };
        let searched = match TextReader::new(Stoppable { file, cancelled: self.cancelled }) {
            Ok(Ok(text)) if self.has_carriage_return => self.searcher.search_reader(&self.matcher, text, &mut sink),
            Ok(Ok(text)) => self.searcher.search_reader(&self.matcher, FoldBreaks::new(text), &mut sink),
            // A binary file has nothing to find.
            Ok(Err(_)) => Ok(()),
            Err(error) => Err(error),
        };
        if searched.is_err() {
            self.tally.left_out += 1;
        }
        let Collecting { lines, count, kept, .. } = sink;
        if count == 0 {
            return;
        }
        self.tally.files += 1;
        self.tally.lines += count;
        self.kept += kept;
        self.found.push(Matches { path, lines, count: kept });
        if self.kept > self.limit.saturating_mul(2) {
            self.kept = prune(&mut self.found, self.limit);
        }
    }
}

/// Keeps the first files, as many as are shown; how many matches they have.
fn prune(found: &mut Vec<Matches>, limit: usize) -> usize {
    found.sort_unstable_by(|a, b| in_order(&a.path, &b.path));
    let mut kept = 0;
    let end = found.iter().position(|matches| {
        let is_enough = kept >= limit;
        kept += if is_enough { 0 } else { matches.count };
        is_enough
    });
    found.truncate(end.unwrap_or(found.len()));
    kept
}

/// A file that ends in an error when the call is stopped.
struct Stoppable<'a> {
    file: File,
    cancelled: &'a CancellationToken,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancelled.is_cancelled() { Err(io::ErrorKind::TimedOut.into()) } else { self.file.read(buffer) }
    }
}

/// A reader that makes one `\n` of every `\r\n`.
struct FoldBreaks<R> {
    inner: R,
    /// `true` if the last byte read was `\r`, which is held back until the next one is known.
    holds_return: bool,
    /// Bytes read ahead for a buffer that was too small.
    left: VecDeque<u8>,
}

/// The shortest buffer that [`FoldBreaks`] reads into directly.
const LEAST_BUFFER: usize = 64;

impl<R: Read> FoldBreaks<R> {
    fn new(inner: R) -> Self {
        Self { inner, holds_return: false, left: VecDeque::new() }
    }

    fn fold_into(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let held = usize::from(self.holds_return);
            let length = self.inner.read(&mut buffer[held..])?;
            buffer[..held].fill(b'\r');
            self.holds_return = length > 0 && buffer[held + length - 1] == b'\r';
            let kept = fold(&mut buffer[..held + length - usize::from(self.holds_return)]);
            if kept > 0 || length == 0 {
                return Ok(kept);
            }
        }
    }
}

impl<R: Read> Read for FoldBreaks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() && buffer.len() >= LEAST_BUFFER {
            return self.fold_into(buffer);
        }
        if self.left.is_empty() {
            let mut chunk = [0; LEAST_BUFFER];
            let length = self.fold_into(&mut chunk)?;
            self.left.extend(&chunk[..length]);
        }
        self.left.read(buffer)
    }
}

/// Moves bytes together over every `\r` that a `\n` follows; how many are left.
fn fold(bytes: &mut [u8]) -> usize {
    let Some(first) = memchr::memchr(b'\r', bytes) else { return bytes.len() };
    let mut kept = first;
    for at in first..bytes.len() {
        if !bytes[at..].starts_with(b"\r\n") {
            bytes[kept] = bytes[at];
            kept += 1;
        }
    }
    kept
}

/// Keeps the first matches of a file and counts the others.
struct Collecting<'a> {
    matcher: &'a RegexMatcher,
    limit: usize,
    lines: Vec<Line>,
    count: usize,
    kept: usize,
}

impl Sink for Collecting<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let first = found.line_number().unwrap_or(0);
        for (line, number) in found.lines().zip(first..) {
            self.count += 1;
            if self.kept < self.limit {
                self.kept += 1;
                self.lines.push(Line::Match(number, shown(line, Some(self.matcher))));
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let is_wanted = self.kept < self.limit || matches!(context.kind(), SinkContextKind::After);
        if is_wanted && self.count == self.kept {
            let number = context.line_number().unwrap_or(0);
            self.lines.push(Line::Context(number, shown(context.bytes(), None)));
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.kept < self.limit {
            self.lines.push(Line::Gap);
        }
        Ok(true)
    }
}

/// A line without its break; of a long one the part around the match.
fn shown(line: &[u8], matcher: Option<&RegexMatcher>) -> String {
    let line = line.trim_ascii_end();
    if line.len() <= MOST_SHOWN {
        return show_controls(&String::from_utf8_lossy(line)).into_owned();
    }
    let found = matcher.and_then(|matcher| matcher.find(line).ok().flatten()).map_or(0, |found| found.start());
    // No character is cut.
    let whole = |at: usize| (at..line.len()).find(|at| line[*at] & 0b1100_0000 != 0b1000_0000).unwrap_or(line.len());
    let start = whole(found.saturating_sub(MOST_SHOWN / 4));
    let end = whole((start + MOST_SHOWN).min(line.len()));
    let part = String::from_utf8_lossy(&line[start..end]);
    let part = show_controls(&part);
    format!("{}{part}{}", if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" })
}

/// Searches everything that a walk finds.
pub(super) fn search(walk: Walk<'_>, query: Query<'_>, glob: Option<&Glob>) -> Outcome<String> {
    let matcher = query.matcher()?;
    let (searches, walked) = walk.run(|| new_search(walk.workspace, walk.start, glob, query, &matcher, walk.cancelled));
    super::stopped(walk.cancelled)?;
    Ok(results(walk.workspace, searches, query, walked))
}

/// Searches one file. Whoever names it wants it searched, ignored or not; a pattern that it does not fit contradicts
/// that.
pub(super) fn search_file(
    workspace: &Workspace,
    path: &str,
    query: Query<'_>,
    glob: Option<&Glob>,
    cancelled: &CancellationToken,
) -> Outcome<String> {
    let matcher = query.matcher()?;
    let mut search = new_search(workspace, Path::new(""), None, query, &matcher, cancelled);
    let (file, _) = workspace.file(path)?;
    if glob.is_some_and(|glob| !glob.fits(&workspace.relative_to_base(path))) {
        let path = quoted(path);
        return retry(format!("{path} does not fit `glob`: leave that out to search this file, or give a folder."));
    }
    search.search(file, PathBuf::from(path));
    super::stopped(cancelled)?;
    Ok(results(workspace, vec![search], query, Walked::default()))
}

fn new_search<'a>(
    workspace: &'a Workspace,
    start: &'a Path,
    glob: Option<&'a Glob>,
    query: Query<'_>,
    matcher: &RegexMatcher,
    cancelled: &'a CancellationToken,
) -> Search<'a> {
    Search {
        start,
        workspace,
        glob,
        matcher: matcher.clone(),
        searcher: query.searcher(),
        has_carriage_return: query.has_carriage_return(),
        limit: query.limit,
        cancelled,
        found: Vec::new(),
        kept: 0,
        tally: Tally::default(),
    }
}

/// What all threads have found, as the model reads it.
fn results(workspace: &Workspace, searches: Vec<Search<'_>>, query: Query<'_>, walked: Walked) -> String {
    let mut tally = Tally::default();
    let mut found = Vec::new();
    for search in searches {
        tally.searched += search.tally.searched;
        tally.files += search.tally.files;
        tally.lines += search.tally.lines;
        tally.left_out += search.tally.left_out;
        found.extend(search.found);
    }
    prune(&mut found, query.limit);
    let mut text = String::new();
    let mut left = query.limit;
    for matches in &found {
        text.push_str(&workspace.shown(&matches.path));
        text.push('\n');
        write(&mut text, &matches.lines, &mut left);
        text.push('\n');
    }
    text.push_str(&summary(tally, query, walked));
    text
}

fn write(text: &mut String, lines: &[Line], left: &mut usize) {
    for line in lines {
        match line {
            Line::Match(..) | Line::Gap if *left == 0 => return,
            Line::Match(number, line) => {
                *left -= 1;
                text.push_str(&format!("{number}: {line}\n"));
            }
            Line::Context(number, line) => text.push_str(&format!("{number}- {line}\n")),
            Line::Gap => text.push_str("--\n"),
        }
    }
}

fn summary(tally: Tally, query: Query<'_>, walked: Walked) -> String {
    let searched = counted(tally.searched, "file");
    let mut parts = match tally.lines {
        0 => vec![format!("No line matches {} in {searched}.", quoted(query.pattern))],
        lines => {
            vec![format!("{} in {} of {searched}.", counted(lines, "matching line"), thousands(tally.files))]
        }
    };
    if tally.lines > query.limit {
        let first = thousands(query.limit);
        parts.push(format!("The first {first} are shown; narrow it with `path` or `glob`, or raise `limit`."));
    }
    if tally.left_out > 0 {
        parts.push(format!("{} could not be searched.", counted(tally.left_out, "file")));
    }
    parts.extend(of_walk(walked));
    format!("[{}]", parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn line_breaks_are_folded_wherever_chunks_end() {
        for text in ["", "\r", "\r\n", "a\r\nb", "a\rb\r\n\r\n", "\r\r\n\r", "a\n\r\nb\r\r", "plain\n"] {
            for (given, taken) in [(1, 1), (2, 1), (1, 7), (3, 100), (64, 64), (100, 100)] {
                let mut folding = FoldBreaks::new(Slowly(text.as_bytes(), given));
                let (mut folded, mut buffer) = (Vec::new(), vec![0; taken]);
                loop {
                    match folding.read(&mut buffer).unwrap() {
                        0 => break,
                        length => folded.extend_from_slice(&buffer[..length]),
                    }
                }
                assert_eq!(String::from_utf8(folded).unwrap(), text.replace("\r\n", "\n"), "{given} {taken}");
            }
        }
    }
}
