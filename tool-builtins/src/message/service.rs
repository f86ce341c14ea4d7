//! The service.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use tool_runtime::{Context, Effect, HandlerError, tool, tool_class};

use super::{Message, MessageError, Messenger};

/// Sends messages through a [`Messenger`]: the tool `message`.
///
/// A message goes to the chat that its call comes from, and nowhere else, unless the application says so: to
/// [a channel](Self::to_channel), or [anywhere](Self::to_anywhere). So nobody needs to be asked about one.
#[derive(Clone)]
pub struct Messages {
    messenger: Arc<dyn AnyMessenger>,
    reach: Reach,
}

/// Where messages may go, besides where their call comes from.
#[derive(Clone, Debug)]
enum Reach {
    Channels(BTreeSet<String>),
    Anywhere,
}

/// A [`Messenger`] of any type: a class of tools cannot be generic.
trait AnyMessenger: Send + Sync {
    fn deliver(&self, message: Message) -> Pin<Box<dyn Future<Output = Result<(), MessageError>> + Send + '_>>;
}

impl<M: Messenger> AnyMessenger for M {
    fn deliver(&self, message: Message) -> Pin<Box<dyn Future<Output = Result<(), MessageError>> + Send + '_>> {
        Box::pin(Messenger::deliver(self, message))
    }
}

impl Messages {
    /// Messages to whoever a call comes from.
    pub fn new(messenger: impl Messenger) -> Self {
        Self { messenger: Arc::new(messenger), reach: Reach::Channels(BTreeSet::new()) }
    }

    /// Also to anybody in this channel.
    #[must_use]
    pub fn to_channel(mut self, channel: impl Into<String>) -> Self {
        if let Reach::Channels(channels) = &mut self.reach {
            channels.insert(channel.into());
        }
        self
    }

    /// Also to anybody in any channel.
    #[must_use]
    pub fn to_anywhere(mut self) -> Self {
        self.reach = Reach::Anywhere;
        self
    }

    /// The message that a call asks for, with what it leaves out taken from where it comes from.
    fn addressed(
        &self,
        content: &str,
        channel: Option<&str>,
        recipient: Option<&str>,
        context: &Context,
    ) -> Result<Message, HandlerError> {
        let Some(to) = channel.or(context.channel()) else {
            return Err(HandlerError::retry("This call comes from no channel: say in which `channel` to send it."));
        };
        let is_own_channel = context.channel() == Some(to);
        let recipient = recipient.or(context.chat().filter(|_| is_own_channel));
        let is_own_chat = is_own_channel && recipient == context.chat();
        match &self.reach {
            Reach::Channels(channels) if !is_own_chat && !channels.contains(to) => Err(out_of_reach(to, channels)),
            _ => Ok(Message {
                content: content.to_owned(),
                channel: to.to_owned(),
                recipient: recipient.map(str::to_owned),
                conversation: context.conversation().map(str::to_owned),
            }),
        }
    }
}

fn out_of_reach(channel: &str, channels: &BTreeSet<String>) -> HandlerError {
    let others = channels.iter().map(|channel| format!(", or to anybody in `{channel}`")).collect::<String>();
    HandlerError::retry(format!(
        "A message to that recipient in `{channel}` is not allowed. Leave `channel` and `recipient` out to send it to \
         whoever you are talking to{others}."
    ))
}

#[tool_class(manual, category = "message")]
impl Messages {
    /// Send a message to a person. Without `channel` and `recipient` it goes to whoever you are talking to.
    #[tool(name = "message", preview = "show_message")]
    pub async fn send(
        &self,
        /// What the message says.
        #[arg(min_length = 1)]
        content: &str,
        /// Where to send it, such as `telegram`; where this conversation is held unless given.
        channel: Option<&str>,
        /// Who gets it in that channel; the chat of this conversation unless given.
        recipient: Option<&str>,
        #[inject] context: &Context,
    ) -> Result<String, HandlerError> {
        let message = self.addressed(content, channel, recipient, context)?;
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
        let message = self.addressed(content, channel, recipient, context)?;
        Ok(Effect::Text(format!("To {}: {}", address(&message), message.content)))
    }
}

fn address(message: &Message) -> String {
    match &message.recipient {
        Some(recipient) => format!("{recipient} in {}", message.channel),
        None => message.channel.clone(),
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").field("reach", &self.reach).finish_non_exhaustive()
    }
}
