//! Subscribers to conversations.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::live::Live;

/// Maximum number of subscribers.
const MOST: usize = 1000;

/// Maximum number of runs, and of changes, that a subscriber may fall behind.
const BEHIND: usize = 16;

/// The subscribers by conversation.
#[derive(Default)]
pub(super) struct Watchers(HashMap<String, Vec<Watcher>>);

struct Watcher {
    runs: Sender<Arc<Live>>,
    changes: Sender<Arc<str>>,
}

/// The receiving side of a subscription.
pub(super) struct Watching {
    /// Each new run.
    pub(super) runs: Receiver<Arc<Live>>,
    /// Other changes, as JSON for the page.
    pub(super) changes: Receiver<Arc<str>>,
}

impl Watchers {
    /// Adds a subscriber unless there are too many.
    pub(super) fn add(&mut self, id: &str) -> Option<Watching> {
        if self.0.values().map(Vec::len).sum::<usize>() >= MOST {
            return None;
        }
        let (runs, begun) = channel(BEHIND);
        let (changes, changed) = channel(BEHIND);
        self.0.entry(id.to_owned()).or_default().push(Watcher { runs, changes });
        Some(Watching { runs: begun, changes: changed })
    }

    /// Notifies subscribers of a new run.
    pub(super) fn begin(&mut self, id: &str, live: &Arc<Live>) {
        self.retain(id, |watcher| watcher.runs.try_send(live.clone()).is_ok());
    }

    /// Notifies subscribers of a change.
    pub(super) fn change(&mut self, id: &str, change: &Arc<str>) {
        self.retain(id, |watcher| watcher.changes.try_send(change.clone()).is_ok());
    }

    /// Removes closed subscriptions.
    pub(super) fn forget(&mut self, id: &str) {
        self.retain(id, |watcher| !watcher.runs.is_closed());
    }

    fn retain(&mut self, id: &str, stays: impl FnMut(&Watcher) -> bool) {
        let Some(watchers) = self.0.get_mut(id) else { return };
        watchers.retain(stays);
        if watchers.is_empty() {
            self.0.remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_falls_too_far_behind_is_forgotten() {
        let mut watchers = Watchers::default();
        let (mut stalled, mut other) = (watchers.add("one").expect("room"), watchers.add("one").expect("room"));
        for number in 1..=BEHIND as u64 + 1 {
            watchers.begin("one", &Arc::new(Live::new(number)));
            assert_eq!(other.runs.try_recv().expect("a run").number, number, "the control is told of each");
        }
        assert_eq!(std::iter::from_fn(|| stalled.runs.try_recv().ok()).count(), BEHIND);
        assert!(stalled.changes.is_closed() && !other.changes.is_closed());
    }

    #[test]
    fn not_everybody_can_watch() {
        let mut watchers = Watchers::default();
        let mut watching: Vec<_> = (0..MOST).map(|one| watchers.add(&one.to_string()).expect("room")).collect();
        assert!(watchers.add("more").is_none());
        watching.pop();
        watchers.forget(&(MOST - 1).to_string());
        assert!(watchers.add("more").is_some(), "the control");
    }
}
