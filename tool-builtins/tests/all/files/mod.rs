//! Files of one workspace.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare its files fails")]

// What each tool does.
mod changing;
mod finding;
#[cfg(unix)]
mod git_reference;
mod offer;
mod patching;
mod previews;
mod reading;

// What none of them does: escape, hang, crash, lose something.
mod big;
mod disk;
mod hard_links;
mod links;
mod names;
mod permissions;
mod race;
mod special;
mod traversal;

// What none of them keeps to, if the application says so.
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

/// A call that takes longer hangs.
const HANGS: Duration = Duration::from_secs(120);

/// A workspace and what lies beside it.
pub struct World {
    folder: TempDir,
    pub tools: Dispatcher,
    runtime: Runtime,
}

/// What stands in the file outside.
pub const SECRET: &str = "the secret of the outside";

impl World {
    pub fn new() -> Self {
        Self::with(|files| files)
    }

    /// A workspace whose tools may do more, or less.
    pub fn with(set: impl FnOnce(Files) -> Files) -> Self {
        Self::of(|inside| set(Files::new(inside).unwrap()))
    }

    /// A folder, and what its tools are made of.
    pub fn of(open: impl FnOnce(&Path) -> Files) -> Self {
        let folder = in_memory();
        fs::create_dir(folder.path().join("inside")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/secret.txt"), SECRET).unwrap();
        let files = open(&folder.path().join("inside"));
        let tools = Dispatcher::builder().service(files).policy(Policy::Yolo).build().unwrap();
        Self { folder, tools, runtime: Runtime::new().unwrap() }
    }

    /// A path in the workspace.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("inside").join(path)
    }

    /// A path beside the workspace.
    pub fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().join("outside").join(path)
    }

    /// Puts a file into the workspace.
    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What a file of the workspace holds.
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

    /// The output of a call that must succeed.
    #[track_caller]
    pub fn output(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments.clone());
        assert!(result.success, "{name} {arguments}: {}", result.output);
        result.output
    }

    /// The message of a call that must fail, in a way that the tool has foreseen.
    #[track_caller]
    pub fn refused(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments.clone());
        let shown = arguments.to_string().chars().take(300).collect::<String>();
        let Some(error) = result.error else { panic!("{name} {shown} succeeded: {}", result.output) };
        let foreseen = [ErrorKind::Failed, ErrorKind::Retry, ErrorKind::Fatal];
        assert!(foreseen.contains(&error.kind), "{name} {shown}: {:?} {}", error.kind, error.message);
        error.message
    }

    /// Everything outside, by name and content.
    pub fn all_outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        tree(&self.outside(""))
    }
}

/// Every tool with a path in each of its arguments that take one; nothing else of a call can lead astray.
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

/// Files and what they hold, sorted; folders and links by name alone.
pub fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
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

/// A folder that costs no disk, where there is one: writes wait for the disk.
pub fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}
