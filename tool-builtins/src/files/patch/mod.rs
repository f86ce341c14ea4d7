//! `apply_patch`: a unified diff over several files, all of it or nothing.

mod hunk;
mod parse;
mod transaction;

use std::collections::HashSet;

use cap_std::fs::Metadata;
use tool_runtime::HandlerError;

use self::parse::{FilePatch, Relation};
use self::transaction::{NewFile, Step};
use super::change::{Change, Content};
use super::entry::Permissions;
use super::failure::{Outcome, quoted, retry};
use super::text::Text;
use super::workspace::{Parents, Workspace};
use super::write::{decoded, size};
use crate::count::counted;

/// What a patch may do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leave {
    pub(super) delete: bool,
    /// The longest file that is patched, in bytes.
    pub(super) bytes: u64,
}

/// What a patch would do, with everything worked out and nothing done.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
    pub(super) changes: Vec<Change>,
    summary: Vec<String>,
}

/// The context in which the parts of a patch are planned.
#[derive(Clone, Copy, Debug)]
struct Planning<'a> {
    workspace: &'a Workspace,
    leave: Leave,
    /// The names that the patch takes away, in any of its parts: another part may give them to another file.
    freed: &'a HashSet<&'a str>,
}

impl Plan {
    /// Works out what a patch does. All parts of it begin with the files as they are.
    pub(super) fn new(workspace: &Workspace, patch: &str, leave: Leave) -> Outcome<Self> {
        let files = parse::parse(patch)?;
        let takes_away = |file: &&FilePatch<'_>| file.new.is_none() || file.relation == Some(Relation::Rename);
        let freed: HashSet<&str> = files.iter().filter(takes_away).filter_map(|file| file.old.as_deref()).collect();
        let planning = Planning { workspace, leave, freed: &freed };
        let mut plan = Self { steps: Vec::new(), changes: Vec::new(), summary: Vec::new() };
        for file in &files {
            match (&file.old, &file.new) {
                (None, Some(path)) => plan.create(planning, path, file)?,
                (Some(path), None) => plan.delete(planning, path, file)?,
                (Some(old), Some(new)) => plan.alter(planning, old, new, file)?,
                (None, None) => {}
            }
        }
        Ok(plan)
    }

    /// Does all of it; if something cannot be done, everything is as it was.
    pub(super) fn run(&self, workspace: &Workspace) -> Outcome<String> {
        transaction::run(workspace, &self.steps)?;
        Ok(self.summary.join("\n"))
    }

    fn create(&mut self, planning: Planning<'_>, path: &str, file: &FilePatch<'_>) -> Outcome<()> {
        planning.absent(path)?;
        let (text, bytes) = Text::EMPTY.spliced(path, &hunk::apply(path, "", &file.hunks)?)?;
        if bytes.len() as u64 > planning.leave.bytes {
            return Err(HandlerError::failed(format!("{} would be too long.", quoted(path))));
        }
        let executable = file.executable.filter(|executable| *executable);
        let mode = if executable.is_some() { ", executable" } else { "" };
        self.summary.push(format!("Created {path}, {}{mode}.", size(&text.text, bytes.len())));
        let new = NewFile { bytes, permissions: Permissions { like: None, executable } };
        self.push(path, None, Some(new), Content::Nothing, Content::Text(text.text))
    }

    fn delete(&mut self, planning: Planning<'_>, path: &str, file: &FilePatch<'_>) -> Outcome<()> {
        if !planning.leave.delete {
            return Err(HandlerError::failed(format!(
                "The patch deletes {}, which is not allowed here.",
                quoted(path)
            )));
        }
        planning.is_no_link(path)?;
        let (bytes, _) = planning.present(path)?;
        let text = decoded(path, bytes.clone())?;
        let (left, _) = text.spliced(path, &hunk::apply(path, &text.text, &file.hunks)?)?;
        if !file.hunks.is_empty() && !left.text.trim_start_matches('\u{feff}').is_empty() {
            return retry(format!("The patch deletes {}, but leaves lines in it.", quoted(path)));
        }
        self.summary.push(format!("Deleted {path}, {}.", size(&text.text, bytes.len())));
        self.push(path, Some(bytes), None, Content::Text(text.text), Content::Nothing)
    }

