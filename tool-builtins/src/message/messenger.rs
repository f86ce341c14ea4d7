//! Whoever delivers messages.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// What it says.
    pub content: String,
    /// Where it goes, such as `telegram`.
    pub channel: String,
    /// Who gets it there; without one, whoever is in the channel.
    pub recipient: Option<String>,
    /// The conversation that it comes from.
    pub conversation: Option<String>,
}

/// Delivers messages. An application that speaks through a chat service implements it; [`Outbox`](super::Outbox) hands
/// them to whoever in the same program wants them.
pub trait Messenger: Send + Sync + 'static {
    /// Delivers a message, or says why it cannot be delivered. Dropped, it need not be delivered any more.
    fn deliver(&self, message: Message) -> impl Future<Output = Result<(), MessageError>> + Send;
}

impl<M: Messenger> Messenger for Arc<M> {
    fn deliver(&self, message: Message) -> impl Future<Output = Result<(), MessageError>> + Send {
        (**self).deliver(message)
    }
}

/// Why a message was not delivered. The model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageError {
    message: Cow<'static, str>,
}

impl MessageError {
    /// An error in words.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MessageError {}
