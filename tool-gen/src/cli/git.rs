//! Git revisions and their files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::exit::{CommandFailure, FailureContext, Result};

/// A git repository.
pub(super) struct GitRepository {
    root: PathBuf,
}

impl GitRepository {
    /// Returns the repository that contains a directory, if there is one.
    pub(super) fn containing(directory: &Path) -> Result<Option<Self>> {
        let output = run(Command::new("git").arg("-C").arg(directory).args(["rev-parse", "--show-toplevel"]))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let root = PathBuf::from(text.trim_end_matches('\n'));
        Ok(output.status.success().then(|| Self { root: root.canonicalize().unwrap_or(root) }))
    }

    /// Returns the commit of a branch, a tag, a hash or an expression such as `HEAD~3`.
    pub(super) fn commit(&self, name: &str) -> Result<Option<String>> {
        // A name that starts with a dash would be parsed as an option.
        if name.starts_with('-') {
            return Ok(None);
        }
        let mut git = self.git();
        let output =
            run(git.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]).arg(format!("{name}^{{commit}}")))?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    }

    /// Returns the text of a file in a commit, if the commit has the file.
    pub(super) fn file_text(&self, commit: &str, file: &Path) -> Result<Option<String>> {
        let object = format!("{commit}:{}", self.relative_path(file)?);
        if !run(self.git().args(["cat-file", "-e", &object]))?.status.success() {
            return Ok(None);
        }
        let output = run(self.git().args(["show", &object]))?;
        Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    /// Writes all files of a commit to a temporary directory, which is deleted on drop. The working tree and the index
    /// are unchanged.
    pub(super) fn check_out(&self, commit: &str) -> Result<CheckedOutTree> {
        let directory = tempfile::tempdir().context(|| "create a temporary directory".to_owned())?;
        let tree = directory.path().join("tree");
        let index = directory.path().join("index");
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
        Ok(CheckedOutTree { tree, _directory: directory })
    }

    /// Returns the path relative to the repository's root, with `/`.
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

/// The files of a commit in a temporary directory.
pub(super) struct CheckedOutTree {
    pub(super) tree: PathBuf,
    _directory: TempDir,
}

fn run(command: &mut Command) -> Result<Output> {
    command.output().context(|| "run git".to_owned())
}
