//! `list_files`.

use std::path::Path;

use cap_std::fs::{Dir, FileType};
use tool_runtime::display::thousands;

use super::failure::Outcome;
use super::glob::Glob;
use super::kind::describe;
use super::walk::{Found, Visitor, Walk, Walked, in_order};
use crate::count::counted;

/// What is found, as far as it fits. Of all that, only the first are kept.
struct Listing<'a> {
    start: &'a Path,
    glob: Option<&'a Glob>,
    limit: usize,
    found: Vec<Found>,
    files: usize,
    folders: usize,
}

impl Visitor for Listing<'_> {
    fn visit(&mut self, _: &Dir, found: Found) {
        let fits = |glob: &Glob| glob.fits(found.path.strip_prefix(self.start).unwrap_or(&found.path));
        if !self.glob.is_none_or(fits) {
            return;
        }
        *(if found.kind.is_dir() { &mut self.folders } else { &mut self.files }) += 1;
        self.found.push(found);
        if self.found.len() >= self.limit.saturating_mul(4) {
            keep_first(&mut self.found, self.limit);
        }
    }
}

/// Leaves the first, in no order: that takes much less than to sort everything.
fn keep_first(found: &mut Vec<Found>, limit: usize) {
    if found.len() > limit {
        found.select_nth_unstable_by(limit, |a, b| in_order(&a.path, &b.path));
        found.truncate(limit);
    }
}

/// The files that a walk finds, sorted, with their sizes.
pub(super) fn list(walk: Walk<'_>, glob: Option<&Glob>, limit: usize) -> Outcome<String> {
    let listing = || Listing { start: walk.start, glob, limit, found: Vec::new(), files: 0, folders: 0 };
    let (listings, walked) = walk.run(listing);
    super::stopped(walk.cancelled)?;
    let files = listings.iter().map(|listing| listing.files).sum();
    let folders = listings.iter().map(|listing| listing.folders).sum();
    let mut first: Vec<Found> = listings.into_iter().flat_map(|listing| listing.found).collect();
    keep_first(&mut first, limit);
    first.sort_unstable_by(|a, b| in_order(&a.path, &b.path));
    let mut text = String::new();
    for found in &first {
        text.push_str(&line(walk, &found.path, found.kind));
        text.push('\n');
    }
    text.push_str(&summary(files, folders, first.len(), glob.is_some() && !walk.recursive, walked));
    Ok(text)
}

/// A file with its size, a folder with a slash, something else with what it is.
fn line(walk: Walk<'_>, path: &Path, kind: FileType) -> String {
    let shown = walk.workspace.shown(path);
    if kind.is_dir() {
        return format!("{shown}/");
    }
    if !kind.is_file() {
        return format!("{shown} ({})", describe(kind));
    }
    match walk.workspace.metadata_met(path) {
        Ok(metadata) => format!("{shown} ({})", counted(metadata.len(), "byte")),
        Err(_) => shown,
    }
}

fn summary(files: usize, folders: usize, shown: usize, may_be_deeper: bool, walked: Walked) -> String {
    let mut parts = Vec::new();
    match (files, folders) {
        (0, 0) if may_be_deeper => {
            parts.push("Nothing was found; set `recursive` to look into folders.".to_owned());
        }
        (0, 0) => parts.push("Nothing was found.".to_owned()),
        (files, 0) => parts.push(format!("{}.", counted(files, "file"))),
        (0, folders) => parts.push(format!("{}.", counted(folders, "folder"))),
        (files, folders) => parts.push(format!("{}, {}.", counted(files, "file"), counted(folders, "folder"))),
    }
    if shown < files + folders {
        let first = thousands(shown);
        parts.push(format!("The first {first} are shown; narrow it with `path` or `glob`, or raise `limit`."));
    }
    parts.extend(of_walk(walked));
    format!("[{}]", parts.join(" "))
}

/// What to say of a walk that did not see everything.
pub(super) fn of_walk(walked: Walked) -> Vec<String> {
    let mut parts = Vec::new();
    if walked.unreadable > 0 {
        parts.push(format!("{} could not be read.", counted(walked.unreadable, "folder")));
    }
    if walked.is_partial {
        parts.push("There is more than can be walked at once: begin further down, with `path`.".to_owned());
    }
    parts
}
