//! Call metrics (feature `metrics`).
//!
//! `tool_calls_total` has the labels `tool` and `outcome` (`success` or the error kind), `tool_call_duration_seconds` has
//! the label `tool`. Names of tools that do not exist are counted as `unknown`, since models make up many.

use std::time::Instant;

use crate::{ErrorKind, ToolResult};

/// Measures one call. A call that is dropped before it returns counts as `cancelled`.
pub(crate) struct CallMetrics {
    since: Instant,
    /// The name of the tool, once the call is suspended.
    waiting: Option<String>,
}

impl CallMetrics {
    pub(crate) fn start() -> Self {
        Self { since: Instant::now(), waiting: None }
    }

    pub(crate) fn waits(&mut self, tool: &str) {
        self.waiting.get_or_insert_with(|| tool.to_owned());
    }

    pub(crate) fn end(mut self, tool: &str, result: &ToolResult) {
        let kind = result.error.as_ref().map(|error| error.kind);
        let tool = if kind == Some(ErrorKind::UnknownTool) { "unknown" } else { tool };
        let tool = self.waiting.take().unwrap_or_else(|| tool.to_owned());
        self.record(tool, kind.map_or("success", ErrorKind::as_str));
    }

    fn record(&self, tool: String, outcome: &'static str) {
        metrics::counter!("tool_calls_total", "tool" => tool.clone(), "outcome" => outcome).increment(1);
        metrics::histogram!("tool_call_duration_seconds", "tool" => tool).record(self.since.elapsed());
    }
}

impl Drop for CallMetrics {
    fn drop(&mut self) {
        if let Some(tool) = self.waiting.take() {
            self.record(tool, ErrorKind::Cancelled.as_str());
        }
    }
}
