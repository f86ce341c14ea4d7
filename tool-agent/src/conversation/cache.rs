//! The conversations that are held in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Shared;

/// The conversations that are in use, and so many that were.
pub(crate) struct Cache {
    /// How many may stay that nobody uses.
    idle: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    conversations: HashMap<Arc<str>, (Arc<Shared>, u64)>,
    /// Counts how often somebody has asked.
    asked: u64,
}

impl Cache {
    pub(crate) fn new(idle: usize) -> Self {
        Self { idle, held: Mutex::default() }
    }

    /// The conversation of this id. All who hold it get the same.
    pub(crate) fn get(&self, id: &str) -> Arc<Shared> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.asked += 1;
        let now = held.asked;
        if let Some((shared, used)) = held.conversations.get_mut(id) {
            *used = now;
            return shared.clone();
        }
        let shared = Arc::new(Shared::new(id, false));
        held.conversations.insert(shared.id.clone(), (shared.clone(), now));
        let gone = held.let_go(self.idle);
        drop(held);
        // What was said in them may be long: it goes when the lock is free again.
        drop(gone);
        shared
    }
}

impl Held {
    /// Takes out those that were not used for the longest time, and some more, so that this is seldom done.
    fn let_go(&mut self, idle: usize) -> Vec<(Arc<Shared>, u64)> {
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
    fn what_is_in_use_stays_and_the_oldest_of_the_rest_go() {
        let cache = Cache::new(10);
        let used = cache.get("used");
        drop(cache.get("idle"));
        (0..1_000).for_each(|number| drop(cache.get(&number.to_string())));
        assert!(Arc::ptr_eq(&used, &cache.get("used")));
        let held = cache.held.lock().unwrap();
        assert!(held.conversations.len() <= 27, "{}", held.conversations.len());
        assert!(held.conversations.contains_key("999") && !held.conversations.contains_key("idle"));
    }
}
