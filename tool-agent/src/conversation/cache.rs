//! Cache of conversations in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::ConversationShared;

/// The conversations in use, and a limited number of idle ones.
pub(crate) struct ConversationCache {
    /// How many idle conversations to keep.
    idle: usize,
    held: Mutex<CachedConversations>,
}

#[derive(Default)]
struct CachedConversations {
    conversations: HashMap<Arc<str>, (Arc<ConversationShared>, u64)>,
    /// The number of lookups, used as a clock.
    asked: u64,
}

impl ConversationCache {
    pub(crate) fn new(idle: usize) -> Self {
        Self { idle, held: Mutex::default() }
    }

    /// Returns the conversation with this id. All callers share it.
    pub(crate) fn get(&self, id: &str) -> Arc<ConversationShared> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.asked += 1;
        let now = held.asked;
        if let Some((shared, used)) = held.conversations.get_mut(id) {
            *used = now;
            return shared.clone();
        }
        let shared = Arc::new(ConversationShared::new(id, false));
        held.conversations.insert(shared.id.clone(), (shared.clone(), now));
        let gone = held.let_go(self.idle);
        drop(held);
        // Histories can be long: drop them after the lock is released.
        drop(gone);
        shared
    }
}

impl CachedConversations {
    /// Removes the least recently used idle conversations, in batches so that the scan is rare.
    fn let_go(&mut self, idle: usize) -> Vec<(Arc<ConversationShared>, u64)> {
        if self.conversations.len() <= idle.saturating_mul(2).max(idle + 16) {
            return Vec::new();
        }
        let unused = self.conversations.values().filter(|(shared, _)| Arc::strong_count(shared) == 1);
        let mut unused: Vec<(u64, Arc<str>)> = unused.map(|(shared, used)| (*used, shared.id.clone())).collect();
        unused.sort_unstable();
        let too_many = unused.len().saturating_sub(idle);
        unused[..too_many].iter().filter_map(|(_, id)| self.conversations.remove(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_the_least_recently_used_idle_conversations() {
        let cache = ConversationCache::new(10);
        let used = cache.get("used");
        drop(cache.get("idle"));
        (0..1_000).for_each(|number| drop(cache.get(&number.to_string())));
        assert!(Arc::ptr_eq(&used, &cache.get("used")));
        let held = cache.held.lock().unwrap();
        assert!(held.conversations.len() <= 27, "{}", held.conversations.len());
        assert!(held.conversations.contains_key("999") && !held.conversations.contains_key("idle"));
    }
}
