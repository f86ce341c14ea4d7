//! The file tools and their previews.

use cap_std::fs::FileType;
use tool_runtime::inject::Notes;
use tool_runtime::{CancellationToken, Effect, HandlerError, tool, tool_class};

use super::change::{self, FileChange, FileContent};
use super::edit::TextEdit;
use super::entry::FileEntry;
use super::errors::{FileResult, explain, quote_path, retry};
use super::file_rule::describe;
use super::glob::Glob;
use super::line_range::LineRange;
use super::patch::PatchPlan;
use super::search::FileQuery;
use super::walk::DirectoryWalk;
use super::workspace::MissingParents;
use super::write::{PlannedWrite, WriteMode, decode, format_size};
use super::{Files, list, read, rename, search};
use crate::count::format_count;

#[tool_class(manual, category = "files")]
impl Files {
    /// Read a text file of the workspace, or some lines of it. The encoding is detected; a binary file is rejected with
    /// its type.
    #[tool(name = "read_file", alias = "readFile", read_only, blocking)]
    pub fn read_file(
        &self,
        /// The file, relative to the workspace, such as `src/main.rs`.
        #[arg(alias = ["file_path", "filePath"])]
        path: &str,
        /// The number of lines to skip; 0 starts with the first line.
        #[arg(default = 0)]
        offset: u64,
        /// The maximum number of lines to read.
        #[arg(default = 2000, min = 1)]
        limit: usize,
        /// Set to prefix each line with its number. The numbers are not part of the file.
        #[arg(default = false, alias = "lineNumbers")]
        line_numbers: bool,
        /// The number of characters of the first line to skip, to continue in a line that was cut for its length.
        #[arg(default = 0)]
        column: u64,
        #[inject] cancelled: &CancellationToken,
    ) -> Result<String, HandlerError> {
        let range = LineRange { offset, column, lines: limit, bytes: self.limits.read_bytes };
        read::read(&self.workspace, path, range, line_numbers, cancelled)
    }

    /// Write a text file, as UTF-8. Missing directories are created. The old content is replaced as a whole, or lines are
    /// added to its end, in its encoding.
    #[tool(name = "write_file", alias = "writeFile", sensitive, destructive, blocking, preview = "preview_write")]
    pub fn write_file(
        &self,
        /// The file, relative to the workspace.
        #[arg(alias = ["file_path", "filePath"])]
        path: &str,
        /// The whole content, or the text to add.
        content: &str,
        /// Replace the content of the file, or add to its end.
        #[arg(default = "overwrite")]
        mode: WriteMode,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _lock = self.lock_changes();
        // Checks everything before a directory is created.
        self.plan_write(path, content, mode)?;
        let entry = self.entry(path, MissingParents::Create)?;
        let write = PlannedWrite::new(path, Some(&entry), content, mode, self.limits.change_bytes)?;
        let done = write.run(&entry)?;
        change::record(notes, &[write.change]);
        Ok(done)
    }

    fn preview_write(&self, path: &str, content: &str, mode: WriteMode) -> FileResult<Effect> {
        Ok(self.plan_write(path, content, mode)?.change.effect())
    }

    fn plan_write(&self, path: &str, content: &str, mode: WriteMode) -> FileResult<PlannedWrite> {
        let entry = self.workspace.entry(path, MissingParents::Allow)?;
        PlannedWrite::new(path, entry.as_ref(), content, mode, self.limits.change_bytes)
    }

    /// Replace a text in a file by another. The text must occur in the file exactly once, white space included, unless
    /// `replace_all` is set. Line endings and encoding are kept.
    #[tool(name = "edit_file", alias = "editFile", sensitive, destructive, blocking, preview = "preview_edit")]
    pub fn edit_file(
        &self,
        /// The file, relative to the workspace.
        #[arg(alias = ["file_path", "filePath"])]
        path: &str,
        /// The text to replace, with enough lines around it to be unique.
        #[arg(alias = "oldString")]
        old_string: &str,
        /// The replacement; empty to remove the text.
        #[arg(alias = "newString")]
        new_string: &str,
        /// Set to replace every occurrence.
        #[arg(default = false, alias = "replaceAll")]
        replace_all: bool,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _lock = self.lock_changes();
        let (entry, edited) = self.plan_edit(path, TextEdit { old: old_string, new: new_string, all: replace_all })?;
        entry.replace(&edited.bytes)?;
        change::record(notes, &[edited.change]);
        Ok(edited.summary)
    }

