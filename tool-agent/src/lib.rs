//! The loop in which a language model calls tools until it can answer.
//!
//! An [`Agent`] is a [`Model`] with the tools of a [`Dispatcher`](tool_runtime::Dispatcher). Somebody says something in a
//! [`Conversation`]; the model answers, or calls tools, which run side by side, reads what came of them, and goes on
//! until it answers in text or comes to one of the [`Limits`].
//!
//! ```standalone_crate
//! use serde_json::json;
//! use tool_agent::{Agent, Limits, Mode, Reply, Scripted};
//! use tool_runtime::{Dispatcher, tool};
//!
//! /// How many parts of a kind are in stock.
//! #[tool(name = "stock.count", read_only)]
//! fn count(part: &str) -> u32 {
//!     if part == "bolt" { 120 } else { 0 }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Dispatcher::builder().build()?;
//! let model = Scripted::new([
//!     Reply::call("stock.count", json!({"part": "bolt"})).and_call("stock.count", json!({"part": "nut"})),
//!     Reply::text("There are 120 bolts and no nuts."),
//! ]);
//! let agent = Agent::builder(model, tools)
//!     .system("You keep the stock.")
//!     .mode(Mode::PlanReading)
//!     .limits(Limits::default().turns(8))
//!     .build();
//!
//! let outcome = agent.conversation("chat-7").say("Can we build it?").await;
//! assert_eq!(outcome.answer(), Some("There are 120 bolts and no nuts."));
//! # Ok(())
//! # }
//! ```
//!
//! # What is promised
//! - **A history is always one that a provider takes.** Each call has exactly one result, right behind its answer:
//!   also when a run is dropped at any point, comes to a limit, or its process is killed. An answer that was cut off
//!   leaves what was said, and none of its calls runs.
//! - **Nothing that goes wrong with a call ends the run.** An unknown tool, arguments that are no JSON, a handler that
//!   panics: the model reads it and goes on.
//! - **Nothing runs on.** When a run ends, the handlers that it started are stopped, and what was injected into them is
//!   finished.
//! - **What is kept is kept before it matters**: what the model asks for before it runs, what came of it before the model
//!   reads it; see [`SqliteStore`].
//! - **Nobody who watches holds a run up**, and one who is slow misses nothing; see [`Subscriber`].
//!
//! # Consent
//! A call that needs consent is asked about while the run waits ([`AgentBuilder::confirm`], [`Run::confirm`]), or its
//! run ends and waits for somebody who answers later, after a restart too ([`AgentBuilder::deferred`],
//! [`Conversation::decide`]).
//!
//! # After a crash
//! A process may end in the middle of its calls. Whoever goes on with the conversation asks the dispatcher's
//! [journal](tool_runtime::Builder::journal) what became of them, where it is one that outlives a process, such as that of
//! `tool-journal`: a call that has ended has the result that is on record, one that had begun may have taken effect, and
//! one that had not begun did not run. Without such a journal nobody knows, and that is what the model is told.
//!
//! # Features
//! All are on by default, and each can be had without the others: `providers` for [`Provider`], `sqlite` for
//! [`SqliteStore`], `spawn` for [`SubAgents`]. Without them there is the loop, with a model and a store of your own.

mod agent;
mod conversation;
mod event;
mod history;
mod identity;
mod limits;
mod message;
mod mode;
mod model;
mod offline;
mod outcome;
#[cfg(feature = "providers")]
mod providers;
mod retry;
mod run;
mod scripted;
mod sent;
#[cfg(feature = "spawn")]
mod spawn;
mod store;

pub use agent::{Agent, AgentBuilder};
pub use conversation::Conversation;
pub use event::{Event, Subscriber, Update};
pub use limits::{Limits, Reached};
pub use message::{Assistant, CallResult, Message, ModelCall};
pub use mode::Mode;
pub use model::{
    Answering, Effort, End, Model, ModelError, ModelErrorKind, Options, Part, Reply, Request, Stop, Usage,
};
pub use offline::Offline;
pub use outcome::{Ending, Outcome};
#[cfg(feature = "providers")]
pub use providers::{Provider, ProviderBuilder, SetupError};
pub use retry::{Retry, Retrying};
pub use run::Run;
pub use scripted::Scripted;
#[cfg(feature = "spawn")]
pub use spawn::SubAgents;
pub use store::{Change, Saved, Store, StoreError, Stored};
#[cfg(feature = "sqlite")]
pub use store::{SqliteStore, Summary};
