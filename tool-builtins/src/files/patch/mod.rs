//! `apply_patch`: a unified diff over several files, all of it or nothing.

mod hunk;
mod parse;
mod transaction;

use tool_runtime::HandlerError;

use self::parse::FilePatch;
use self::transaction::Step;
use super::change::{Change, Content};
use super::failure::{Outcome, quoted, retry};
use super::text::{Binary, Form, Text};
use super::workspace::{Parents, Workspace};
use super::write::size;
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

impl Plan {
    pub(super) fn new(workspace: &Workspace, patch: &str, leave: Leave) -> Outcome<Self> {
        let mut plan = Self { steps: Vec::new(), changes: Vec::new(), summary: Vec::new() };
        for file in parse::parse(patch)? {
            plan.add(workspace, &file, leave)?;
        }
        Ok(plan)
    }

    /// Does all of it; if something cannot be done, everything is as it was.
    pub(super) fn run(&self, workspace: &Workspace) -> Outcome<String> {
        transaction::run(workspace, &self.steps)?;
        Ok(self.summary.join("\n"))
    }

    fn add(&mut self, workspace: &Workspace, file: &FilePatch<'_>, leave: Leave) -> Outcome<()> {
        match (file.old, file.new) {
            (None, Some(path)) => self.create(workspace, path, file, leave),
            (Some(path), None) => self.delete(workspace, path, file, leave),
            (Some(old), Some(new)) => self.alter(workspace, old, new, file, leave),
            (None, None) => Ok(()),
        }
    }

    fn create(&mut self, workspace: &Workspace, path: &str, file: &FilePatch<'_>, leave: Leave) -> Outcome<()> {
        absent(workspace, path)?;
        let text = hunk::apply(path, "", &file.hunks)?;
        if text.len() as u64 > leave.bytes {
            return Err(HandlerError::failed(format!("{} would be too long.", quoted(path))));
        }
        self.summary.push(format!("Created {path}, {}.", size(&text, text.len())));
        self.push(path, None, Some(text.clone().into_bytes()), Content::Nothing, Content::Text(text))
    }

    fn delete(&mut self, workspace: &Workspace, path: &str, file: &FilePatch<'_>, leave: Leave) -> Outcome<()> {
        if !leave.delete {
            return Err(HandlerError::failed(format!(
                "The patch deletes {}, which is not allowed here.",
                quoted(path)
            )));
        }
        let (bytes, text) = present(workspace, path, leave)?;
        let left = hunk::apply(path, &text.text, &file.hunks)?;
        if !file.hunks.is_empty() && !left.is_empty() {
            return retry(format!("The patch deletes {}, but leaves lines in it.", quoted(path)));
        }
        self.summary.push(format!("Deleted {path}, {}.", size(&text.text, bytes.len())));
        self.push(path, Some(bytes), None, Content::Text(text.text), Content::Nothing)
    }

    fn alter(
        &mut self,
        workspace: &Workspace,
        old: &str,
        new: &str,
        file: &FilePatch<'_>,
        leave: Leave,
    ) -> Outcome<()> {
        let (bytes, text) = present(workspace, old, leave)?;
        let patched = hunk::apply(old, &text.text, &file.hunks)?;
        let encoded = text.encode(&patched).map_err(|c| unmapped(old, text.form, c))?;
        let size = size(&patched, encoded.len());
        let hunks = counted(file.hunks.len(), "hunk");
        if old == new {
            self.summary.push(format!("Patched {old}, {hunks}, {size}."));
            return self.push(old, Some(bytes), Some(encoded), Content::Text(text.text), Content::Text(patched));
        }
        absent(workspace, new)?;
        self.summary.push(match file.hunks.is_empty() {
            true => format!("Moved {old} to {new}, {size}."),
            false => format!("Moved {old} to {new}, {hunks}, {size}."),
        });
        self.push(old, Some(bytes), None, Content::Text(text.text), Content::Nothing)?;
        self.push(new, None, Some(encoded), Content::Nothing, Content::Text(patched))
    }

    fn push(
        &mut self,
        path: &str,
        old: Option<Vec<u8>>,
        new: Option<Vec<u8>>,
        before: Content,
        after: Content,
    ) -> Outcome<()> {
        if self.changes.iter().any(|change| change.path == path) {
            return Err(twice(path));
        }
        self.steps.push(Step { path: path.to_owned(), old, new });
        self.changes.push(Change { path: path.to_owned(), before, after });
        Ok(())
    }
}

/// The content of a file that is to be patched.
fn present(workspace: &Workspace, path: &str, leave: Leave) -> Outcome<(Vec<u8>, Text)> {
    let Some(entry) = workspace.entry(path, Parents::Need)?.filter(|entry| entry.exists()) else {
        return retry(format!("There is no {}, which the patch changes.", quoted(path)));
    };
    let bytes = entry.read(leave.bytes)?;
    let text = Text::decode(bytes.clone());
    let text = text.map_err(|Binary(kind)| HandlerError::failed(format!("{} is no text but {kind}.", quoted(path))))?;
    Ok((bytes, text))
}

fn absent(workspace: &Workspace, path: &str) -> Outcome<()> {
    match workspace.entry(path, Parents::MayLack)? {
        Some(entry) if entry.exists() => retry(format!("{} exists already; the patch would create it.", quoted(path))),
        _ => Ok(()),
    }
}

/// What one part of a patch has done another would undo: both begin with the file as it is.
fn twice(path: &str) -> HandlerError {
    HandlerError::retry(format!("{} stands in the patch twice; put its hunks together.", quoted(path)))
}

/// A character that a file's encoding does not have.
pub(super) fn unmapped(path: &str, form: Form, c: char) -> HandlerError {
    let encoding = form.encoding.name();
    HandlerError::retry(format!("{} is in {encoding}, which has no `{c}` (U+{:04X}).", quoted(path), u32::from(c)))
}
