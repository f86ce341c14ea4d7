//! Stores of pending calls.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// A pending call as a [`PendingStore`] keeps it: encrypted, except for the fields that the store searches by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SealedCall {
    /// The ID in the store. It does not authorize running the call.
    pub id: String,
    /// The conversation that the call belongs to.
    pub conversation: Option<String>,
    /// The time at which the call expires, in whole milliseconds.
    pub expires: SystemTime,
    /// The encrypted call. Any change to it or to the other fields makes it unreadable.
    pub sealed: String,
}

impl SealedCall {
    /// Creates a sealed call from its stored parts.
    pub fn new(id: impl Into<String>, conversation: Option<String>, expires: SystemTime, sealed: String) -> Self {
        Self { id: id.into(), conversation, expires, sealed }
    }
}

/// The future of a [`PendingStore`] operation.
pub type PendingStoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, PendingStoreError>> + Send + 'a>>;

/// Stores pending calls.
///
/// A store keeps each [`SealedCall`] unchanged, as JSON for example. It need not be trusted: it cannot read a call, an
/// altered call is not run, and its contents do not suffice to make a token.
///
/// A store may remove expired calls at any time.
pub trait PendingStore: Send + Sync + 'static {
    /// Stores a call under its ID.
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()>;

    /// Returns the call with an ID, without removing it.
    fn get<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>>;

    /// Removes and returns the call with an ID. Of concurrent callers, exactly one gets it.
    fn take<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>>;

    /// Returns the calls of a conversation.
    fn list<'a>(&'a self, conversation: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>>;

    /// Returns all calls, including those without a conversation. Fails by default.
    fn list_all(&self) -> PendingStoreFuture<'_, Vec<SealedCall>> {
        Box::pin(async { Err(PendingStoreError::new("this store lists the calls of one conversation only")) })
    }
}

/// The capacity of a [`MemoryPendingStore`].
const MAX_BYTES: usize = 64_000_000;

/// A store in memory, bounded by a number of calls and by 64 MB. Expired calls are removed first.
pub struct MemoryPendingStore {
    calls: Mutex<BTreeMap<String, SealedCall>>,
    capacity: usize,
}

impl MemoryPendingStore {
    /// Creates a store for at most `capacity` calls. A full store rejects new calls, and never evicts pending ones.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { calls: Mutex::default(), capacity }
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, SealedCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, call: SealedCall) -> Result<(), PendingStoreError> {
        let mut calls = self.calls();
        let now = SystemTime::now();
        calls.retain(|_, waiting| waiting.expires > now);
        if calls.len() >= self.capacity {
            return Err(PendingStoreError::new(format_args!(
                "the limit of {} pending calls is reached",
                self.capacity
            )));
        }
        let bytes: usize = calls.values().chain([&call]).map(|call| call.sealed.len()).sum();
        if bytes > MAX_BYTES {
            return Err(PendingStoreError::new(format_args!("pending calls exceed the limit of {MAX_BYTES} bytes")));
        }
        calls.insert(call.id.clone(), call);
        Ok(())
    }
}

impl Default for MemoryPendingStore {
    /// Creates a store for at most 10,000 calls.
    fn default() -> Self {
        Self::with_capacity(10_000)
    }
}

impl PendingStore for MemoryPendingStore {
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()> {
        Box::pin(async { self.insert(call) })
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

/// The error of a store that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingStoreError(String);

impl PendingStoreError {
    /// Creates an error with a reason.
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
