//! Calls of which somebody does not know what became of them.

use crate::dispatch::Dispatcher;
use crate::dispatch::call::finalize::shortened;
use crate::journal::{EntryState, Journal, JournalError};

impl Dispatcher {
    /// What became of a call that was made before, by the record of it: for whoever goes on after a crash, and has calls
    /// in a conversation without their results. Nothing runs.
    ///
    /// [`EntryState::Noted`] says that it has not begun, and can be made again, if it was made with the journal of
    /// [this identity](Journal::identity): another one, or one that was begun anew, knows nothing of it. `None` says
    /// that nobody knows: there is no journal, or it may have forgotten the call. The result of one that has ended is what
    /// the caller was answered.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::journal::{MemoryJournal, EntryState};
    /// use tool_runtime::{Dispatcher, RuntimeTool, ToolCall};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let purge = RuntimeTool::new("purge", "Deletes everything.", |()| async { "gone" });
    /// let tools = Dispatcher::builder().tool(purge).journal(MemoryJournal::new()).build()?;
    /// tools.call(ToolCall::new("purge", json!({})).conversation("chat-7").id("call_1")).await;
    ///
    /// let Some(EntryState::Finished(purged)) = tools.recall("chat-7", "call_1").await? else { panic!("it has run") };
    /// assert_eq!(purged.result.output, "gone");
    /// assert_eq!(tools.recall("chat-7", "call_2").await?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub async fn recall(&self, conversation: &str, id: &str) -> Result<Option<EntryState>, JournalError> {
        let rules = &self.inner.rules;
        let Some(journal) = &rules.journal else { return Ok(None) };
        let mut state = journal.state_of(conversation, id).await?;
        // It is on record whole.
        if let (Some(EntryState::Finished(finished)), Some(spill)) = (&mut state, &rules.spill)
            && spill.is_long(&finished.result.output)
        {
            let whole = std::mem::replace(&mut finished.result, crate::ToolResult::success(String::new()));
            let (conversation, id) = (Some(conversation.to_owned()), Some(id.to_owned()));
            finished.result = shortened(whole, spill.clone(), self.result_reader(), conversation, id).await;
        }
        Ok(state)
    }

    /// Returns the journal that records the calls, if there is one.
    ///
    /// An application that stores calls itself stores the journal's [identity](Journal::identity) and
    /// [opening](Journal::opening) beside them, to learn after a restart whether [`recall`](Self::recall) can know them.
    #[must_use]
    pub fn journal(&self) -> Option<&dyn Journal> {
        self.inner.rules.journal.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::journal::MemoryJournal;
    use crate::output::{MemorySpillStore, Spill};
    use crate::{RuntimeTool, ToolCall};

    fn long(name: &str) -> RuntimeTool {
        RuntimeTool::new(name, "", |(): ()| async { "line\n".repeat(1_000) })
    }

    #[tokio::test]
    async fn a_long_result_is_recalled_as_it_was_answered() {
        let tools = Dispatcher::builder().tool(long("long")).journal(MemoryJournal::new()).spill(Spill::over(1_000));
        let tools = tools.build().unwrap();
        let answered = tools.call(ToolCall::new("long", json!({})).conversation("c").id("1")).await;
        assert!(answered.metadata.get("spilled").is_some());
        let Ok(Some(EntryState::Finished(recalled))) = tools.recall("c", "1").await else { panic!("it has run") };
        assert_eq!(recalled.result.output, answered.output);
        let another = tools.call(ToolCall::new("long", json!({})).conversation("c").id("2")).await;
        assert_ne!(another.output, answered.output, "the control: a handle is for one call");
    }

    /// Copies of one result would drive out the others.
    #[tokio::test]
    async fn a_long_result_is_kept_once_however_often_it_is_answered() {
        let spill = Spill::over(1_000).store(MemorySpillStore::new(12_000));
        let tools = Dispatcher::builder().tool(long("long")).journal(MemoryJournal::new()).spill(spill);
        let tools = tools.build().unwrap();
        let call = |id: &'static str| tools.call(ToolCall::new("long", json!({})).conversation("c").id(id));
        let other = call("1").await;
        let first = call("2").await;
        for _ in 0..3 {
            let replayed = call("2").await;
            assert_eq!(replayed.metadata.get("replayed"), Some(&json!(true)));
            assert_eq!(replayed.output, first.output);
            tools.recall("c", "2").await.unwrap();
        }
        assert!(tools.whole_output(Some("c"), &other).is_some());
        call("3").await;
        assert!(tools.whole_output(Some("c"), &first).is_none(), "the control: another result takes its room");
    }

    #[tokio::test]
    async fn without_a_journal_nobody_knows() {
        let tools = Dispatcher::builder().build().unwrap();
        assert!(tools.recall("c", "1").await.unwrap().is_none());
        assert!(!tools.journal().is_some());
    }
}
