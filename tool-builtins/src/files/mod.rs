//! Files of one workspace: read, write, edit, patch, move, list and search.
//!
//! ```
//! use serde_json::json;
//! use tool_builtins::files::Files;
//! use tool_runtime::{Dispatcher, Policy, ToolCall};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let workspace = folder.path();
//! // Writes are `sensitive`: without `Yolo` somebody is asked, with the diff as preview.
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
//! # What is safe, and how
//! - Every path is resolved by the kernel beneath the workspace's descriptor, in the same step that opens it.
//!   `..`, absolute paths, and symbolic links that lead out are refused; links inside are followed.
//! - Pipes, sockets and devices are refused, without waiting for them.
//! - A file with several names (hard links) may be one outside the workspace, which cannot be seen from inside. It is
//!   neither read, searched nor written, unless [`hard_links`](Files::hard_links) allows it; then a write gives this
//!   name a new file, and the others keep the old one.
//! - A file is written beside itself and renamed into its place, with its permissions: a write that fails leaves the
//!   old one whole. One that may not be written is not replaced either. Owners are kept where the system allows it,
//!   extended attributes are not.
//! - Nothing is deleted unless [`allow_delete`](Files::allow_delete) says so, by no patch either.
//! - An edit or a patch changes what it names. All other bytes of a file stay, invalid ones too; so do its encoding, its
//!   line breaks and, under another name, its permissions.
//!
//! # What is left out of lists and searches
//! `.git`, `node_modules`, and what `.ignore`, `.gitignore` and `.git/info/exclude` name, in this order and in any folder
//! of the workspace. Git's rules end at the border of a repository. The ignore file of the user who runs the program is
//! not read, since it lies outside the workspace.

mod change;
mod controls;
mod edit;
mod entry;
mod failure;
mod glob;
mod kind;
mod limits;
mod lines;
mod list;
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

pub use self::limits::Limits;
use self::patch::Leave;
use self::workspace::Workspace;
pub use self::write::WriteMode;

/// The tools for files: `read_file`, `write_file`, `edit_file`, `apply_patch`, `delete_file`, `move_file`,
/// `list_files`, `search_files`. See the [module](self) for what they may do.
#[derive(Debug)]
pub struct Files {
    workspace: Workspace,
    allow_delete: bool,
    limits: Limits,
    /// Changes are made one after the other: each begins with what the one before has left.
    changing: Mutex<()>,
}

impl Files {
    /// The files in a folder, and none outside it.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be opened.
    pub fn new(workspace: impl AsRef<Path>) -> io::Result<Self> {
        Self::of(workspace.as_ref(), Workspace::confined)
    }

    /// Every file that the program can reach. Relative paths begin at `folder`.
    ///
    /// The model can then read keys, histories and mail, and write what runs at the next login: this is for programs
    /// that are confined in another way, such as by a container.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be opened.
    #[cfg(unix)]
    pub fn unconfined(folder: impl AsRef<Path>) -> io::Result<Self> {
        Self::of(folder.as_ref(), Workspace::unconfined)
    }

    fn of(folder: &Path, open: fn(&Path) -> io::Result<Workspace>) -> io::Result<Self> {
        let workspace = open(folder)
            .map_err(|error| io::Error::new(error.kind(), format!("the workspace {}: {error}", folder.display())))?;
        Ok(Self { workspace, allow_delete: false, limits: Limits::default(), changing: Mutex::default() })
    }

    /// Whether files may be deleted, by `delete_file` and by patches. They may not unless this says so.
    #[must_use]
    pub fn allow_delete(mut self, allow: bool) -> Self {
        self.allow_delete = allow;
        self
    }

    /// Whether files with several names are read and written. They are not unless this says so: a name may be one of a
    /// file outside the workspace.
    #[must_use]
    pub fn hard_links(mut self, allow: bool) -> Self {
        self.workspace.rule.hard_links = allow;
        self
    }

    /// How much the tools take and give at once.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Those of the tools that can only fail as this is set up: `delete_file`, unless it is
    /// [allowed](Self::allow_delete). An application need not offer them:
    ///
    /// ```
    /// use tool_builtins::files::Files;
    /// use tool_runtime::{Dispatcher, Selection};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let workspace = folder.path();
    /// let files = Files::new(workspace)?;
    /// let of_use = Selection::new().hide(files.unusable());
    /// let tools = Dispatcher::builder().service(files).build()?.select(of_use)?;
    /// assert!(tools.definition("delete_file").is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn unusable(&self) -> Vec<&'static str> {
        if self.allow_delete { Vec::new() } else { vec!["delete_file"] }
    }

    fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) -> Leave {
        Leave { delete: self.allow_delete, bytes: self.limits.change_bytes }
    }
}

/// A call that was stopped has no answer that counts.
fn stopped(cancelled: &CancellationToken) -> failure::Outcome<()> {
    if cancelled.is_cancelled() { Err(HandlerError::failed("The call was stopped.")) } else { Ok(()) }
}
