//! Ignore rules: `.ignore`, `.gitignore` and `.git/info/exclude`, read through the workspace's descriptor.
//!
//! They go before each other as in ripgrep. The user's own ignore file (`core.excludesFile`) is not read: it lies
//! outside the workspace, and the same workspace should look the same whichever account serves it.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::FollowSymlinks;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::workspace::{Workspace, open_file};

/// Kinds of rules. Those of an earlier kind go before those of a later one, in whichever folder they stand.
const KINDS: usize = 3;
const FILES: [&str; KINDS] = [".ignore", ".gitignore", ".git/info/exclude"];
/// The first kind that ends at the border of a repository.
const FIRST_OF_GIT: usize = 1;
/// The name that marks the outermost folder of a repository.
const REPOSITORY: &str = ".git";
/// The longest file of rules that is read.
const MOST_BYTES: u64 = 1024 * 1024;

/// The rules of a folder and of those that it is in.
#[derive(Debug)]
pub(super) struct Rules {
    outer: Option<Arc<Rules>>,
    own: [Gitignore; KINDS],
    /// `true` for the outermost folder of a repository: git's rules outside do not hold in it.
    is_repository: bool,
}

/// The names in a folder that concern the rules.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RuleFiles {
    ignore: bool,
    gitignore: bool,
    is_repository: bool,
}

impl RuleFiles {
    const ANY: Self = Self { ignore: true, gitignore: true, is_repository: true };

    /// Takes note of a name in a folder.
    pub(super) fn see(&mut self, name: &OsStr) {
        self.ignore |= name == FILES[0];
        self.gitignore |= name == FILES[1];
        self.is_repository |= name == REPOSITORY;
    }
}

impl Rules {
    /// No rules at all.
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self { outer: None, own: [const { None }; KINDS].map(rules_or_none), is_repository: false })
    }

    /// The rules that hold in a folder because of those that it is in.
    pub(super) fn around(workspace: &Workspace, folder: &Path) -> Arc<Self> {
        let mut rules = Self::none();
        for ancestor in folder.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
            let Ok(dir) = workspace.folder_met(ancestor) else { continue };
            rules = rules.of(&dir, ancestor, RuleFiles::ANY);
        }
        rules
    }

    /// The rules of a folder inside.
    pub(super) fn of(self: Arc<Self>, dir: &Dir, path: &Path, files: RuleFiles) -> Arc<Self> {
        let is_repository = files.is_repository && dir.symlink_metadata(REPOSITORY).is_ok();
        let has = [files.ignore, files.gitignore, is_repository];
        let own: [Option<Gitignore>; KINDS] =
            std::array::from_fn(|kind| has[kind].then(|| parse(path, &read(dir, Path::new(FILES[kind]))?)).flatten());
        if !is_repository && own.iter().all(Option::is_none) {
            return self;
        }
        Arc::new(Self { outer: Some(self), own: own.map(rules_or_none), is_repository })
    }

    /// Returns `true` if a path is left out. Of each kind, the innermost folder with a matching rule decides.
    pub(super) fn leave_out(&self, path: &Path, is_dir: bool) -> bool {
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

/// The rules of a file in a folder, if there are any.
fn parse(folder: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    // Some editors begin every file with a byte order mark; git skips it, too.
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that is no pattern says nothing, as in git.
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
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
