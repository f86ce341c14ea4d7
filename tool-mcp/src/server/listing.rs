//! The tools as MCP lists them.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, Tool};
use tool_runtime::Dispatcher;
use tool_runtime::dialect::{Dialect, Offer};

/// What stands before the name of a tool in the cursor of the page that begins after it. A name stays a place in the
/// list when tools come and go between two pages, which a number does not.
const AFTER: &str = "after ";

/// The word of a schema by which an argument is said in the head of an HTTP request, too.
const PARAM_HEADER: &str = "x-mcp-header";

/// A last word on a tool's definition.
pub(super) type Describe = dyn Fn(&mut Tool) + Send + Sync;

/// The tools of one moment.
pub(super) struct Listing {
    /// The definitions' text, which tells one listing from another.
    text: Arc<str>,
    /// Sorted by the names that the client knows.
    tools: Vec<Listed>,
    by_name: HashMap<String, usize>,
}

/// One tool.
pub(super) struct Listed {
    /// The name by which the dispatcher knows it.
    pub(super) own_name: String,
    /// Whether somebody may have to be asked about a call.
    pub(super) may_ask: bool,
    /// Whether its handler may want to know of the client.
    pub(super) sees_client: bool,
    /// Whether the head of an HTTP request may have to say some of its arguments.
    pub(super) has_headers: bool,
    pub(super) tool: Tool,
}

impl Listing {
    fn new(tools: &Dispatcher, offer: &Offer, describe: Option<&Describe>) -> Result<Self, ErrorData> {
        let listed: Vec<Tool> = serde_json::from_value(offer.definitions().clone()).map_err(|error| {
            tracing::error!(%error, "the tools cannot be listed for MCP");
            ErrorData::internal_error(format!("the tools cannot be listed: {error}"), None)
        })?;
        let own = |mut tool: Tool| {
            let (name, own_name) = (tool.name.clone(), offer.decoded(&tool.name).to_owned());
            if let Some(describe) = describe {
                catch_unwind(AssertUnwindSafe(|| describe(&mut tool))).map_err(|_| {
                    tracing::error!(tool = own_name, "the function given to `describe` panicked");
                    ErrorData::internal_error(
                        format!("the tools cannot be listed: describing `{own_name}` panicked"),
                        None,
                    )
                })?;
                // By another name it could not be called.
                tool.name = name;
            }
            let (may_ask, sees_client) = (tools.may_ask(&own_name), tools.reads_call_values(&own_name));
            let has_headers =
                serde_json::to_string(&tool.input_schema).is_ok_and(|schema| schema.contains(PARAM_HEADER));
            Ok(Listed { own_name, may_ask, sees_client, has_headers, tool })
        };
        let mut tools: Vec<Listed> = listed.into_iter().map(own).collect::<Result<_, ErrorData>>()?;
        tools.sort_unstable_by(|a, b| a.tool.name.cmp(&b.tool.name));
        // A model that knows a tool by its own name means that tool, too.
        let own = tools.iter().enumerate().map(|(at, listed)| (listed.own_name.clone(), at));
        let known = tools.iter().enumerate().map(|(at, listed)| (listed.tool.name.to_string(), at));
        let by_name = own.chain(known).collect();
        Ok(Self { text: offer.text(), tools, by_name })
    }

    /// The tool that a client calls by this name.
    pub(super) fn get(&self, name: &str) -> Option<&Listed> {
        self.by_name.get(name).map(|&at| &self.tools[at])
    }

    /// The definitions as they were written: equal texts are equal lists.
    pub(super) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// A page of the list, the first one without a cursor.
    pub(super) fn page(&self, cursor: Option<&str>, size: Option<NonZeroUsize>) -> Result<ListToolsResult, ErrorData> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let wrong = || ErrorData::invalid_params(format!("{cursor:?} is no cursor of this list"), None);
                let last = cursor.strip_prefix(AFTER).ok_or_else(wrong)?;
                self.tools.partition_point(|listed| &*listed.tool.name <= last)
            }
        };
        let rest = &self.tools[start..];
        let page = &rest[..size.map_or(rest.len(), |size| size.get().min(rest.len()))];
        let mut result = ListToolsResult::with_all_items(page.iter().map(|listed| listed.tool.clone()).collect());
        if page.len() < rest.len() {
            result.next_cursor = page.last().map(|listed| format!("{AFTER}{}", listed.tool.name));
        }
        Ok(result)
    }
}

