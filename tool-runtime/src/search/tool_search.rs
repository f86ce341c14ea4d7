//! The `search_tools` tool.

use std::fmt::Write;

use tool_model::brief;

use crate::{Dispatcher, ToolResult, tool, tool_class};

/// Service with the tool `search_tools`, for models that are not sent the definitions of all tools.
///
/// The class is `manual`: a dispatcher offers the tool only if the service is added to it. The tool searches the
/// dispatcher through which it is called, so tools that a selection hides stay hidden. The result's metadata lists the
/// names of the hits under `tools`; a [`Shortlist`](crate::search::Shortlist) sends them with the next request.
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

/// The name under which the tool is registered.
pub(super) const NAME: &str = "search_tools";

#[tool_class(crate = crate, manual)]
impl ToolSearch {
    /// Find tools by what they do. Only some of the tools are listed at first; search for the others with a few words
    /// about the task.
    #[tool(name = "search_tools", read_only, idempotent)]
    fn search_tools(
        &self,
        /// A few words about the task, such as `send mail`.
        query: &str,
        /// The maximum number of tools to list.
        #[arg(default = 8, min = 1, max = 50)]
        limit: usize,
        #[inject] tools: &Dispatcher,
    ) -> ToolResult {
        let is_search =
            |name: &str| tools.with_snapshot(|offer| offer.tools.get(name).is_some_and(|tool| &*tool.own_name == NAME));
        let mut hits = tools.search(query, limit + 1);
        hits.retain(|hit| !is_search(&hit.name));
        hits.truncate(limit);
        if hits.is_empty() {
            return ToolResult::success("No matching tool. Try other words.".to_owned());
        }
        let mut output = String::new();
        for hit in &hits {
            // Writing to a string cannot fail.
            let _ = writeln!(output, "{}", brief(&hit.name, &hit.definition));
        }
        let mut result = ToolResult::success(output);
        let names: Vec<&str> = hits.iter().map(|hit| &*hit.name).collect();
        result.metadata.insert("tools", names);
        result
    }
}
