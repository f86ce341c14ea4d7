//! Tools by what they are about, for programs that have hundreds of them.

mod index;
mod service;
mod shortlist;
mod words;

use std::sync::Arc;

use tool_model::ToolDefinition;

pub(crate) use index::Index;
pub use service::ToolSearch;
pub use shortlist::Shortlist;

use crate::Dispatcher;

/// A tool that a search has found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchHit {
    /// The tool's name.
    pub name: Arc<str>,
    /// What it is.
    pub definition: Arc<ToolDefinition>,
    /// How well it fits: more is better. Comparable within one search only.
    pub score: f32,
}

impl Dispatcher {
    /// The tools that fit these words best, the best first: by their names, descriptions, arguments and tags.
    ///
    /// Names are read as their words (`listUsers` as *list* and *users*), and words by their stems. Ranked by BM25: a
    /// word that few tools have says more than one that many have.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, tool};
    ///
    /// /// Send a message to somebody.
    /// #[tool(name = "mail.send")]
    /// fn send(to: &str, text: &str) {}
    ///
    /// /// The newest messages in the inbox.
    /// #[tool(name = "mail.newest")]
    /// fn newest() -> Vec<String> {
    ///     Vec::new()
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let found = tools.search("sending a mail", 5);
    /// assert_eq!(&*found[0].name, "mail.send");
    /// assert!(tools.search("weather", 5).is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn search(&self, words: &str, limit: usize) -> Vec<SearchHit> {
        self.with_snapshot(|offer| {
            let definitions = offer.definitions();
            let found = offer.index().best(words, limit).into_iter();
            let found = found.filter_map(|(place, score)| {
                let (name, definition) = definitions.get(place)?.clone();
                Some(SearchHit { name, definition, score })
            });
            found.collect()
        })
    }
}

#[cfg(test)]
mod tests;
