//! The names of remote tools in the registry.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tool_model::name;

/// Returns the local name `mcp_{server}_{tool}`, with `_` for invalid characters. A name that is too long is cut off and
/// ends in a hash.
pub(super) fn local_name(server: &str, tool: &str) -> String {
    let name = format!("mcp_{}_{}", sanitize(server), sanitize(tool));
    if name.len() <= name::MAX_LENGTH {
        return name;
    }
    let hash = Sha256::digest(&name);
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{hash}", &name[..name::MAX_LENGTH - hash.len() - 1])
}

/// Replaces everything but letters, digits, `_` and `-`. A dot would separate the parts of a tool name.
pub(super) fn sanitize(part: &str) -> String {
    part.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// The owner of each name, across all servers.
#[derive(Default)]
pub(super) struct NameOwners {
    owners: Mutex<HashMap<String, (String, String)>>,
}

impl NameOwners {
    /// Claims a name for a tool of a server. The error names the current owner.
    pub(super) fn claim(&self, name: &str, server: &str, tool: &str) -> Result<(), String> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = owners.entry(name.to_owned()).or_insert_with(|| (server.to_owned(), tool.to_owned()));
        if owner.0 == server {
            return Ok(());
        }
        Err(format!(
            "two tools would have the name `{name}`: `{}` of the server `{}`, and `{tool}` of the server `{server}`, which was \
             dropped; rename one of the servers",
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
