//! Dependency injection: values that handlers receive from the application instead of the model.
//!
//! A parameter marked `#[inject]` is filled by name, then by type, with a value that the application registered:
//!
//! - [`Builder::service`](crate::Builder::service) and [`Builder::value`](crate::Builder::value) share one value between
//!   all calls.
//! - [`Builder::provide`](crate::Builder::provide) creates a value for each call that needs it. A finish hook
//!   ([`Builder::finish`](crate::Builder::finish)) receives it back with the [`CallOutcome`](crate::CallOutcome): one
//!   transaction per call. [`Builder::lend`](crate::Builder::lend) lets a handler borrow a part of it, such as its connection.
//! - [`Call::with`](crate::Call::with) passes a value with one call.
//!
//! Every handler can also ask for [`Context`](crate::Context), [`Progress`](crate::Progress),
//! [`CancellationToken`](crate::CancellationToken), [`Deadline`], [`Notes`] and [`CallPermit`] by type.
//!
//! ```standalone_crate
//! use std::sync::{Arc, Mutex};
//!
//! use tool_runtime::inject::InjectError;
//! use tool_runtime::{CallOutcome, Dispatcher, ToolCall, tool};
//!
//! #[derive(Clone)]
//! struct Transaction(u32);
//!
//! /// Count the orders.
//! #[tool]
//! fn count(#[inject] session: &Transaction) -> u32 {
//!     session.0
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let outcomes = Arc::new(Mutex::new(Vec::new()));
//! let finished = outcomes.clone();
//! let tools = Dispatcher::builder()
//!     .provide("session", |_| async { Ok::<_, InjectError>(Transaction(3)) })
//!     .finish("session", move |_: Transaction, outcome: CallOutcome| {
//!         finished.lock().unwrap().push(outcome);
//!         async {}
//!     })
//!     .build()?;
//!
//! assert_eq!(tools.call(ToolCall::from_text("count", "{}")).await.output, "3");
//! assert_eq!(*outcomes.lock().unwrap(), [CallOutcome::Success]);
//! # Ok(())
//! # }
//! ```

mod blocking;
mod call_facts;
pub(crate) mod handler_inputs;
mod injected_value;
pub(crate) mod injection;
mod lent_part;
mod provider;
pub(crate) mod scope;

pub(crate) use blocking::{BlockingHandler, BlockingResult, StopOutcome, blocking_result};
pub(crate) use call_facts::{CallFact, CallFacts};
pub(crate) use handler_inputs::{HandlerInputs, InstanceInput};
pub(crate) use injected_value::{ExclusiveGuard, HeldValue, InjectedValue, SharedGuard, ValueSlot};
pub(crate) use injection::{Injection, InjectionMode};
pub(crate) use lent_part::LentPart;
pub use provider::IntoFinishResult;
pub(crate) use provider::{FinishHook, FinishResult, ValueProvider};
pub use scope::InjectError;
pub(crate) use scope::{Scope, ScopeInner};

pub use crate::concurrency::CallPermit;
pub use crate::context::Deadline;
pub use crate::notes::Notes;
