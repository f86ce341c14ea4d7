//! The tools `service_discovery.*`: listening sockets.

use tool_runtime::{HandlerError, tool, tool_class};

use crate::listing::Listing;
use crate::machine::Machine;
use crate::machine::sockets::Listener;

/// Listening sockets.
pub struct ServiceDiscoveryService {
    machine: Machine,
}

#[tool_class(prefix = "service_discovery", category = "network")]
impl ServiceDiscoveryService {
    /// Creates the service for one call.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// Returns the services that listen on this machine, sorted by port, each with its process if that is visible.
    #[tool(read_only, blocking)]
    pub fn listening(
        &self,
        /// Only services that other machines can reach.
        #[arg(default = false)]
        exposed_only: bool,
        /// Maximum number of items.
        #[arg(default = 50, min = 1, max = 500)]
        limit: usize,
    ) -> Result<Listing<Listener>, HandlerError> {
        let mut found = self.machine.listeners()?;
        found.retain(|listener| !(exposed_only && listener.local_only));
        Ok(Listing::first(found, limit))
    }

    /// Returns the services that listen on a port of this machine.
    #[tool(read_only, blocking)]
    pub fn at_port(
        &self,
        /// The port, such as 443.
        #[arg(min = 1)]
        port: u16,
    ) -> Result<Vec<Listener>, HandlerError> {
        let mut found = self.machine.listeners()?;
        found.retain(|listener| listener.port == port);
        if found.is_empty() {
            return Err(HandlerError::retry(format!("Nothing listens on port {port}.")));
        }
        found.truncate(50);
        Ok(found)
    }
}
