//! Files of a workspace: tools to read, write, edit, patch, move, list and search them.
//!
//! ```
//! use serde_json::json;
//! use tool_builtins::files::Files;
//! use tool_runtime::{Dispatcher, Policy, ToolCall};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let workspace = directory.path();
//! // Writes are `sensitive`: except under `Yolo`, they need an approval, with the diff as preview.
//! let tools = Dispatcher::builder().service(Files::new(workspace)?).policy(Policy::Yolo).build()?;
//!
//! let call = ToolCall::new("write_file", json!({"path": "notes/today.md", "content": "buy milk\n"}));
//! assert_eq!(tools.call(call).await.output, "Created notes/today.md, 1 line, 9 bytes.");
//! let call = ToolCall::new("search_files", json!({"pattern": "MILK", "ignore_case": true}));
//! assert!(tools.call(call).await.output.contains("notes/today.md\n1: buy milk\n"));
//! let call = ToolCall::new("read_file", json!({"path": "../../etc/passwd"}));
//! assert_eq!(tools.call(call).await.output, "`../../etc/passwd` is outside the workspace, or leads there.");
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//! - The kernel resolves every path beneath the workspace's descriptor in the same step that opens it. `..`, absolute
//!   paths and symbolic links that lead out are rejected; links inside are followed. `x/..` is the parent of what `x` is:
//!   an error if `x` does not exist, and for a link the parent of its target.
//! - Pipes, sockets and devices are rejected without blocking.
//! - A file with several hard links may also be linked from outside the workspace, which cannot be detected from inside.
//!   It is not read, searched or written unless [`hard_links`](Files::hard_links) allows it. A write then replaces this
//!   link by a new file; the other links keep the old one.
//! - A file is written to a temporary file and renamed into place, with its permissions, so a failed write leaves the old
//!   content intact. A file without write permission is not replaced either. Owners are kept where the system allows it;
//!   extended attributes are not.
//! - Nothing is deleted, not even by a patch, unless [`allow_delete`](Files::allow_delete) permits it.
//! - Edits and patches change only what they name. All other bytes of a file are kept, including invalid ones, and so are
//!   its encoding, its line breaks and, under a new name, its permissions.
//!
//! # Ignored files
//! Lists and searches leave out `.git`, `node_modules`, and whatever `.ignore`, `.gitignore` and `.git/info/exclude` name,
//! in this order of precedence and in any directory of the workspace. Git's rules end at the border of a repository. The
//! user's global ignore file is not read, because it is outside the workspace. Names that begin with a dot are listed and
//! searched; [`hide_dot_files`](Files::hide_dot_files) leaves them out of the list of a directory. A recursive list has the
//! files, and the directories that contain nothing to list.

mod change;
mod controls;
mod edit;
mod entry;
mod errors;
mod file_rule;
mod glob;
mod line_breaks;
mod line_range;
mod list;
mod location;
mod nearest;
mod patch;
mod read;
mod rename;
mod search;
mod text;
mod tools;
mod walk;
mod workspace;
mod write;

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tool_runtime::{CancellationToken, HandlerError};

pub use self::location::is_inside;
use self::patch::PatchLimits;
use self::workspace::Workspace;
pub use self::write::WriteMode;

/// Service for the file tools: `read_file`, `write_file`, `edit_file`, `apply_patch`, `delete_file`, `move_file`,
/// `list_files` and `search_files`. See the [module](self) for its guarantees.
#[derive(Debug)]
pub struct Files {
    workspace: Workspace,
    allow_delete: bool,
    hide_dot_files: bool,
    limits: FileLimits,
    /// Serializes changes, so that each one starts from the result of the previous one.
    changing: Mutex<()>,
}

impl Files {
    /// Creates a service for the files in a directory.
    ///
    /// # Errors
    /// Fails if the directory does not exist or cannot be opened.
    pub fn new(workspace: impl AsRef<Path>) -> io::Result<Self> {
        Self::with_workspace(workspace.as_ref(), Workspace::confined)
    }

