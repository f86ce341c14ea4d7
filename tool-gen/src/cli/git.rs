//! What git knows: revisions, and the files that they hold.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::exit::{CommandFailure, FailureContext, Result};

/// The repository that holds a folder.
pub(super) struct GitRepository {
    root: PathBuf,
}

impl GitRepository {
    /// The repository around the folder, if there is one.
    pub(super) fn containing(folder: &Path) -> Result<Option<Self>> {
        let output = run(Command::new("git").arg("-C").arg(folder).args(["rev-parse", "--show-toplevel"]))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let root = PathBuf::from(text.trim_end_matches('\n'));
        Ok(output.status.success().then(|| Self { root: root.canonicalize().unwrap_or(root) }))
    }

    /// The commit that a name means: a branch, a tag, a hash, `HEAD~3`.
    pub(super) fn commit(&self, name: &str) -> Result<Option<String>> {
        // A name that starts with a dash would be taken for an option.
        if name.starts_with('-') {
            return Ok(None);
        }
        let mut git = self.git();
        let output =
            run(git.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]).arg(format!("{name}^{{commit}}")))?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    }

    /// The text of a file as a commit has it, if it has the file.
    pub(super) fn file_text(&self, commit: &str, file: &Path) -> Result<Option<String>> {
        let object = format!("{commit}:{}", self.relative_path(file)?);
        if !run(self.git().args(["cat-file", "-e", &object]))?.status.success() {
            return Ok(None);
        }
        let output = run(self.git().args(["show", &object]))?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// All files of a commit, in a folder that is gone when this is dropped. The working tree and the index stay as
    /// they are.
    pub(super) fn check_out(&self, commit: &str) -> Result<CheckedOutTree> {
        let folder = tempfile::tempdir().context(|| "make a temporary folder".to_owned())?;
        let tree = folder.path().join("tree");
        let index = folder.path().join("index");
        for arguments in [
            vec!["read-tree".to_owned(), commit.to_owned()],
            vec!["checkout-index".to_owned(), "--all".to_owned(), format!("--prefix={}/", tree.display())],
        ] {
            let output = run(self.git().env("GIT_INDEX_FILE", &index).args(arguments))?;
            if !output.status.success() {
                let message = String::from_utf8_lossy(&output.stderr);
                return Err(CommandFailure::new(format!("git cannot check out {commit}: {}", message.trim())));
            }
        }
        Ok(CheckedOutTree { tree, _folder: folder })
    }

    /// The path as seen from the repository's root, with `/`.
    pub(super) fn relative_path(&self, file: &Path) -> Result<String> {
        let relative = file.strip_prefix(&self.root).map_err(|_| {
            CommandFailure::new(format!("{} is outside of the repository {}", file.display(), self.root.display()))
        })?;
        let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Ok(parts.join("/"))
    }

    fn git(&self) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root);
        command
    }
}

/// The files of a commit.
pub(super) struct CheckedOutTree {
    pub(super) tree: PathBuf,
    _folder: TempDir,
}

fn run(command: &mut Command) -> Result<Output> {
    command.output().context(|| "run git".to_owned())
}
