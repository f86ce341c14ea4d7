//! Where conversations are kept.

mod sqlite;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

pub use sqlite::{SqliteStore, Summary};

use crate::{Message, Mode};

/// What a [`Store`] answers.
pub type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keeps conversations, so that they outlive the process.
///
/// [`SqliteStore`] is one. A save is done as a whole or not at all; one that is dropped may be either.
pub trait Store: Send + Sync + 'static {
    /// The conversation of that id, if there is one.
    fn load<'a>(&'a self, conversation: &'a str) -> Stored<'a, Option<Saved>>;

    /// Keeps a change. If the conversation is not of the version that was changed, somebody else has gone on with it,
    /// and the answer is [`StoreError::conflict`].
    fn save<'a>(&'a self, conversation: &'a str, change: Change<'a>) -> Stored<'a, ()>;

    /// Forgets a conversation. Whether there was one.
    fn delete<'a>(&'a self, conversation: &'a str) -> Stored<'a, bool>;
}

impl<S: Store + ?Sized> Store for Arc<S> {
    fn load<'a>(&'a self, conversation: &'a str) -> Stored<'a, Option<Saved>> {
        (**self).load(conversation)
    }

    fn save<'a>(&'a self, conversation: &'a str, change: Change<'a>) -> Stored<'a, ()> {
        (**self).save(conversation, change)
    }

    fn delete<'a>(&'a self, conversation: &'a str) -> Stored<'a, bool> {
        (**self).delete(conversation)
    }
}

/// A conversation as a store keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// Counts the changes.
    pub version: u64,
    /// The [mark](Change::mark) of the last one.
    pub mark: u64,
    /// The mode that it was in.
    pub mode: Mode,
    /// What was said.
    pub messages: Vec<Message>,
}

/// A change to a conversation: its first messages stay, others come behind them. It makes the next version.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The version that was changed; 0 for a conversation that is new.
    pub version: u64,
    /// A random number, kept with the conversation: whoever does not know whether a change was made knows it by that.
    pub mark: u64,
    /// How many messages stay. What is kept behind them goes.
    pub keep: usize,
    /// What comes behind them.
    pub messages: &'a [Message],
    /// The mode that it is in.
    pub mode: Mode,
}

/// Why a conversation could not be read or kept.
#[derive(Clone, Debug)]
pub struct StoreError {
    message: Cow<'static, str>,
    is_conflict: bool,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl StoreError {
    /// An error in words.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), is_conflict: false, source: None }
    }

    /// Somebody else has gone on with the conversation.
    #[must_use]
    pub fn conflict() -> Self {
        let message = "somebody else has gone on with this conversation: read it again, then go on";
        Self { is_conflict: true, ..Self::new(message) }
    }

    /// What has caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Whether somebody else has gone on with the conversation.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.is_conflict
    }
}

/// What they say; causes cannot be compared.
impl PartialEq for StoreError {
    fn eq(&self, other: &Self) -> bool {
        (&self.message, self.is_conflict) == (&other.message, other.is_conflict)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
