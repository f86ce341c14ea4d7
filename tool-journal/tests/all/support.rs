use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;
use tool_journal::SqliteJournal;
use tool_runtime::ToolResult;
use tool_runtime::journal::StartedCall;
pub use tool_runtime::journal::testing::finished;

/// A folder with a journal, gone at the end of the test.
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

/// Starts this test binary again, with one of its tests that are ignored otherwise.
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

/// In such a test: the folder and the task. None if somebody runs all ignored tests by hand.
pub fn childs_task() -> Option<(PathBuf, String)> {
    Some((std::env::var_os("JOURNAL_FOLDER")?.into(), std::env::var("JOURNAL_TASK").ok()?))
}

/// In such a test: lets the parent go on.
pub fn say_ready() {
    println!("\nready");
}

pub fn wait_until_ready(child: &mut Child) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"), "the child ended early");
}
