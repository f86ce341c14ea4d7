//! The tools themselves: what a model can call, and what each call would do.

use cap_std::fs::FileType;
use tool_runtime::inject::Notes;
use tool_runtime::{CancellationToken, Effect, HandlerError, tool, tool_class};

use super::change::{self, Change, Content};
use super::edit::Edit;
use super::entry::Entry;
use super::failure::{Outcome, explain, quoted, retry};
use super::glob::Glob;
use super::kind::describe;
use super::lines::Wanted;
use super::patch::Plan;
use super::search::Query;
use super::walk::Walk;
use super::workspace::Parents;
use super::write::{Write, WriteMode, decoded, size};
use super::{Files, list, read, rename, search};
use crate::count::counted;

#[tool_class(manual, category = "files")]
impl Files {
    /// Read a text file of the workspace, or some lines of it. The encoding is detected; a binary file is refused with
    /// its type.
    #[tool(name = "read_file", read_only, blocking)]
    pub fn read_file(
        &self,
        /// The file, relative to the workspace, such as `src/main.rs`.
        path: &str,
        /// How many lines to skip: 0 begins with the first line.
        #[arg(default = 0)]
        offset: u64,
        /// How many lines to read at most.
        #[arg(default = 2000, min = 1)]
        limit: usize,
        /// Whether to put its number before each line. The numbers are no part of the file.
        #[arg(default = false)]
        line_numbers: bool,
        /// Characters of the first line to skip, to read on in a line that was cut for its length.
        #[arg(default = 0)]
        column: u64,
        #[inject] cancelled: &CancellationToken,
    ) -> Result<String, HandlerError> {
        let wanted = Wanted { offset, column, lines: limit, bytes: self.limits.read_bytes };
        read::read(&self.workspace, path, wanted, line_numbers, cancelled)
    }

    /// Write a text file, as UTF-8. Folders that do not exist are made. The old content is replaced as a whole, or
    /// lines are added to its end, in its encoding.
    #[tool(name = "write_file", sensitive, destructive, blocking, preview = "preview_write")]
    pub fn write_file(
        &self,
        /// The file, relative to the workspace.
        path: &str,
        /// The whole content, or what is added to it.
        content: &str,
        /// Whether to replace what the file holds or to add to its end.
        #[arg(default = "overwrite")]
        mode: WriteMode,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _changing = self.change();
        // Everything that can be wrong is found before a folder is made.
        self.planned_write(path, content, mode)?;
        let entry = self.entry(path, Parents::Make)?;
        let write = Write::new(path, Some(&entry), content, mode, self.limits.change_bytes)?;
        let done = write.run(&entry)?;
        change::note(notes, &[write.change]);
        Ok(done)
    }

    fn preview_write(&self, path: &str, content: &str, mode: WriteMode) -> Outcome<Effect> {
        Ok(self.planned_write(path, content, mode)?.change.effect())
    }

    fn planned_write(&self, path: &str, content: &str, mode: WriteMode) -> Outcome<Write> {
        let entry = self.workspace.entry(path, Parents::MayLack)?;
        Write::new(path, entry.as_ref(), content, mode, self.limits.change_bytes)
    }

    /// Replace a text in a file by another. The text must stand in the file exactly once, white space included, unless
    /// all places are meant. Line endings and encoding stay.
    #[tool(name = "edit_file", sensitive, destructive, blocking, preview = "preview_edit")]
    pub fn edit_file(
        &self,
        /// The file, relative to the workspace.
        path: &str,
        /// The text to replace, with enough lines around it to be the only one.
        old_string: &str,
        /// The text to put in its place; empty to remove it.
        new_string: &str,
        /// Whether to replace it wherever it stands.
        #[arg(default = false)]
        replace_all: bool,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _changing = self.change();
        let (entry, edited) = self.edited(path, Edit { old: old_string, new: new_string, all: replace_all })?;
        entry.replace(&edited.bytes)?;
        change::note(notes, &[edited.change]);
        Ok(edited.summary)
    }

    fn preview_edit(&self, path: &str, old_string: &str, new_string: &str, replace_all: bool) -> Outcome<Effect> {
        let (_, edited) = self.edited(path, Edit { old: old_string, new: new_string, all: replace_all })?;
        Ok(edited.change.effect())
    }

    fn edited(&self, path: &str, edit: Edit<'_>) -> Outcome<(Entry, EditedFile)> {
        let entry = self.existing(path)?;
        let before = decoded(path, entry.read(self.limits.change_bytes)?)?;
        let edited = edit.apply(path, &before.text)?;
        let (after, bytes) = before.spliced(path, &edited.splices)?;
        let size = size(&after.text, bytes.len());
        let summary = match edited.splices.len() {
            1 => format!("Edited {path} in line {}, {size}.", edited.line),
            count => format!("Edited {path} in {} from line {} on, {size}.", counted(count, "place"), edited.line),
        };
        let change = Change::new(path, Content::Text(before.text), Content::Text(after.text));
        Ok((entry, EditedFile { bytes, change, summary }))
    }

