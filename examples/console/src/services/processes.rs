//! The tools `processes.*`: running processes, and how to end them.

use std::io;

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::{Effect, HandlerError, tool, tool_class};

use crate::listing::{Listing, contains};
use crate::machine::Machine;
use crate::machine::processes::Process;
use crate::machine::signal;

/// Running processes.
pub struct ProcessesService {
    machine: Machine,
}

/// The order of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// By CPU usage, highest first.
    Cpu,
    /// By memory, largest first.
    Memory,
    /// By start time, newest first.
    Newest,
    /// By process id.
    Pid,
}

#[tool_class(prefix = "processes", category = "processes")]
impl ProcessesService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// Returns the processes of this machine with their CPU usage and memory.
    #[tool(read_only, blocking)]
    pub fn list(
        &self,
        /// The order.
        #[arg(default = "cpu")]
        order: Order,
        /// Only processes whose name contains this, ignoring case.
        #[arg(max_length = 100)]
        name: Option<&str>,
        /// Maximum number of items.
        #[arg(default = 15, min = 1, max = 200)]
        limit: usize,
    ) -> Listing<Process> {
        let mut found = self.machine.processes();
        found.retain(|process| name.is_none_or(|name| contains(&process.name, name)));
        found.sort_by_key(|process| process.pid);
        match order {
            Order::Cpu => found.sort_by(|a, b| b.cpu_percent.total_cmp(&a.cpu_percent)),
            Order::Memory => found.sort_by(|a, b| b.memory_mb.total_cmp(&a.memory_mb)),
            Order::Newest => found.sort_by_key(|process| std::cmp::Reverse(process.started)),
            Order::Pid => {}
        }
        Listing::first(found, limit)
    }

    /// Returns one process, with its command line.
    #[tool(read_only, blocking)]
    pub fn show(
        &self,
        /// The process id.
        #[arg(min = 1)]
        pid: u32,
    ) -> Result<Process, HandlerError> {
        self.machine.process(pid).ok_or_else(|| gone(pid))
    }

    /// Ends a process with `SIGTERM`, or with `SIGKILL` if `force` is set. The name must match too, in case another
    /// process has reused the id.
    #[tool(sensitive, destructive, blocking, tags = ["write"], preview = "preview_kill")]
    pub fn kill(
        &self,
        /// The process id, as returned by `processes.list`.
        #[arg(min = 1)]
        pid: u32,
        /// Its name, as returned by `processes.list`.
        name: &str,
        /// Kills the process without asking it to end, so that it cannot save anything.
        #[arg(default = false)]
        force: bool,
    ) -> Result<String, HandlerError> {
        self.expect(pid, name)?;
        let is_meant = || self.machine.process(pid).is_some_and(|process| process.name == name);
        signal::end(pid, force, is_meant).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => gone(pid),
            io::ErrorKind::PermissionDenied => {
                HandlerError::fatal(format!("The console may not end process {pid} ({name}): it is another user's."))
            }
            _ => error.into(),
        })?;
        let done = if force { "was ended" } else { "was asked to end" };
        Ok(format!("Process {pid} ({name}) {done}."))
    }

    fn preview_kill(&self, pid: u32, name: &str, force: bool) -> Result<Effect, HandlerError> {
        let process = self.expect(pid, name)?;
        let signal = if force { "KILL" } else { "TERM" };
        let user = process.user.as_deref().unwrap_or("unknown");
        Ok(Effect::Command(format!("kill -{signal} {pid}  # {name} of {user}, {} MB", process.memory_mb)))
    }

    /// Returns the process with that id, if it has that name and may be ended.
    fn expect(&self, pid: u32, name: &str) -> Result<Process, HandlerError> {
        let process = self.machine.process(pid).ok_or_else(|| gone(pid))?;
        if process.name != name {
            let found = &process.name;
            return Err(HandlerError::retry(format!("Process {pid} is called `{found}`, not `{name}`.")));
        }
        if pid == 1 || self.is_ours(pid) {
            return Err(HandlerError::fatal(format!(
                "Process {pid} ({name}) is not ended: it is the console, or what the console runs under."
            )));
        }
        Ok(process)
    }

    /// Returns `true` if the console is this process or a descendant of it.
    fn is_ours(&self, pid: u32) -> bool {
        let mut ours = Some(std::process::id());
        while let Some(current) = ours.filter(|current| *current != pid) {
            ours = self.machine.process(current).and_then(|process| process.parent).filter(|parent| *parent != current);
        }
        ours.is_some()
    }
}

fn gone(pid: u32) -> HandlerError {
    HandlerError::retry(format!("There is no process {pid}. `processes.list` lists the running processes."))
}
