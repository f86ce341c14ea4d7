//! Messages to people: the tool `message`.
//!
//! ```standalone_crate
//! use serde_json::json;
//! use tool_builtins::message::{Messages, Outbox};
//! use tool_runtime::{Dispatcher, ToolCall};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (outbox, mut inbox) = Outbox::new(64);
//! let tools = Dispatcher::builder().service(Messages::new(outbox)).build()?;
//!
//! // The call comes from Telegram chat 42, so the message goes there.
//! let call = ToolCall::new("message", json!({"content": "The build is green."})).channel("telegram", "42");
//! assert_eq!(tools.call(call).await.output, "Sent to 42 in telegram.");
//! let message = inbox.recv().await.unwrap();
//! assert_eq!((&*message.channel, message.recipient.as_deref()), ("telegram", Some("42")));
//! # Ok(())
//! # }
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;
use tool_runtime::display::excerpt;
use tool_runtime::{Context, Effect, HandlerError, tool, tool_class};

/// Service for the tool `message`, which sends messages through a [`Messenger`].
///
/// A message can only go to the chat that its call comes from, so it needs no approval. The application can allow
/// [further channels](Self::to_channel) or [any recipient](Self::to_anywhere).
#[derive(Clone)]
pub struct Messages {
    messenger: Arc<dyn AnyMessenger>,
    allowed: AllowedRecipients,
}

/// Destinations allowed besides the chat of the call.
#[derive(Clone, Debug)]
enum AllowedRecipients {
    Channels(BTreeSet<String>),
    Anywhere,
}

/// Object-safe form of [`Messenger`]; a tool class cannot be generic.
trait AnyMessenger: Send + Sync {
    fn deliver(&self, message: OutgoingMessage) -> Pin<Box<dyn Future<Output = Result<(), MessageError>> + Send + '_>>;
}

impl<M: Messenger> AnyMessenger for M {
    fn deliver(&self, message: OutgoingMessage) -> Pin<Box<dyn Future<Output = Result<(), MessageError>> + Send + '_>> {
        Box::pin(Messenger::deliver(self, message))
    }
}

impl Messages {
    /// Creates a service whose messages can only go to the chat of the call.
    pub fn new(messenger: impl Messenger) -> Self {
        Self { messenger: Arc::new(messenger), allowed: AllowedRecipients::Channels(BTreeSet::new()) }
    }

    /// Also allows every recipient in this channel.
    #[must_use]
    pub fn to_channel(mut self, channel: impl Into<String>) -> Self {
        if let AllowedRecipients::Channels(channels) = &mut self.allowed {
            channels.insert(channel.into());
        }
        self
    }

    /// Also allows every recipient in every channel.
    #[must_use]
    pub fn to_anywhere(mut self) -> Self {
        self.allowed = AllowedRecipients::Anywhere;
        self
    }

    /// Builds the message of a call. A missing channel and recipient default to those of the call.
    fn address_message(
        &self,
        content: &str,
        channel: Option<&str>,
        recipient: Option<&str>,
        context: &Context,
    ) -> Result<OutgoingMessage, HandlerError> {
        let Some(to) = channel.or(context.channel()) else {
            return Err(HandlerError::retry("This call has no channel of its own; pass `channel`."));
        };
        let is_own_channel = context.channel() == Some(to);
        let recipient = recipient.or(context.chat().filter(|_| is_own_channel));
        let is_own_chat = is_own_channel && recipient == context.chat();
        match &self.allowed {
            AllowedRecipients::Channels(channels) if !is_own_chat && !channels.contains(to) => {
                Err(out_of_reach(to, channels))
            }
            _ => Ok(OutgoingMessage {
                content: content.to_owned(),
                channel: to.to_owned(),
                recipient: recipient.map(str::to_owned),
                conversation: context.conversation().map(str::to_owned),
            }),
        }
    }
}

fn out_of_reach(channel: &str, channels: &BTreeSet<String>) -> HandlerError {
    let others = channels.iter().map(|channel| format!(", or to anyone in `{channel}`")).collect::<String>();
    let channel = excerpt(channel);
    HandlerError::retry(format!(
        "A message to that recipient in `{channel}` is not allowed. Leave out `channel` and `recipient` to send it to \
                 the person you are talking to{others}."
    ))
}

