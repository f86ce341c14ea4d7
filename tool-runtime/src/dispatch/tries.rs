//! How often a model may try again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::{ErrorKind, ToolError, ToolResult};

/// Conversations that are remembered; beyond that, counting begins anew.
const MOST: usize = 10_000;

/// Counts how often a tool has asked for another try, in each conversation.
pub(crate) struct Tries {
    allowed: u32,
    counted: Mutex<HashMap<(String, String), u32>>,
}

impl Tries {
    pub(crate) fn new(allowed: u32) -> Self {
        Self { allowed, counted: Mutex::default() }
    }

    /// The result as it is, or the end of trying. A success begins anew.
    pub(crate) fn judge(&self, conversation: Option<&str>, tool: &str, result: ToolResult) -> ToolResult {
        let again = matches!(&result.error, Some(error) if error.kind == ErrorKind::Retry);
        if !again && !result.success {
            return result;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (conversation.unwrap_or_default().to_owned(), tool.to_owned());
        if !again {
            counted.remove(&key);
            return result;
        }
        if counted.len() >= MOST && !counted.contains_key(&key) {
            counted.clear();
        }
        let tries = counted.entry(key).or_insert(0);
        *tries += 1;
        if *tries <= self.allowed {
            return result;
        }
        let message = format!("{} That was the last try: do not call `{tool}` for this again.", result.output);
        ToolResult { metadata: result.metadata, ..ToolResult::failure(ToolError::new(ErrorKind::Fatal, message)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry() -> ToolResult {
        ToolResult::failure(ToolError::new(ErrorKind::Retry, "Name one host."))
    }

    #[test]
    fn tries_are_counted_for_each_conversation_and_tool_until_one_succeeds() {
        let tries = Tries::new(2);
        let kind = |conversation, tool, result| tries.judge(conversation, tool, result).error.map(|error| error.kind);
        for _ in 0..2 {
            assert_eq!(kind(Some("a"), "x", retry()), Some(ErrorKind::Retry));
        }
        assert_eq!(kind(Some("b"), "x", retry()), Some(ErrorKind::Retry));
        assert_eq!(kind(Some("a"), "y", retry()), Some(ErrorKind::Retry));
        let last = tries.judge(Some("a"), "x", retry());
        assert!(last.output.starts_with("Name one host. That was the last try"), "{}", last.output);
        assert_eq!(kind(Some("a"), "x", ToolResult::success("done".into())), None);
        assert_eq!(kind(Some("a"), "x", retry()), Some(ErrorKind::Retry));
    }
}
