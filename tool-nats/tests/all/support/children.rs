//! Workers in separate processes, which can be killed.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tool_journal::SqliteJournal;
use tool_nats::{QueueOptions, WorkQueue, serve};
use tool_runtime::journal::{
    BoxFuture, CallKey, CallStatus, EntryQuery, FinishedCall, Journal, JournalDecision, JournalEntry, JournalError,
    StartedCall,
};

use super::{Effects, worker_tools};

/// The configuration of a worker in a separate process.
#[derive(Clone, Serialize, Deserialize)]
pub struct Task {
    pub url: String,
    pub folder: PathBuf,
    /// The file of its journal in the directory, if it has one.
    pub journal: Option<String>,
    pub queue_silence: Option<Duration>,
    /// The number of permits for jobs of a tool.
    pub queue_concurrency: usize,
    /// Set if it blocks once a call is recorded as finished, after it has written a line about that.
    pub holds: bool,
}

impl Default for Task {
    fn default() -> Self {
        let journal = Some("calls.db".to_owned());
        Self {
            url: String::new(),
            folder: PathBuf::new(),
            journal,
            queue_silence: None,
            queue_concurrency: 16,
            holds: false,
        }
    }
}

/// A worker in a separate process. Dropping it kills the process.
pub struct Child(std::process::Child);

impl Child {
    /// Starts a worker and waits until it serves.
    pub fn start(task: &Task) -> Self {
        let mut child = Self::spawn(task);
        child.wait();
        child
    }

    /// Starts a worker.
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

    /// Suspends the process, as `kill -STOP`.
    pub fn pause(&self) {
        self.signal("STOP");
    }

    /// Resumes the process, as `kill -CONT`.
    pub fn resume(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Kills the process, as `kill -9`.
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

/// Runs in a process that a test has started; does nothing otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a part of other tests"]
async fn works_until_killed() {
    let Ok(task) = std::env::var("NATS_TASK") else { return };
    let task: Task = serde_json::from_str(&task).unwrap();
    // The end of standard input means that the parent is gone.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let effects = Effects::new(&task.folder);
    let mut tools = worker_tools(effects.clone());
    if let Some(file) = &task.journal {
        let journal = SqliteJournal::open(task.folder.join(file)).await.unwrap();
        tools = match task.holds {
            true => tools.journal(Holding { journal, effects }),
            false => tools.journal(journal),
        };
    }
    let connection = tool_nats::connect(&task.url).await.unwrap();
    let mut worker =
        serve(connection.clone(), tools.build().unwrap()).version("1.0.0").queue_concurrency(task.queue_concurrency);
    if let Some(silence) = task.queue_silence {
        worker = worker
            .queue(WorkQueue::open(connection, QueueOptions::default().heartbeat_timeout(silence)).await.unwrap());
    }
    let _worker = worker.await.unwrap();
    println!("\nready");
    std::future::pending().await
}

/// A journal that never returns from recording the end of a call, after it is on disk.
struct Holding {
    journal: SqliteJournal,
    effects: Effects,
}

impl Journal for Holding {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        self.journal.begin(call)
    }

    fn recall<'a>(&'a self, key: &'a CallKey) -> BoxFuture<'a, Result<Option<CallStatus>, JournalError>> {
        self.journal.recall(key)
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            self.journal.finish(key, finished).await?;
            self.effects.add("recorded");
            std::future::pending().await
        })
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        self.journal.note(call, decision)
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        self.journal.entries(query)
    }
}
