//! The loop in which a language model calls tools until it can answer.

mod message;
mod model;
mod providers;
mod retry;

pub use message::{Assistant, CallResult, Message, ModelCall};
pub use model::{Answering, End, Model, ModelError, ModelErrorKind, Options, Part, Reply, Request, Stop, Usage};
pub use providers::{Provider, SetupError};
pub use retry::{Retry, Retrying};
