//! The `apply_patch` tool: applies a unified diff to several files atomically.

mod hunk;
mod parse;
mod transaction;

use std::collections::HashSet;

use cap_std::fs::Metadata;
use tool_runtime::HandlerError;

use self::parse::{FilePatch, PathRelation};
use self::transaction::{FileStep, NewFile};
use super::change::{FileChange, FileContent};
use super::entry::FilePermissions;
use super::errors::{FileResult, quote_path, retry};
use super::text::TextFile;
use super::workspace::{MissingParents, Workspace};
use super::write::{decode, format_size};
use crate::count::format_count;

/// Limits on what a patch may do.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatchLimits {
    /// `true` if the patch may delete files.
    pub(super) delete: bool,
    /// The maximum size of a patched file, in bytes.
    pub(super) bytes: u64,
}

/// The changes of a patch, computed but not carried out.
#[derive(Debug)]
pub(super) struct PatchPlan {
    steps: Vec<FileStep>,
    pub(super) changes: Vec<FileChange>,
    summary: Vec<String>,
}

/// The context for planning the parts of a patch.
#[derive(Clone, Copy, Debug)]
struct PatchContext<'a> {
    workspace: &'a Workspace,
    limits: PatchLimits,
    /// The names that the patch frees by deleting or renaming, so that other parts may reuse them.
    freed: &'a HashSet<&'a str>,
}

impl PatchPlan {
    /// Computes the changes of a patch. All parts start from the current files.
    pub(super) fn new(workspace: &Workspace, patch: &str, limits: PatchLimits) -> FileResult<Self> {
        let files = parse::parse(patch)?;
        let frees_name = |file: &&FilePatch<'_>| file.new.is_none() || file.relation == Some(PathRelation::Rename);
        let freed: HashSet<&str> = files.iter().filter(frees_name).filter_map(|file| file.old.as_deref()).collect();
        let context = PatchContext { workspace, limits, freed: &freed };
        let mut plan = Self { steps: Vec::new(), changes: Vec::new(), summary: Vec::new() };
        for file in &files {
            match (&file.old, &file.new) {
                (None, Some(path)) => plan.create(context, path, file)?,
                (Some(path), None) => plan.delete(context, path, file)?,
                (Some(old), Some(new)) => plan.modify(context, old, new, file)?,
                (None, None) => {}
            }
        }
        Ok(plan)
    }

    /// Carries out all changes, or none if one fails. Returns a summary.
    pub(super) fn run(&self, workspace: &Workspace) -> FileResult<String> {
        transaction::run(workspace, &self.steps)?;
        Ok(self.summary.join("\n"))
    }

    fn create(&mut self, context: PatchContext<'_>, path: &str, file: &FilePatch<'_>) -> FileResult<()> {
        context.check_absent(path)?;
        let (text, bytes) = TextFile::EMPTY.apply_splices(path, &hunk::apply(path, "", &file.hunks)?)?;
        if bytes.len() as u64 > context.limits.bytes {
            return Err(HandlerError::failed(format!("{} would be too long.", quote_path(path))));
        }
        let executable = file.executable.filter(|executable| *executable);
        let mode = if executable.is_some() { ", executable" } else { "" };
        self.summary.push(format!("Created {path}, {}{mode}.", format_size(&text.text, bytes.len())));
        let new = NewFile { bytes, permissions: FilePermissions { like: None, executable } };
        self.push(path, None, Some(new), FileContent::Nothing, FileContent::Text(text.text))
    }

    fn delete(&mut self, context: PatchContext<'_>, path: &str, file: &FilePatch<'_>) -> FileResult<()> {
        if !context.limits.delete {
            return Err(HandlerError::failed(format!(
                "The patch deletes {}, which is not allowed here.",
                quote_path(path)
            )));
        }
        context.check_not_link(path)?;
        let (bytes, _) = context.read_existing(path)?;
        let text = decode(path, bytes.clone())?;
        let (left, _) = text.apply_splices(path, &hunk::apply(path, &text.text, &file.hunks)?)?;
        if !file.hunks.is_empty() && !left.text.trim_start_matches('\u{feff}').is_empty() {
            return retry(format!("The patch deletes {}, but leaves lines in it.", quote_path(path)));
        }
        self.summary.push(format!("Deleted {path}, {}.", format_size(&text.text, bytes.len())));
        self.push(path, Some(bytes), None, FileContent::Text(text.text), FileContent::Nothing)
    }

