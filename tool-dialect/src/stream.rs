//! Streamed responses.

use std::fmt;

use serde_json::Value;

use crate::wire::streaming::ProviderStream;
use crate::{MalformedCall, RequestedCall, ResponseError, ToolOffer};

/// Assembles a streamed response. Returns text as it arrives, and at the end the same calls and turn as
/// [`ToolOffer::calls`] and [`ToolOffer::turn`] return for a whole response. [`ToolOffer::stream`] creates one per
/// response.
///
/// ```
/// use tool_dialect::Dialect;
/// use tool_model::ToolDefinition;
///
/// let offer = Dialect::OpenAiChat.offer([("clock.now", &ToolDefinition::default())])?;
/// let mut stream = offer.stream();
/// // The `data:` of each event.
/// for event in [
///     r#"{"choices": [{"delta": {"role": "assistant", "content": "One "}}]}"#,
///     r#"{"choices": [{"delta": {"content": "moment."}}]}"#,
///     r#"{"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "clock__now", "arguments": "{"}}]}}]}"#,
///     r#"{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}}]}"#,
///     r#"{"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}"#,
///     "[DONE]",
/// ] {
///     if let Some(text) = stream.push(event)? {
///         print!("{text}");
///     }
/// }
/// let received = stream.finish();
/// assert_eq!(received.text, "One moment.");
/// assert_eq!(received.calls[0].as_ref().unwrap().name, "clock.now");
/// assert!(received.is_complete);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StreamAssembler {
    offer: ToolOffer,
    stream: Box<dyn ProviderStream>,
    text: String,
}

/// The content of a streamed response.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StreamedResponse {
    /// The complete text for the user.
    pub text: String,
    /// The calls, as in [`ToolOffer::calls`]. A call whose arguments were cut off is malformed: it never runs with
    /// partial arguments.
    pub calls: Vec<Result<RequestedCall, MalformedCall>>,
    /// The model's turn, as in [`ToolOffer::turn`]. It includes calls that were cut off, without arguments, because
    /// providers require every result to have its call.
    pub turn: Vec<Value>,
    /// `true` if the provider marked the response as finished.
    pub is_complete: bool,
}

impl ToolOffer {
    /// Starts reading a streamed response.
    #[must_use]
    pub fn stream(&self) -> StreamAssembler {
        StreamAssembler {
            offer: self.clone(),
            stream: crate::wire::streaming::new_stream(self.form().dialect),
            text: String::new(),
        }
    }
}

impl StreamAssembler {
    /// Adds the next event and returns the text for the user in it. An event is the content of `data:`; for Bedrock, an
    /// object with the event's name as its key. Unknown events are ignored.
    ///
    /// # Errors
    /// If the event is not JSON or reports a failure of the provider. Earlier events are kept.
    pub fn push(&mut self, event: &str) -> Result<Option<String>, ResponseError> {
        // `[DONE]` ends OpenAI's streams; empty events are keep-alives.
        if matches!(event.trim(), "" | "[DONE]") {
            return Ok(None);
        }
        let text = crate::wire::streaming::push(&mut *self.stream, self.offer.form().dialect, event)?;
        self.text.push_str(&text);
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// Like [`push`](Self::push), for a parsed event.
    ///
    /// # Errors
    /// If the event reports a failure of the provider.
    pub fn push_value(&mut self, event: &Value) -> Result<Option<String>, ResponseError> {
        self.push(&event.to_string())
    }

    /// Returns the response received so far, even if the stream was cut off.
    #[must_use]
    pub fn finish(self) -> StreamedResponse {
        let response = self.stream.response();
        let calls = response.calls.into_iter().map(|call| self.offer.decode_call(call)).collect();
        StreamedResponse { text: self.text, calls, turn: response.turn, is_complete: response.is_complete }
    }
}

impl fmt::Debug for StreamAssembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamAssembler")
            .field("form", &self.offer.form())
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}
