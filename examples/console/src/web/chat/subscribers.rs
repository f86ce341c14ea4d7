//! Subscribers to conversations.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::live::LiveRun;

/// Maximum number of subscribers.
const MOST: usize = 1000;

/// Maximum number of runs, and of changes, that a subscriber may fall behind.
const BEHIND: usize = 16;

/// The subscribers by conversation.
#[derive(Default)]
pub(super) struct Subscribers(HashMap<String, Vec<RunSubscriber>>);

struct RunSubscriber {
    runs: Sender<Arc<LiveRun>>,
    changes: Sender<Arc<str>>,
}

/// The receiving side of a subscription.
pub(super) struct RunSubscription {
    /// Each new run.
    pub(super) runs: Receiver<Arc<LiveRun>>,
    /// Other changes, as JSON for the page.
    pub(super) changes: Receiver<Arc<str>>,
}

impl Subscribers {
    /// Adds a subscriber unless there are too many.
    pub(super) fn add(&mut self, id: &str) -> Option<RunSubscription> {
        if self.0.values().map(Vec::len).sum::<usize>() >= MOST {
            return None;
        }
        let (runs, begun) = channel(BEHIND);
        let (changes, changed) = channel(BEHIND);
        self.0.entry(id.to_owned()).or_default().push(RunSubscriber { runs, changes });
        Some(RunSubscription { runs: begun, changes: changed })
    }

    /// Notifies subscribers of a new run.
    pub(super) fn begin(&mut self, id: &str, live: &Arc<LiveRun>) {
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

    fn retain(&mut self, id: &str, stays: impl FnMut(&RunSubscriber) -> bool) {
        let Some(subscribers) = self.0.get_mut(id) else { return };
        subscribers.retain(stays);
        if subscribers.is_empty() {
            self.0.remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_falls_too_far_behind_is_forgotten() {
        let mut subscribers = Subscribers::default();
        let (mut stalled, mut other) = (subscribers.add("one").expect("room"), subscribers.add("one").expect("room"));
        for number in 1..=BEHIND as u64 + 1 {
            subscribers.begin("one", &Arc::new(LiveRun::new(number)));
            assert_eq!(other.runs.try_recv().expect("a run").number, number, "the control receives each run");
        }
        assert_eq!(std::iter::from_fn(|| stalled.runs.try_recv().ok()).count(), BEHIND);
        assert!(stalled.changes.is_closed() && !other.changes.is_closed());
    }

    #[test]
    fn not_everybody_can_watch() {
        let mut subscribers = Subscribers::default();
        let mut subscription: Vec<_> = (0..MOST).map(|one| subscribers.add(&one.to_string()).expect("room")).collect();
        assert!(subscribers.add("more").is_none());
        subscription.pop();
        subscribers.forget(&(MOST - 1).to_string());
        assert!(subscribers.add("more").is_some(), "the control");
    }
}
