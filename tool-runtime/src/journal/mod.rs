//! A record of calls: what ran, with which arguments, and what came of it.
//!
//! A [`Journal`] has two uses. An interface shows what happened; and a call that comes again, because a client repeated
//! it or the process died in the middle, is recognised. One that completed is answered with its recorded result, one
//! whose outcome nobody knows is reported as such, and neither runs again.
//!
//! [`MemoryJournal`] lasts as long as the process. The crate `tool-journal` has one in SQLite.

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

/// A future behind a pointer, so that a journal can be a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An append-only record of calls.
///
/// What a method has answered is on record: a journal in a file has written it to the disk by then. A journal that
/// cannot write answers with an error, and the call does not run.
///
/// ```
/// use serde_json::json;
/// use std::time::Duration;
/// use tool_runtime::journal::{CallStatus, FinishedCall, Journal, MemoryJournal, StartedCall};
/// use tool_runtime::{Dispatcher, ToolCall, ToolDefinition};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let result = Dispatcher::builder().build()?.call(ToolCall::new("", json!({}))).await;
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
    /// Before a handler runs: records that it starts, unless the same call (conversation, id, tool and arguments) is
    /// known. Of several at the same time exactly one is told [`CallStatus::New`].
    ///
    /// A call whose last outcome says that its handler was [not started](FinishedCall::started) is new again, as a record
    /// of its own.
    ///
    /// Whoever is told so must [`finish`](Self::finish) the call, however it ends.
    fn begin<'a>(&'a self, call: &'a StartedCall) -> BoxFuture<'a, Result<CallStatus, JournalError>>;

    /// What is known of a call, without starting it: so that nobody is asked about a call that has its answer.
    ///
    /// A journal that cannot say answers `None`; [`begin`](Self::begin) will.
    fn recall<'a>(&'a self, key: &'a CallKey) -> BoxFuture<'a, Result<Option<CallStatus>, JournalError>> {
        let _ = key;
        Box::pin(async { Ok(None) })
    }

    /// What this record is called wherever it is opened again, and no other record: whoever keeps it beside a call knows
    /// later whether this is the record that the call would be in. A journal that does not outlive its process has none.
    fn identity(&self) -> Option<&str> {
        None
    }

    /// The number of this opening of the record, where several processes may have opened it: whoever keeps it beside a
    /// call knows later whether that call may still begin [elsewhere](Self::is_open_elsewhere).
    fn opening(&self) -> Option<u64> {
        None
    }

    /// Whether that opening is another one than this, and whoever has it lives: a call of theirs that is not on record
    /// yet may still begin, such as when somebody gives the consent that they are asked for. In doubt they live.
    fn is_open_elsewhere(&self, opening: u64) -> bool {
        let _ = opening;
        false
    }

    /// What became of the call of this conversation and id, whatever its tool and its arguments were: so that whoever
    /// goes on after a crash knows which calls have run. [`EntryState::Noted`] says that it has not begun, if this is the
    /// record that it would be in: see [`identity`](Self::identity).
    ///
    /// Runs whose handler was [not started](FinishedCall::started) do not count: such a call has not begun.
    ///
    /// A journal that cannot say answers `None`, also where it does not know the call because it may have forgotten it:
    /// a call that is believed not to have run is made again.
    fn state_of<'a>(
        &'a self,
        conversation: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<EntryState>, JournalError>> {
        let _ = (conversation, id);
        Box::pin(async { Ok(None) })
    }

    /// After it: records the outcome, under the key that the call began with.
    fn finish<'a>(&'a self, key: &'a CallKey, finished: &'a FinishedCall) -> BoxFuture<'a, Result<(), JournalError>>;

    /// Records a decision that no run follows: refused, aborted, a dry run, put off until somebody confirms.
    ///
    /// It does not make the call known: one that is confirmed later can still begin.
    fn note<'a>(
        &'a self,
        call: &'a StartedCall,
        decision: &'a JournalDecision,
    ) -> BoxFuture<'a, Result<(), JournalError>>;

    /// The newest entries, the newest first.
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
