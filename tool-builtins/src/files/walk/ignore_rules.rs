//! Ignore rules from `.ignore`, `.gitignore` and `.git/info/exclude`, read through the workspace's descriptor.
//!
//! Precedence is as in ripgrep. The user's global ignore file (`core.excludesFile`) is not read: it is outside the
//! workspace, and results should not depend on the account that runs the process.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::FollowSymlinks;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::workspace::{Workspace, open_file};

/// The number of kinds of rules. Rules of an earlier kind take precedence, whatever directory they are in.
const KINDS: usize = 3;
const FILES: [&str; KINDS] = [".ignore", ".gitignore", ".git/info/exclude"];
/// The first kind that ends at the border of a repository.
const FIRST_OF_GIT: usize = 1;
/// The name that marks the root of a repository.
const REPOSITORY: &str = ".git";
/// The maximum number of bytes read from a file of rules.
const MAX_BYTES: u64 = 1024 * 1024;

/// The rules of a directory and its ancestors.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    outer: Option<Arc<IgnoreRules>>,
    own: [Gitignore; KINDS],
    /// `true` for the root of a repository, at which Git's outer rules end.
    is_repository: bool,
}

/// The rule files found in a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IgnoreFiles {
    ignore: bool,
    gitignore: bool,
    is_repository: bool,
}

impl IgnoreFiles {
    const ANY: Self = Self { ignore: true, gitignore: true, is_repository: true };

    /// Records a name found in a directory.
    pub(super) fn record(&mut self, name: &OsStr) {
        self.ignore |= name == FILES[0];
        self.gitignore |= name == FILES[1];
        self.is_repository |= name == REPOSITORY;
    }
}

impl IgnoreRules {
    /// Creates an empty set of rules.
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self { outer: None, own: [const { None }; KINDS].map(rules_or_none), is_repository: false })
    }

    /// Loads the rules of all ancestors of a directory.
    pub(super) fn around(workspace: &Workspace, directory: &Path) -> Arc<Self> {
        let mut rules = Self::none();
        for ancestor in directory.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
            let Ok(dir) = workspace.open_directory(ancestor) else { continue };
            rules = rules.enter(&dir, ancestor, IgnoreFiles::ANY);
        }
        rules
    }

    /// Adds the rules of a subdirectory.
    pub(super) fn enter(self: Arc<Self>, dir: &Dir, path: &Path, files: IgnoreFiles) -> Arc<Self> {
        let is_repository = files.is_repository && dir.symlink_metadata(REPOSITORY).is_ok();
        let has = [files.ignore, files.gitignore, is_repository];
        let own: [Option<Gitignore>; KINDS] =
            std::array::from_fn(|kind| has[kind].then(|| parse(path, &read(dir, Path::new(FILES[kind]))?)).flatten());
        if !is_repository && own.iter().all(Option::is_none) {
            return self;
        }
        Arc::new(Self { outer: Some(self), own: own.map(rules_or_none), is_repository })
    }

    /// Returns `true` if a path is ignored. For each kind, the innermost directory with a matching rule decides.
    pub(super) fn is_ignored(&self, path: &Path, is_dir: bool) -> bool {
        for kind in 0..KINDS {
            let mut rules = Some(self);
            while let Some(these) = rules {
                match these.own[kind].matched(path, is_dir) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None if kind >= FIRST_OF_GIT && these.is_repository => break,
                    Match::None => rules = these.outer.as_deref(),
                }
            }
        }
        false
    }
}

fn rules_or_none(rules: Option<Gitignore>) -> Gitignore {
    rules.unwrap_or_else(Gitignore::empty)
}

/// Parses rules. Returns `None` if there are none.
fn parse(directory: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(directory);
    // Some editors begin files with a byte order mark, which Git skips too.
    for line in text.trim_start_matches('\u{feff}').lines() {
        // Invalid patterns are ignored, as in Git.
        drop(builder.add_line(None, line));
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

fn read(dir: &Dir, file: &Path) -> Option<String> {
    let (file, metadata) = open_file(dir, file, FollowSymlinks::No).ok()?;
    if !metadata.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
