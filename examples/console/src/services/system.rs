//! The tools `system.*`: readings of the machine.

use tool_runtime::{tool, tool_class};

use crate::listing::Listing;
use crate::machine::Machine;
use crate::machine::readings::{Disk, Interface, Snapshot, Temperature};

/// Readings of the machine.
pub struct SystemService {
    machine: Machine,
}

#[tool_class(prefix = "system", category = "system")]
impl SystemService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// Returns a general snapshot of this machine: names and versions, time since boot, CPU usage, memory, swap and number
    /// of processes.
    #[tool(read_only, blocking)]
    pub fn build_system_snapshot(&self) -> Snapshot {
        self.machine.snapshot()
    }

    /// Returns the mounted file systems with their size and usage, the fullest first.
    #[tool(read_only, blocking)]
    pub fn disks(
        &self,
        /// Maximum number of items.
        #[arg(default = 20, min = 1, max = 100)]
        limit: usize,
    ) -> Listing<Disk> {
        Listing::first(self.machine.disks(), limit)
    }

    /// Returns the network interfaces with their addresses and their traffic since they came up.
    #[tool(read_only, blocking)]
    pub fn network_interfaces(
        &self,
        /// Maximum number of items.
        #[arg(default = 20, min = 1, max = 100)]
        limit: usize,
    ) -> Listing<Interface> {
        Listing::first(self.machine.interfaces(), limit)
    }

    /// Returns the readings of the temperature sensors, the hottest first. Virtual machines have none.
    #[tool(read_only, blocking)]
    pub fn temperatures(&self) -> Listing<Temperature> {
        Listing::first(self.machine.temperatures(), 50)
    }
}
