//! Where calls wait.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// A call that waits for an answer, in the form in which a [`PendingStore`] keeps it: encrypted but for what the store
/// goes by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SealedCall {
    /// Its name in the store. Knowing it is not enough to run the call.
    pub id: String,
    /// The conversation that the call belongs to.
    pub conversation: Option<String>,
    /// When it is too late to answer, in whole milliseconds.
    pub expires: SystemTime,
    /// The call itself. Only the key can read it, and any change to it or to what stands beside it makes it unreadable.
    pub sealed: String,
}

impl SealedCall {
    /// A call as a store keeps it, read back from its parts.
    pub fn new(id: impl Into<String>, conversation: Option<String>, expires: SystemTime, sealed: String) -> Self {
        Self { id: id.into(), conversation, expires, sealed }
    }
}

/// What a [`PendingStore`] answers.
pub type PendingStoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, PendingStoreError>> + Send + 'a>>;

/// Keeps calls that wait for an answer.
///
/// A store keeps a [`SealedCall`] as it is, as JSON for example. It need not be trusted with more than that: it cannot read
/// a call, one that was altered in it is not run, and a token cannot be made from what it holds.
///
/// What has expired is of no use to anybody; a store removes it when it likes.
pub trait PendingStore: Send + Sync + 'static {
    /// Keeps a call under its id.
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()>;

    /// The call of that id, which stays.
    fn get<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>>;

    /// The call of that id, which is gone then. Of two who take it at the same time, one gets it.
    fn take<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>>;

    /// The calls of a conversation.
    fn list<'a>(&'a self, conversation: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>>;

    /// All calls, those of no conversation among them. A store that keeps no such list says so.
    fn list_all(&self) -> PendingStoreFuture<'_, Vec<SealedCall>> {
        Box::pin(async { Err(PendingStoreError::new("this store lists the calls of one conversation only")) })
    }
}

/// How much a [`MemoryPendingStore`] keeps.
const MOST_BYTES: usize = 64_000_000;

/// Keeps calls in memory, up to a number of them and to 64 MB. Those that have expired make room for others.
pub struct MemoryPendingStore {
    calls: Mutex<BTreeMap<String, SealedCall>>,
    capacity: usize,
}

impl MemoryPendingStore {
    /// Keeps this many calls at most. One more is refused: those that wait were promised an answer.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { calls: Mutex::default(), capacity }
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, SealedCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, call: SealedCall) -> Result<(), PendingStoreError> {
        let mut calls = self.calls();
        let now = SystemTime::now();
        calls.retain(|_, waiting| waiting.expires > now);
        if calls.len() >= self.capacity {
            return Err(PendingStoreError::new(format_args!("{} calls are waiting already", self.capacity)));
        }
        let bytes: usize = calls.values().chain([&call]).map(|call| call.sealed.len()).sum();
        if bytes > MOST_BYTES {
            return Err(PendingStoreError::new("the calls that are waiting leave no room for one of this size"));
        }
        calls.insert(call.id.clone(), call);
        Ok(())
    }
}

impl Default for MemoryPendingStore {
    /// Keeps 10,000 calls at most.
    fn default() -> Self {
        Self::with_capacity(10_000)
    }
}

impl PendingStore for MemoryPendingStore {
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()> {
        Box::pin(async { self.keep(call) })
    }

    fn get<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        Box::pin(async { Ok(self.calls().get(id).cloned()) })
    }

    fn take<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        Box::pin(async { Ok(self.calls().remove(id)) })
    }

    fn list<'a>(&'a self, conversation: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>> {
        Box::pin(async move {
            let of_conversation = |call: &&SealedCall| call.conversation.as_deref() == Some(conversation);
            Ok(self.calls().values().filter(of_conversation).cloned().collect())
        })
    }

    fn list_all(&self) -> PendingStoreFuture<'_, Vec<SealedCall>> {
        Box::pin(async { Ok(self.calls().values().cloned().collect()) })
    }
}

/// A store that does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingStoreError(String);

impl PendingStoreError {
    /// A store that does not work, for this reason.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

impl fmt::Display for PendingStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PendingStoreError {}