    /// Changes a file, gives it another name or copies it. A file of which no line changes may hold anything.
    fn alter(&mut self, planning: Planning<'_>, old: &str, new: &str, file: &FilePatch<'_>) -> Outcome<()> {
        let (old_bytes, like) = planning.present(old)?;
        let (before, after, bytes, mut size) = if file.hunks.is_empty() {
            let content = Content::of(old_bytes.clone());
            let size = match &content {
                Content::Text(text) => size(text, old_bytes.len()),
                _ => counted(old_bytes.len(), "byte"),
            };
            (content.clone(), content, old_bytes.clone(), size)
        } else {
            let text = decoded(old, old_bytes.clone())?;
            let (patched, bytes) = text.spliced(old, &hunk::apply(old, &text.text, &file.hunks)?)?;
            let size = format!("{}, {}", counted(file.hunks.len(), "hunk"), size(&patched.text, bytes.len()));
            (Content::Text(text.text), Content::Text(patched.text), bytes, size)
        };
        size.push_str(match file.executable {
            None => "",
            Some(true) => ", now executable",
            Some(false) => ", no longer executable",
        });
        let made = NewFile { bytes, permissions: Permissions { like: Some(like), executable: file.executable } };
        match file.relation {
            None => {
                self.summary.push(format!("Patched {old}, {size}."));
                self.push(old, Some(old_bytes), Some(made), before, after)
            }
            Some(Relation::Copy) => {
                planning.absent(new)?;
                self.summary.push(format!("Copied {old} to {new}, {size}."));
                self.push(new, None, Some(made), Content::Nothing, after)
            }
            Some(Relation::Rename) => {
                planning.is_no_link(old)?;
                planning.absent(new)?;
                self.summary.push(format!("Moved {old} to {new}, {size}."));
                self.push(old, Some(old_bytes), None, before, Content::Nothing)?;
                self.push(new, None, Some(made), Content::Nothing, after)
            }
        }
    }

    /// Adds what becomes of one name. One that is taken from a file and given to another is both at once.
    fn push(
        &mut self,
        path: &str,
        old: Option<Vec<u8>>,
        new: Option<NewFile>,
        before: Content,
        after: Content,
    ) -> Outcome<()> {
        let executable = new.as_ref().and_then(|new| new.permissions.executable);
        let Some(index) = self.steps.iter().position(|step| step.path == path) else {
            self.steps.push(Step { path: path.to_owned(), old, new });
            self.changes.push(Change { executable, ..Change::new(path, before, after) });
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
            _ => return Err(twice(path)),
        }
        Ok(())
    }
}

impl Planning<'_> {
    /// The content of a file that is to be patched, and its permissions.
    fn present(self, path: &str) -> Outcome<(Vec<u8>, Metadata)> {
        let entry = self.workspace.entry(path, Parents::Need)?;
        match entry.as_ref().and_then(|entry| Some((entry, entry.found()?))) {
            Some((entry, found)) => Ok((entry.read(self.leave.bytes)?, found.clone())),
            None => retry(format!("There is no {}, which the patch changes.", quoted(path))),
        }
    }

    fn absent(self, path: &str) -> Outcome<()> {
        match self.workspace.entry(path, Parents::MayLack)? {
            Some(entry) if entry.exists() && !self.freed.contains(path) => {
                retry(format!("{} exists already; the patch would create it.", quoted(path)))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to take the name from what a link leads to.
    fn is_no_link(self, path: &str) -> Outcome<()> {
        let Some((folder, name)) = self.workspace.name(path, Parents::MayLack)? else { return Ok(()) };
        match folder.symlink_metadata(&name) {
            Ok(found) if found.is_symlink() => retry(format!(
                "{} is a symbolic link, which no patch moves or deletes; use `move_file` or `delete_file`.",
                quoted(path)
            )),
            _ => Ok(()),
        }
    }
}

/// What one part of a patch has done another would undo: both begin with the file as it is.
fn twice(path: &str) -> HandlerError {
    HandlerError::retry(format!("{} stands in the patch twice; put its hunks together.", quoted(path)))
}
