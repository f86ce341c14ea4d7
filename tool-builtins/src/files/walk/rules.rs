//! What is left out of a walk: `.gitignore` and `.ignore`, read through the workspace's descriptor.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::FollowSymlinks;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::workspace::{Workspace, open_file};

/// Files with rules, the one that goes before the others last.
const FILES: [&str; 2] = [".gitignore", ".ignore"];
/// The longest file of rules that is read.
const MOST_BYTES: u64 = 1024 * 1024;

/// The rules of a folder and of those that it is in.
#[derive(Debug)]
pub(super) struct Rules {
    outer: Option<Arc<Rules>>,
    own: Gitignore,
}

impl Rules {
    /// No rules at all.
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self { outer: None, own: Gitignore::empty() })
    }

    /// The rules that hold in a folder because of those that it is in.
    pub(super) fn around(workspace: &Workspace, folder: &Path) -> Arc<Self> {
        let mut rules = Self::none();
        let mut ancestors: Vec<&Path> = folder.ancestors().skip(1).collect();
        if folder.as_os_str().is_empty() {
            ancestors.push(folder);
        }
        for ancestor in ancestors.into_iter().rev() {
            let Ok(dir) = workspace.folder_met(ancestor) else { continue };
            if ancestor.as_os_str().is_empty() {
                rules = rules.with(&dir, ancestor, &[Path::new(".git/info/exclude")]);
            }
            if ancestor != folder {
                rules = rules.of(&dir, ancestor, &FILES);
            }
        }
        rules
    }

    /// The rules of a folder inside, of which it is known which files of rules it has.
    pub(super) fn of(self: Arc<Self>, dir: &Dir, path: &Path, files: &[&str]) -> Arc<Self> {
        if files.is_empty() {
            return self;
        }
        self.with(dir, path, &files.iter().map(Path::new).collect::<Vec<_>>())
    }

    fn with(self: Arc<Self>, dir: &Dir, path: &Path, files: &[&Path]) -> Arc<Self> {
        let mut builder = GitignoreBuilder::new(path);
        for text in files.iter().filter_map(|file| read(dir, file)) {
            for line in text.lines() {
                // A line that is no pattern says nothing, as in git.
                drop(builder.add_line(None, line));
            }
        }
        match builder.build() {
            Ok(own) if !own.is_empty() => Arc::new(Self { outer: Some(self), own }),
            _ => self,
        }
    }

    /// Whether something is left out. The rules of the innermost folder decide, if they say anything.
    pub(super) fn leave_out(&self, path: &Path, is_dir: bool) -> bool {
        let mut rules = Some(self);
        while let Some(these) = rules {
            match these.own.matched(path, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = these.outer.as_deref(),
            }
        }
        false
    }
}

/// The files of rules among the names of a folder.
pub(super) fn file_of_rules(name: &std::ffi::OsStr) -> Option<&'static str> {
    FILES.into_iter().find(|file| name == *file)
}

fn read(dir: &Dir, file: &Path) -> Option<String> {
    let (file, metadata) = open_file(dir, file, FollowSymlinks::No).ok()?;
    if !metadata.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
