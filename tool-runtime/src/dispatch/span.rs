//! The span of a call, in OpenTelemetry's words for generative models.

use tracing::Span;

use super::BoundTool;
use crate::ToolCall;

/// Where the spans of calls belong.
const TARGET: &str = "tool_runtime::call";

/// Whether somebody looks at the spans of calls.
#[inline]
pub(super) fn has_subscriber() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

/// The span of a call. A model may make up the name of a tool, of any length.
pub(super) fn span_of(call: &ToolCall<'_>, tool: Option<&BoundTool>) -> Span {
    let name = tool.map_or(call.name(), |tool| &tool.name);
    let shown: String = name.chars().take(128).collect();
    tracing::info_span!(
        target: TARGET,
        "execute_tool",
        otel.name = format!("execute_tool {shown}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = shown,
        gen_ai.tool.r#type = "function",
        gen_ai.tool.description = tool.map(BoundTool::description),
        gen_ai.tool.call.id = call.call_id(),
        gen_ai.conversation.id = call.conversation_id(),
        gen_ai.tool.call.arguments = tracing::field::Empty,
        error.r#type = tracing::field::Empty,
    )
}
