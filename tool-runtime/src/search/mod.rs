//! Search over tools, for programs that have hundreds of them.
//!
//! [`Dispatcher::search`](crate::Dispatcher::search) ranks tools by a query. [`ToolSearch`] offers the search to the model
//! as the tool `search_tools`. A [`Shortlist`] selects the tools to send with each request, within a token budget: pinned
//! tools, tools that were found or called, and the search itself.

mod search_index;
mod shortlist;
mod tokens;
mod tool_search;

use std::sync::Arc;

use tool_model::ToolDefinition;

pub(crate) use search_index::SearchIndex;
pub use shortlist::Shortlist;
pub use tool_search::ToolSearch;

use crate::Dispatcher;

/// A tool found by [`Dispatcher::search`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchHit {
    /// The tool's name.
    pub name: Arc<str>,
    /// The tool's definition.
    pub definition: Arc<ToolDefinition>,
    /// The relevance; higher is better. Scores are comparable within one search only.
    pub score: f32,
}

impl Dispatcher {
    /// Searches the tools by name, description, arguments, tags and category. Returns the best matches, best first.
    ///
    /// Names are split into words (`listUsers` into *list* and *users*), and words are compared by their stems. Matches
    /// are ranked by BM25, which weighs rare words more than common ones.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, tool};
    ///
    /// /// Send a message.
    /// #[tool(name = "mail.send")]
    /// fn send(to: &str, text: &str) {}
    ///
    /// /// List the newest messages in the inbox.
    /// #[tool(name = "mail.newest")]
    /// fn newest() -> Vec<String> {
    ///     Vec::new()
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let hits = tools.search("sending a mail", 5);
    /// assert_eq!(&*hits[0].name, "mail.send");
    /// assert!(tools.search("weather", 5).is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<SearchHit> {
        self.with_snapshot(|offer| {
            let definitions = offer.definitions();
            let hits = offer.index().best(query, limit).into_iter();
            let hits = hits.filter_map(|(place, score)| {
                let (name, definition) = definitions.get(place)?.clone();
                Some(SearchHit { name, definition, score })
            });
            hits.collect()
        })
    }
}

#[cfg(test)]
mod tests;
