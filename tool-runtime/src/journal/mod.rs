//! Journals: records of calls, their arguments and their outcomes.
//!
//! A [`Journal`] has two uses. User interfaces show it, and it makes calls at-most-once: a call that a client repeats, or
//! that a crash interrupted, is recognized. A completed call returns its recorded result. A call with an unknown outcome
//! is reported as such. Neither runs again.
//!
//! [`MemoryJournal`] lasts as long as the process. The crate `tool-journal` has a journal in SQLite.

mod call;
mod decision;
mod entry;
mod error;
mod memory;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

use std::pin::Pin;
use std::sync::Arc;

pub use call::{CallKey, CallStatus, FinishedCall, StartedCall};
pub use decision::JournalDecision;
pub use entry::{EntryQuery, EntryState, JournalEntry};
pub use error::{JournalError, JournalErrorKind};
pub use memory::MemoryJournal;

/// A boxed future, so that a journal can be a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An append-only record of calls.
///
/// A method returns after its record is durable: a journal in a file has written it to the disk by then. If a journal
/// cannot write, it returns an error, and the call does not run.
///
/// ```
/// use serde_json::json;
/// use std::time::Duration;
/// use tool_runtime::journal::{CallStatus, FinishedCall, Journal, MemoryJournal, StartedCall};
/// use tool_runtime::{Dispatcher, ToolCall, ToolDefinition};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let result = Dispatcher::builder().allow_empty().build()?.call(ToolCall::new("", json!({}))).await;
/// let journal = MemoryJournal::new();
/// let arguments = json!({"host": "web-1"});
/// let call = ToolCall::new("metrics.purge", arguments.clone()).conversation("chat-7").id("call_1");
/// let started = StartedCall::new(&call, &ToolDefinition::default(), &arguments);
/// assert_eq!(journal.begin(&started).await?, CallStatus::New);
///
/// // The handler runs, then:
/// journal.finish(&started.key, &FinishedCall::new(result.clone(), Duration::from_millis(3))).await?;
///
/// // The same call once more.
/// let again = StartedCall::new(&call, &ToolDefinition::default(), &arguments);
/// assert_eq!(journal.begin(&again).await?, CallStatus::Completed(Box::new(result)));
/// # Ok(())
/// # }
/// ```
pub trait Journal: Send + Sync + 'static {
    /// Records the start of a call before its handler runs, unless the same call (conversation, id, tool and arguments) is
    /// known. Of several concurrent callers exactly one gets [`CallStatus::New`]. That caller must
    /// [`finish`](Self::finish) the call, however it ends.
    ///
    /// A call whose handler was [not started](FinishedCall::started) the last time is new again, with a separate record.
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>>;

    /// Returns the status of a call without starting it, so that no user has to approve a call that has its result.
    ///
    /// Returns `None` if the journal cannot tell; then [`begin`](Self::begin) does.
    fn recall<'a>(&'a self, key: &'a CallKey) -> BoxFuture<'a, Result<Option<CallStatus>, JournalError>> {
        let _ = key;
        Box::pin(async { Ok(None) })
    }

    /// Returns the unique identity of this record, which is the same whenever it is opened. An application that stores it
    /// with a call can later tell whether that call would be in this record. A journal that does not outlive its process
    /// has none.
    fn identity(&self) -> Option<&str> {
        None
    }

    /// Returns the number of this opening of the record, if several processes may open it. An application that stores it
    /// with a call can later tell whether that call may still begin [elsewhere](Self::is_open_elsewhere).
    fn opening(&self) -> Option<u64> {
        None
    }

    /// Returns `true` if the opening belongs to another process that is alive, or may be. A call of that process that is not
    /// on record yet may still begin, for example after an approval.
    fn is_open_elsewhere(&self, opening: u64) -> bool {
        let _ = opening;
        false
    }

    /// Returns the state of the call with this conversation and id, regardless of its tool and arguments. An application that
    /// recovers from a crash learns from it which calls have run. [`EntryState::Noted`] means that the call has not begun,
    /// provided that this is the record that it would be in: see [`identity`](Self::identity).
    ///
    /// Runs whose handler was [not started](FinishedCall::started) do not count.
    ///
    /// Returns `None` if the journal cannot tell, or may have forgotten the call: a call that is believed not to have run is
    /// made again.
    fn state_of<'a>(
        &'a self,
        conversation: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<EntryState>, JournalError>> {
        let _ = (conversation, id);
        Box::pin(async { Ok(None) })
    }

    /// Records the outcome of a call, under the key that it began with.
    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>>;

    /// Records a decision without a run, such as a refusal, a dry run or a wait for approval.
    ///
    /// The call does not become known by it: it can still begin after an approval.
    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>>;

    /// Returns entries, the newest first.
    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>>;
}

impl<J: Journal + ?Sized> Journal for Arc<J> {
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>> {
        (**self).begin(call)
    }

    fn recall<'a>(&'a self, key: &'a CallKey) -> BoxFuture<'a, Result<Option<CallStatus>, JournalError>> {
        (**self).recall(key)
    }

    fn identity(&self) -> Option<&str> {
        (**self).identity()
    }

    fn opening(&self) -> Option<u64> {
        (**self).opening()
    }

    fn is_open_elsewhere(&self, opening: u64) -> bool {
        (**self).is_open_elsewhere(opening)
    }

    fn state_of<'a>(
        &'a self,
        conversation: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<EntryState>, JournalError>> {
        (**self).state_of(conversation, id)
    }

    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>> {
        (**self).finish(key, finished)
    }

    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        (**self).note(call, decision)
    }

    fn entries<'a>(&'a self, query: EntryQuery) -> BoxFuture<'a, Result<Vec<JournalEntry>, JournalError>> {
        (**self).entries(query)
    }
}