    /// Apply a unified diff, which may change, create, delete, rename and copy several files: all of it, or nothing if
    /// some of it does not fit.
    #[tool(name = "apply_patch", sensitive, destructive, blocking, preview = "preview_patch")]
    pub fn apply_patch(
        &self,
        /// The diff, with `--- a/path` and `+++ b/path` for each file (`/dev/null` for one that is created or deleted)
        /// and hunks such as `@@ -12,3 +12,4 @@`. The lines around a change must be those of the file. The headers of
        /// `git diff` for renames, copies and modes are understood.
        patch: &str,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _changing = self.change();
        let plan = Plan::new(&self.workspace, patch, self.leave())?;
        let done = plan.run(&self.workspace)?;
        change::note(notes, &plan.changes);
        Ok(done)
    }

    /// The change of one file as such; of several, their diffs.
    fn preview_patch(&self, patch: &str) -> Outcome<Effect> {
        let plan = Plan::new(&self.workspace, patch, self.leave())?;
        Ok(match plan.changes.as_slice() {
            [only] => only.effect(),
            several => Effect::Text(several.iter().map(Change::unified).collect()),
        })
    }

    /// Delete a file, if the application allows it. Of a symbolic link only the link goes.
    #[tool(name = "delete_file", sensitive, destructive, blocking, preview = "preview_delete")]
    pub fn delete_file(
        &self,
        /// The file, relative to the workspace.
        path: &str,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _changing = self.change();
        let change = self.deletion(path)?;
        let Some((folder, name)) = self.workspace.name(path, Parents::Need)? else {
            return retry(format!("There is no {}.", quoted(path)));
        };
        folder.remove_file(&name).map_err(|error| explain(path, &error))?;
        let done = match &change.before {
            Content::Text(text) => format!("Deleted {path}, {}.", size(text, text.len())),
            _ => format!("Deleted {path}."),
        };
        change::note(notes, &[change]);
        Ok(done)
    }

    fn preview_delete(&self, path: &str) -> Outcome<Effect> {
        Ok(self.deletion(path)?.effect())
    }

    fn deletion(&self, path: &str) -> Outcome<Change> {
        if !self.allow_delete {
            return Err(HandlerError::fatal("Deleting files is not allowed here."));
        }
        let kind = rename::source(&self.workspace, path)?;
        if kind.is_dir() {
            return retry(format!("{} is a folder; only files can be deleted.", quoted(path)));
        }
        Ok(Change::new(path, self.shown(path, kind), Content::Nothing))
    }

    /// What is moved or deleted, as far as it can be shown: what cannot be read can be moved and deleted all the same.
    fn shown(&self, path: &str, kind: FileType) -> Content {
        if !kind.is_file() {
            return Content::Other { kind: describe(kind), bytes: 0 };
        }
        let content = self.existing(path).and_then(|entry| entry.content(self.limits.change_bytes));
        content.unwrap_or(Content::Other { kind: "application/octet-stream", bytes: 0 })
    }

    /// Move or rename a file or a folder. Folders on the way that do not exist are made.
    #[tool(name = "move_file", sensitive, destructive, blocking, preview = "preview_move")]
    pub fn move_file(
        &self,
        /// What to move, relative to the workspace.
        from: &str,
        /// Its whole new path, with the name.
        to: &str,
        /// Whether to replace a file that stands there.
        #[arg(default = false)]
        overwrite: bool,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _changing = self.change();
        let changes = self.moved(from, to, overwrite)?;
        rename::rename(&self.workspace, from, to, overwrite)?;
        change::note(notes, &changes);
        Ok(format!("Moved {from} to {to}."))
    }

    /// What would be lost, if anything is.
    fn preview_move(&self, from: &str, to: &str, overwrite: bool) -> Outcome<Effect> {
        let changes = self.moved(from, to, overwrite)?;
        Ok(match changes.last() {
            Some(replaced) if replaced.before != Content::Nothing => replaced.effect(),
            _ => Effect::Text(format!("Move {from} to {to}.")),
        })
    }