/// The listing of the tools as they are now, made once for each change of them.
#[derive(Default)]
pub(super) struct Listings {
    last: ArcSwapOption<Listing>,
    describe: Option<Box<Describe>>,
}

impl Listings {
    pub(super) fn new(describe: Option<Box<Describe>>) -> Self {
        Self { last: ArcSwapOption::empty(), describe }
    }

    pub(super) fn of(&self, tools: &Dispatcher) -> Result<Arc<Listing>, ErrorData> {
        let offer = tools.offer(Dialect::Mcp).map_err(|clash| {
            tracing::error!(%clash, "the tools cannot be offered to MCP clients");
            ErrorData::internal_error(format!("the tools cannot be offered: {clash}"), None)
        })?;
        if let Some(last) = self.last.load().as_ref().filter(|last| Arc::ptr_eq(&last.text, &offer.text())) {
            return Ok(last.clone());
        }
        let listing = Arc::new(Listing::new(tools, &offer, self.describe.as_deref())?);
        self.last.store(Some(listing.clone()));
        Ok(listing)
    }
}

#[cfg(test)]
mod tests {
    use tool_runtime::RuntimeTool;

    use super::*;

    fn tools(names: &[&str]) -> Dispatcher {
        let tools = Dispatcher::builder().build().unwrap();
        tools.registry().clear();
        for name in names {
            tools.registry().register(RuntimeTool::new(*name, "Nothing.", |(): ()| async {})).unwrap();
        }
        tools
    }

    fn names(result: &ListToolsResult) -> String {
        result.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>().join(" ")
    }

    /// They are listed in the background, too, for clients that are told of changes.
    #[test]
    fn a_description_that_panics_is_an_error_until_its_tool_is_gone() {
        let tools = tools(&["a", "b"]);
        let listings = Listings::new(Some(Box::new(|tool| assert_ne!(tool.name, "b"))));
        let error = listings.of(&tools).err().unwrap();
        assert!(error.message.contains("describing `b` panicked"), "{}", error.message);
        tools.registry().remove("b");
        assert_eq!(names(&listings.of(&tools).unwrap().page(None, None).unwrap()), "a");
    }

    #[test]
    fn pages_together_are_the_list_even_if_a_tool_goes_in_between() {
        let tools = tools(&["a", "b", "c", "d", "e"]);
        let listings = Listings::default();
        let size = NonZeroUsize::new(2);
        let page = |cursor: Option<&str>| listings.of(&tools).unwrap().page(cursor, size).unwrap();
        let first = page(None);
        assert_eq!(names(&first), "a b");
        tools.registry().remove("b");
        let second = page(first.next_cursor.as_deref());
        assert_eq!(names(&second), "c d");
        let third = page(second.next_cursor.as_deref());
        assert_eq!((names(&third).as_str(), third.next_cursor), ("e", None));
    }

    #[test]
    fn a_cursor_that_we_have_not_given_is_refused() {
        let error = Listings::default().of(&tools(&["a"])).unwrap().page(Some("7"), None).unwrap_err();
        assert_eq!(error.code, rmcp::model::ErrorCode::INVALID_PARAMS);
    }

    #[test]
    fn a_listing_is_made_once_for_each_change() {
        let tools = tools(&["a"]);
        let listings = Listings::default();
        let first = listings.of(&tools).unwrap();
        assert!(Arc::ptr_eq(&first, &listings.of(&tools).unwrap()));
        tools.registry().remove("a");
        assert!(!Arc::ptr_eq(&first, &listings.of(&tools).unwrap()));
    }
}
