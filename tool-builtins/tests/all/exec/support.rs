//! A test workspace, its commands and its processes.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tool_builtins::exec::{Exec, ProcessCleanup};
use tool_runtime::{Dispatcher, Policy, ToolCall, ToolResult};

/// A workspace whose commands all have a marker in their environment.
pub struct Workspace {
    pub directory: TempDir,
    pub marker: String,
}

impl Workspace {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let marker = format!("marker-{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { directory: tempfile::tempdir().unwrap(), marker }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn exec(&self) -> Exec {
        Exec::new(self.path()).unwrap().env("TEST_MARKER", &self.marker)
    }

    /// Returns a dispatcher that needs no approvals.
    pub fn tools(&self) -> Dispatcher {
        tools(self.exec())
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub fn write_program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        self.write(name, text);
        std::fs::set_permissions(self.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns the running processes that have the marker in their environment, with pid and command line.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let marked = pids.filter_map(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            String::from_utf8_lossy(&environment).contains(&self.marker).then(|| {
                let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                (pid, String::from_utf8_lossy(&line).replace('\0', " "))
            })
        });
        marked.collect()
    }

    /// Waits until a command has created a file, which signals that everything is running.
    pub async fn until_made(&self, name: &str) {
        for _ in 0..MAX_STEPS {
            if self.path().join(name).exists() {
                return;
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("`{name}` was not created");
    }

    /// Kills all processes with the marker.
    pub async fn kill_all(&self) {
        for _ in 0..MAX_STEPS {
            let survivors = self.processes();
            if survivors.is_empty() {
                return;
            }
            for pid in survivors.into_iter().filter_map(|(pid, _)| rustix::process::Pid::from_raw(pid)) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("still running: {:?}", self.processes());
    }

    /// Waits until no process has the marker.
    pub async fn until_gone(&self, name: &str) {
        for _ in 0..MAX_STEPS {
            if self.processes().is_empty() {
                return;
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("{name}: still running: {:?}", self.processes());
    }
}

const STEP: Duration = Duration::from_millis(20);
/// Enough steps for slow machines.
const MAX_STEPS: usize = 3000;

pub fn tools(exec: Exec) -> Dispatcher {
    Dispatcher::builder().service(exec).policy(Policy::Yolo).build().unwrap()
}

pub async fn run(tools: &Dispatcher, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new("run_command", arguments)).await
}

pub async fn run_line(tools: &Dispatcher, line: &str) -> ToolResult {
    run(tools, json!({"command": line})).await
}

/// Returns the cleanups that this system supports.
pub async fn cleanups() -> Vec<ProcessCleanup> {
    let workspace = Workspace::new();
    let mut allowed = Vec::new();
    for cleanup in [ProcessCleanup::PidNamespace, ProcessCleanup::Subreaper] {
        match workspace.exec().cleanup(cleanup).confinement().await {
            Ok(confinement) => {
                assert_eq!(confinement.tree, cleanup);
                allowed.push(cleanup);
            }
            Err(error) => println!("skipped: {cleanup:?}: {error}"),
        }
    }
    assert!(allowed.contains(&ProcessCleanup::Subreaper), "subreapers need no privileges");
    allowed
}

/// Runs an ignored test in its own process.
pub fn run_in_own_process(test: &str) {
    let this = std::env::current_exe().unwrap();
    let output = std::process::Command::new(this).args([test, "--exact", "--ignored", "--nocapture"]).output().unwrap();
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}{errors}");
    println!("{printed}");
}
