//! The tool with which a model finds tools.

use std::fmt::Write;

use tool_model::brief;

use crate::{Dispatcher, ToolResult, tool, tool_class};

/// The built-in service with the tool `search_tools`, for models that are not sent all tools at once.
///
/// Its class is `manual`: the tool is offered only by a dispatcher that is given the service. It searches the tools of
/// the dispatcher through which it is called, so that what a selection hides stays hidden. The names of what it found
/// stand in its result's metadata, under `tools`; a [`Shortlist`](crate::search::Shortlist) sends them with the next request.
///
/// ```standalone_crate
/// use tool_runtime::search::ToolSearch;
/// use tool_runtime::{Dispatcher, ToolCall, tool};
///
/// /// Close an issue.
/// #[tool(name = "issue.close")]
/// fn close(id: u64) {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().service(ToolSearch).build()?;
/// let result = tools.call(ToolCall::from_text("search_tools", r#"{"query": "closing issues"}"#)).await;
/// assert_eq!(result.output, "issue.close(id: integer): Close an issue.\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolSearch;

/// The name of the tool.
pub(super) const NAME: &str = "search_tools";

#[tool_class(crate = crate, manual)]
impl ToolSearch {
    /// Find tools by what they do. Only some of the tools are listed at first; search for the others by a few words on
    /// what is to be done.
    #[tool(name = "search_tools", read_only, idempotent)]
    fn search_tools(
        &self,
        /// Some words on what is to be done, such as `send mail`.
        query: &str,
        /// How many tools to list at most.
        #[arg(default = 8, min = 1, max = 50)]
        limit: usize,
        #[inject] tools: &Dispatcher,
    ) -> ToolResult {
        let own =
            |name: &str| tools.with_offer(|offer| offer.tools.get(name).is_some_and(|tool| &*tool.own_name == NAME));
        let mut found = tools.search(query, limit + 1);
        found.retain(|found| !own(&found.name));
        found.truncate(limit);
        if found.is_empty() {
            return ToolResult::success("No tool fits. Try other words.".to_owned());
        }
        let mut output = String::new();
        for found in &found {
            // Writing to a string cannot fail.
            let _ = writeln!(output, "{}", brief(&found.name, &found.definition));
        }
        let mut result = ToolResult::success(output);
        let names: Vec<&str> = found.iter().map(|found| &*found.name).collect();
        result.metadata.insert("tools", names);
        result
    }
}
