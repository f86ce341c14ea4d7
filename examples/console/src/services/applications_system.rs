//! The tools `applications_system.*`: installed programs, running or not.

use serde::Serialize;
use tool_runtime::{HandlerError, tool, tool_class};

use crate::listing::{Listing, contains};
use crate::machine::Machine;
use crate::machine::programs::DesktopEntry;
use crate::machine::units::Unit;

/// Installed programs.
pub struct ApplicationsSystemService {
    machine: Machine,
}

/// The location of a command.
#[derive(Clone, Debug, Serialize)]
pub struct CommandLocation {
    /// The command.
    pub command: String,
    /// Its file.
    pub path: String,
    /// The target, if the file is a link.
    pub leads_to: Option<String>,
    /// The package of the file.
    pub package: Option<String>,
    /// The number of its processes.
    pub running: usize,
}

#[tool_class(prefix = "applications_system", category = "packages")]
impl ApplicationsSystemService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// Returns the location of a command: its file, its package, and the number of its running processes.
    #[tool(read_only, blocking)]
    pub fn locate(
        &self,
        /// The command's name without a directory, such as `python3`.
        #[arg(min_length = 1, max_length = 255, pattern = "^[^/]+$")]
        command: &str,
    ) -> Result<CommandLocation, HandlerError> {
        let path = self.machine.command(command).ok_or_else(|| {
            HandlerError::retry(format!("There is no command `{command}`. `system_packages.search` finds packages."))
        })?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        // If `/bin` is a link to `/usr/bin`, the package database may have either path.
        let beside_root = real.strip_prefix("/usr").map(|rest| std::path::Path::new("/").join(rest)).ok();
        let package = [Some(path.clone()), Some(real.clone()), beside_root]
            .into_iter()
            .flatten()
            .find_map(|path| self.machine.package_of(&path));
        let real_name = real.display().to_string();
        let processes = self.machine.processes();
        Ok(CommandLocation {
            command: command.to_owned(),
            path: path.display().to_string(),
            running: processes.iter().filter(|process| process.program.as_deref() == Some(&*real_name)).count(),
            leads_to: (real != path).then_some(real_name),
            package,
        })
    }

    /// Returns the programs of the desktop's menu, sorted by name. A server has few or none.
    #[tool(read_only, blocking)]
    pub fn desktop(
        &self,
        /// Only programs whose name or description contains this, ignoring case.
        #[arg(default = "", max_length = 100)]
        word: &str,
        /// Maximum number of items.
        #[arg(default = 25, min = 1, max = 200)]
        limit: usize,
    ) -> Result<Listing<DesktopEntry>, HandlerError> {
        let mut found = self.machine.desktop_entries()?;
        found.retain(|entry| contains(&entry.name, word) || contains(entry.about.as_deref().unwrap_or_default(), word));
        Ok(Listing::first(found, limit))
    }

    /// Returns the services of the system (systemd units), with whether each is enabled at boot.
    #[tool(read_only, blocking)]
    pub fn units(
        &self,
        /// Only services whose name or description contains this, ignoring case.
        #[arg(default = "", max_length = 100)]
        word: &str,
        /// Only services that are enabled at boot.
        #[arg(default = false)]
        enabled_only: bool,
        /// Maximum number of items.
        #[arg(default = 25, min = 1, max = 200)]
        limit: usize,
    ) -> Listing<Unit> {
        let mut found = self.machine.units();
        found.retain(|unit| unit.enabled || !enabled_only);
        found.retain(|unit| contains(&unit.name, word) || contains(unit.about.as_deref().unwrap_or_default(), word));
        Listing::first(found, limit)
    }
}
