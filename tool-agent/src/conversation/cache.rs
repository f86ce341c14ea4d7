//! Cache of conversations in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::ConversationShared;

/// The conversations in use, and a limited number of idle ones.
pub(crate) struct ConversationCache {
    /// The number of idle conversations to keep.
    idle: usize,
    cached: Mutex<CachedConversations>,
}

#[derive(Default)]
struct CachedConversations {
    conversations: HashMap<Arc<str>, (Arc<ConversationShared>, u64)>,
    /// The number of lookups, used as a clock.
    lookups: u64,
}

impl ConversationCache {
    pub(crate) fn new(idle: usize) -> Self {
        Self { idle, cached: Mutex::default() }
    }

    /// Returns the conversation with this id. All callers share it.
    pub(crate) fn get(&self, id: &str) -> Arc<ConversationShared> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.lookups += 1;
        let now = cached.lookups;
        if let Some((shared, used)) = cached.conversations.get_mut(id) {
            *used = now;
            return shared.clone();
        }
        let shared = Arc::new(ConversationShared::new(id, false));
        cached.conversations.insert(shared.id.clone(), (shared.clone(), now));
        let evicted = cached.evict(self.idle);
        drop(cached);
        // Histories can be long: drop them after the lock is released.
        drop(evicted);
        shared
    }
}

impl CachedConversations {
    /// Removes the least recently used idle conversations, in batches so that the scan is rare.
    fn evict(&mut self, idle: usize) -> Vec<(Arc<ConversationShared>, u64)> {
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
        let cached = cache.cached.lock().unwrap();
        assert!(cached.conversations.len() <= 27, "{}", cached.conversations.len());
        assert!(cached.conversations.contains_key("999") && !cached.conversations.contains_key("idle"));
    }
}
