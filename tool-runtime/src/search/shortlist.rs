//! The tools that are sent to a model, where there are too many to send all.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use tool_dialect::{Form, NameClash};
use tool_model::{ToolDefinition, estimate_tokens};

use super::service::NAME;
use crate::manifest::Definitions;
use crate::{BuildError, Dispatcher, Selection, ToolResult};

/// The tools that one conversation's model is sent: those that are pinned, the tool to search with, and what was found.
///
/// The dispatcher runs calls of all its tools; this only says which of them are described with a request. It belongs to
/// whoever holds the conversation.
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
/// // The model searches; what it finds is sent with the next request.
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
    /// What was found, the newest last.
    found: Vec<String>,
    /// What the model has called, the newest last.
    called: Vec<String>,
    tokens: usize,
}

/// More names are not kept, so that a long conversation does not collect without end.
const MOST: usize = 256;

impl Shortlist {
    /// A shortlist of these tools, which are always sent; their names may have `*` and `?`.
    ///
    /// # Errors
    /// When there is no tool of such a name.
    pub fn new<N: Into<String>>(tools: &Dispatcher, pinned: impl IntoIterator<Item = N>) -> Result<Self, BuildError> {
        let pinned = tools.select(Selection::new().names(pinned))?;
        Ok(Self { tools: tools.clone(), pinned, found: Vec::new(), called: Vec::new(), tokens: usize::MAX })
    }

    /// About how many [tokens](estimate_tokens) all tools together may take. What was found first goes first where they
    /// would take more, and what the model has called goes last. What is pinned is sent in any case.
    #[must_use]
    pub fn budget(mut self, tokens: usize) -> Self {
        self.tokens = tokens;
        self
    }

    /// This list over a part of its tools, such as a [selection](Dispatcher::select) of them: what is not among those is
    /// neither sent nor suggested.
    #[must_use]
    pub fn within(mut self, tools: &Dispatcher) -> Self {
        self.tools = tools.clone();
        self
    }

    /// Whether a name is that of the tool to search with.
    #[must_use]
    pub fn is_search(&self, name: &str) -> bool {
        self.tools.with_snapshot(|offer| offer.tools.get(name).is_some_and(|tool| &*tool.own_name == NAME))
    }

    /// Adds what `search_tools` found. It is for the caller to see that it is a result of that tool.
    pub fn add_found(&mut self, result: &ToolResult) {
        let names = result.metadata.get("tools").and_then(Value::as_array);
        // The best is added last, so that it stays longest.
        let names: Vec<String> = names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        names.into_iter().rev().for_each(|name| self.add(name));
    }

    /// Adds the tools that fit a text best, such as what the person has just asked for. Then the model need not search
    /// for what is obvious.
    pub fn suggest(&mut self, text: &str, limit: usize) {
        let found = self.tools.search(text, limit);
        found.iter().rev().for_each(|found| self.add(found.name.to_string()));
    }

    /// Adds a tool as the newest. A name that no tool has does nothing.
    pub fn add(&mut self, name: impl Into<String>) {
        add_to(&mut self.found, &self.tools, name.into());
    }

    /// Adds a tool that the model has called: it stays longer than what was only found. A model calls again what it reads
    /// of in its conversation, by the name that it was once sent. A name that no tool has does nothing.
    pub fn add_called(&mut self, name: impl Into<String>) {
        add_to(&mut self.called, &self.tools, name.into());
    }

    /// The tools to send with the next request, sorted by name.
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

    /// The tools to send with the next request, in a provider's form; see [`Dispatcher::offer`].
    ///
    /// # Errors
    /// When two tools have one name for the provider; the error names both.
    pub fn offer(&self, form: impl Into<Form>) -> Result<tool_dialect::Offer, NameClash> {
        form.into().offer(self.definitions().iter().map(|(name, tool)| (&**name, &**tool)))
    }

    /// About how many tokens the tools take that are sent.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.definitions().iter().map(tokens).sum()
    }
}

fn add_to(names: &mut Vec<String>, tools: &Dispatcher, name: String) {
    if tools.definition(&name).is_none() {
        return;
    }
    names.retain(|known| *known != name);
    names.push(name);
    names.drain(..names.len().saturating_sub(MOST));
}

fn tokens((name, definition): &(Arc<str>, Arc<ToolDefinition>)) -> usize {
    estimate_tokens(name, definition)
}
