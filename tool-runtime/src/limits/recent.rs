//! The conversations that are remembered.

use std::collections::HashMap;

/// What is known of conversations, of which only the recent ones are remembered.
///
/// When the young ones are half of all, they become the old ones, and what was old and not asked for since is gone.
/// That forgets nearly in the order of use, at the cost of two look-ups. std's hashes, since ids may be chosen by
/// strangers.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    half: usize,
    young: HashMap<Option<String>, T>,
    old: HashMap<Option<String>, T>,
}

impl<T: Default> Recent<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { half: most.div_ceil(2).max(1), young: HashMap::new(), old: HashMap::new() }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    pub(crate) fn get(&mut self, id: Option<&str>) -> &mut T {
        let id = id.map(str::to_owned);
        if !self.young.contains_key(&id) {
            let known = self.old.remove(&id);
            if self.young.len() >= self.half {
                self.old = std::mem::take(&mut self.young);
            }
            self.young.insert(id.clone(), known.unwrap_or_default());
        }
        self.young.entry(id).or_default()
    }
}
