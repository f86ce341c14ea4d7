//! The definitions for `tools/list`.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, Tool};
use tool_runtime::Dispatcher;
use tool_runtime::dialect::{Dialect, ToolOffer};
use tool_runtime::display::excerpt;

/// The prefix of a cursor, before the last tool name of the previous page. Unlike an index, a name stays valid when
/// tools are added or removed between two pages.
const CURSOR_PREFIX: &str = "after ";

/// The schema keyword for an argument that clients repeat in an HTTP header.
const PARAM_HEADER: &str = "x-mcp-header";

/// The function passed to `McpServer::describe`.
pub(super) type Describe = dyn Fn(&mut Tool) + Send + Sync;

/// A snapshot of the listed tools.
pub(super) struct ToolListing {
    /// The serialized definitions, which identify the listing.
    text: Arc<str>,
    /// Sorted by listed name.
    tools: Vec<ListedTool>,
    by_name: HashMap<String, usize>,
}

/// A listed tool.
pub(super) struct ListedTool {
    /// Its name in the dispatcher.
    pub(super) own_name: String,
    /// Calls may need approval.
    pub(super) needs_approval: bool,
    /// The handler may use the client.
    pub(super) sees_client: bool,
    /// Clients may repeat arguments in HTTP headers.
    pub(super) has_headers: bool,
    pub(super) tool: Tool,
}

impl ToolListing {
    fn new(dispatcher: &Dispatcher, offer: &ToolOffer, describe: Option<&Describe>) -> Result<Self, ErrorData> {
        let listed: Vec<Tool> = serde_json::from_value(offer.definitions().clone()).map_err(|error| {
            tracing::error!(%error, "cannot convert the tool definitions to MCP");
            ErrorData::internal_error(format!("the tools cannot be listed: {error}"), None)
        })?;
        let own = |mut tool: Tool| {
            let (name, own_name) = (tool.name.clone(), offer.decoded(&tool.name).to_owned());
            if let Some(describe) = describe {
                catch_unwind(AssertUnwindSafe(|| describe(&mut tool))).map_err(|_| {
                    tracing::error!(tool = own_name, "the `describe` function panicked");
                    ErrorData::internal_error(
                        format!("the tools cannot be listed: describing `{own_name}` panicked"),
                        None,
                    )
                })?;
                // Calls refer to the original name.
                tool.name = name;
            }
            let (needs_approval, sees_client) =
                (dispatcher.may_ask(&own_name), dispatcher.reads_call_values(&own_name));
            let has_headers =
                serde_json::to_string(&tool.input_schema).is_ok_and(|schema| schema.contains(PARAM_HEADER));
            Ok(ListedTool { own_name, needs_approval, sees_client, has_headers, tool })
        };
        let mut tools: Vec<ListedTool> = listed.into_iter().map(own).collect::<Result<_, ErrorData>>()?;
        tools.sort_unstable_by(|a, b| a.tool.name.cmp(&b.tool.name));
        // Models may also use an alias, or a tool's name in the dispatcher.
        let aliases = listed_aliases(&tools, dispatcher);
        let own = tools.iter().enumerate().map(|(at, listed)| (listed.own_name.clone(), at));
        let known = tools.iter().enumerate().map(|(at, listed)| (listed.tool.name.to_string(), at));
        let by_name = aliases.into_iter().chain(own).chain(known).collect();
        Ok(Self { text: offer.text(), tools, by_name })
    }

    /// Returns the tool that clients call by this name or alias.
    pub(super) fn get(&self, name: &str) -> Option<&ListedTool> {
        self.by_name.get(name).map(|&at| &self.tools[at])
    }

    /// Returns the serialized definitions; equal texts mean equal lists.
    pub(super) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns a page of the list: the first one if there is no cursor.
    pub(super) fn page(&self, cursor: Option<&str>, size: Option<NonZeroUsize>) -> Result<ListToolsResult, ErrorData> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let invalid = || ErrorData::invalid_params(format!("invalid cursor `{}`", excerpt(cursor)), None);
                let last = cursor.strip_prefix(CURSOR_PREFIX).ok_or_else(invalid)?;
                self.tools.partition_point(|listed| &*listed.tool.name <= last)
            }
        };
        let rest = &self.tools[start..];
        let page = &rest[..size.map_or(rest.len(), |size| size.get().min(rest.len()))];
        let mut result = ListToolsResult::with_all_items(page.iter().map(|listed| listed.tool.clone()).collect());
        if page.len() < rest.len() {
            result.next_cursor = page.last().map(|listed| format!("{CURSOR_PREFIX}{}", listed.tool.name));
        }
        Ok(result)
    }
}

