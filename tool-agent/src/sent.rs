//! Which tools the model is sent.

use tool_runtime::{Dispatcher, Selection, Shortlist};

use crate::Message;
use crate::mode::Meaning;

/// How many tools are suggested for each thing that a person says.
const SUGGESTED: usize = 8;

/// The tool with which a model finds others.
const SEARCH: &str = "search_tools";

/// The tools that fit a conversation: those that are pinned, those that fit what was said in it, and those that the model
/// has found. They are the same for the same history, also after a restart, so that a provider's cache knows them again.
pub(crate) fn fitting(shortlist: &Shortlist, history: &[Message], meaning: &Meaning) -> Option<Dispatcher> {
    let all = meaning.sent()?;
    let mut shortlist = shortlist.clone();
    for message in history {
        match message {
            Message::User { text } => shortlist.suggest(text, SUGGESTED),
            Message::Tools { results } => {
                results.iter().filter(|result| result.name == SEARCH).for_each(|found| {
                    shortlist.add_found(&found.result);
                });
            }
            Message::Assistant(_) => {}
        }
    }
    let listed = shortlist.definitions();
    let names = listed.iter().map(|(name, _)| &**name).filter(|name| all.definition(name).is_some());
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return None;
    }
    // A tool that goes away in this moment is not looked for by its name again.
    Some(all.select(Selection::new().names(names)).unwrap_or_else(|_| all.clone()))
}