    /// Changes, renames or copies a file. Without hunks, the file may be binary.
    fn modify(&mut self, context: PatchContext<'_>, old: &str, new: &str, file: &FilePatch<'_>) -> FileResult<()> {
        let (old_bytes, like) = context.read_existing(old)?;
        let (before, after, bytes, mut size) = if file.hunks.is_empty() {
            let content = FileContent::from_bytes(old_bytes.clone());
            let size = match &content {
                FileContent::Text(text) => format_size(text, old_bytes.len()),
                _ => format_count(old_bytes.len(), "byte"),
            };
            (content.clone(), content, old_bytes.clone(), size)
        } else {
            let text = decode(old, old_bytes.clone())?;
            let (patched, bytes) = text.apply_splices(old, &hunk::apply(old, &text.text, &file.hunks)?)?;
            let size =
                format!("{}, {}", format_count(file.hunks.len(), "hunk"), format_size(&patched.text, bytes.len()));
            (FileContent::Text(text.text), FileContent::Text(patched.text), bytes, size)
        };
        size.push_str(match file.executable {
            None => "",
            Some(true) => ", now executable",
            Some(false) => ", no longer executable",
        });
        let made = NewFile { bytes, permissions: FilePermissions { like: Some(like), executable: file.executable } };
        match file.relation {
            None => {
                self.summary.push(format!("Patched {old}, {size}."));
                self.push(old, Some(old_bytes), Some(made), before, after)
            }
            Some(PathRelation::Copy) => {
                context.check_absent(new)?;
                self.summary.push(format!("Copied {old} to {new}, {size}."));
                self.push(new, None, Some(made), FileContent::Nothing, after)
            }
            Some(PathRelation::Rename) => {
                context.check_not_link(old)?;
                context.check_absent(new)?;
                self.summary.push(format!("Moved {old} to {new}, {size}."));
                self.push(old, Some(old_bytes), None, before, FileContent::Nothing)?;
                self.push(new, None, Some(made), FileContent::Nothing, after)
            }
        }
    }

    /// Adds the change of one path. Combines removing a file and creating another of the same name into one step.
    fn push(
        &mut self,
        path: &str,
        old: Option<Vec<u8>>,
        new: Option<NewFile>,
        before: FileContent,
        after: FileContent,
    ) -> FileResult<()> {
        let executable = new.as_ref().and_then(|new| new.permissions.executable);
        let Some(index) = self.steps.iter().position(|step| step.path == path) else {
            self.steps.push(FileStep { path: path.to_owned(), old, new });
            self.changes.push(FileChange { executable, ..FileChange::new(path, before, after) });
            return Ok(());
        };
        let (step, change) = (&mut self.steps[index], &mut self.changes[index]);
        match (&step.old, &step.new, &old, &new) {
            (Some(_), None, None, Some(_)) => {
                step.new = new;
                (change.after, change.executable) = (after, executable);
            }
            (None, Some(_), Some(_), None) => {
                step.old = old;
                change.before = before;
            }
            _ => return Err(duplicate(path)),
        }
        Ok(())
    }
}

impl PatchContext<'_> {
    /// Reads a file to be patched, and returns its content and metadata.
    fn read_existing(self, path: &str) -> FileResult<(Vec<u8>, Metadata)> {
        let entry = self.workspace.entry(path, MissingParents::Require)?;
        match entry.as_ref().and_then(|entry| Some((entry, entry.found()?))) {
            Some((entry, found)) => Ok((entry.read(self.limits.bytes)?, found.clone())),
            None => retry(format!("{}, which the patch changes, does not exist.", quote_path(path))),
        }
    }

    fn check_absent(self, path: &str) -> FileResult<()> {
        match self.workspace.entry(path, MissingParents::Allow)? {
            Some(entry) if entry.exists() && !self.freed.contains(path) => {
                retry(format!("{} already exists, but the patch creates it.", quote_path(path)))
            }
            _ => Ok(()),
        }
    }

    /// Rejects symbolic links, so that a patch does not remove their targets.
    fn check_not_link(self, path: &str) -> FileResult<()> {
        let Some((directory, name)) = self.workspace.name(path, MissingParents::Allow)? else { return Ok(()) };
        match directory.symlink_metadata(&name) {
            Ok(found) if found.is_symlink() => retry(format!(
                "{} is a symbolic link, which patches cannot move or delete; use `move_file` or `delete_file`.",
                quote_path(path)
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the error for a file that occurs twice. Both parts start from the current file, so one would undo the other.
fn duplicate(path: &str) -> HandlerError {
    HandlerError::retry(format!("{} occurs in the patch twice; combine its hunks.", quote_path(path)))
}
