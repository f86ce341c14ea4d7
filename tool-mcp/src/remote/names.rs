//! The names under which tools stand in the registry.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Whose tool a name stands for, over all servers.
#[derive(Default)]
pub(super) struct Names {
    owners: Mutex<HashMap<String, (String, String)>>,
}

impl Names {
    /// Takes a name for a tool of a server, or says in words who has it.
    pub(super) fn claim(&self, name: &str, server: &str, tool: &str) -> Result<(), String> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = owners.entry(name.to_owned()).or_insert_with(|| (server.to_owned(), tool.to_owned()));
        if owner.0 == server {
            return Ok(());
        }
        Err(format!(
            "`{name}` would be the name of two tools: `{}` of the server `{}`, which has it, and `{tool}` of the server \
             `{server}`, which was left out; give one of the servers another name",
            owner.1, owner.0
        ))
    }

    pub(super) fn release(&self, name: &str, server: &str) {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.get(name).is_some_and(|owner| owner.0 == server) {
            owners.remove(name);
        }
    }
}
