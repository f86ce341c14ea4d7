//! The tree of running sub-agents.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All running sub-agents. Holds at most [`SpawnLimits::running`] entries.
#[derive(Debug, Default)]
pub(super) struct AgentTree {
    table: Mutex<AgentTable>,
}

#[derive(Debug, Default)]
struct AgentTable {
    /// Running sub-agents by conversation.
    running: HashMap<String, AgentPosition>,
    spawned: u64,
}

#[derive(Clone, Debug)]
struct AgentPosition {
    depth: u32,
    /// The conversation that spawned the outermost ancestor.
    root: Option<String>,
}

/// Limits on nesting and concurrency.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpawnLimits {
    pub depth: u32,
    pub running: usize,
}

/// The reason why no further sub-agent may start.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SpawnRefusal {
    TooDeep,
    TooMany,
}

/// A running sub-agent; dropping it removes it from the tree.
pub(super) struct RunningAgent {
    agents: Arc<AgentTree>,
    pub conversation: String,
    pub depth: u32,
    pub root: Option<String>,
}

impl AgentTree {
    /// Adds a sub-agent below the agent with the conversation `parent`, or at the top level.
    pub fn add(self: &Arc<Self>, parent: Option<&str>, limits: SpawnLimits) -> Result<RunningAgent, SpawnRefusal> {
        let mut table = self.lock();
        let AgentPosition { depth, root } = match parent.and_then(|parent| table.running.get(parent)) {
            Some(parent) => AgentPosition { depth: parent.depth + 1, root: parent.root.clone() },
            None => AgentPosition { depth: 1, root: parent.map(str::to_owned) },
        };
        if depth > limits.depth {
            return Err(SpawnRefusal::TooDeep);
        }
        if table.running.len() >= limits.running {
            return Err(SpawnRefusal::TooMany);
        }
        table.spawned += 1;
        let conversation = format!("{}/agent-{}", parent.unwrap_or_default(), table.spawned);
        table.running.insert(conversation.clone(), AgentPosition { depth, root: root.clone() });
        Ok(RunningAgent { agents: self.clone(), conversation, depth, root })
    }

    fn lock(&self) -> MutexGuard<'_, AgentTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningAgent {
    fn drop(&mut self) {
        self.agents.lock().running.remove(&self.conversation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_depth_and_number() {
        let agents = Arc::new(AgentTree::default());
        let limits = SpawnLimits { depth: 2, running: 3 };
        let child = agents.add(Some("chat"), limits).unwrap();
        let grandchild = agents.add(Some(&child.conversation), limits).unwrap();
        assert_eq!((child.depth, grandchild.depth), (1, 2));
        assert_eq!((child.root.as_deref(), grandchild.root.as_deref()), (Some("chat"), Some("chat")));
        assert_eq!(agents.add(Some(&grandchild.conversation), limits).err(), Some(SpawnRefusal::TooDeep));
        let third = agents.add(None, limits).unwrap();
        assert_eq!(agents.add(None, limits).err(), Some(SpawnRefusal::TooMany));
        drop(third);
        assert!(agents.add(None, limits).is_ok());
        drop((child, grandchild));
        assert!(agents.lock().running.is_empty());
    }
}
