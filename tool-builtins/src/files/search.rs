//! The `search_files` tool: ripgrep's libraries over a confined walk.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_fs_ext::FollowSymlinks;
use cap_std::fs::{Dir, File};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use tool_runtime::display::{fold, thousands};
use tool_runtime::{CancellationToken, HandlerError};

use super::controls::escape_controls;
use super::errors::{FileResult, quote_path, retry};
use super::glob::Glob;
use super::line_breaks::FoldingReader;
use super::list::walk_notes;
use super::text::TextReader;
use super::walk::{DirectoryWalk, WalkEntry, WalkSummary, WalkVisitor, compare_paths};
use super::workspace::{Workspace, open_file};
use crate::count::format_count;

/// The maximum number of bytes shown of a line.
const MAX_SHOWN: usize = 400;
/// The maximum length of a line. Files with longer lines are left out.
const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;
/// The maximum memory for a compiled pattern.
const MAX_PATTERN_BYTES: usize = 10 * 1024 * 1024;
/// The number of characters of a pattern that an error repeats.
const MAX_REPEATED: usize = 200;

/// A search query.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileQuery<'a> {
    pub(super) pattern: &'a str,
    /// `true` to search for the pattern literally.
    pub(super) literal: bool,
    pub(super) ignore_case: bool,
    /// The number of lines to show before and after each match.
    pub(super) context: usize,
    /// The maximum number of matching lines to show.
    pub(super) limit: usize,
}

impl FileQuery<'_> {
    fn matcher(&self) -> FileResult<RegexMatcher> {
        let mut builder = RegexMatcherBuilder::new();
        builder.fixed_strings(self.literal).case_insensitive(self.ignore_case).multi_line(true);
        builder.size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
        if !self.spans_lines() {
            builder.line_terminator(Some(b'\n'));
        }
        builder.build(self.pattern).map_err(|error| {
            // The message of a syntax error repeats the whole pattern above its last line.
            let error = error.to_string();
            let is_long = fold(self.pattern, MAX_REPEATED).1 > 0;
            let reason = if is_long { error.lines().last().unwrap_or_default() } else { &error };
            HandlerError::retry(format!(
                "{} is not a valid regular expression; set `literal` to search for it literally. {reason}",
                quote_path(self.pattern)
            ))
        })
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .heap_limit(Some(MAX_LINE_BYTES))
            .bom_sniffing(false)
            .multi_line(self.spans_lines())
            .build()
    }

    /// Returns `true` if the pattern contains `\r`. Otherwise `\r\n` matches as `\n`, as in all text shown to the model.
    fn has_carriage_return(&self) -> bool {
        self.pattern.contains('\r') || (!self.literal && self.pattern.contains(r"\r"))
    }

    fn spans_lines(&self) -> bool {
        self.pattern.contains('\n') || (!self.literal && self.pattern.contains(r"\n"))
    }
}

/// The matches of one file.
#[derive(Debug)]
struct FileMatches {
    path: PathBuf,
    lines: Vec<MatchLine>,
    /// The number of matching lines, including those that are not kept.
    count: usize,
}

/// A line of the output.
#[derive(Debug)]
enum MatchLine {
    Match(u64, String),
    Context(u64, String),
    /// Lines are left out here.
    Gap,
}

/// Searches files on one thread, and collects the matches.
struct FileSearcher<'a> {
    start: &'a Path,
    workspace: &'a Workspace,
    glob: Option<&'a Glob>,
    matcher: RegexMatcher,
    searcher: Searcher,
    has_carriage_return: bool,
    limit: usize,
    cancelled: &'a CancellationToken,
    found: Vec<FileMatches>,
    kept: usize,
    tally: SearchTally,
}

/// The numbers of searched files and matches.
#[derive(Clone, Copy, Debug, Default)]
struct SearchTally {
    searched: usize,
    files: usize,
    lines: usize,
    /// Files that could not be read, or have several hard links.
    left_out: usize,
}