    /// The two files of a move; of a folder, which replaces nothing, nothing is told. A link is what it is, not what it
    /// leads to.
    fn moved(&self, from: &str, to: &str, overwrite: bool) -> Outcome<Vec<Change>> {
        let kind = rename::source(&self.workspace, from)?;
        let replaced = match rename::destination(&self.workspace, to, overwrite)? {
            None => Content::Nothing,
            Some(_) if kind.is_dir() => {
                return retry(format!("{} is a folder and cannot take the place of {}.", quoted(from), quoted(to)));
            }
            Some(link) if link.is_symlink() => self.shown(to, link),
            Some(_) => self.existing(to)?.content(self.limits.change_bytes)?,
        };
        if kind.is_dir() {
            return Ok(Vec::new());
        }
        let content = self.shown(from, kind);
        Ok(vec![Change::new(from, content.clone(), Content::Nothing), Change::new(to, replaced, content)])
    }

    /// List files with their sizes, sorted: those of a folder, or of all folders in it. What `.gitignore` names, `.git`
    /// and `node_modules` are left out.
    #[tool(name = "list_files", read_only, blocking)]
    pub fn list_files(
        &self,
        /// The folder, relative to the workspace.
        #[arg(default = ".")]
        path: &str,
        /// A pattern such as `*.rs` or `src/**/*.rs`, relative to the folder.
        glob: Option<&str>,
        /// Whether to go into folders; by default if the pattern has folders in it.
        recursive: Option<bool>,
        /// Whether to list what `.gitignore` names, and `node_modules`, as well.
        #[arg(default = false)]
        include_ignored: bool,
        /// How many entries to list at most.
        #[arg(default = 1000, min = 1)]
        limit: usize,
        #[inject] cancelled: &CancellationToken,
    ) -> Result<String, HandlerError> {
        let start = self.workspace.folder(path)?;
        let recursive = recursive.unwrap_or_else(|| glob.is_some_and(Glob::has_folders));
        let glob = glob.map(Glob::new).transpose()?;
        let walk = Walk {
            workspace: &self.workspace,
            start: &start,
            recursive,
            ignored: include_ignored,
            entries: self.limits.entries,
            cancelled,
        };
        list::list(walk, glob.as_ref(), self.results(limit))
    }

    /// Search the text files of the workspace for a regular expression, or for a text as it stands. What `.gitignore`
    /// names, `.git`, `node_modules` and binary files are left out.
    #[tool(name = "search_files", read_only, blocking)]
    #[expect(clippy::too_many_arguments, reason = "a model gives them by name")]
    pub fn search_files(
        &self,
        /// A regular expression in the syntax of ripgrep, or a text if `literal` is set.
        pattern: &str,
        /// The folder or the file to search, relative to the workspace.
        #[arg(default = ".")]
        path: &str,
        /// Only files that fit this pattern, such as `*.rs` or `src/**/*.rs`, relative to the folder. If `path` is a
        /// file, it must fit too.
        glob: Option<&str>,
        /// Whether the pattern is a text to be found as it stands.
        #[arg(default = false)]
        literal: bool,
        /// Whether capital letters are the same as small ones.
        #[arg(default = false)]
        ignore_case: bool,
        /// How many lines to show before and after each match.
        #[arg(default = 0, max = 20)]
        context: u32,
        /// How many matching lines to show at most.
        #[arg(default = 100, min = 1)]
        limit: usize,
        /// Whether to search what `.gitignore` names, and `node_modules`, as well. If `path` is a file, it is searched
        /// in any case.
        #[arg(default = false)]
        include_ignored: bool,
        #[inject] cancelled: &CancellationToken,
    ) -> Result<String, HandlerError> {
        let limit = self.results(limit);
        let query = Query { pattern, literal, ignore_case, context: context as usize, limit };
        let glob = glob.map(Glob::new).transpose()?;
        if !self.workspace.is_folder(path) {
            return search::search_file(&self.workspace, path, query, glob.as_ref(), cancelled);
        }
        let start = self.workspace.folder(path)?;
        let walk = Walk {
            workspace: &self.workspace,
            start: &start,
            recursive: true,
            ignored: include_ignored,
            entries: self.limits.entries,
            cancelled,
        };
        search::search(walk, query, glob.as_ref())
    }

    fn results(&self, limit: usize) -> usize {
        limit.min(self.limits.results)
    }

    fn entry(&self, path: &str, parents: Parents) -> Outcome<Entry> {
        let entry = self.workspace.entry(path, parents)?;
        entry.ok_or_else(|| HandlerError::retry(format!("There is no {}.", quoted(path))))
    }

    /// The entry of a file that is there.
    fn existing(&self, path: &str) -> Outcome<Entry> {
        let entry = self.entry(path, Parents::Need)?;
        if entry.exists() { Ok(entry) } else { Err(self.workspace.lacking(path)) }
    }
}

/// A file after an edit that is not written yet.
struct EditedFile {
    bytes: Vec<u8>,
    change: Change,
    summary: String,
}
