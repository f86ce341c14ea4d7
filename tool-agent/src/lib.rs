#![doc = include_str!("../README.md")]
#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

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