impl WalkVisitor for FileSearcher<'_> {
    fn visit(&mut self, directory: &Dir, found: WalkEntry) {
        let matches = |glob: &Glob| glob.matches(found.path.strip_prefix(self.start).unwrap_or(&found.path));
        if !found.kind.is_file() || !self.glob.is_none_or(matches) {
            return;
        }
        match open_file(directory, found.name(), FollowSymlinks::No) {
            Ok((file, metadata)) if metadata.is_file() && !self.workspace.rule.is_shared(&metadata) => {
                self.search(file, found.path);
            }
            _ => self.tally.left_out += 1,
        }
    }
}

impl FileSearcher<'_> {
    fn search(&mut self, file: File, path: PathBuf) {
        self.tally.searched += 1;
        let mut sink =
            MatchCollector { matcher: &self.matcher, limit: self.limit, lines: Vec::new(), count: 0, kept: 0 };
        let searched = match TextReader::new(CancellableFile { file, cancelled: self.cancelled }) {
            Ok(Ok(text)) if self.has_carriage_return => self.searcher.search_reader(&self.matcher, text, &mut sink),
            Ok(Ok(text)) => self.searcher.search_reader(&self.matcher, FoldingReader::new(text), &mut sink),
            // Binary files are not searched.
            Ok(Err(_)) => Ok(()),
            Err(error) => Err(error),
        };
        if searched.is_err() {
            self.tally.left_out += 1;
        }
        let MatchCollector { lines, count, kept, .. } = sink;
        if count == 0 {
            return;
        }
        self.tally.files += 1;
        self.tally.lines += count;
        self.kept += kept;
        self.found.push(FileMatches { path, lines, count: kept });
        if self.kept > self.limit.saturating_mul(2) {
            self.kept = prune(&mut self.found, self.limit);
        }
    }
}

/// Keeps only the first files, as many as are needed for the limit. Returns the number of their matches.
fn prune(found: &mut Vec<FileMatches>, limit: usize) -> usize {
    found.sort_unstable_by(|a, b| compare_paths(&a.path, &b.path));
    let mut kept = 0;
    let end = found.iter().position(|matches| {
        let is_enough = kept >= limit;
        kept += if is_enough { 0 } else { matches.count };
        is_enough
    });
    found.truncate(end.unwrap_or(found.len()));
    kept
}

/// A file that returns an error once the call is cancelled.
struct CancellableFile<'a> {
    file: File,
    cancelled: &'a CancellationToken,
}

impl Read for CancellableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancelled.is_cancelled() { Err(io::ErrorKind::TimedOut.into()) } else { self.file.read(buffer) }
    }
}

/// Keeps the first matches of a file and counts the others.
struct MatchCollector<'a> {
    matcher: &'a RegexMatcher,
    limit: usize,
    lines: Vec<MatchLine>,
    count: usize,
    kept: usize,
}