#[tool_class(manual, category = "message")]
impl Messages {
    /// Send a message to a person. Without `channel` and `recipient` it goes to the person you are talking to.
    #[tool(name = "message", preview = "show_message")]
    pub async fn send(
        &self,
        /// The text of the message.
        #[arg(min_length = 1)]
        content: &str,
        /// Where to send it, such as `telegram`. Defaults to the channel of this conversation.
        channel: Option<&str>,
        /// The recipient in that channel. Defaults to the chat of this conversation.
        #[arg(alias = "to")]
        recipient: Option<&str>,
        #[inject] context: &Context,
    ) -> Result<String, HandlerError> {
        let message = self.address_message(content, channel, recipient, context)?;
        let sent = format!("Sent to {}.", address(&message));
        self.messenger.deliver(message).await?;
        Ok(sent)
    }

    fn show_message(
        &self,
        content: &str,
        channel: Option<&str>,
        recipient: Option<&str>,
        #[inject] context: &Context,
    ) -> Result<Effect, HandlerError> {
        let message = self.address_message(content, channel, recipient, context)?;
        Ok(Effect::Text(format!("To {}: {}", address(&message), message.content)))
    }
}

fn address(message: &OutgoingMessage) -> String {
    match &message.recipient {
        Some(recipient) => format!("{recipient} in {}", message.channel),
        None => message.channel.clone(),
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

/// A message to deliver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutgoingMessage {
    /// The text.
    pub content: String,
    /// The channel, such as `telegram`.
    pub channel: String,
    /// The recipient within the channel. If `None`, the message goes to the channel as a whole.
    pub recipient: Option<String>,
    /// The conversation that the message comes from.
    pub conversation: Option<String>,
}

/// Delivers messages. Implement it for a chat service; [`Outbox`] delivers to receivers in the same
/// process.
pub trait Messenger: Send + Sync + 'static {
    /// Delivers a message. If the future is dropped, delivery may be abandoned.
    fn deliver(&self, message: OutgoingMessage) -> impl Future<Output = Result<(), MessageError>> + Send;
}

impl<M: Messenger> Messenger for Arc<M> {
    fn deliver(&self, message: OutgoingMessage) -> impl Future<Output = Result<(), MessageError>> + Send {
        (**self).deliver(message)
    }
}

/// The reason why a message was not delivered. The model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageError {
    message: Cow<'static, str>,
}

impl MessageError {
    /// Creates an error with this message.
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

/// Broadcasts messages to receivers in this process, such as every open page of a web console. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Outbox {
    sender: broadcast::Sender<OutgoingMessage>,
}

impl Outbox {
    /// Creates an outbox that buffers up to `capacity` messages, and its first receiver. A receiver that falls further
    /// behind misses the oldest messages.
    ///
    /// # Panics
    /// Panics if `capacity` is zero.
    #[must_use]
    pub fn new(capacity: usize) -> (Self, OutboxReceiver) {
        let (sender, receiver) = broadcast::channel(capacity);
        (Self { sender }, OutboxReceiver { receiver })
    }

    /// Creates another receiver, which gets messages sent from now on.
    #[must_use]
    pub fn subscribe(&self) -> OutboxReceiver {
        OutboxReceiver { receiver: self.sender.subscribe() }
    }
}

impl Messenger for Outbox {
    async fn deliver(&self, message: OutgoingMessage) -> Result<(), MessageError> {
        match self.sender.send(message) {
            Ok(_) => Ok(()),
            Err(_) => Err(MessageError::new("the message has no receiver")),
        }
    }
}

/// Receives the messages of an [`Outbox`].
#[derive(Debug)]
pub struct OutboxReceiver {
    receiver: broadcast::Receiver<OutgoingMessage>,
}

impl OutboxReceiver {
    /// Receives the next message, or `None` once every outbox is gone.
    ///
    /// If messages were missed, logs how many and continues with the oldest one left.
    pub async fn recv(&mut self) -> Option<OutgoingMessage> {
        loop {
            match self.receiver.recv().await {
                Ok(message) => return Some(message),
                Err(broadcast::error::RecvError::Closed) => return None,
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "a slow receiver missed messages");
                }
            }
        }
    }
}
