//! The current runs by conversation, and their subscribers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tool_agent::Mode;

use super::live::LiveRun;
use super::subscribers::{RunSubscription, Subscribers};

/// Maximum number of modes that are remembered before they are stored.
const MODES: usize = 1000;

pub(super) struct Runs {
    live: HashMap<String, Arc<LiveRun>>,
    /// Modes that were set but not stored yet, which happens with the next run.
    modes: HashMap<String, Mode>,
    /// The number of the last run.
    begun: u64,
    /// The subscribers.
    subscribers: Subscribers,
}

impl Runs {
    /// Creates an empty set. Run numbers start with the time, so that pages from before a restart do not confuse runs.
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let begun = u64::try_from(now.as_millis()).unwrap_or_default();
        Self { live: HashMap::new(), modes: HashMap::new(), begun, subscribers: Subscribers::default() }
    }

    /// Begins a run and notifies subscribers. Returns `None` if one is in progress.
    pub(super) fn begin(&mut self, id: &str) -> Option<Arc<LiveRun>> {
        if self.live.contains_key(id) {
            return None;
        }
        self.begun += 1;
        let live = Arc::new(LiveRun::new(self.begun));
        self.live.insert(id.to_owned(), live.clone());
        self.subscribers.begin(id, &live);
        Some(live)
    }

    /// Returns the current run of a conversation.
    pub(super) fn get(&self, id: &str) -> Option<Arc<LiveRun>> {
        self.live.get(id).cloned()
    }

    /// Removes a run that has ended.
    pub(super) fn end(&mut self, id: &str, over: &LiveRun) {
        if self.live.get(id).is_some_and(|live| live.number == over.number) {
            self.live.remove(id);
        }
    }

    pub(super) fn mode(&self, id: &str) -> Option<Mode> {
        self.modes.get(id).copied()
    }

    pub(super) fn set_mode(&mut self, id: &str, mode: Mode) {
        if self.modes.len() >= MODES {
            self.modes.clear();
        }
        self.modes.insert(id.to_owned(), mode);
    }

    pub(super) fn forget_mode(&mut self, id: &str) {
        self.modes.remove(id);
    }

    /// Subscribes to runs and changes of a conversation. Returns `None` if there are too many subscribers.
    pub(super) fn watch(&mut self, id: &str) -> Option<RunSubscription> {
        self.subscribers.add(id)
    }

    /// Notifies subscribers of a change outside a run.
    pub(super) fn tell(&mut self, id: &str, change: &Value) {
        self.subscribers.change(id, &change.to_string().into());
    }

    pub(super) fn forget_watchers(&mut self, id: &str) {
        self.subscribers.forget(id);
    }
}
