//! What a language model is to the loop.

mod error;
mod part;
mod reply;
mod request;

use std::pin::Pin;
use std::sync::Arc;

pub use error::{ModelError, ModelErrorKind};
pub use part::{End, Part, Stop, Usage};
pub use reply::Reply;
pub use request::{Effort, Options, Request};
use tool_runtime::output::Stream;

/// An answer as it comes; see [`Model::answer`]. Dropped, the request is withdrawn.
pub type Answering<'a> = Pin<Box<dyn Stream<Item = Result<Part, ModelError>> + Send + 'a>>;

/// A language model, or something that stands in for one.
///
/// One that answers at once, or all in one piece, makes a [`Reply`]:
///
/// ```
/// use tool_agent::{Answering, Message, Model, ModelError, Reply, Request};
///
/// struct Parrot;
///
/// impl Model for Parrot {
///     fn answer<'a>(&'a self, request: Request<'a>) -> Answering<'a> {
///         Reply::later(async move {
///             match request.messages.last() {
///                 Some(Message::User { text }) => Ok(Reply::text(text)),
///                 _ => Err(ModelError::rejected("a parrot repeats what a person says")),
///             }
///         })
///     }
/// }
/// ```
pub trait Model: Send + Sync + 'static {
    /// Which model it is, such as `anthropic/claude`. What a provider gave along for the next request is sent back only
    /// to a model of the same name.
    fn name(&self) -> &str {
        ""
    }

    /// Answers a conversation, piece by piece. An answer ends with [`Part::End`], and one that ends without it, or with
    /// an error, was cut off.
    ///
    /// Nothing happens before the stream is polled.
    fn answer<'a>(&'a self, request: Request<'a>) -> Answering<'a>;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer<'a>(&'a self, request: Request<'a>) -> Answering<'a> {
        (**self).answer(request)
    }
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer<'a>(&'a self, request: Request<'a>) -> Answering<'a> {
        (**self).answer(request)
    }
}
