//! The `list_files` tool.

use std::path::Path;

use cap_std::fs::{Dir, FileType};
use tool_runtime::display::thousands;

use super::errors::FileResult;
use super::file_rule::describe;
use super::glob::Glob;
use super::walk::{DirectoryWalk, WalkEntry, WalkSummary, WalkVisitor, compare_paths};
use crate::count::format_count;

/// Collects the matching entries. Keeps only the first ones in sort order.
struct FileListing<'a> {
    start: &'a Path,
    glob: Option<&'a Glob>,
    limit: usize,
    found: Vec<WalkEntry>,
    files: usize,
    directories: usize,
}

impl WalkVisitor for FileListing<'_> {
    fn visit(&mut self, _: &Dir, found: WalkEntry) {
        let matches = |glob: &Glob| glob.matches(found.path.strip_prefix(self.start).unwrap_or(&found.path));
        if !self.glob.is_none_or(matches) {
            return;
        }
        *(if found.kind.is_dir() { &mut self.directories } else { &mut self.files }) += 1;
        self.found.push(found);
        if self.found.len() >= self.limit.saturating_mul(4) {
            keep_first(&mut self.found, self.limit);
        }
    }
}

/// Keeps the first entries, unsorted, which is much cheaper than sorting all of them.
fn keep_first(found: &mut Vec<WalkEntry>, limit: usize) {
    if found.len() > limit {
        found.select_nth_unstable_by(limit, |a, b| compare_paths(&a.path, &b.path));
        found.truncate(limit);
    }
}

/// Lists the entries of a walk, sorted, with their sizes.
pub(super) fn list(walk: DirectoryWalk<'_>, glob: Option<&Glob>, limit: usize) -> FileResult<String> {
    let listing = || FileListing { start: walk.start, glob, limit, found: Vec::new(), files: 0, directories: 0 };
    let (listings, walked) = walk.run(listing);
    super::check_cancelled(walk.cancelled)?;
    let files = listings.iter().map(|listing| listing.files).sum();
    let directories = listings.iter().map(|listing| listing.directories).sum();
    let mut first: Vec<WalkEntry> = listings.into_iter().flat_map(|listing| listing.found).collect();
    keep_first(&mut first, limit);
    first.sort_unstable_by(|a, b| compare_paths(&a.path, &b.path));
    let mut text = String::new();
    for found in &first {
        text.push_str(&line(walk, &found.path, found.kind));
        text.push('\n');
    }
    text.push_str(&summary(files, directories, first.len(), glob.is_some() && !walk.recursive, walked));
    Ok(text)
}

/// Formats an entry: a file with its size, a directory with a slash, anything else with its type.
fn line(walk: DirectoryWalk<'_>, path: &Path, kind: FileType) -> String {
    let shown = walk.workspace.display(path);
    if kind.is_dir() {
        return format!("{shown}/");
    }
    if !kind.is_file() {
        return format!("{shown} ({})", describe(kind));
    }
    match walk.workspace.entry_metadata(path) {
        Ok(metadata) => format!("{shown} ({})", format_count(metadata.len(), "byte")),
        Err(_) => shown,
    }
}

fn summary(files: usize, directories: usize, shown: usize, may_be_deeper: bool, walked: WalkSummary) -> String {
    let mut parts = Vec::new();
    match (files, directories) {
        (0, 0) if may_be_deeper => {
            parts.push("Nothing was found; set `recursive` to search subdirectories.".to_owned());
        }
        (0, 0) => parts.push("Nothing was found.".to_owned()),
        (files, 0) => parts.push(format!("{}.", format_count(files, "file"))),
        (0, directories) => parts.push(format!("{}.", format_count(directories, "directory"))),
        (files, directories) => {
            parts.push(format!("{}, {}.", format_count(files, "file"), format_count(directories, "directory")))
        }
    }
    if shown < files + directories {
        let first = thousands(shown);
        parts.push(format!("Showing the first {first}; narrow the search with `path` or `glob`, or raise `limit`."));
    }
    parts.extend(walk_notes(walked));
    format!("[{}]", parts.join(" "))
}

/// Returns notes about what a walk did not cover.
pub(super) fn walk_notes(walked: WalkSummary) -> Vec<String> {
    let mut parts = Vec::new();
    if walked.unreadable > 0 {
        parts.push(format!("{} could not be read.", format_count(walked.unreadable, "directory")));
    }
    if walked.is_partial {
        parts.push("The limit of visited entries was reached; start further down with `path`.".to_owned());
    }
    parts
}
