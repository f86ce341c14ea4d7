//! The parts of each provider's API beyond tools, which `tool-dialect` covers.

mod anthropic;
mod gemini;
mod openai;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;
use tool_runtime::dialect::{Dialect, ToolOffer};

use super::api_key::ApiKey;
use crate::{ModelOptions, StopReason, Usage};

pub(super) use anthropic::Anthropic;
pub(super) use gemini::Gemini;
pub(super) use openai::OpenAi;

/// A provider's API.
pub(super) trait Protocol: Send + Sync {
    /// Returns the dialect of its tools, calls and results.
    fn dialect(&self) -> Dialect;

    /// Returns the path of a request, relative to the base URL.
    fn path(&self, model: &str, is_streamed: bool) -> String;

    /// Returns the header that contains the API key.
    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)>;

    /// Returns headers that every request has.
    fn headers(&self) -> &[(&'static str, &'static str)] {
        &[]
    }

    /// Encodes a message of the user.
    fn user(&self, text: &str) -> Value;

    /// Encodes a response from its text and calls, at least one of which exists. Used for responses of other models and
    /// those that were cut off.
    fn assistant(&self, text: &str, calls: &[PastCall<'_>]) -> Value;

    /// Prepares a response for being sent back in the provider's own form. Returns `None` if it is not valid.
    fn resend(&self, turn: &Value, calls: &[PastCall<'_>]) -> Option<Vec<Value>>;

    /// Returns the ids that results refer to, in the order of the calls in these messages.
    fn ids(&self, turn: &[Value]) -> Vec<String>;

    /// Encodes the request.
    fn body(&self, request: RequestParts<'_>) -> Value;

    /// Reads everything besides text and calls from an event, or from a complete response.
    fn read_notes(&self, event: &Value, notes: &mut ResponseNotes);

    /// Returns the reasoning in an event or a complete response.
    fn thinking(&self, event: &Value) -> String;

    /// Returns text in an event that is outside of the usual place, such as a refusal.
    fn side_text<'a>(&self, _event: &'a Value) -> &'a str {
        ""
    }

    /// Returns the text of a complete response.
    fn text(&self, response: &Value) -> String;
}

/// A call of an earlier turn.
pub(super) struct PastCall<'a> {
    pub(super) id: String,
    /// The encoded name of the tool.
    pub(super) name: String,
    /// The arguments as the model wrote them, if they are a JSON object. Several servers parse them and reject the
    /// whole conversation because of an old invalid call.
    pub(super) arguments: &'a str,
}

impl PastCall<'_> {
    pub(super) fn object(&self) -> Value {
        serde_json::from_str(self.arguments).unwrap_or_else(|_| Value::Object(serde_json::Map::new()))
    }
}

/// The contents of a request.
pub(super) struct RequestParts<'a> {
    pub(super) model: &'a str,
    pub(super) system: Option<&'a str>,
    pub(super) messages: Vec<Value>,
    /// The tools. If none are offered, those of earlier calls.
    pub(super) tools: &'a ToolOffer,
    pub(super) may_call: bool,
    pub(super) options: &'a ModelOptions,
    pub(super) is_streamed: bool,
}

/// Information collected while reading a response.
#[derive(Debug, Default)]
pub(super) struct ResponseNotes {
    pub(super) usage: Usage,
    /// Input tokens that the provider has written to its cache.
    pub(super) cache_written: u64,
    pub(super) stop: StopReason,
    /// Set if the provider reports a malformed call. A retry may succeed.
    pub(super) is_garbled: bool,
    /// Set if nothing follows. In some APIs only the end of the body says so.
    pub(super) is_over: bool,
}

/// Returns the number at a path.
fn count(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path)?.as_u64()
}

/// Returns the items of the array at a path.
fn items<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the string at a path.
fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn token_counts_saturate() {
        let most = u64::MAX;
        let anthropic = json!({"usage": {"input_tokens": most, "cache_read_input_tokens": most,
            "cache_creation_input_tokens": most, "output_tokens": most}});
        let gemini = json!({"usageMetadata": {"promptTokenCount": most, "toolUsePromptTokenCount": most,
            "candidatesTokenCount": most, "thoughtsTokenCount": most, "cachedContentTokenCount": most}});
        let protocols: [(&dyn Protocol, Value); 2] = [(&Anthropic, anthropic), (&Gemini, gemini)];
        for (protocol, event) in protocols {
            let mut notes = ResponseNotes::default();
            protocol.read_notes(&event, &mut notes);
            assert_eq!(notes.usage, Usage::new(most, most).cached(most), "{event}");
        }
    }
}
