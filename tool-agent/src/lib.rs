//! An agent loop: a language model calls tools until it can respond to the user.
//!
//! An [`Agent`] combines a [`Model`] with the tools of a [`Dispatcher`](tool_runtime::Dispatcher). The user sends a
//! message to a [`Conversation`]. The model responds with text or calls tools, which run concurrently; it reads the
//! results and continues until it responds with text or reaches one of the [`RunLimits`].
//!
//! ```standalone_crate
//! use serde_json::json;
//! use tool_agent::{Agent, Mode, Reply, RunLimits, ScriptedModel};
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
//! let model = ScriptedModel::new([
//!     Reply::call("stock.count", json!({"part": "bolt"})).and_call("stock.count", json!({"part": "nut"})),
//!     Reply::text("There are 120 bolts and no nuts."),
//! ]);
//! let agent = Agent::builder(model, tools)
//!     .system("You keep the stock.")
//!     .mode(Mode::PlanReading)
//!     .limits(RunLimits::default().turns(8))
//!     .build();
//!
//! let outcome = agent.conversation("chat-7").say("Can we build it?").await;
//! assert_eq!(outcome.failed_calls, []);
//! assert_eq!(outcome.answer(), Some("There are 120 bolts and no nuts."));
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//! - **A history is always valid for a provider.** Each call has exactly one result, directly after the message that
//!   made it. This holds when a run is dropped at any point, reaches a limit, or its process is killed. A response that
//!   was cut off keeps its text, and none of its calls runs.
//! - **A failing call does not end the run.** The model reads the error and continues, whether the tool is unknown, the
//!   arguments are not JSON, or the handler panics. [`RunOutcome::failed_calls`] has these calls.
//! - **Nothing keeps running.** When a run ends, its handlers are cancelled and their injected values are finished.
//! - **State is saved before it matters**: calls before they run, results before the model reads them; see
//!   [`SqliteStore`].
//! - **Subscribers never block a run**, and a slow one misses nothing; see [`AgentSubscriber`].
//!
//! # Approval
//! A call that needs approval is confirmed while the run waits ([`AgentBuilder::confirm`], [`Run::confirm`]). With
//! [`AgentBuilder::deferred`] the run ends instead, and [`Conversation::decide`] resumes it later, also after a
//! restart.
//!
//! # Crash recovery
//! If a process ends in the middle of its calls, the next run of the conversation looks them up in the dispatcher's
//! [journal](tool_runtime::Builder::journal), provided that the journal is persistent, such as that of `tool-journal`.
//! A finished call gets its recorded result, a call that had started gets an unknown outcome, and a call that had not
//! started is reported as not run. Without a persistent journal the model reads that the outcome is unknown.
//!
//! # Features
//! All features are enabled by default and independent: `providers` for [`ProviderModel`], `sqlite` for
//! [`SqliteStore`], `spawn` for [`SubAgents`]. Without them the crate is the loop alone, for a custom model and store.

mod agent;
mod call_ids;
mod conversation;
mod event;
mod history;
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
mod shortlist;
#[cfg(feature = "spawn")]
mod spawn;
mod store;

pub use agent::{Agent, AgentBuilder};
pub use conversation::Conversation;
pub use event::{AgentEvent, AgentSubscriber, AgentUpdate};
pub use limits::{ReachedLimit, RunLimits};
pub use message::{AssistantMessage, CallResult, Message, ModelCall};
pub use mode::Mode;
pub use model::{
    Model, ModelError, ModelErrorKind, ModelOptions, ModelRequest, ReasoningEffort, Reply, ResponseEnd, ResponsePart,
    ResponseStream, StopReason, Usage,
};
pub use offline::OfflineModel;
pub use outcome::{RunEnding, RunOutcome};
#[cfg(feature = "providers")]
pub use providers::{ProviderBuilder, ProviderModel, SetupError};
pub use retry::{RetryPolicy, RetryingModel};
pub use run::Run;
pub use scripted::ScriptedModel;
#[cfg(feature = "spawn")]
pub use spawn::SubAgents;
pub use store::{ConversationChange, ConversationStore, ConversationStoreError, SavedConversation, StoreFuture};
#[cfg(feature = "sqlite")]
pub use store::{ConversationSummary, SqliteStore};