    fn preview_edit(&self, path: &str, old_string: &str, new_string: &str, replace_all: bool) -> FileResult<Effect> {
        let (_, edited) = self.plan_edit(path, TextEdit { old: old_string, new: new_string, all: replace_all })?;
        Ok(edited.change.effect())
    }

    fn plan_edit(&self, path: &str, edit: TextEdit<'_>) -> FileResult<(FileEntry, EditedFile)> {
        let entry = self.existing_entry(path)?;
        let before = decode(path, entry.read(self.limits.change_bytes)?)?;
        let edited = edit.apply(path, &before.text)?;
        let (after, bytes) = before.apply_splices(path, &edited.splices)?;
        let size = format_size(&after.text, bytes.len());
        let summary = match edited.splices.len() {
            1 => format!("Edited {path} in line {}, {size}.", edited.line),
            count => format!("Edited {path} in {} from line {} on, {size}.", format_count(count, "place"), edited.line),
        };
        let change = FileChange::new(path, FileContent::Text(before.text), FileContent::Text(after.text));
        Ok((entry, EditedFile { bytes, change, summary }))
    }

    /// Apply a unified diff, which may change, create, delete, rename and copy several files. It is applied completely, or
    /// not at all if some part does not match.
    #[tool(name = "apply_patch", alias = "applyPatch", sensitive, destructive, blocking, preview = "preview_patch")]
    pub fn apply_patch(
        &self,
        /// The diff, with `--- a/path` and `+++ b/path` for each file (`/dev/null` for one that is created or deleted)
        /// and hunks such as `@@ -12,3 +12,4 @@`. Context lines must match the file. The headers of `git diff` for
        /// renames, copies and modes are supported.
        patch: &str,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _lock = self.lock_changes();
        let plan = PatchPlan::new(&self.workspace, patch, self.patch_limits())?;
        let done = plan.run(&self.workspace)?;
        change::record(notes, &plan.changes);
        Ok(done)
    }

    /// Previews the change of a single file as a diff effect, and several as unified diffs.
    fn preview_patch(&self, patch: &str) -> FileResult<Effect> {
        let plan = PatchPlan::new(&self.workspace, patch, self.patch_limits())?;
        Ok(match plan.changes.as_slice() {
            [only] => only.effect(),
            several => Effect::Text(several.iter().map(FileChange::to_unified_diff).collect()),
        })
    }

    /// Delete a file, if the application allows it. For a symbolic link, only the link is deleted.
    #[tool(name = "delete_file", alias = "deleteFile", sensitive, destructive, blocking, preview = "preview_delete")]
    pub fn delete_file(
        &self,
        /// The file, relative to the workspace.
        #[arg(alias = ["file_path", "filePath"])]
        path: &str,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _lock = self.lock_changes();
        let change = self.plan_deletion(path)?;
        let Some((directory, name)) = self.workspace.name(path, MissingParents::Require)? else {
            return retry(format!("{} does not exist.", quote_path(path)));
        };
        directory.remove_file(&name).map_err(|error| explain(path, &error))?;
        let done = match &change.before {
            FileContent::Text(text) => format!("Deleted {path}, {}.", format_size(text, text.len())),
            _ => format!("Deleted {path}."),
        };
        change::record(notes, &[change]);
        Ok(done)
    }

    fn preview_delete(&self, path: &str) -> FileResult<Effect> {
        Ok(self.plan_deletion(path)?.effect())
    }

