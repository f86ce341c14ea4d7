//! Workers in processes of their own, which can be killed.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tool_journal::SqliteJournal;
use tool_nats::{Queue, QueueOptions, serve};

use super::{Effects, connect, worker_tools};

/// What a worker in a process of its own is to do.
#[derive(Clone, Serialize, Deserialize)]
pub struct Task {
    pub url: String,
    pub folder: PathBuf,
    pub journal: bool,
    pub queue_silence: Option<Duration>,
}

/// A worker in a process of its own. Dropped, it is killed.
pub struct Child(std::process::Child);

impl Child {
    /// Starts one, and waits until it serves.
    pub fn start(task: &Task) -> Self {
        let mut child = Self::spawn(task);
        child.wait();
        child
    }

    /// Starts one.
    pub fn spawn(task: &Task) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "support::children::works_until_killed", "--ignored", "--nocapture"])
            .env("NATS_TASK", serde_json::to_string(task).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Waits until it serves.
    pub fn wait(&mut self) {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "ready"), "the worker ended early");
    }

    /// As `kill -9`.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs in a process that a test has started; by hand it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a part of other tests"]
async fn works_until_killed() {
    let Ok(task) = std::env::var("NATS_TASK") else { return };
    let task: Task = serde_json::from_str(&task).unwrap();
    // Whoever has started this is gone when nothing can be read any more.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let mut tools = worker_tools(Effects::new(&task.folder));
    if task.journal {
        tools = tools.journal(SqliteJournal::open(task.folder.join("calls.db")).await.unwrap());
    }
    let client = connect(&task.url).await;
    let mut worker = serve(client.clone(), tools.build().unwrap()).version("1.0.0");
    if let Some(silence) = task.queue_silence {
        worker = worker.queue(Queue::open(client, QueueOptions::default().silence(silence)).await.unwrap());
    }
    let _worker = worker.await.unwrap();
    println!("\nready");
    std::future::pending().await
}
