//! A store of long outputs in memory.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::{SpillKey, SpillStore};

/// A [`SpillStore`] in memory, up to a total size. The least recently used output is removed first.
#[derive(Debug)]
pub struct MemorySpillStore {
    capacity: usize,
    texts: Mutex<StoredTexts>,
}

#[derive(Debug, Default)]
struct StoredTexts {
    by_handle: HashMap<String, StoredText>,
    /// The handles in the order of their last use.
    by_use: BTreeMap<u64, String>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug)]
struct StoredText {
    conversation: Option<String>,
    text: Arc<str>,
    last_use: u64,
}

impl MemorySpillStore {
    /// Creates a store of at most `capacity` bytes of text. A longer text is rejected.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, texts: Mutex::default() }
    }
}

impl Default for MemorySpillStore {
    /// Creates a store of 64 MB.
    fn default() -> Self {
        Self::new(64_000_000)
    }
}

impl SpillStore for MemorySpillStore {
    fn put(&self, key: SpillKey<'_>, text: &str) -> io::Result<()> {
        if text.len() > self.capacity {
            let message = format!("{} bytes exceed the capacity of {} bytes", text.len(), self.capacity);
            return Err(io::Error::new(io::ErrorKind::StorageFull, message));
        }
        let entry = StoredText { conversation: key.conversation.map(str::to_owned), text: text.into(), last_use: 0 };
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.remove(key.handle);
        texts.make_room(self.capacity - text.len());
        texts.insert(key.handle, entry);
        Ok(())
    }

    fn get(&self, key: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
        Ok(self.texts.lock().unwrap_or_else(PoisonError::into_inner).get(key))
    }
}

impl StoredTexts {
    fn get(&mut self, key: SpillKey<'_>) -> Option<Arc<str>> {
        let entry = self.by_handle.get_mut(key.handle)?;
        // A read by another conversation does not count as a use.
        if entry.conversation.as_deref() != key.conversation {
            return None;
        }
        self.uses += 1;
        let handle = self.by_use.remove(&entry.last_use)?;
        self.by_use.insert(self.uses, handle);
        entry.last_use = self.uses;
        Some(entry.text.clone())
    }

    fn insert(&mut self, handle: &str, mut entry: StoredText) {
        self.uses += 1;
        entry.last_use = self.uses;
        self.bytes += entry.text.len();
        self.by_use.insert(self.uses, handle.to_owned());
        self.by_handle.insert(handle.to_owned(), entry);
    }

    fn remove(&mut self, handle: &str) {
        if let Some(entry) = self.by_handle.remove(handle) {
            self.by_use.remove(&entry.last_use);
            self.bytes -= entry.text.len();
        }
    }

    fn make_room(&mut self, bytes: usize) {
        while self.bytes > bytes
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key<'a>(conversation: &'a str, handle: &'a str) -> SpillKey<'a> {
        SpillKey { conversation: Some(conversation), handle }
    }

    fn has(store: &MemorySpillStore, handle: &str) -> bool {
        store.get(key("c", handle)).unwrap().is_some()
    }

    #[test]
    fn removes_the_least_recently_used_output_first() {
        let store = MemorySpillStore::new(10);
        for handle in ["a", "b"] {
            store.put(key("c", handle), "12345").unwrap();
        }
        assert!(has(&store, "a"));
        store.put(key("c", "d"), "123").unwrap();
        assert_eq!(["a", "b", "d"].map(|handle| has(&store, handle)), [true, false, true]);
        store.put(key("c", "e"), "1234567890").unwrap();
        assert_eq!(["a", "d", "e"].map(|handle| has(&store, handle)), [false, false, true]);
        let texts = store.texts.lock().unwrap();
        assert_eq!((texts.bytes, texts.by_handle.len(), texts.by_use.len()), (10, 1, 1));
    }

    #[test]
    fn rejects_a_text_over_the_capacity_and_keeps_the_others() {
        let store = MemorySpillStore::new(10);
        store.put(key("c", "a"), "12345").unwrap();
        assert!(store.put(key("c", "b"), "12345678901").is_err());
        assert!(has(&store, "a"));
    }

    #[test]
    fn a_text_is_its_conversations_own() {
        let store = MemorySpillStore::default();
        store.put(key("c", "a"), "text").unwrap();
        assert_eq!(store.get(key("d", "a")).unwrap(), None);
        assert_eq!(store.get(SpillKey { conversation: None, handle: "a" }).unwrap(), None);
        assert_eq!(store.get(key("c", "a")).unwrap().as_deref(), Some("text"));
    }

    #[test]
    fn a_handle_that_is_put_again_counts_once() {
        let store = MemorySpillStore::new(10);
        store.put(key("c", "a"), "1234567890").unwrap();
        store.put(key("c", "a"), "123").unwrap();
        store.put(key("c", "b"), "1234567").unwrap();
        assert!(has(&store, "a") && has(&store, "b"));
    }
}
