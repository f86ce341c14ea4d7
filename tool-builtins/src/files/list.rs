//! `list_files`.

use std::path::{Path, PathBuf};

use cap_std::fs::FileType;

use super::count::{counted, thousands};
use super::failure::Outcome;
use super::glob::Glob;
use super::kind::describe;
use super::walk::{Folder, Found, Visitor, Walk, Walked};

/// What is found, as far as it fits.
struct Listing<'a> {
    start: &'a Path,
    glob: Option<&'a Glob>,
    found: Vec<(PathBuf, FileType)>,
}

impl Visitor for Listing<'_> {
    fn visit(&mut self, folder: &Folder, found: &Found) {
        let path = folder.path.join(&found.name);
        let fits = |glob: &Glob| glob.fits(path.strip_prefix(self.start).unwrap_or(&path));
        if self.glob.is_none_or(fits) {
            self.found.push((path, found.kind));
        }
    }
}

/// The files that a walk finds, sorted, with their sizes.
pub(super) fn list(walk: Walk<'_>, glob: Option<&Glob>, limit: usize) -> Outcome<String> {
    let (listings, walked) = walk.run(|| Listing { start: walk.start, glob, found: Vec::new() });
    super::stopped(walk.cancelled)?;
    let mut all: Vec<(PathBuf, FileType)> = listings.into_iter().flat_map(|listing| listing.found).collect();
    // Whole paths as bytes: the same order everywhere, and much quicker than name by name.
    all.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    let mut text = String::new();
    for (path, kind) in all.iter().take(limit) {
        text.push_str(&line(walk, path, *kind));
        text.push('\n');
    }
    let folders = all.iter().filter(|(_, kind)| kind.is_dir()).count();
    text.push_str(&summary(all.len() - folders, folders, all.len().min(limit), walked));
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
        Ok(metadata) => format!("{shown} ({} bytes)", thousands(metadata.len())),
        Err(_) => shown,
    }
}

fn summary(files: usize, folders: usize, shown: usize, walked: Walked) -> String {
    let mut parts = Vec::new();
    match (files, folders) {
        (0, 0) => parts.push("Nothing was found.".to_owned()),
        (files, 0) => parts.push(format!("{}.", counted(files, "file"))),
        (0, folders) => parts.push(format!("{}.", counted(folders, "folder"))),
        (files, folders) => parts.push(format!("{}, {}.", counted(files, "file"), counted(folders, "folder"))),
    }
    if shown < files + folders {
        let first = thousands(shown as u64);
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
