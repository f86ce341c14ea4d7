//! Tests of the file tools.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare its files fails")]

// The tools.
mod changes;
#[cfg(unix)]
mod git_reference;
mod list_and_search;
mod patches;
mod previews;
mod read_file;
mod registration;

// Safety: paths, special files, sizes and races.
mod full_disk;
mod hard_links;
mod large_files;
mod names;
mod permissions;
mod races;
mod special_files;
mod symlinks;
mod traversal;

// Unconfined services.
#[cfg(unix)]
mod unconfined;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tool_builtins::files::Files;
use tool_runtime::{Dispatcher, Effect, ErrorKind, Policy, ToolCall, ToolError, ToolResult};

/// A call that takes longer is considered to hang.
const HANGS: Duration = Duration::from_secs(120);

/// A workspace, and a directory beside it.
pub struct TestWorkspace {
    directory: TempDir,
    pub tools: Dispatcher,
    runtime: Runtime,
}

/// The content of the file outside.
pub const SECRET: &str = "the secret of the outside";

impl TestWorkspace {
    pub fn new() -> Self {
        Self::with(|files| files)
    }

    /// Creates a workspace with a configured service.
    pub fn with(set: impl FnOnce(Files) -> Files) -> Self {
        Self::with_service(|inside| set(Files::new(inside).unwrap()))
    }

    /// Creates a workspace with a service made by `open`.
    pub fn with_service(open: impl FnOnce(&Path) -> Files) -> Self {
        let directory = in_memory();
        fs::create_dir(directory.path().join("inside")).unwrap();
        fs::create_dir(directory.path().join("outside")).unwrap();
        fs::write(directory.path().join("outside/secret.txt"), SECRET).unwrap();
        let files = open(&directory.path().join("inside"));
        let tools = Dispatcher::builder().service(files).policy(Policy::Yolo).build().unwrap();
        Self { directory, tools, runtime: Runtime::new().unwrap() }
    }

    /// Returns a path in the workspace.
    pub fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join("inside").join(path)
    }

    /// Returns a path in the directory beside the workspace.
    pub fn outside(&self, path: &str) -> PathBuf {
        self.directory.path().join("outside").join(path)
    }

    /// Creates a file in the workspace.
    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Returns the content of a file in the workspace.
    #[track_caller]
    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.runtime.block_on(self.tools.call(ToolCall::new(name, arguments)).timeout(HANGS))
    }

    pub fn preview(&self, name: &str, arguments: Value) -> Result<Option<Effect>, ToolError> {
        self.runtime.block_on(self.tools.call(ToolCall::new(name, arguments)).preview())
    }

    /// Makes a call that must succeed, and returns its output.
    #[track_caller]
    pub fn output(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments.clone());
        assert!(result.success, "{name} {arguments}: {}", result.output);
        result.output
    }

    /// Makes a call that must fail with an error of the tool, and returns the message.
    #[track_caller]
    pub fn refused(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments.clone());
        let shown = arguments.to_string().chars().take(300).collect::<String>();
        let Some(error) = result.error else { panic!("{name} {shown} succeeded: {}", result.output) };
        let expected = [ErrorKind::Failed, ErrorKind::Retry, ErrorKind::Fatal];
        assert!(expected.contains(&error.kind), "{name} {shown}: {:?} {}", error.kind, error.message);
        error.message
    }

    /// Returns all files outside with their contents.
    pub fn all_outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        tree(&self.outside(""))
    }
}

/// Returns calls of every tool, with a path in each argument that takes one.
pub fn calls_with(path: &str) -> Vec<(&'static str, Value)> {
    let patch = |old: &str, new: &str| json!({"patch": format!("--- {old}\n+++ {new}\n@@ -0,0 +1 @@\n+x\n")});
    let removal = format!("--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{SECRET}\n\\ No newline at end of file\n");
    vec![
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "x"})),
        ("write_file", json!({"path": path, "content": "x", "mode": "append"})),
        ("edit_file", json!({"path": path, "old_string": "secret", "new_string": "x"})),
        ("apply_patch", patch(&format!("a/{path}"), &format!("b/{path}"))),
        ("apply_patch", patch("/dev/null", &format!("b/{path}"))),
        ("apply_patch", json!({"patch": removal})),
        ("delete_file", json!({"path": path})),
        ("move_file", json!({"from": path, "to": "moved.txt", "overwrite": true})),
        ("move_file", json!({"from": "mine.txt", "to": path, "overwrite": true})),
        ("list_files", json!({"path": path, "recursive": true})),
        ("list_files", json!({"glob": path})),
        ("search_files", json!({"pattern": "secret", "path": path})),
        ("search_files", json!({"pattern": "secret", "glob": path})),
    ]
}

/// Returns all files with their contents, sorted. Directories and links have no content.
pub fn tree(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        found.push((path.clone(), if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() }));
        if kind.is_dir() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}

/// Creates a directory in memory if possible, since syncing to disk is slow.
pub fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}
