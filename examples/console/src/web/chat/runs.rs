//! The runs that go on, by their conversations, and who is told of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tool_agent::Mode;

use super::live::Live;
use super::watchers::{Watchers, Watching};

/// How many modes are remembered that may not be kept yet.
const MODES: usize = 1000;

pub(super) struct Runs {
    live: HashMap<String, Arc<Live>>,
    /// Modes that were set: a store knows one only once a run has kept it.
    modes: HashMap<String, Mode>,
    /// The number of the last run that was begun.
    begun: u64,
    /// Who is told of them.
    watchers: Watchers,
}

impl Runs {
    /// None that goes on yet. Pages can be older than the program: no run has the number of one before it was started.
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let begun = u64::try_from(now.as_millis()).unwrap_or_default();
        Self { live: HashMap::new(), modes: HashMap::new(), begun, watchers: Watchers::default() }
    }

    /// Begins a run and tells those who watch; nothing if one goes on already.
    pub(super) fn begin(&mut self, id: &str) -> Option<Arc<Live>> {
        if self.live.contains_key(id) {
            return None;
        }
        self.begun += 1;
        let live = Arc::new(Live::new(self.begun));
        self.live.insert(id.to_owned(), live.clone());
        self.watchers.begin(id, &live);
        Some(live)
    }

    /// The run that goes on in a conversation.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Live>> {
        self.live.get(id).cloned()
    }

    /// Takes out a run that is over.
    pub(super) fn end(&mut self, id: &str, over: &Live) {
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

    /// Every run that begins in a conversation from now on, and what else changes; nothing if too many watch.
    pub(super) fn watch(&mut self, id: &str) -> Option<Watching> {
        self.watchers.add(id)
    }

    /// Tells those who watch of something that is no part of a run.
    pub(super) fn tell(&mut self, id: &str, change: &Value) {
        self.watchers.change(id, &change.to_string().into());
    }

    pub(super) fn forget_watchers(&mut self, id: &str) {
        self.watchers.forget(id);
    }
}
