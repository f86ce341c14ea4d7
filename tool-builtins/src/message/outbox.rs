//! A messenger inside one program.

use tokio::sync::broadcast;

use super::{Message, MessageError, Messenger};

/// Hands messages to whoever listens in this program, such as every open page of a web console. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Outbox {
    sender: broadcast::Sender<Message>,
}

impl Outbox {
    /// An outbox, and one who listens. A listener that is behind by more messages than this misses the oldest.
    ///
    /// # Panics
    /// When no message at all may wait.
    #[must_use]
    pub fn new(waiting: usize) -> (Self, Inbox) {
        let (sender, receiver) = broadcast::channel(waiting);
        (Self { sender }, Inbox { receiver })
    }

    /// One more who listens, from now on.
    #[must_use]
    pub fn subscribe(&self) -> Inbox {
        Inbox { receiver: self.sender.subscribe() }
    }
}

impl Messenger for Outbox {
    async fn deliver(&self, message: Message) -> Result<(), MessageError> {
        match self.sender.send(message) {
            Ok(_) => Ok(()),
            Err(_) => Err(MessageError::new("nobody is there to read it")),
        }
    }
}

/// Where messages arrive.
#[derive(Debug)]
pub struct Inbox {
    receiver: broadcast::Receiver<Message>,
}

impl Inbox {
    /// The next message; nothing when there is nobody left who could send one.
    ///
    /// Messages that were missed are logged, and the oldest that is left comes next.
    pub async fn recv(&mut self) -> Option<Message> {
        loop {
            match self.receiver.recv().await {
                Ok(message) => return Some(message),
                Err(broadcast::error::RecvError::Closed) => return None,
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "messages were missed by a listener that is too slow");
                }
            }
        }
    }
}
