//! Selection of the tools that fit a conversation.

use std::collections::HashSet;
use std::sync::Arc;

use tool_runtime::search::Shortlist;
use tool_runtime::{Dispatcher, Selection};

use crate::mode::{ModeSettings, selected};
use crate::{Message, Mode};

/// The number of tools that are suggested for each message of the user.
const SUGGESTED: usize = 8;

/// The shortlist of tools for one conversation: pinned tools, tools that match the user's messages, tools that the
/// model found, and above all tools that it called. The same history gives the same tools, also after a restart, so
/// that the provider's cache stays valid.
///
/// It belongs to one run, in which the history only grows.
pub(crate) struct ShortlistedTools {
    pub(crate) mode: Mode,
    /// All tools of the mode.
    all: Dispatcher,
    shortlist: Shortlist,
    /// The number of processed messages.
    processed: usize,
    names: HashSet<Arc<str>>,
    /// The tools with these names. `None` if there are none, because providers reject an empty list.
    sent: Option<Dispatcher>,
}

impl ShortlistedTools {
    pub(crate) fn new(shortlist: &Shortlist, mode: Mode, settings: &ModeSettings) -> Self {
        let all = settings.tools.clone();
        let shortlist = shortlist.clone().within(&all);
        Self { mode, all, shortlist, processed: 0, names: HashSet::new(), sent: None }
    }

    /// Returns the tools that fit a history.
    pub(crate) fn select(&mut self, history: &[Message]) -> Option<&Dispatcher> {
        history.iter().skip(self.processed).for_each(|message| self.observe(message));
        self.processed = history.len();
        let names: HashSet<Arc<str>> = self.shortlist.definitions().iter().map(|(name, _)| name.clone()).collect();
        if names != self.names {
            self.names.clone_from(&names);
            let is_sent = !names.is_empty();
            let named = Selection::new().predicate(move |name, _| names.contains(name));
            self.sent = is_sent.then(|| selected(&self.all, named));
        }
        self.sent.as_ref()
    }

    fn observe(&mut self, message: &Message) {
        match message {
            Message::User { text } => self.shortlist.suggest(text, SUGGESTED),
            Message::Assistant(response) => {
                response.calls.iter().for_each(|call| self.shortlist.add_called(&call.name))
            }
            Message::Tools { results } => {
                for result in results {
                    if self.shortlist.is_search(&result.name) {
                        self.shortlist.add_found(&result.result);
                    }
                }
            }
        }
    }
}
