//! Atomic changes of several files.

use std::collections::HashSet;
use std::path::PathBuf;

use tool_runtime::HandlerError;

use crate::files::entry::{FileEntry, FilePermissions, StagedFile};
use crate::files::errors::{FileResult, quote_path};
use crate::files::workspace::{MissingParents, Workspace};

/// A file with its content before and after. `None` means that the file does not exist.
#[derive(Debug)]
pub(super) struct FileStep {
    pub(super) path: String,
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Option<NewFile>,
}

/// A file to be written.
#[derive(Debug)]
pub(super) struct NewFile {
    pub(super) bytes: Vec<u8>,
    pub(super) permissions: FilePermissions,
}

/// A step whose contents are written to temporary files.
struct StagedStep<'a> {
    entry: &'a FileEntry,
    new: Option<StagedFile<'a>>,
    /// The old content, for a rollback.
    old: Option<StagedFile<'a>>,
}

/// Carries out all steps, or none.
///
/// First writes the new contents and copies of the old ones to temporary files. So everything that needs disk space is
/// done before the first file changes; after that there are only renames.
pub(super) fn run(workspace: &Workspace, steps: &[FileStep]) -> FileResult<()> {
    let missing: Vec<PathBuf> = steps.iter().flat_map(|step| workspace.missing_directories(&step.path)).collect();
    let done = stage_and_commit(workspace, steps);
    if done.is_err() {
        workspace.remove_empty(&missing);
    }
    done
}

fn stage_and_commit(workspace: &Workspace, steps: &[FileStep]) -> FileResult<()> {
    let entries = steps.iter().map(|step| open_entry(workspace, step)).collect::<FileResult<Vec<FileEntry>>>()?;
    check_distinct(&entries)?;
    let mut staged = Vec::with_capacity(steps.len());
    for (step, entry) in steps.iter().zip(&entries) {
        staged.push(StagedStep::new(step, entry)?);
    }
    commit(staged)
}

impl<'a> StagedStep<'a> {
    fn new(step: &FileStep, entry: &'a FileEntry) -> FileResult<Self> {
        let new = step.new.as_ref().map(|new| entry.stage(&new.bytes, &new.permissions)).transpose()?;
        let old = step.old.as_ref().map(|old| entry.stage(old, &FilePermissions::default())).transpose()?;
        Ok(Self { entry, new, old })
    }
}

/// Checks that no file occurs under two names, such as `a`, `./a` and a link to it.
fn check_distinct(entries: &[FileEntry]) -> FileResult<()> {
    let mut seen = HashSet::new();
    for entry in entries {
        if !seen.insert(entry.identity()?) {
            return Err(super::duplicate(&entry.shown));
        }
    }
    Ok(())
}

/// Opens the entry of a step. Fails if the file has changed since the patch was planned.
fn open_entry(workspace: &Workspace, step: &FileStep) -> FileResult<FileEntry> {
    let parents = if step.new.is_some() { MissingParents::Create } else { MissingParents::Require };
    let changed =
        || HandlerError::retry(format!("{} has changed in the meantime; nothing was done.", quote_path(&step.path)));
    let entry = workspace.entry(&step.path, parents)?.ok_or_else(changed)?;
    let is_same = match &step.old {
        None => !entry.exists(),
        Some(old) => entry.exists() && entry.read(old.len() as u64).is_ok_and(|now| now == *old),
    };
    if is_same { Ok(entry) } else { Err(changed()) }
}

