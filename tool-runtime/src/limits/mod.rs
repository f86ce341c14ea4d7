//! Limits on the rate, number, concurrency and retries of calls.
//!
//! - A [`Limiter`] bounds how often tools are called, in total, per conversation or both
//!   ([`Builder::limit`](crate::Builder::limit)). A call over a [`Limit`] fails with
//!   [`ErrorKind::RateLimited`](crate::ErrorKind::RateLimited) and the time to wait.
//! - [`Builder::concurrency`](crate::Builder::concurrency) bounds how many calls run and wait at once. Further calls fail
//!   with [`ErrorKind::Busy`](crate::ErrorKind::Busy).
//! - [`Retries`] bound how often a model may retry a tool that returns
//!   [`HandlerError::retry`](crate::HandlerError::retry) ([`Builder::retries`](crate::Builder::retries)).
//!
//! ```
//! use tool_runtime::limits::{Limit, Limiter};
//! use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, ToolCall};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let send = RuntimeTool::new("mail.send", "Send a mail.", |()| async { "sent" });
//! let limiter = Limiter::new().tool("mail.send", Limit::per_minute(1));
//! let tools = Dispatcher::builder().tool(send).limit(limiter).concurrency(8, 100).build()?;
//!
//! assert!(tools.call(ToolCall::from_text("mail.send", "{}")).await.success);
//! let rejected = tools.call(ToolCall::from_text("mail.send", "{}")).await;
//! assert_eq!(rejected.error.unwrap().kind, ErrorKind::RateLimited);
//! # Ok(())
//! # }
//! ```

mod limit;
mod limiter;
mod recent_conversations;
mod usage;

pub use limit::{Limit, LimitExceeded, LimitScope};
pub use limiter::Limiter;
pub(crate) use recent_conversations::RecentConversations;

pub use crate::concurrency::Concurrency;
pub use crate::dispatch::Retries;
