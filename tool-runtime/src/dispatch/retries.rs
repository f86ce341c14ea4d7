//! How often a model may try again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::limits::RecentConversations;
use crate::{ErrorKind, ToolError, ToolResult};

/// Conversations that are remembered. Those that tried nothing for longest are forgotten, and begin anew.
const MOST: usize = 10_000;

/// How often a tool may answer [`HandlerError::retry`](crate::HandlerError::retry) in a conversation before that becomes
/// a failure for good. A success begins anew.
///
/// ```
/// use tool_runtime::Dispatcher;
/// use tool_runtime::limits::Retries;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Three times each tool, `search` ten times, and no more than twenty times in one conversation.
/// let retries = Retries::each(3).tool("search", 10).conversation(20);
/// let tools = Dispatcher::builder().retries(retries).build()?;
/// // Or the same number for all.
/// let tools = Dispatcher::builder().retries(3).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "give it to `Builder::retries`"]
pub struct Retries {
    each: Option<u32>,
    of_tools: HashMap<String, u32>,
    in_all: Option<u32>,
}

impl Retries {
    /// So many for each tool.
    pub fn each(retries: u32) -> Self {
        Self { each: Some(retries), ..Self::default() }
    }

    /// So many for this tool, whatever holds for the others.
    pub fn tool(mut self, tool: impl Into<String>, retries: u32) -> Self {
        self.of_tools.insert(tool.into(), retries);
        self
    }

    /// So many in one conversation, over all tools that have not succeeded since.
    pub fn conversation(mut self, retries: u32) -> Self {
        self.in_all = Some(retries);
        self
    }

    fn of(&self, tool: &str) -> u32 {
        self.of_tools.get(tool).copied().or(self.each).unwrap_or(u32::MAX)
    }
}

impl From<u32> for Retries {
    fn from(retries: u32) -> Self {
        Self::each(retries)
    }
}

/// Counts how often tools have asked for another try, in each conversation.
pub(crate) struct RetryCounter {
    allowed: Retries,
    counted: Mutex<RecentConversations<FxHashMap<String, u32>>>,
}

impl RetryCounter {
    pub(crate) fn new(allowed: Retries) -> Self {
        Self { allowed, counted: Mutex::new(RecentConversations::new(MOST)) }
    }

    /// The result as it is, or the end of trying. A success begins anew. It is for handlers that ran: a replay and a dry
    /// run are no tries.
    ///
    /// A tool is counted by its own name, whatever a selection calls it; the model is told the name that it knows.
    pub(crate) fn judge(
        &self,
        conversation: Option<&str>,
        tool: &str,
        called: Option<&str>,
        result: ToolResult,
    ) -> ToolResult {
        let again = matches!(&result.error, Some(error) if error.kind == ErrorKind::Retry);
        if !again && !result.success {
            return result;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let tries = counted.get(conversation);
        if !again {
            tries.remove(tool);
            return result;
        }
        let of_tool = tries.entry(tool.to_owned()).or_insert(0);
        *of_tool = of_tool.saturating_add(1);
        let is_last = *of_tool > self.allowed.of(tool)
            || self
                .allowed
                .in_all
                .is_some_and(|most| tries.values().map(|&tries| u64::from(tries)).sum::<u64>() > most.into());
        if !is_last {
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
    fn tries_are_counted_for_each_conversation_and_tool_until_one_succeeds() {
        let tries = RetryCounter::new(2.into());
        let kind =
            |conversation, tool, result| tries.judge(conversation, tool, None, result).error.map(|error| error.kind);
        for _ in 0..2 {
            assert_eq!(kind(Some("a"), "x", retry()), Some(ErrorKind::Retry));
        }
        assert_eq!(kind(Some("b"), "x", retry()), Some(ErrorKind::Retry));
        assert_eq!(kind(Some("a"), "y", retry()), Some(ErrorKind::Retry));
        let last = tries.judge(Some("a"), "x", None, retry());
        assert!(last.output.starts_with("Name one host. That was the last try"), "{}", last.output);
        assert_eq!(last.error.unwrap().retry_after(), None, "nobody should come back");
        assert_eq!(kind(Some("a"), "x", ToolResult::success("done".into())), None);
        assert_eq!(kind(Some("a"), "x", retry()), Some(ErrorKind::Retry));
    }

    #[test]
    fn tools_and_conversations_have_numbers_of_their_own() {
        let tries = RetryCounter::new(Retries::each(1).tool("x", 3).conversation(3));
        let kind = |tool| tries.judge(Some("a"), tool, None, retry()).error.map(|error| error.kind);
        assert_eq!(["y", "y"].map(kind), [Some(ErrorKind::Retry), Some(ErrorKind::Fatal)]);
        assert_eq!(["x", "x"].map(kind), [Some(ErrorKind::Retry), Some(ErrorKind::Fatal)], "four in all");
        let only = RetryCounter::new(Retries::default().tool("x", 0));
        assert!(matches!(only.judge(None, "y", None, retry()).error, Some(error) if error.kind == ErrorKind::Retry));
    }

    /// Its span says how a call has ended for its caller.
    #[tokio::test]
    async fn a_span_says_that_it_was_the_last_try() {
        let log = LogRecorder::default();
        let _logging = tracing::subscriber::set_default(log.clone());
        let again = RuntimeTool::new("again", "", |(): ()| async { Err::<String, _>(HandlerError::retry("Again.")) });
        let tools = Dispatcher::builder().tool(again).retries(0).build().unwrap();
        let last = tools.call(ToolCall::from_text("again", "{}")).await;
        assert_eq!(last.error.unwrap().kind, ErrorKind::Fatal);
        assert!(log.text().contains("error.type=\"fatal\"") && !log.text().contains("\"retry\""), "{}", log.text());
    }

    #[test]
    fn many_conversations_do_not_make_the_recent_ones_begin_anew() {
        let tries = RetryCounter::new(1.into());
        let kind =
            |conversation: &str| tries.judge(Some(conversation), "x", None, retry()).error.map(|error| error.kind);
        for number in 0..MOST / 2 - 1 {
            kind(&number.to_string());
        }
        assert_eq!(kind("busy"), Some(ErrorKind::Retry));
        for number in MOST..MOST + 10 {
            kind(&number.to_string());
        }
        assert_eq!(kind("busy"), Some(ErrorKind::Fatal), "it was not forgotten");
    }
}
