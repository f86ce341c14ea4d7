//! Processes of the machine.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, UpdateKind, Users};

use super::Machine;
use crate::clock::from_seconds;
use crate::listing::{clip, megabytes, rounded};

/// Maximum length of a command line.
const COMMAND: usize = 500;

/// A process in a list.
#[derive(Clone, Debug, Serialize)]
pub struct Process {
    /// The process id, which is reused after the process has ended.
    pub pid: u32,
    /// The id of the parent process.
    pub parent: Option<u32>,
    /// The name, which the process can change.
    pub name: String,
    /// The file of the program, if visible.
    pub program: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// CPU usage since the last measurement, in percent of one core.
    pub cpu_percent: f64,
    /// The memory.
    pub memory_mb: f64,
    /// The state, such as `Sleep`.
    pub state: String,
    /// When it was started.
    pub started: DateTime<Utc>,
    /// The command line. Omitted from lists, since it is long and may contain secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Process {
    /// Returns the file name of the program, or else the name of the process, which Linux cuts after 15 bytes and the
    /// process can change.
    #[must_use]
    pub fn application(&self) -> &str {
        let file = self.program.as_deref().and_then(|path| Path::new(path).file_name()?.to_str());
        file.map_or(&self.name, |file| file.trim_end_matches(" (deleted)"))
    }
}

impl Machine {
    /// Returns all processes, unordered.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        let users = Users::new_with_refreshed_list();
        let mut measured = self.measured();
        measured.system.refresh_processes_specifics(ProcessesToUpdate::All, true, wanted());
        measured.system.processes().values().map(|process| read(process, &users)).collect()
    }

    /// Returns one process with its command line.
    #[must_use]
    pub fn process(&self, pid: u32) -> Option<Process> {
        let users = Users::new_with_refreshed_list();
        let mut measured = self.measured();
        let pid = Pid::from_u32(pid);
        measured.system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, wanted());
        let process = measured.system.process(pid)?;
        let words: Vec<_> = process.cmd().iter().map(|word| word.to_string_lossy()).collect();
        let command = (!words.is_empty()).then(|| clip(&words.join(" "), COMMAND));
        Some(Process { command, ..read(process, &users) })
    }
}

fn wanted() -> ProcessRefreshKind {
    ProcessRefreshKind::nothing()
        .without_tasks()
        .with_cpu()
        .with_memory()
        .with_user(UpdateKind::OnlyIfNotSet)
        .with_exe(UpdateKind::OnlyIfNotSet)
        .with_cmd(UpdateKind::OnlyIfNotSet)
}

fn read(process: &sysinfo::Process, users: &Users) -> Process {
    Process {
        pid: process.pid().as_u32(),
        parent: process.parent().map(Pid::as_u32),
        name: process.name().to_string_lossy().into_owned(),
        program: process.exe().map(|path| path.display().to_string()),
        user: process.user_id().map(|id| users.get_user_by_id(id).map_or_else(|| id.to_string(), |u| u.name().into())),
        cpu_percent: rounded(process.cpu_usage().into()),
        memory_mb: megabytes(process.memory()),
        state: process.status().to_string(),
        started: from_seconds(process.start_time()),
        command: None,
    }
}
