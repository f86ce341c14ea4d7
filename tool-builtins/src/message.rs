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
//! // The call comes from chat 42 of Telegram, and so the message goes there.
//! let call = ToolCall::new("message", json!({"content": "The build is green."})).channel("telegram", "42");
//! assert_eq!(tools.call(call).await.output, "Sent to 42 in telegram.");
//! let message = inbox.recv().await.unwrap();
//! assert_eq!((&*message.channel, message.recipient.as_deref()), ("telegram", Some("42")));
//! # Ok(())
//! # }
//! ```

mod messenger;
mod outbox;
mod service;

pub use messenger::{Message, MessageError, Messenger};
pub use outbox::{Inbox, Outbox};
pub use service::Messages;