    fn plan_deletion(&self, path: &str) -> FileResult<FileChange> {
        if !self.allow_delete {
            return Err(HandlerError::fatal(
                "Deleting files is not allowed here: the application has not set `allow_delete`.",
            ));
        }
        let kind = rename::source(&self.workspace, path)?;
        if kind.is_dir() {
            return retry(format!("{} is a directory; only files can be deleted.", quote_path(path)));
        }
        Ok(FileChange::new(path, self.displayed_content(path, kind), FileContent::Nothing))
    }

    /// Returns the content to show before a move or deletion. Unreadable files can be moved and deleted, too.
    fn displayed_content(&self, path: &str, kind: FileType) -> FileContent {
        if !kind.is_file() {
            return FileContent::Other { kind: describe(kind), bytes: 0 };
        }
        let content = self.existing_entry(path).and_then(|entry| entry.content(self.limits.change_bytes));
        content.unwrap_or(FileContent::Other { kind: "application/octet-stream", bytes: 0 })
    }

    /// Move or rename a file or a directory. Missing parent directories are created.
    #[tool(name = "move_file", alias = "moveFile", sensitive, destructive, blocking, preview = "preview_move")]
    pub fn move_file(
        &self,
        /// The file or directory to move, relative to the workspace.
        from: &str,
        /// The full new path, including the name.
        to: &str,
        /// Set to replace an existing file.
        #[arg(default = false)]
        overwrite: bool,
        #[inject] notes: &Notes,
    ) -> Result<String, HandlerError> {
        let _lock = self.lock_changes();
        let changes = self.plan_move(from, to, overwrite)?;
        rename::rename(&self.workspace, from, to, overwrite)?;
        change::record(notes, &changes);
        Ok(format!("Moved {from} to {to}."))
    }

    /// Previews the file that would be overwritten, if any.
    fn preview_move(&self, from: &str, to: &str, overwrite: bool) -> FileResult<Effect> {
        let changes = self.plan_move(from, to, overwrite)?;
        Ok(match changes.last() {
            Some(replaced) if replaced.before != FileContent::Nothing => replaced.effect(),
            _ => Effect::Text(format!("Move {from} to {to}.")),
        })
    }

    /// Returns the changes of a move: two for a file, none for a directory, which cannot overwrite anything. Symbolic
    /// links are not followed.
    fn plan_move(&self, from: &str, to: &str, overwrite: bool) -> FileResult<Vec<FileChange>> {
        let kind = rename::source(&self.workspace, from)?;
        let replaced = match rename::destination(&self.workspace, to, overwrite)? {
            None => FileContent::Nothing,
            Some(_) if kind.is_dir() => {
                return retry(format!("{} is a directory and cannot replace {}.", quote_path(from), quote_path(to)));
            }
            Some(link) if link.is_symlink() => self.displayed_content(to, link),
            Some(_) => self.existing_entry(to)?.content(self.limits.change_bytes)?,
        };
        if kind.is_dir() {
            return Ok(Vec::new());
        }
        let content = self.displayed_content(from, kind);
        Ok(vec![FileChange::new(from, content.clone(), FileContent::Nothing), FileChange::new(to, replaced, content)])
    }

    /// List the files of a directory with their sizes, sorted, optionally including subdirectories. Files ignored by
    /// `.gitignore`, `.git` and `node_modules` are left out.
    #[tool(name = "list_files", alias = ["list_dir", "listDirectory", "listFiles"], read_only, blocking)]
    #[expect(clippy::too_many_arguments, reason = "a model passes them by name")]
    pub fn list_files(
        &self,
        /// The directory, relative to the workspace.
        #[arg(default = ".")]
        path: &str,
        /// A pattern such as `*.rs` or `src/**/*.rs`, relative to the directory.
        glob: Option<&str>,
        /// Set to include subdirectories. Defaults to true if the pattern contains directories.
        recursive: Option<bool>,
        /// Set to include files ignored by `.gitignore`, and `node_modules`.
        #[arg(default = false, alias = "includeIgnored")]
        include_ignored: bool,
        /// Set to false to leave out names that begin with a dot, except `.gitignore`. Defaults to the setting of the
        /// application.
        #[arg(alias = "includeHidden")]
        include_hidden: Option<bool>,
        /// The maximum number of entries to list.
        #[arg(default = 1000, min = 1)]
        limit: usize,
        #[inject] cancelled: &CancellationToken,
    ) -> Result<String, HandlerError> {
        let path = or_workspace(path);
        let start = self.workspace.directory(path)?;
        let recursive = recursive.unwrap_or_else(|| glob.is_some_and(Glob::has_directories));
        let glob = glob.map(Glob::new).transpose()?;
        let walk = DirectoryWalk {
            workspace: &self.workspace,
            start: &start,
            recursive,
            include_ignored,
            include_hidden: include_hidden.unwrap_or(recursive || !self.hide_dot_files),
            max_entries: self.limits.entries,
            cancelled,
        };
        list::list(walk, glob.as_ref(), self.results(limit))
    }

