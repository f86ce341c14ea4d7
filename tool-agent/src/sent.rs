//! Which tools the model is sent.

use std::collections::HashSet;
use std::sync::Arc;

use tool_runtime::search::Shortlist;
use tool_runtime::{Dispatcher, Selection};

use crate::mode::{Meaning, selected};
use crate::{Message, Mode};

/// How many tools are suggested for each thing that a person says.
const SUGGESTED: usize = 8;

/// The tools that fit a conversation: those that are pinned, those that fit what was said in it, those that the model has
/// found, and above all those that it has called. They are the same for the same history, also after a restart, so that
/// a provider's cache knows them again.
///
/// It belongs to one run, in which a history only grows.
pub(crate) struct Fitting {
    pub(crate) mode: Mode,
    /// What the mode has.
    all: Dispatcher,
    shortlist: Shortlist,
    /// How many messages it was told of.
    told: usize,
    names: HashSet<Arc<str>>,
    /// The tools of these names; nothing where there are none, since providers refuse an empty list.
    sent: Option<Dispatcher>,
}

impl Fitting {
    pub(crate) fn new(shortlist: &Shortlist, mode: Mode, meaning: &Meaning) -> Self {
        let all = meaning.tools.clone();
        let shortlist = shortlist.clone().within(&all);
        Self { mode, all, shortlist, told: 0, names: HashSet::new(), sent: None }
    }

    /// The tools that fit a history.
    pub(crate) fn to(&mut self, history: &[Message]) -> Option<&Dispatcher> {
        history.iter().skip(self.told).for_each(|message| self.tell(message));
        self.told = history.len();
        let names: HashSet<Arc<str>> = self.shortlist.definitions().iter().map(|(name, _)| name.clone()).collect();
        if names != self.names {
            self.names.clone_from(&names);
            let is_sent = !names.is_empty();
            let named = Selection::new().predicate(move |name, _| names.contains(name));
            self.sent = is_sent.then(|| selected(&self.all, named));
        }
        self.sent.as_ref()
    }

    fn tell(&mut self, message: &Message) {
        match message {
            Message::User { text } => self.shortlist.suggest(text, SUGGESTED),
            Message::Assistant(answer) => answer.calls.iter().for_each(|call| self.shortlist.add_called(&call.name)),
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
