//! The tools whose definitions are sent to a model that cannot be sent all of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use tool_dialect::{DialectForm, NameClash};
use tool_model::{ToolDefinition, estimate_tokens};

use super::tool_search::NAME;
use crate::manifest::Definitions;
use crate::{BuildError, Dispatcher, Selection, ToolResult};

/// The tools whose definitions are sent to the model of one conversation: pinned tools, the search tool and its hits.
///
/// The dispatcher still runs calls of all its tools; the shortlist only decides which of them are described in a request.
/// Keep one shortlist per conversation.
///
/// ```standalone_crate
/// use tool_runtime::search::{Shortlist, ToolSearch};
/// use tool_runtime::{Dispatcher, ToolCall, tool};
///
/// /// The time.
/// #[tool(name = "clock.now")]
/// fn now() -> u64 {
///     0
/// }
///
/// /// Close an issue.
/// #[tool(name = "issue.close")]
/// fn close(id: u64) {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().service(ToolSearch).build()?;
/// let mut shortlist = Shortlist::new(&tools, ["clock.now"])?;
/// let names = |shortlist: &Shortlist| shortlist.definitions().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
/// assert_eq!(names(&shortlist), ["clock.now", "search_tools"]);
///
/// // The model searches; the hits are sent with the next request.
/// let result = tools.call(ToolCall::from_text("search_tools", r#"{"query": "close issue"}"#)).await;
/// shortlist.add_found(&result);
/// assert_eq!(names(&shortlist), ["clock.now", "issue.close", "search_tools"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Shortlist {
    tools: Dispatcher,
    pinned: Dispatcher,
    /// Search hits, newest last.
    found: Vec<String>,
    /// Tools that the model has called, newest last.
    called: Vec<String>,
    tokens: usize,
}

/// The number of names that are kept of each kind, which bounds the memory of a long conversation.
const MAX_NAMES: usize = 256;

impl Shortlist {
    /// Creates a shortlist. The pinned tools are always sent; their names may contain the wildcards `*` and `?`.
    ///
    /// # Errors
    /// Fails if a pinned name matches no tool.
    pub fn new<N: Into<String>>(tools: &Dispatcher, pinned: impl IntoIterator<Item = N>) -> Result<Self, BuildError> {
        let pinned = tools.select(Selection::new().names(pinned))?;
        Ok(Self { tools: tools.clone(), pinned, found: Vec::new(), called: Vec::new(), tokens: usize::MAX })
    }

    /// Limits the estimated number of [tokens](estimate_tokens) of all definitions together.
    ///
    /// Over the budget, the oldest hits are dropped first and tools that the model has called last. Pinned tools are
    /// always sent.
    #[must_use]
    pub fn budget(mut self, tokens: usize) -> Self {
        self.tokens = tokens;
        self
    }

    /// Restricts the shortlist to the tools of `tools`, such as a [selection](Dispatcher::select). Other tools are neither
    /// sent nor suggested.
    #[must_use]
    pub fn within(mut self, tools: &Dispatcher) -> Self {
        self.tools = tools.clone();
        self
    }

    /// Returns `true` if `name` is the offered name of `search_tools`.
    #[must_use]
    pub fn is_search(&self, name: &str) -> bool {
        self.tools.with_snapshot(|offer| offer.find(name).is_some_and(|tool| &*tool.own_name == NAME))
    }

    /// Adds the hits of a result of `search_tools`. The caller must check that the result comes from that tool.
    pub fn add_found(&mut self, result: &ToolResult) {
        let names = result.metadata.get("tools").and_then(Value::as_array);
        // The best hit is added last, so that it is kept longest.
        let names: Vec<String> = names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        names.into_iter().rev().for_each(|name| self.add(name));
    }

    /// Adds the best matches for a text, such as the user's message, so that the model need not search for obvious
    /// tools.
    pub fn suggest(&mut self, text: &str, limit: usize) {
        let hits = self.tools.search(text, limit);
        hits.iter().rev().for_each(|hit| self.add(hit.name.to_string()));
    }

    /// Adds a tool as the newest hit. Unknown names are ignored.
    pub fn add(&mut self, name: impl Into<String>) {
        add_to(&mut self.found, &self.tools, name.into());
    }

    /// Adds a tool that the model has called, which is kept longer than a mere hit. A model tends to call again the tools
    /// that it sees in its conversation. Unknown names are ignored.
    pub fn add_called(&mut self, name: impl Into<String>) {
        add_to(&mut self.called, &self.tools, name.into());
    }

    /// Returns the definitions to send with the next request, sorted by name.
    #[must_use]
    pub fn definitions(&self) -> Definitions {
        self.tools.with_snapshot(|offer| {
            let all = offer.definitions();
            let by_name = |name: &str| all.binary_search_by(|(known, _)| (**known).cmp(name)).ok();
            let search =
                all.iter().position(|(name, _)| offer.tools.get(name).is_some_and(|tool| &*tool.own_name == NAME));
            let pinned = self.pinned.definitions();
            let pinned = pinned.iter().filter_map(|(name, _)| by_name(name));
            let mut sent: BTreeSet<usize> = pinned.chain(search).collect();
            let cost = |place: &usize| tokens(&all[*place]);
            let mut spent: usize = sent.iter().map(cost).sum();
            for place in self.called.iter().rev().chain(self.found.iter().rev()).filter_map(|name| by_name(name)) {
                if sent.contains(&place) {
                    continue;
                }
                spent = spent.saturating_add(cost(&place));
                if spent > self.tokens {
                    break;
                }
                sent.insert(place);
            }
            sent.into_iter().map(|place| all[place].clone()).collect()
        })
    }

    /// Returns the definitions to send with the next request, in a model provider's form; see [`Dispatcher::offer`].
    ///
    /// # Errors
    /// Fails if two tools get the same name in that form; the error names both.
    pub fn offer(&self, form: impl Into<DialectForm>) -> Result<tool_dialect::ToolOffer, NameClash> {
        form.into().offer(self.definitions().iter().map(|(name, tool)| (&**name, &**tool)))
    }

    /// Returns the estimated number of tokens of the definitions that are sent.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.definitions().iter().map(tokens).sum()
    }
}

fn add_to(names: &mut Vec<String>, tools: &Dispatcher, name: String) {
    let Some(name) = tools.resolve(&name) else { return };
    let name = name.to_string();
    names.retain(|known| *known != name);
    names.push(name);
    names.drain(..names.len().saturating_sub(MAX_NAMES));
}

fn tokens((name, definition): &(Arc<str>, Arc<ToolDefinition>)) -> usize {
    estimate_tokens(name, definition)
}
