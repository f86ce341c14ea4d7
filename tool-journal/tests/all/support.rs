use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;
use tool_journal::SqliteJournal;
use tool_runtime::ToolResult;
use tool_runtime::journal::StartedCall;
pub use tool_runtime::journal::testing::finished;

/// A temporary directory with a journal.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn journal(&self) -> PathBuf {
        self.file("calls.db")
    }

    pub async fn open(&self) -> SqliteJournal {
        SqliteJournal::open(self.journal()).await.unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub fn started(conversation: &str, id: &str) -> StartedCall {
    tool_runtime::journal::testing::started(conversation, id, json!({"text": "hello"}))
}

pub fn result(output: &str) -> ToolResult {
    finished(output).result
}

/// Starts this test binary as a child process that runs one of its ignored tests.
pub fn child(test: &str, folder: &Folder, task: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("JOURNAL_FOLDER", folder.0.path())
        .env("JOURNAL_TASK", task)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the directory and the task of a child process. Returns `None` if the ignored test was started by hand.
pub fn child_task() -> Option<(PathBuf, String)> {
    Some((std::env::var_os("JOURNAL_FOLDER")?.into(), std::env::var("JOURNAL_TASK").ok()?))
}

/// Tells the parent that the child is ready.
pub fn report_ready() {
    println!("\nready");
}

pub fn wait_until_ready(child: &mut Child) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"), "the child ended early");
}
