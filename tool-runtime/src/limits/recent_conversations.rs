//! Bounded per-conversation state.

use std::collections::HashMap;

/// State per conversation, bounded to the most recently used conversations.
///
/// An approximate LRU map made of two generations. When the young generation holds half of the capacity it becomes the
/// old one, and the rest of the old one is dropped. A lookup costs one or two hash lookups and, for a conversation
/// that is already young, no allocation. The maps use std's hasher because clients may choose conversation IDs.
#[derive(Debug)]
pub(crate) struct RecentConversations<T> {
    half: usize,
    young: HashMap<String, T>,
    old: HashMap<String, T>,
    /// Shared by all calls without a conversation. Never evicted.
    unnamed: T,
}

impl<T: Default> RecentConversations<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { half: capacity.div_ceil(2).max(1), young: HashMap::new(), old: HashMap::new(), unnamed: T::default() }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Returns the state of a conversation and marks it as used.
    pub(crate) fn get(&mut self, id: Option<&str>) -> &mut T {
        let Some(id) = id else { return &mut self.unnamed };
        if !self.young.contains_key(id) {
            let known = self.old.remove(id).unwrap_or_default();
            if self.young.len() >= self.half {
                self.old = std::mem::take(&mut self.young);
            }
            self.young.insert(id.to_owned(), known);
        }
        self.young.get_mut(id).expect("the conversation was just inserted")
    }
}
