//! The loop in which a language model calls tools until it can answer.

mod message;
mod model;

pub use message::{Assistant, CallResult, Message, ModelCall};
pub use model::{Answering, End, Model, ModelError, ModelErrorKind, Options, Part, Reply, Request, Stop, Usage};
