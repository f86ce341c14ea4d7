//! Limits on how often a model may retry a tool.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::limits::RecentConversations;
use crate::{ErrorKind, ToolError, ToolResult};

/// The number of conversations whose retries are counted. Beyond that, the least recently used one starts over.
const MAX_CONVERSATIONS: usize = 10_000;

/// Limits how often a tool may return [`HandlerError::retry`](crate::HandlerError::retry) in one conversation. The next
/// retry becomes a fatal error. A success resets the count.
///
/// ```
/// use tool_runtime::Dispatcher;
/// use tool_runtime::limits::Retries;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Three retries per tool, ten for `search`, and at most twenty in one conversation.
/// let retries = Retries::each(3).tool("search", 10).conversation(20);
/// let tools = Dispatcher::builder().allow_empty().retries(retries).build()?;
/// // Or one number for all tools.
/// let tools = Dispatcher::builder().allow_empty().retries(3).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "pass it to `Builder::retries`"]
pub struct Retries {
    each: Option<u32>,
    by_tool: HashMap<String, u32>,
    in_conversation: Option<u32>,
}

impl Retries {
    /// Sets the number of retries for each tool.
    pub fn each(retries: u32) -> Self {
        Self { each: Some(retries), ..Self::default() }
    }

    /// Sets the number of retries for one tool.
    pub fn tool(mut self, tool: impl Into<String>, retries: u32) -> Self {
        self.by_tool.insert(tool.into(), retries);
        self
    }

    /// Sets the number of retries in one conversation, over all tools that have not succeeded since.
    pub fn conversation(mut self, retries: u32) -> Self {
        self.in_conversation = Some(retries);
        self
    }

    /// Returns the names of the tools with a number of their own.
    pub(crate) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.by_tool.keys().map(String::as_str)
    }

    fn allowed_for(&self, tool: &str) -> u32 {
        self.by_tool.get(tool).copied().or(self.each).unwrap_or(u32::MAX)
    }
}

impl From<u32> for Retries {
    fn from(retries: u32) -> Self {
        Self::each(retries)
    }
}

/// Counts the retries of each tool in each conversation.
pub(crate) struct RetryCounter {
    allowed: Retries,
    counted: Mutex<RecentConversations<FxHashMap<String, u32>>>,
}

impl RetryCounter {
    pub(crate) fn new(allowed: Retries) -> Self {
        Self { allowed, counted: Mutex::new(RecentConversations::new(MAX_CONVERSATIONS)) }
    }

    pub(crate) fn retries(&self) -> &Retries {
        &self.allowed
    }

    /// Counts the result of a handler. Returns it unchanged, or as a fatal error once the limit is exceeded. Results of
    /// replays and dry runs must not be counted.
    ///
    /// A tool is counted by its own name, and the message uses the name by which the model called it.
    pub(crate) fn count(
        &self,
        conversation: Option<&str>,
        tool: &str,
        called: Option<&str>,
        result: ToolResult,
    ) -> ToolResult {
        let is_retry = matches!(&result.error, Some(error) if error.kind == ErrorKind::Retry);
        if !is_retry && !result.success {
            return result;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = counted.get(conversation);
        if !is_retry {
            counts.remove(tool);
            return result;
        }
        let of_tool = counts.entry(tool.to_owned()).or_insert(0);
        *of_tool = of_tool.saturating_add(1);
        let is_exceeded = *of_tool > self.allowed.allowed_for(tool)
            || self
                .allowed
                .in_conversation
                .is_some_and(|most| counts.values().map(|&count| u64::from(count)).sum::<u64>() > most.into());
        if !is_exceeded {
            return result;
        }
        let called = called.unwrap_or(tool);
        let message = format!("{} That was the last try: do not call `{called}` for this again.", result.output);
        ToolResult { metadata: result.metadata, ..ToolResult::failure(ToolError::new(ErrorKind::Fatal, message)) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::LogRecorder;
    use crate::{Dispatcher, HandlerError, RuntimeTool, ToolCall};

    fn retry() -> ToolResult {
        let error = ToolError::new(ErrorKind::Retry, "Name one host.");
        ToolResult::failure(error.with_retry_after(Duration::from_secs(1)))
    }

    #[test]
    fn counts_retries_per_conversation_and_tool_until_a_success() {
        let retries = RetryCounter::new(2.into());
        let kind =
            |conversation, tool, result| retries.count(conversation, tool, None, result).error.map(|error| error.kind);
        for _ in 0..2 {
            assert_eq!(kind(Some("a"), "x", retry()), Some(ErrorKind::Retry));
        }
        assert_eq!(kind(Some("b"), "x", retry()), Some(ErrorKind::Retry));
        assert_eq!(kind(Some("a"), "y", retry()), Some(ErrorKind::Retry));
        let last = retries.count(Some("a"), "x", None, retry());
        assert!(last.output.starts_with("Name one host. That was the last try"), "{}", last.output);
        assert_eq!(last.error.unwrap().retry_after(), None, "a fatal error has no retry time");
        assert_eq!(kind(Some("a"), "x", ToolResult::success("done".into())), None);
        assert_eq!(kind(Some("a"), "x", retry()), Some(ErrorKind::Retry));
    }

    #[test]
    fn tools_and_conversations_have_separate_limits() {
        let retries = RetryCounter::new(Retries::each(1).tool("x", 3).conversation(3));
        let kind = |tool| retries.count(Some("a"), tool, None, retry()).error.map(|error| error.kind);
        assert_eq!(["y", "y"].map(kind), [Some(ErrorKind::Retry), Some(ErrorKind::Fatal)]);
        assert_eq!(["x", "x"].map(kind), [Some(ErrorKind::Retry), Some(ErrorKind::Fatal)], "four in the conversation");
        let only = RetryCounter::new(Retries::default().tool("x", 0));
        assert!(matches!(only.count(None, "y", None, retry()).error, Some(error) if error.kind == ErrorKind::Retry));
    }

    #[tokio::test]
    async fn the_span_records_the_error_of_the_last_retry() {
        let log = LogRecorder::default();
        let _logging = tracing::subscriber::set_default(log.clone());
        let again = RuntimeTool::new("again", "", |(): ()| async { Err::<String, _>(HandlerError::retry("Again.")) });
        let tools = Dispatcher::builder().tool(again).retries(0).build().unwrap();
        let last = tools.call(ToolCall::from_text("again", "{}")).await;
        assert_eq!(last.error.unwrap().kind, ErrorKind::Fatal);
        assert!(log.text().contains("error.type=\"fatal\"") && !log.text().contains("\"retry\""), "{}", log.text());
    }

    #[test]
    fn many_conversations_do_not_reset_recent_ones() {
        let retries = RetryCounter::new(1.into());
        let kind =
            |conversation: &str| retries.count(Some(conversation), "x", None, retry()).error.map(|error| error.kind);
        for number in 0..MAX_CONVERSATIONS / 2 - 1 {
            kind(&number.to_string());
        }
        assert_eq!(kind("busy"), Some(ErrorKind::Retry));
        for number in MAX_CONVERSATIONS..MAX_CONVERSATIONS + 10 {
            kind(&number.to_string());
        }
        assert_eq!(kind("busy"), Some(ErrorKind::Fatal), "its count was kept");
    }
}
