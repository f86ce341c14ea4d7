//! The loop in which a language model calls tools until it can answer.

mod agent;
mod conversation;
mod event;
mod history;
mod identity;
mod limits;
mod message;
mod mode;
mod model;
mod outcome;
mod providers;
mod retry;
mod run;
mod scripted;
mod spawn;
mod store;

pub use agent::{Agent, AgentBuilder};
pub use conversation::Conversation;
pub use event::{Event, Subscriber, Update};
pub use limits::{Limits, Reached};
pub use message::{Assistant, CallResult, Message, ModelCall};
pub use mode::Mode;
pub use model::{Answering, End, Model, ModelError, ModelErrorKind, Options, Part, Reply, Request, Stop, Usage};
pub use outcome::{Ending, Outcome};
pub use providers::{Provider, SetupError};
pub use retry::{Retry, Retrying};
pub use run::Run;
pub use scripted::Scripted;
pub use spawn::SubAgents;
pub use store::{Change, Saved, SqliteStore, Store, StoreError, Stored, Summary};
