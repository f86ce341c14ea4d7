//! A response that comes event by event.

use std::fmt;

use serde_json::Value;

use crate::wire::pieces::Pieces;
use crate::{Malformed, Offer, Requested, ResponseError};

/// Puts a streamed response together: text as it comes, and at the end what [`Offer::calls`] and [`Offer::turn`] give
/// for a whole one. [`Offer::stream`] makes one for each response.
///
/// ```
/// use tool_dialect::Dialect;
/// use tool_model::ToolDefinition;
///
/// let offer = Dialect::OpenAiChat.offer([("clock.now", &ToolDefinition::default())])?;
/// let mut stream = offer.stream();
/// // What stands behind `data:` in each event.
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
pub struct Stream {
    offer: Offer,
    pieces: Box<dyn Pieces>,
    text: String,
}

/// What a stream has brought.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Received {
    /// The text for the user, all of it.
    pub text: String,
    /// The calls, as in [`Offer::calls`]. One whose arguments were cut off is malformed; it is never run with a part
    /// of them.
    pub calls: Vec<Result<Requested, Malformed>>,
    /// The model's turn, as in [`Offer::turn`]. A call that was cut off is in it, without arguments: it has an answer,
    /// and providers want both.
    pub turn: Vec<Value>,
    /// Whether the provider has said that the response is at its end.
    pub is_complete: bool,
}

impl Offer {
    /// Begins to read a response that comes event by event.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream { offer: self.clone(), pieces: crate::wire::pieces::of(self.form().dialect), text: String::new() }
    }
}

impl Stream {
    /// Takes the next event: what stands behind `data:`, or for Bedrock the event as an object with its name as key.
    /// Gives the text for the user that is in it. Events of other kinds are passed over.
    ///
    /// # Errors
    /// When the event is not JSON, or says that the provider has failed. What came before is kept.
    pub fn push(&mut self, event: &str) -> Result<Option<String>, ResponseError> {
        // OpenAI's last word, and what keeps a connection open.
        if matches!(event.trim(), "" | "[DONE]") {
            return Ok(None);
        }
        let text = crate::wire::pieces::push(&mut *self.pieces, self.offer.form().dialect, event)?;
        self.text.push_str(&text);
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// As [`push`](Self::push), for an event that is a JSON value already.
    ///
    /// # Errors
    /// When the event says that the provider has failed.
    pub fn push_value(&mut self, event: &Value) -> Result<Option<String>, ResponseError> {
        self.push(&event.to_string())
    }

    /// What has come, also where the stream was cut off.
    #[must_use]
    pub fn finish(self) -> Received {
        let whole = self.pieces.whole();
        let calls = whole.calls.into_iter().map(|call| self.offer.understood(call)).collect();
        Received { text: self.text, calls, turn: whole.turn, is_complete: whole.is_complete }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("form", &self.offer.form()).field("text", &self.text).finish_non_exhaustive()
    }
}
