//! The tools `applications.*`: running programs with their processes.

use std::collections::BTreeMap;

use serde::Serialize;
use tool_runtime::{HandlerError, tool, tool_class};

use crate::listing::{Listing, contains, rounded};
use crate::machine::Machine;
use crate::machine::processes::Process;
use crate::services::classification::{Category, category_of};

/// Running programs.
pub struct ApplicationsService {
    machine: Machine,
}

/// A running program with all its processes.
#[derive(Clone, Debug, Serialize)]
pub struct Application {
    /// The name of the program's file.
    pub name: String,
    /// The category of the program.
    pub category: Category,
    /// The number of processes.
    pub processes: usize,
    /// CPU usage of all processes, in percent of one core.
    pub cpu_percent: f64,
    /// Memory of all processes.
    pub memory_mb: f64,
    /// The users of the processes.
    pub users: Vec<String>,
}

#[tool_class(prefix = "applications", category = "processes")]
impl ApplicationsService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// Returns the running programs, each with all its processes, largest memory first.
    #[tool(read_only, blocking)]
    pub fn list(
        &self,
        /// Only programs whose name contains this, ignoring case.
        #[arg(max_length = 100)]
        name: Option<&str>,
        /// Maximum number of items.
        #[arg(default = 15, min = 1, max = 100)]
        limit: usize,
    ) -> Listing<Application> {
        let mut programs: BTreeMap<String, Vec<Process>> = BTreeMap::new();
        for process in self.machine.processes() {
            programs.entry(process.application().to_owned()).or_default().push(process);
        }
        let mut found: Vec<Application> = programs.into_iter().map(|(name, all)| summarize(name, &all)).collect();
        found.retain(|application| name.is_none_or(|name| contains(&application.name, name)));
        found.sort_by(|a, b| b.memory_mb.total_cmp(&a.memory_mb));
        Listing::first(found, limit)
    }

    /// Returns the processes of one program, largest memory first.
    #[tool(read_only, blocking)]
    pub fn processes(
        &self,
        /// The program's name, as returned by `applications.list`.
        #[arg(min_length = 1, max_length = 255)]
        name: &str,
        /// Maximum number of items.
        #[arg(default = 20, min = 1, max = 100)]
        limit: usize,
    ) -> Result<Listing<Process>, HandlerError> {
        let mut found = self.machine.processes();
        found.retain(|process| process.application() == name);
        if found.is_empty() {
            let hint = "`applications.list` returns the running programs";
            return Err(HandlerError::retry(format!("No program `{name}` is running; {hint}.")));
        }
        found.sort_by(|a, b| b.memory_mb.total_cmp(&a.memory_mb));
        Ok(Listing::first(found, limit))
    }
}

fn summarize(name: String, processes: &[Process]) -> Application {
    let sum = |number: fn(&Process) -> f64| rounded(processes.iter().map(number).sum());
    let mut users: Vec<String> = processes.iter().filter_map(|process| process.user.clone()).collect();
    users.sort();
    users.dedup();
    Application {
        category: category_of(&name).0,
        processes: processes.len(),
        cpu_percent: sum(|process| process.cpu_percent),
        memory_mb: sum(|process| process.memory_mb),
        users,
        name,
    }
}