impl Sink for MatchCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let first = found.line_number().unwrap_or(0);
        for (line, number) in found.lines().zip(first..) {
            self.count += 1;
            if self.kept < self.limit {
                self.kept += 1;
                self.lines.push(MatchLine::Match(number, format_line(line, Some(self.matcher))));
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let is_wanted = self.kept < self.limit || matches!(context.kind(), SinkContextKind::After);
        if is_wanted && self.count == self.kept {
            let number = context.line_number().unwrap_or(0);
            self.lines.push(MatchLine::Context(number, format_line(context.bytes(), None)));
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.kept < self.limit {
            self.lines.push(MatchLine::Gap);
        }
        Ok(true)
    }
}

/// Formats a line without its line break. Of a long line, shows the part around the match.
fn format_line(line: &[u8], matcher: Option<&RegexMatcher>) -> String {
    let line = line.trim_ascii_end();
    if line.len() <= MAX_SHOWN {
        return escape_controls(&String::from_utf8_lossy(line)).into_owned();
    }
    let found = matcher.and_then(|matcher| matcher.find(line).ok().flatten()).map_or(0, |found| found.start());
    // Positions are moved to the next character boundary.
    let boundary = |at: usize| (at..line.len()).find(|at| line[*at] & 0b1100_0000 != 0b1000_0000).unwrap_or(line.len());
    let start = boundary(found.saturating_sub(MAX_SHOWN / 4));
    let end = boundary((start + MAX_SHOWN).min(line.len()));
    let part = String::from_utf8_lossy(&line[start..end]);
    let part = escape_controls(&part);
    format!("{}{part}{}", if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" })
}

/// Searches all files of a walk.
pub(super) fn search(walk: DirectoryWalk<'_>, query: FileQuery<'_>, glob: Option<&Glob>) -> FileResult<String> {
    let matcher = query.matcher()?;
    let (searches, walked) = walk.run(|| new_search(walk.workspace, walk.start, glob, query, &matcher, walk.cancelled));
    super::check_cancelled(walk.cancelled)?;
    Ok(results(walk.workspace, searches, query, walked))
}

/// Searches one file, even if it is ignored. Fails if it does not match `glob`.
pub(super) fn search_file(
    workspace: &Workspace,
    path: &str,
    query: FileQuery<'_>,
    glob: Option<&Glob>,
    cancelled: &CancellationToken,
) -> FileResult<String> {
    let matcher = query.matcher()?;
    let mut search = new_search(workspace, Path::new(""), None, query, &matcher, cancelled);
    let (file, _) = workspace.file(path)?;
    if glob.is_some_and(|glob| !glob.matches(&workspace.relative_to_base(path))) {
        let path = quote_path(path);
        return retry(format!(
            "{path} does not match `glob`; leave out `glob` to search this file, or pass a directory."
        ));
    }
    search.search(file, PathBuf::from(path));
    super::check_cancelled(cancelled)?;
    Ok(results(workspace, vec![search], query, WalkSummary::default()))
}

fn new_search<'a>(
    workspace: &'a Workspace,
    start: &'a Path,
    glob: Option<&'a Glob>,
    query: FileQuery<'_>,
    matcher: &RegexMatcher,
    cancelled: &'a CancellationToken,
) -> FileSearcher<'a> {
    FileSearcher {
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
        tally: SearchTally::default(),
    }
}

/// Merges and formats the matches of all threads.
fn results(
    workspace: &Workspace,
    searches: Vec<FileSearcher<'_>>,
    query: FileQuery<'_>,
    walked: WalkSummary,
) -> String {
    let mut tally = SearchTally::default();
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
        text.push_str(&workspace.display(&matches.path));
        text.push('\n');
        write(&mut text, &matches.lines, &mut left);
        text.push('\n');
    }
    text.push_str(&summary(tally, query, walked));
    text
}

fn write(text: &mut String, lines: &[MatchLine], left: &mut usize) {
    for line in lines {
        match line {
            MatchLine::Match(..) | MatchLine::Gap if *left == 0 => return,
            MatchLine::Match(number, line) => {
                *left -= 1;
                text.push_str(&format!("{number}: {line}\n"));
            }
            MatchLine::Context(number, line) => text.push_str(&format!("{number}- {line}\n")),
            MatchLine::Gap => text.push_str("--\n"),
        }
    }
}

fn summary(tally: SearchTally, query: FileQuery<'_>, walked: WalkSummary) -> String {
    let searched = format_count(tally.searched, "file");
    let mut parts = match tally.lines {
        0 => vec![format!("No line matches {} in {searched}.", quote_path(query.pattern))],
        lines => {
            vec![format!("{} in {} of {searched}.", format_count(lines, "matching line"), thousands(tally.files))]
        }
    };
    if tally.lines > query.limit {
        let first = thousands(query.limit);
        parts.push(format!("Showing the first {first}; narrow the search with `path` or `glob`, or raise `limit`."));
    }
    if tally.left_out > 0 {
        parts.push(format!("{} could not be searched.", format_count(tally.left_out, "file")));
    }
    parts.extend(walk_notes(walked));
    format!("[{}]", parts.join(" "))
}
