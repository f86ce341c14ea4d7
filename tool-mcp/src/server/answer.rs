//! From results to what MCP answers.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde::Deserialize;
use serde_json::Value;
use tool_runtime::ToolResult;

/// Where a result's metadata has content blocks, as MCP writes them.
const CONTENT: &str = "content";
/// Where a result's metadata has structured content that is not simply its output.
const STRUCTURED: &str = "structured_content";

/// The answer to a call of a tool. What else is in the metadata is for interfaces of our own, and is not sent. `whole` is
/// the output as it was before it was shortened for a model, if it was.
pub(super) fn answer(
    result: ToolResult,
    tool: &Tool,
    whole: impl FnOnce(&ToolResult) -> Option<Arc<str>>,
) -> CallToolResult {
    let structured = structured(&result, tool, whole);
    let content = blocks(&result).unwrap_or_else(|| vec![ContentBlock::text(result.output)]);
    let mut answer = if result.success { CallToolResult::success(content) } else { CallToolResult::error(content) };
    answer.structured_content = structured;
    answer
}

fn blocks(result: &ToolResult) -> Option<Vec<ContentBlock>> {
    let content = result.metadata.get(CONTENT)?;
    Vec::deserialize(content)
        .inspect_err(|error| tracing::warn!(%error, "a tool's `content` is no list of MCP's content blocks"))
        .ok()
}

/// A tool that says what its output looks like has to send it as data, too.
fn structured(result: &ToolResult, tool: &Tool, whole: impl FnOnce(&ToolResult) -> Option<Arc<str>>) -> Option<Value> {
    if let Some(said) = result.metadata.get(STRUCTURED) {
        return Some(said.clone());
    }
    if !result.success || tool.output_schema.is_none() {
        return None;
    }
    let whole = whole(result);
    serde_json::from_str(whole.as_deref().unwrap_or(&result.output)).ok().filter(Value::is_object)
}
