//! Several writes, all of them or none.

use std::collections::HashSet;
use std::path::PathBuf;

use tool_runtime::HandlerError;

use crate::files::entry::{Entry, Permissions, Staged};
use crate::files::failure::{Outcome, quoted};
use crate::files::workspace::{Parents, Workspace};

/// A file and its content before and after; nothing where there is no file.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) path: String,
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Option<NewFile>,
}

/// A file that is to be written.
#[derive(Debug)]
pub(super) struct NewFile {
    pub(super) bytes: Vec<u8>,
    pub(super) permissions: Permissions,
}

/// A step with everything written that can be written without changing a file.
struct Ready<'a> {
    entry: &'a Entry,
    new: Option<Staged<'a>>,
    /// The old content, to be put back.
    old: Option<Staged<'a>>,
}

/// Does all steps, or none.
///
/// New contents are written beside their files first, and so are copies of the old ones: what needs room on the disk
/// has been done when the first file changes. After that there are only renames.
pub(super) fn run(workspace: &Workspace, steps: &[Step]) -> Outcome<()> {
    let missing: Vec<PathBuf> = steps.iter().flat_map(|step| workspace.missing_folders(&step.path)).collect();
    let done = stage_and_commit(workspace, steps);
    if done.is_err() {
        workspace.remove_empty(&missing);
    }
    done
}

fn stage_and_commit(workspace: &Workspace, steps: &[Step]) -> Outcome<()> {
    let entries = steps.iter().map(|step| entry(workspace, step)).collect::<Outcome<Vec<Entry>>>()?;
    check_apart(&entries)?;
    let mut ready = Vec::with_capacity(steps.len());
    for (step, entry) in steps.iter().zip(&entries) {
        ready.push(Ready::new(step, entry)?);
    }
    commit(ready)
}

impl<'a> Ready<'a> {
    fn new(step: &Step, entry: &'a Entry) -> Outcome<Self> {
        let new = step.new.as_ref().map(|new| entry.stage(&new.bytes, &new.permissions)).transpose()?;
        let old = step.old.as_ref().map(|old| entry.stage(old, &Permissions::default())).transpose()?;
        Ok(Self { entry, new, old })
    }
}

/// That no file stands in the patch under two names, such as `a`, `./a` and a link to it.
fn check_apart(entries: &[Entry]) -> Outcome<()> {
    let mut places = HashSet::new();
    for entry in entries {
        if !places.insert(entry.place()?) {
            return Err(super::twice(&entry.shown));
        }
    }
    Ok(())
}

/// The entry of a step, if its file is still as it was when the patch was worked out.
fn entry(workspace: &Workspace, step: &Step) -> Outcome<Entry> {
    let parents = if step.new.is_some() { Parents::Make } else { Parents::Need };
    let changed = || HandlerError::retry(format!("{} has changed meanwhile; nothing was done.", quoted(&step.path)));
    let entry = workspace.entry(&step.path, parents)?.ok_or_else(changed)?;
    let is_same = match &step.old {
        None => !entry.exists(),
        Some(old) => entry.exists() && entry.read(old.len() as u64).is_ok_and(|now| now == *old),
    };
    if is_same { Ok(entry) } else { Err(changed()) }
}

/// Files are removed last: if the program is ended in between, one that is renamed has both names and not none.
fn commit(ready: Vec<Ready<'_>>) -> Outcome<()> {
    let mut undo: Vec<(&Entry, Option<Staged<'_>>)> = Vec::new();
    let (written, removed): (Vec<_>, Vec<_>) = ready.into_iter().partition(|step| step.new.is_some());
    for Ready { entry, new, old } in written.into_iter().chain(removed) {
        let done = match new {
            Some(new) => new.commit(),
            None => entry.remove(),
        };
        if let Err(error) = done {
            return Err(undone(undo, error));
        }
        undo.push((entry, old));
    }
    Ok(())
}

/// Puts back what was changed, the last first.
fn undone(undo: Vec<(&Entry, Option<Staged<'_>>)>, error: HandlerError) -> HandlerError {
    let mut lost = Vec::new();
    for (entry, old) in undo.into_iter().rev() {
        let back = match old {
            Some(old) => old.commit(),
            None => entry.remove(),
        };
        if back.is_err() {
            lost.push(quoted(&entry.shown));
        }
    }
    match lost.is_empty() {
        true => HandlerError::failed(format!("{error} Nothing of the patch was applied.")),
        false => HandlerError::failed(format!("{error} And {} could not be put back as it was.", lost.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What lies in a folder, in words.
    fn tree(folder: &std::path::Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
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
        NewFile { bytes: text.as_bytes().to_vec(), permissions: Permissions::default() }
    }

    #[test]
    fn a_failure_in_the_middle_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c", "d"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let workspace = Workspace::confined(folder.path()).unwrap();
        let step = |path: &str, old: Option<&str>, new: Option<&str>| Step {
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
        let before = tree(folder.path());
        let entries: Vec<Entry> = steps.iter().map(|step| entry(&workspace, step).unwrap()).collect();
        let ready = |breaks: bool| {
            let staged = steps.iter().zip(&entries).map(|(step, entry)| Ready::new(step, entry).unwrap());
            let staged: Vec<Ready<'_>> = staged.collect();
            if breaks {
                // A folder takes the place of the last file: it cannot be renamed over.
                fs::remove_file(folder.path().join("c")).unwrap();
                fs::create_dir(folder.path().join("c")).unwrap();
            }
            staged
        };
        let error = commit(ready(true)).unwrap_err().to_string();
        assert!(error.contains("Nothing of the patch was applied"), "{error}");
        fs::remove_dir(folder.path().join("c")).unwrap();
        fs::write(folder.path().join("c"), "c").unwrap();
        assert_eq!(tree(folder.path()), before);

        // Without the folder in the way it goes through, so that it was this which stopped it.
        commit(ready(false)).unwrap();
        assert_ne!(tree(folder.path()), before);
    }

    /// A file that is renamed keeps its old name until it has the new one.
    #[test]
    #[cfg(unix)]
    fn nothing_is_removed_before_everything_is_written() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old, "x").unwrap();
        let inode = || fs::metadata(&old).unwrap().ino();
        let before = inode();
        let workspace = Workspace::confined(folder.path()).unwrap();
        let steps = [
            Step { path: "old".to_owned(), old: Some(b"x".to_vec()), new: None },
            Step { path: "new".to_owned(), old: None, new: Some(new_file("x")) },
        ];
        let entries: Vec<Entry> = steps.iter().map(|step| entry(&workspace, step).unwrap()).collect();
        let ready = || steps.iter().zip(&entries).map(|(step, entry)| Ready::new(step, entry).unwrap()).collect();
        fs::create_dir(&new).unwrap();
        commit(ready()).unwrap_err();
        assert_eq!(inode(), before, "it was not removed and put back");
        fs::remove_dir(&new).unwrap();
        commit(ready()).unwrap();
        assert!(!old.exists() && fs::read(&new).unwrap() == b"x");
    }

    #[test]
    fn folders_made_for_nothing_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "changed since").unwrap();
        let workspace = Workspace::confined(folder.path()).unwrap();
        let steps = [
            Step { path: "x/y/new".to_owned(), old: None, new: Some(new_file("N")) },
            Step { path: "a".to_owned(), old: Some(b"a".to_vec()), new: Some(new_file("A")) },
        ];
        let error = run(&workspace, &steps).unwrap_err().to_string();
        assert!(error.contains("`a` has changed meanwhile"), "{error}");
        assert_eq!(tree(folder.path()).len(), 1);
    }
}
