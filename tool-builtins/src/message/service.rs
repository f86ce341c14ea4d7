//! The service.

use std::pin::Pin;
use std::sync::Arc;

use tool_runtime::{Context, Effect, HandlerError, tool, tool_class};

use super::{Message, MessageError, Messenger};

/// Sends messages through a [`Messenger`]: the tool `message`.
#[derive(Clone)]
pub struct Messages {
    messenger: Arc<dyn AnyMessenger>,
    needs_consent: bool,
}

/// A [`Messenger`] of any type.
trait AnyMessenger: Send + Sync {
    fn deliver(&self, message: Message) -> Pin<Box<dyn Future<Output = Result<(), MessageError>> + Send + '_>>;
    fn channels(&self) -> Option<Vec<String>>;
}
