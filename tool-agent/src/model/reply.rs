//! Complete replies for models that do not stream.

use futures_util::stream::{self, TryStreamExt};
use serde_json::Value;

use super::{ModelError, ResponseEnd, ResponsePart, ResponseStream, StopReason, Usage};
use crate::ModelCall;

/// A complete response, for models that do not stream and for scripts.
///
/// ```
/// use serde_json::json;
/// use tool_agent::{Reply, Usage};
///
/// let calls = Reply::call("metrics.newest", json!({"host": "web-1"})).and_call("metrics.newest", json!({"host": "web-2"}));
/// let answer = Reply::text("Both are well.").usage(Usage::new(120, 8));
/// # let _ = (calls, answer);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Reply {
    parts: Vec<ResponsePart>,
    end: ResponseEnd,
    /// The error that replaces the end.
    error: Option<ModelError>,
}

impl Reply {
    /// Creates a reply with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// Creates a reply with a call.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// Appends a text.
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.and(ResponsePart::Text(text.into()))
    }

    /// Appends a call.
    pub fn and_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.and(ResponsePart::Call(ModelCall::new("", name, arguments.to_string())))
    }

    /// Appends a part. An end replaces the current one.
    pub fn and(mut self, part: ResponsePart) -> Self {
        match part {
            ResponsePart::End(end) => self.end = end,
            part => self.parts.push(part),
        }
        self
    }

    /// Creates a reply that fails.
    pub fn error(error: ModelError) -> Self {
        Self::default().and_error(error)
    }

    /// Makes the reply fail after the parts so far.
    pub fn and_error(mut self, error: ModelError) -> Self {
        self.error = Some(error);
        self
    }

    /// Sets the tokens used.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.end.usage = usage;
        self
    }

    /// Sets the reason why the response ended.
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.end.stop = stop;
        self
    }

    /// Returns the requested calls.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ModelCall> {
        self.parts.iter().filter_map(|part| match part {
            ResponsePart::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Converts into parts, of which the last is the end or the error.
    pub fn into_parts(self) -> impl Iterator<Item = Result<ResponsePart, ModelError>> + Send {
        let last = self.error.map_or(Ok(ResponsePart::End(self.end)), Err);
        self.parts.into_iter().map(Ok).chain([last])
    }

    /// Converts into a stream that is ready at once.
    #[must_use]
    pub fn into_stream<'a>(self) -> ResponseStream<'a> {
        Box::pin(stream::iter(self.into_parts()))
    }

    /// Converts a future reply into a stream.
    #[must_use]
    pub fn stream_future<'a>(reply: impl Future<Output = Result<Self, ModelError>> + Send + 'a) -> ResponseStream<'a> {
        Box::pin(stream::once(reply).map_ok(|reply| stream::iter(reply.into_parts())).try_flatten())
    }
}
