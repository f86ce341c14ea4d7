//! The lock file: the same tools give the same bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tool_model::Sorted;

const VERSION: u32 = 1;

/// What was agreed to, by server and tool.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Lock {
    version: u32,
    servers: BTreeMap<String, BTreeMap<String, Pinned>>,
}

/// A tool as it was agreed to.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Pinned {
    pub(super) fingerprint: String,
    /// What was said of it, to show a difference.
    #[serde(serialize_with = "sorted")]
    pub(super) says: Value,
}

fn sorted<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    Sorted(value).serialize(serializer)
}

impl Default for Lock {
    fn default() -> Self {
        Self { version: VERSION, servers: BTreeMap::new() }
    }
}

impl Lock {
    pub(super) fn from_json(text: &str) -> Result<Self, String> {
        let lock: Self = serde_json::from_str(text).map_err(|error| format!("it is no lock file: {error}"))?;
        match lock.version {
            VERSION => Ok(lock),
            other => Err(format!("it is of version {other}, and {VERSION} is the newest known here")),
        }
    }

    pub(super) fn knows(&self, server: &str) -> bool {
        self.servers.contains_key(server)
    }

    pub(super) fn get(&self, server: &str, tool: &str) -> Option<&Pinned> {
        self.servers.get(server)?.get(tool)
    }

    pub(super) fn pin_server(&mut self, server: &str) {
        self.servers.entry(server.to_owned()).or_default();
    }

    pub(super) fn pin(&mut self, server: &str, tool: &str, fingerprint: String, says: Value) {
        let tools = self.servers.entry(server.to_owned()).or_default();
        tools.insert(tool.to_owned(), Pinned { fingerprint, says });
    }
}
