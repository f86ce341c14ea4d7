//! Storage of conversations.

#[cfg(feature = "sqlite")]
mod sqlite;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(feature = "sqlite")]
pub use sqlite::{ConversationSummary, SqliteStore};

use crate::{Message, Mode};

/// The future that a [`ConversationStore`] returns.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ConversationStoreError>> + Send + 'a>>;

/// Persistent storage of conversations.
///
/// [`SqliteStore`] implements it. A save is atomic; a save that was dropped may or may not have happened.
pub trait ConversationStore: Send + Sync + 'static {
    /// Loads a conversation, if it exists.
    fn load<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Option<SavedConversation>>;

    /// Saves a change. Fails with [`ConversationStoreError::conflict`] if the stored version is not the one that was
    /// changed, because another writer has continued the conversation.
    fn save<'a>(&'a self, conversation: &'a str, change: ConversationChange<'a>) -> StoreFuture<'a, ()>;

    /// Returns the [version](SavedConversation::version) and the [mark](SavedConversation::mark) of a conversation, if
    /// it exists. A process compares them with its copy each time it uses the conversation, to detect changes by
    /// others. The default implementation loads the whole conversation.
    fn last_change<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Option<(u64, u64)>> {
        Box::pin(async move { Ok(self.load(conversation).await?.map(|saved| (saved.version, saved.mark))) })
    }

    /// Deletes a conversation. Returns `true` if it existed.
    fn delete<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, bool>;
}

impl<S: ConversationStore + ?Sized> ConversationStore for Arc<S> {
    fn load<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Option<SavedConversation>> {
        (**self).load(conversation)
    }

    fn save<'a>(&'a self, conversation: &'a str, change: ConversationChange<'a>) -> StoreFuture<'a, ()> {
        (**self).save(conversation, change)
    }

    fn last_change<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Option<(u64, u64)>> {
        (**self).last_change(conversation)
    }

    fn delete<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, bool> {
        (**self).delete(conversation)
    }
}

/// A stored conversation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SavedConversation {
    /// The number of changes so far.
    pub version: u64,
    /// The [mark](ConversationChange::mark) of the last change.
    pub mark: u64,
    /// The mode.
    pub mode: Mode,
    /// The messages.
    pub messages: Vec<Message>,
}

impl SavedConversation {
    /// Creates a conversation with this version, made by the change with this mark.
    #[must_use]
    pub fn new(version: u64, mark: u64, messages: Vec<Message>) -> Self {
        Self { version, mark, mode: Mode::default(), messages }
    }

    /// Sets the mode.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }
}

/// A change to a conversation: keeps its first messages, replaces the rest, and makes the next version.
///
/// The agent creates changes. Tests of a [`ConversationStore`] can create them as well:
///
/// ```
/// use tool_agent::{ConversationChange, ConversationStore, Message, SqliteStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("chats.db");
/// let store = SqliteStore::open(path).await?;
/// let (first, second) = ([Message::user("Hello")], [Message::assistant("Hi.")]);
/// store.save("chat-7", ConversationChange::new(1, &first)).await?;
/// store.save("chat-7", ConversationChange::new(2, &second).after(1, 1)).await?;
/// assert_eq!(store.load("chat-7").await?.unwrap().messages, [first, second].concat());
///
/// let late = store.save("chat-7", ConversationChange::new(3, &[]).after(1, 0)).await.unwrap_err();
/// assert!(late.is_conflict());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConversationChange<'a> {
    /// The version that was changed; 0 for a new conversation.
    pub version: u64,
    /// A random number that is stored with the conversation, so that the writer can tell later whether its change was
    /// saved.
    pub mark: u64,
    /// The number of stored messages to keep. The others are deleted.
    pub keep: usize,
    /// The messages to append.
    pub messages: &'a [Message],
    /// The mode.
    pub mode: Mode,
}

impl<'a> ConversationChange<'a> {
    /// Creates a new conversation with these messages.
    #[must_use]
    pub fn new(mark: u64, messages: &'a [Message]) -> Self {
        Self { version: 0, mark, keep: 0, messages, mode: Mode::default() }
    }

    /// Changes this version of a conversation, keeping its first `keep` messages.
    #[must_use]
    pub fn after(mut self, version: u64, keep: usize) -> Self {
        (self.version, self.keep) = (version, keep);
        self
    }

    /// Sets the mode.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }
}

/// An error of a [`ConversationStore`].
#[derive(Clone, Debug)]
pub struct ConversationStoreError {
    message: Cow<'static, str>,
    is_conflict: bool,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ConversationStoreError {
    /// Creates an error.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), is_conflict: false, source: None }
    }

    /// Creates the error for a conversation that another writer has continued.
    #[must_use]
    pub fn conflict() -> Self {
        let message = "the conversation was changed elsewhere: load it again and retry";
        Self { is_conflict: true, ..Self::new(message) }
    }

    /// Sets the source of the error.
    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Returns `true` if another writer has continued the conversation.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.is_conflict
    }
}

/// Compares messages; sources cannot be compared.
impl PartialEq for ConversationStoreError {
    fn eq(&self, other: &Self) -> bool {
        (&self.message, self.is_conflict) == (&other.message, other.is_conflict)
    }
}

impl fmt::Display for ConversationStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ConversationStoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
