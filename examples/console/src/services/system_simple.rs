//! The tools `system_simple.*`: summaries of the machine.

use serde::Serialize;
use tool_runtime::{tool, tool_class};

use crate::machine::Machine;
use crate::settings::SettingsFile;

/// Summaries of the machine.
pub struct SystemSimpleService {
    machine: Machine,
    settings: SettingsFile,
}

/// The health of the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Health {
    /// `true` if all metrics are below their thresholds.
    pub healthy: bool,
    /// The metrics above their thresholds.
    pub problems: Vec<String>,
}

#[tool_class(prefix = "system_simple", category = "system")]
impl SystemSimpleService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(machine: Machine, settings: SettingsFile) -> Self {
        Self { machine, settings }
    }

    /// Returns the state of this machine in one sentence for people.
    #[tool(read_only, blocking)]
    pub fn summary(&self) -> String {
        let now = self.machine.snapshot();
        let disk = self.machine.disks().into_iter().next();
        let disk = disk
            .map_or_else(String::new, |disk| format!(", disk {} {} % full", disk.mounted_at, disk.space.used_percent));
        format!(
            "{} ({}) is up for {}: processors {} % busy, memory {} % used{disk}, {} processes.",
            now.host, now.system, now.up, now.cpu_percent, now.memory.used_percent, now.processes
        )
    }

    /// Returns the metrics that are above their thresholds now. `system_alerts.list` returns past ones too.
    #[tool(read_only, blocking)]
    pub fn health(&self) -> Health {
        let thresholds = self.settings.get().alerts;
        let now = self.machine.snapshot();
        let mut problems = Vec::new();
        let mut judge = |what: &str, percent: f64, threshold: f64| {
            if percent > threshold {
                problems.push(format!("{what} at {percent} %, above {threshold} %"));
            }
        };
        judge("processors", now.cpu_percent, thresholds.cpu_percent);
        judge("memory", now.memory.used_percent, thresholds.memory_percent);
        for disk in self.machine.disks().iter().filter(|disk| !disk.read_only) {
            judge(&format!("disk {}", disk.mounted_at), disk.space.used_percent, thresholds.disk_percent);
        }
        Health { healthy: problems.is_empty(), problems }
    }
}
