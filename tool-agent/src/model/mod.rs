//! The interface between the agent loop and a language model.

mod error;
mod part;
mod reply;
mod request;

use std::pin::Pin;
use std::sync::Arc;

pub use error::{ModelError, ModelErrorKind};
pub use part::{ResponseEnd, ResponsePart, StopReason, Usage};
pub use reply::Reply;
pub use request::{ModelOptions, ModelRequest, ReasoningEffort};
use tool_runtime::output::Stream;

/// A streamed response; see [`Model::respond`]. Dropping it cancels the request.
pub type ResponseStream<'a> = Pin<Box<dyn Stream<Item = Result<ResponsePart, ModelError>> + Send + 'a>>;

/// A language model, or a substitute for one.
///
/// A model that does not stream returns a [`Reply`]:
///
/// ```
/// use tool_agent::{Message, Model, ModelError, ModelRequest, Reply, ResponseStream};
///
/// struct Parrot;
///
/// impl Model for Parrot {
///     fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
///         Reply::stream_future(async move {
///             match request.messages.last() {
///                 Some(Message::User { text }) => Ok(Reply::text(text)),
///                 _ => Err(ModelError::rejected("a parrot repeats what the user says")),
///             }
///         })
///     }
/// }
/// ```
pub trait Model: Send + Sync + 'static {
    /// Returns the name of the model, such as `anthropic/claude`. Opaque data of a response is sent back only to a
    /// model with the same name.
    fn name(&self) -> &str {
        ""
    }

    /// Streams a response to a conversation. A complete response ends with [`ResponsePart::End`]; a stream that ends
    /// without it, or with an error, was cut off.
    ///
    /// The request is sent when the stream is first polled.
    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a>;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        (**self).respond(request)
    }
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        (**self).respond(request)
    }
}