    /// Search the text files of the workspace for a regular expression, or for a literal text. Files ignored by
    /// `.gitignore`, `.git`, `node_modules` and binary files are left out.
    #[tool(name = "search_files", alias = "searchFiles", read_only, blocking)]
    #[expect(clippy::too_many_arguments, reason = "a model passes them by name")]
    pub fn search_files(
        &self,
        /// A regular expression in the syntax of ripgrep, or a text if `literal` is set.
        #[arg(alias = "query")]
        pattern: &str,
        /// The directory or file to search, relative to the workspace.
        #[arg(default = ".")]
        path: &str,
        /// Only search files that match this pattern, such as `*.rs` or `src/**/*.rs`, relative to the directory. If
        /// `path` is a file, it must match too.
        #[arg(alias = ["filePattern", "file_pattern"])]
        glob: Option<&str>,
        /// Set to search for the pattern literally.
        #[arg(default = false)]
        literal: bool,
        /// Set to ignore the difference between upper and lower case.
        #[arg(default = false, alias = "ignoreCase")]
        ignore_case: bool,
        /// The number of lines to show before and after each match.
        #[arg(default = 0, max = 20)]
        context: u32,
        /// The maximum number of matching lines to show.
        #[arg(default = 50, min = 1)]
        limit: usize,
        /// Set to include files ignored by `.gitignore`, and `node_modules`. If `path` is a file, it is always searched.
        #[arg(default = false, alias = "includeIgnored")]
        include_ignored: bool,
        #[inject] cancelled: &CancellationToken,
    ) -> Result<String, HandlerError> {
        let path = or_workspace(path);
        let limit = self.results(limit);
        let query = FileQuery { pattern, literal, ignore_case, context: context as usize, limit };
        let glob = glob.map(Glob::new).transpose()?;
        if !self.workspace.is_directory(path) {
            return search::search_file(&self.workspace, path, query, glob.as_ref(), cancelled);
        }
        let start = self.workspace.directory(path)?;
        let walk = DirectoryWalk {
            workspace: &self.workspace,
            start: &start,
            recursive: true,
            include_ignored,
            include_hidden: true,
            max_entries: self.limits.entries,
            cancelled,
        };
        search::search(walk, query, glob.as_ref())
    }

    fn results(&self, limit: usize) -> usize {
        limit.min(self.limits.results)
    }

    fn entry(&self, path: &str, parents: MissingParents) -> FileResult<FileEntry> {
        let entry = self.workspace.entry(path, parents)?;
        entry.ok_or_else(|| HandlerError::retry(format!("{} does not exist.", quote_path(path))))
    }

    /// Returns the entry of an existing file.
    fn existing_entry(&self, path: &str) -> FileResult<FileEntry> {
        let entry = self.entry(path, MissingParents::Require)?;
        if entry.exists() { Ok(entry) } else { Err(self.workspace.not_found(path)) }
    }
}

/// Returns the path of a directory, where an empty path is the workspace.
fn or_workspace(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// An edited file that is not written yet.
struct EditedFile {
    bytes: Vec<u8>,
    change: FileChange,
    summary: String,
}