/// Returns the aliases of the listed tools, each with the index of its tool.
fn listed_aliases(tools: &[ListedTool], dispatcher: &Dispatcher) -> Vec<(String, usize)> {
    let aliases = |(at, listed): (usize, &ListedTool)| {
        let definition = dispatcher.definition(&listed.own_name);
        let aliases = definition.into_iter().flat_map(|tool| tool.aliases.clone());
        // Tools may share an alias, and the dispatcher decides which one a call reaches.
        let reaches = |alias: &String| dispatcher.resolve(alias).is_some_and(|name| *name == *listed.own_name);
        aliases.filter(reaches).map(move |alias| (alias, at)).collect::<Vec<_>>()
    };
    tools.iter().enumerate().flat_map(aliases).collect()
}

/// Caches the listing until the tools change.
#[derive(Default)]
pub(super) struct ListingCache {
    last: ArcSwapOption<ToolListing>,
    describe: Option<Box<Describe>>,
}

impl ListingCache {
    pub(super) fn new(describe: Option<Box<Describe>>) -> Self {
        Self { last: ArcSwapOption::empty(), describe }
    }

    pub(super) fn current(&self, tools: &Dispatcher) -> Result<Arc<ToolListing>, ErrorData> {
        let offer = tools.offer(Dialect::Mcp).map_err(|clash| {
            tracing::error!(%clash, "cannot offer the tools to MCP clients");
            ErrorData::internal_error(format!("the tools cannot be offered: {clash}"), None)
        })?;
        if let Some(last) = self.last.load().as_ref().filter(|last| Arc::ptr_eq(&last.text, &offer.text())) {
            return Ok(last.clone());
        }
        let listing = Arc::new(ToolListing::new(tools, &offer, self.describe.as_deref())?);
        self.last.store(Some(listing.clone()));
        Ok(listing)
    }
}

#[cfg(test)]
mod tests {
    use tool_runtime::RuntimeTool;

    use super::*;

    fn tools(names: &[&str]) -> Dispatcher {
        let tools = Dispatcher::builder().allow_empty().build().unwrap();
        tools.registry().clear();
        for name in names {
            tools.registry().register(RuntimeTool::new(*name, "Does nothing.", |(): ()| async {})).unwrap();
        }
        tools
    }

    fn names(result: &ListToolsResult) -> String {
        result.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>().join(" ")
    }

    /// Listing also happens in the background, before clients are notified.
    #[test]
    fn reports_a_panic_in_describe_until_the_tool_is_removed() {
        let tools = tools(&["a", "b"]);
        let listings = ListingCache::new(Some(Box::new(|tool| assert_ne!(tool.name, "b"))));
        let error = listings.current(&tools).err().unwrap();
        assert!(error.message.contains("describing `b` panicked"), "{}", error.message);
        tools.registry().remove("b");
        assert_eq!(names(&listings.current(&tools).unwrap().page(None, None).unwrap()), "a");
    }

    #[test]
    fn a_shared_alias_is_of_the_tool_that_the_dispatcher_calls() {
        let tools = tools(&["a", "b", "c"]);
        let tool = |name: &str| RuntimeTool::new(name, "Does nothing.", |(): ()| async {}).alias("x");
        for name in ["a", "b"] {
            tools.registry().replace(tool(name)).unwrap();
        }
        let listing = ListingCache::default().current(&tools).unwrap();
        assert_eq!(listing.get("x").unwrap().own_name, *tools.resolve("x").unwrap());
        assert_eq!(listing.get("c").unwrap().own_name, "c", "a control");
    }

    #[test]
    fn pages_cover_the_list_even_if_a_tool_is_removed_in_between() {
        let tools = tools(&["a", "b", "c", "d", "e"]);
        let listings = ListingCache::default();
        let size = NonZeroUsize::new(2);
        let page = |cursor: Option<&str>| listings.current(&tools).unwrap().page(cursor, size).unwrap();
        let first = page(None);
        assert_eq!(names(&first), "a b");
        tools.registry().remove("b");
        let second = page(first.next_cursor.as_deref());
        assert_eq!(names(&second), "c d");
        let third = page(second.next_cursor.as_deref());
        assert_eq!((names(&third).as_str(), third.next_cursor), ("e", None));
    }

    #[test]
    fn rejects_a_foreign_cursor() {
        let error = ListingCache::default().current(&tools(&["a"])).unwrap().page(Some("7"), None).unwrap_err();
        assert_eq!(error.code, rmcp::model::ErrorCode::INVALID_PARAMS);
    }

    #[test]
    fn caches_the_listing_until_the_tools_change() {
        let tools = tools(&["a"]);
        let listings = ListingCache::default();
        let first = listings.current(&tools).unwrap();
        assert!(Arc::ptr_eq(&first, &listings.current(&tools).unwrap()));
        tools.registry().remove("a");
        assert!(!Arc::ptr_eq(&first, &listings.current(&tools).unwrap()));
    }
}