    /// Creates a service for every file that the process can access. Relative paths start at `directory`.
    ///
    /// The model can then read keys, shell histories and mail, and write files that run at the next login. Use it only in
    /// processes that are confined in another way, such as by a container.
    ///
    /// # Errors
    /// Fails if the directory does not exist or cannot be opened.
    #[cfg(unix)]
    pub fn unconfined(directory: impl AsRef<Path>) -> io::Result<Self> {
        Self::with_workspace(directory.as_ref(), Workspace::unconfined)
    }

    fn with_workspace(directory: &Path, open: fn(&Path) -> io::Result<Workspace>) -> io::Result<Self> {
        let workspace = open(directory).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot open the workspace {}: {error}", directory.display()))
        })?;
        Ok(Self {
            workspace,
            allow_delete: false,
            hide_dot_files: false,
            limits: FileLimits::default(),
            changing: Mutex::default(),
        })
    }

    /// Sets whether `delete_file` and patches may delete files. The default is `false`.
    #[must_use]
    pub fn allow_delete(mut self, allow: bool) -> Self {
        self.allow_delete = allow;
        self
    }

    /// Sets whether `list_files` leaves out names that begin with a dot, except `.gitignore`, when it lists one directory.
    /// The default is `false`. A recursive list has them, and so has a list with `include_hidden`.
    #[must_use]
    pub fn hide_dot_files(mut self, hide: bool) -> Self {
        self.hide_dot_files = hide;
        self
    }

    /// Sets whether files with several hard links may be read and written. The default is `false`, because such a file
    /// may also be linked from outside the workspace.
    #[must_use]
    pub fn hard_links(mut self, allow: bool) -> Self {
        self.workspace.rule.hard_links = allow;
        self
    }

    /// Sets the limits on reading, changing and listing.
    #[must_use]
    pub fn limits(mut self, limits: FileLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the tools that cannot succeed with these settings: `delete_file`, unless it is
    /// [allowed](Self::allow_delete). An application can hide them:
    ///
    /// ```
    /// use tool_builtins::files::Files;
    /// use tool_runtime::{Dispatcher, Selection};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = directory.path();
    /// let files = Files::new(workspace)?;
    /// let selection = Selection::new().hide(files.unusable());
    /// let tools = Dispatcher::builder().service(files).build()?.select(selection)?;
    /// assert!(tools.definition("delete_file").is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn unusable(&self) -> Vec<&'static str> {
        if self.allow_delete { Vec::new() } else { vec!["delete_file"] }
    }

    fn lock_changes(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn patch_limits(&self) -> PatchLimits {
        PatchLimits { delete: self.allow_delete, bytes: self.limits.change_bytes }
    }
}

/// Limits on how much the file tools read, change and return. What exceeds them is rejected or left out, with a note.
///
/// ```
/// use tool_builtins::files::{Files, FileLimits};
///
/// # fn main() -> std::io::Result<()> {
/// let limits = FileLimits { read_bytes: 16 * 1024, ..FileLimits::default() };
/// let files = Files::new(".")?.limits(limits);
/// # drop(files);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// The maximum number of bytes returned by `read_file`. The default is 256 KiB. The file itself may be larger.
    pub read_bytes: usize,
    /// The maximum size of a file to be edited, patched or appended to, which is held in memory. The default is 256 MiB.
    pub change_bytes: u64,
    /// The maximum number of entries returned by `list_files`, and of matches by `search_files`. The default is 10,000.
    pub results: usize,
    /// The maximum number of directory entries visited by a call. The default is a million.
    pub entries: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { read_bytes: 256 * 1024, change_bytes: 256 * 1024 * 1024, results: 10_000, entries: 1_000_000 }
    }
}

/// Returns an error if the call was cancelled, because its result would be incomplete.
fn check_cancelled(cancelled: &CancellationToken) -> errors::FileResult<()> {
    if cancelled.is_cancelled() { Err(HandlerError::failed("The call was cancelled.")) } else { Ok(()) }
}
