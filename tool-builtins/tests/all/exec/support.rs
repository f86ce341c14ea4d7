//! A workspace, its commands, and the processes that belong to a test.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tool_builtins::exec::{Exec, ProcessCleanup};
use tool_runtime::{Dispatcher, Policy, ToolCall, ToolResult};

/// A workspace with a marker that all its commands have in their environment.
pub struct Workspace {
    pub folder: TempDir,
    pub marker: String,
}

impl Workspace {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let marker = format!("marker-{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { folder: tempfile::tempdir().unwrap(), marker }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn exec(&self) -> Exec {
        Exec::new(self.path()).unwrap().env("TEST_MARKER", &self.marker)
    }

    /// Tools that nobody is asked about.
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

    /// The processes that have the marker in their environment, as pid and command line. The dead have neither.
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

    /// Waits until a command has made a file, which says that everything runs that should.
    pub async fn until_made(&self, name: &str) {
        for _ in 0..PATIENCE {
            if self.path().join(name).exists() {
                return;
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("`{name}` was not made");
    }

    /// Kills whoever has the marker, until nobody has.
    pub async fn kill_all(&self) {
        for _ in 0..PATIENCE {
            let survivors = self.processes();
            if survivors.is_empty() {
                return;
            }
            for pid in survivors.into_iter().filter_map(|(pid, _)| rustix::process::Pid::from_raw(pid)) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("still there: {:?}", self.processes());
    }

    /// Waits until no process has the marker.
    pub async fn until_gone(&self, what: &str) {
        for _ in 0..PATIENCE {
            if self.processes().is_empty() {
                return;
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("{what}: still there: {:?}", self.processes());
    }
}

const STEP: Duration = Duration::from_millis(20);
/// Far more steps than it takes, on however slow a machine.
const PATIENCE: usize = 3000;

pub fn tools(exec: Exec) -> Dispatcher {
    Dispatcher::builder().service(exec).policy(Policy::Yolo).build().unwrap()
}

pub async fn run(tools: &Dispatcher, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new("run_command", arguments)).await
}

pub async fn run_line(tools: &Dispatcher, line: &str) -> ToolResult {
    run(tools, json!({"command": line})).await
}

/// Both ways of ending a tree, those that this system allows.
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
    assert!(allowed.contains(&ProcessCleanup::Subreaper), "that one needs nobody's leave");
    allowed
}

/// Runs an ignored test where no other test uses memory.
pub fn in_a_process_of_its_own(test: &str) {
    let this = std::env::current_exe().unwrap();
    let output = std::process::Command::new(this).args([test, "--exact", "--ignored", "--nocapture"]).output().unwrap();
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}{errors}");
    println!("{printed}");
}
