//! Which sub-agents there are, and who is below whom.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All sub-agents that run. It holds no more than may run.
#[derive(Debug, Default)]
pub(super) struct Family {
    members: Mutex<Members>,
}

#[derive(Debug, Default)]
struct Members {
    /// By their conversations.
    living: HashMap<String, Born>,
    born: u64,
}

#[derive(Clone, Debug)]
struct Born {
    depth: u32,
    /// The conversation in which the first of them was spawned.
    root: Option<String>,
}

/// How many there may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub depth: u32,
    pub running: usize,
}

/// Why there is no room for another.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    TooDeep,
    TooMany,
}

/// A sub-agent, as long as it runs.
pub(super) struct Member {
    family: Arc<Family>,
    pub conversation: String,
    pub depth: u32,
    pub root: Option<String>,
}

impl Family {
    /// A new sub-agent below the one whose conversation this is, or below nobody.
    pub fn join(self: &Arc<Self>, parent: Option<&str>, bounds: Bounds) -> Result<Member, NoRoom> {
        let mut members = self.lock();
        let Born { depth, root } = match parent.and_then(|parent| members.living.get(parent)) {
            Some(parent) => Born { depth: parent.depth + 1, root: parent.root.clone() },
            None => Born { depth: 1, root: parent.map(str::to_owned) },
        };
        if depth > bounds.depth {
            return Err(NoRoom::TooDeep);
        }
        if members.living.len() >= bounds.running {
            return Err(NoRoom::TooMany);
        }
        members.born += 1;
        let conversation = format!("{}/agent-{}", parent.unwrap_or_default(), members.born);
        members.living.insert(conversation.clone(), Born { depth, root: root.clone() });
        Ok(Member { family: self.clone(), conversation, depth, root })
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.family.lock().living.remove(&self.conversation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_number_are_bounded() {
        let family = Arc::new(Family::default());
        let bounds = Bounds { depth: 2, running: 3 };
        let child = family.join(Some("chat"), bounds).unwrap();
        let grandchild = family.join(Some(&child.conversation), bounds).unwrap();
        assert_eq!((child.depth, grandchild.depth), (1, 2));
        assert_eq!((child.root.as_deref(), grandchild.root.as_deref()), (Some("chat"), Some("chat")));
        assert_eq!(family.join(Some(&grandchild.conversation), bounds).err(), Some(NoRoom::TooDeep));
        let third = family.join(None, bounds).unwrap();
        assert_eq!(family.join(None, bounds).err(), Some(NoRoom::TooMany));
        drop(third);
        assert!(family.join(None, bounds).is_ok());
        drop((child, grandchild));
        assert!(family.lock().living.is_empty());
    }
}
