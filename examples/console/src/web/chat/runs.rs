//! The runs that go on, by their conversations, and who is told of them.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tool_agent::Mode;

use super::live::Live;

/// How many modes are remembered that may not be kept yet.
const MODES: usize = 1000;

#[derive(Default)]
pub(super) struct Runs {
    live: HashMap<String, Arc<Live>>,
    /// Modes that were set: a store knows one only once a run has kept it.
    modes: HashMap<String, Mode>,
    /// How many runs were begun.
    begun: u64,
    /// Who is told of each run that begins in a conversation.
    watchers: HashMap<String, Vec<UnboundedSender<Arc<Live>>>>,
}

impl Runs {
    /// Begins a run and tells those who watch; nothing if one goes on already.
    pub(super) fn begin(&mut self, id: &str, before: usize, said: Option<&str>) -> Option<Arc<Live>> {
        if self.live.contains_key(id) {
            return None;
        }
        self.begun += 1;
        let live = Arc::new(Live::begin(self.begun, before, said));
        self.live.insert(id.to_owned(), live.clone());
        for watcher in self.watchers.get(id).into_iter().flatten() {
            // One that is gone is forgotten elsewhere.
            let _ = watcher.send(live.clone());
        }
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

    /// Every run that begins in a conversation from now on.
    pub(super) fn watch(&mut self, id: &str) -> UnboundedReceiver<Arc<Live>> {
        let (watcher, begun) = unbounded_channel();
        self.watchers.entry(id.to_owned()).or_default().push(watcher);
        begun
    }

    pub(super) fn forget_watchers(&mut self, id: &str) {
        if let Some(watchers) = self.watchers.get_mut(id) {
            watchers.retain(|watcher| !watcher.is_closed());
            if watchers.is_empty() {
                self.watchers.remove(id);
            }
        }
    }
}
