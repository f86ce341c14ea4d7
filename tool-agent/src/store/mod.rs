//! Where conversations are kept.

#[cfg(feature = "sqlite")]
mod sqlite;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

#[cfg(feature = "sqlite")]
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

    /// The [version](Saved::version) and the [mark](Saved::mark) of the conversation of that id, if there is one: by these
    /// whoever holds it in memory knows, each time it is used, whether somebody else has gone on with it. Reads all of it
    /// unless the store has a shorter way.
    fn last_change<'a>(&'a self, conversation: &'a str) -> Stored<'a, Option<(u64, u64)>> {
        Box::pin(async move { Ok(self.load(conversation).await?.map(|saved| (saved.version, saved.mark))) })
    }

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

    fn last_change<'a>(&'a self, conversation: &'a str) -> Stored<'a, Option<(u64, u64)>> {
        (**self).last_change(conversation)
    }

    fn delete<'a>(&'a self, conversation: &'a str) -> Stored<'a, bool> {
        (**self).delete(conversation)
    }
}

/// A conversation as a store keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
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

impl Saved {
    /// A conversation as it is after the change of this mark, which has made this version.
    #[must_use]
    pub fn new(version: u64, mark: u64, messages: Vec<Message>) -> Self {
        Self { version, mark, mode: Mode::default(), messages }
    }

    /// The mode that it was in.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }
}

/// A change to a conversation: its first messages stay, others come behind them. It makes the next version.
///
/// The loop makes them. Whoever tests a [`Store`] makes some as well:
///
/// ```
/// use tool_agent::{Change, Message, SqliteStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("chats.db");
/// let store = SqliteStore::open(path).await?;
/// let (first, second) = ([Message::user("Hello")], [Message::assistant("Hi.")]);
/// store.save("chat-7", Change::new(1, &first)).await?;
/// store.save("chat-7", Change::new(2, &second).behind(1, 1)).await?;
/// assert_eq!(store.load("chat-7").await?.unwrap().messages, [first, second].concat());
///
/// let late = store.save("chat-7", Change::new(3, &[]).behind(1, 0)).await.unwrap_err();
/// assert!(late.is_conflict());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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

impl<'a> Change<'a> {
    /// A new conversation of these messages.
    #[must_use]
    pub fn new(mark: u64, messages: &'a [Message]) -> Self {
        Self { version: 0, mark, keep: 0, messages, mode: Mode::default() }
    }

    /// A change to this version of a conversation, of which so many messages stay.
    #[must_use]
    pub fn behind(mut self, version: u64, keep: usize) -> Self {
        (self.version, self.keep) = (version, keep);
        self
    }

    /// The mode that it is in.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }
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
