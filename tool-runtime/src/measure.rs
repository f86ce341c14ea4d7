//! Counts and times of calls, for whatever collects them (feature `metrics`).
//!
//! `tool_calls_total` with the labels `tool` and `outcome` (`success`, or the kind of failure), and
//! `tool_call_duration_seconds` with the label `tool`. A name that no tool has is `unknown`: models make up many.

use std::time::Duration;

use crate::{ErrorKind, ToolResult};

pub(crate) fn measure(tool: &str, result: &ToolResult, took: Duration) {
    let kind = result.error.as_ref().map(|error| error.kind);
    let tool = if kind == Some(ErrorKind::UnknownTool) { "unknown" } else { tool }.to_owned();
    let outcome = kind.map_or("success", ErrorKind::as_str);
    metrics::counter!("tool_calls_total", "tool" => tool.clone(), "outcome" => outcome).increment(1);
    metrics::histogram!("tool_call_duration_seconds", "tool" => tool).record(took);
}
