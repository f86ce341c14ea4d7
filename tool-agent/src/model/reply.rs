//! An answer in one piece.

use futures_util::stream::{self, TryStreamExt};
use serde_json::Value;

use super::{Answering, End, ModelError, Part, Stop, Usage};
use crate::ModelCall;

/// A whole answer, for models that do not stream and for scripts.
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
    parts: Vec<Part>,
    end: End,
    /// What it breaks off with instead of its end.
    error: Option<ModelError>,
}

impl Reply {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// A call of a tool.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// A text as the next piece.
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.and(Part::Text(text.into()))
    }

    /// Another call of a tool.
    pub fn and_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.and(Part::Call(ModelCall::new("", name, arguments.to_string())))
    }

    /// Any piece. An end takes the place of the one so far.
    pub fn and(mut self, part: Part) -> Self {
        match part {
            Part::End(end) => self.end = end,
            part => self.parts.push(part),
        }
        self
    }

    /// No answer but a failure.
    pub fn fails(error: ModelError) -> Self {
        Self::default().and_fails(error)
    }

    /// A failure in the place of the end.
    pub fn and_fails(mut self, error: ModelError) -> Self {
        self.error = Some(error);
        self
    }

    /// What it took.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.end.usage = usage;
        self
    }

    /// Why it has ended.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.end.stop = stop;
        self
    }

    /// The pieces, with the end, or the failure, as the last one.
    pub fn into_parts(self) -> impl Iterator<Item = Result<Part, ModelError>> + Send {
        let last = self.error.map_or(Ok(Part::End(self.end)), Err);
        self.parts.into_iter().map(Ok).chain([last])
    }

    /// An answer that is there already.
    #[must_use]
    pub fn now<'a>(self) -> Answering<'a> {
        Box::pin(stream::iter(self.into_parts()))
    }

    /// An answer that comes when a future is done.
    #[must_use]
    pub fn later<'a>(reply: impl Future<Output = Result<Self, ModelError>> + Send + 'a) -> Answering<'a> {
        Box::pin(stream::once(reply).map_ok(|reply| stream::iter(reply.into_parts())).try_flatten())
    }
}