/// Renames the files into place. Removes files last, so that a renamed file has both names, not none, after a crash.
fn commit(staged: Vec<StagedStep<'_>>) -> FileResult<()> {
    let mut undo: Vec<(&FileEntry, Option<StagedFile<'_>>)> = Vec::new();
    let (written, removed): (Vec<_>, Vec<_>) = staged.into_iter().partition(|step| step.new.is_some());
    for StagedStep { entry, new, old } in written.into_iter().chain(removed) {
        let done = match new {
            Some(new) => new.commit(),
            None => entry.remove(),
        };
        if let Err(error) = done {
            return Err(roll_back(undo, error));
        }
        undo.push((entry, old));
    }
    Ok(())
}

/// Restores the changed files in reverse order.
fn roll_back(undo: Vec<(&FileEntry, Option<StagedFile<'_>>)>, error: HandlerError) -> HandlerError {
    let mut lost = Vec::new();
    for (entry, old) in undo.into_iter().rev() {
        let back = match old {
            Some(old) => old.commit(),
            None => entry.remove(),
        };
        if back.is_err() {
            lost.push(quote_path(&entry.shown));
        }
    }
    match lost.is_empty() {
        true => HandlerError::failed(format!("{error} Nothing of the patch was applied.")),
        false => HandlerError::failed(format!("{error} {} could not be restored.", lost.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Lists the files of a directory and their contents.
    fn tree(directory: &std::path::Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.push((path.display().to_string(), String::new()));
                found.extend(tree(&path));
            } else {
                found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
        found.sort();
        found
    }

    fn new_file(text: &str) -> NewFile {
        NewFile { bytes: text.as_bytes().to_vec(), permissions: FilePermissions::default() }
    }

    #[test]
    fn rolls_back_after_a_failure() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c", "d"] {
            fs::write(directory.path().join(name), name).unwrap();
        }
        let workspace = Workspace::confined(directory.path()).unwrap();
        let step = |path: &str, old: Option<&str>, new: Option<&str>| FileStep {
            path: path.to_owned(),
            old: old.map(|text| text.as_bytes().to_vec()),
            new: new.map(new_file),
        };
        let steps = [
            step("a", Some("a"), Some("A")),
            step("new", None, Some("N")),
            step("b", Some("b"), None),
            step("c", Some("c"), Some("C")),
        ];
        let before = tree(directory.path());
        let entries: Vec<FileEntry> = steps.iter().map(|step| open_entry(&workspace, step).unwrap()).collect();
        let staged = |breaks: bool| {
            let staged = steps.iter().zip(&entries).map(|(step, entry)| StagedStep::new(step, entry).unwrap());
            let staged: Vec<StagedStep<'_>> = staged.collect();
            if breaks {
                // A directory replaces the last file, so that the rename fails.
                fs::remove_file(directory.path().join("c")).unwrap();
                fs::create_dir(directory.path().join("c")).unwrap();
            }
            staged
        };
        let error = commit(staged(true)).unwrap_err().to_string();
        assert!(error.contains("Nothing of the patch was applied"), "{error}");
        fs::remove_dir(directory.path().join("c")).unwrap();
        fs::write(directory.path().join("c"), "c").unwrap();
        assert_eq!(tree(directory.path()), before);

        // Control: without the directory in the way, the commit succeeds.
        commit(staged(false)).unwrap();
        assert_ne!(tree(directory.path()), before);
    }

    /// A file that is renamed keeps its old name until it has the new one.
    #[test]
    #[cfg(unix)]
    fn removes_nothing_before_everything_is_written() {
        use std::os::unix::fs::MetadataExt;
        let directory = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| directory.path().join(name));
        fs::write(&old, "x").unwrap();
        let inode = || fs::metadata(&old).unwrap().ino();
        let before = inode();
        let workspace = Workspace::confined(directory.path()).unwrap();
        let steps = [
            FileStep { path: "old".to_owned(), old: Some(b"x".to_vec()), new: None },
            FileStep { path: "new".to_owned(), old: None, new: Some(new_file("x")) },
        ];
        let entries: Vec<FileEntry> = steps.iter().map(|step| open_entry(&workspace, step).unwrap()).collect();
        let staged = || steps.iter().zip(&entries).map(|(step, entry)| StagedStep::new(step, entry).unwrap()).collect();
        fs::create_dir(&new).unwrap();
        commit(staged()).unwrap_err();
        assert_eq!(inode(), before, "the file was neither removed nor restored");
        fs::remove_dir(&new).unwrap();
        commit(staged()).unwrap();
        assert!(!old.exists() && fs::read(&new).unwrap() == b"x");
    }

    #[test]
    fn removes_directories_that_are_not_needed() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a"), "changed since").unwrap();
        let workspace = Workspace::confined(directory.path()).unwrap();
        let steps = [
            FileStep { path: "x/y/new".to_owned(), old: None, new: Some(new_file("N")) },
            FileStep { path: "a".to_owned(), old: Some(b"a".to_vec()), new: Some(new_file("A")) },
        ];
        let error = run(&workspace, &steps).unwrap_err().to_string();
        assert!(error.contains("`a` has changed in the meantime"), "{error}");
        assert_eq!(tree(directory.path()).len(), 1);
    }
}
