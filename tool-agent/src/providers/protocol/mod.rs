//! What each provider's protocol says around the tools, which `tool-dialect` knows.

mod anthropic;
mod gemini;
mod openai;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;
use tool_runtime::dialect::{Dialect, Offer};

use super::key::Key;
use crate::{Options, Stop, Usage};

pub(super) use anthropic::Anthropic;
pub(super) use gemini::Gemini;
pub(super) use openai::OpenAi;

/// A provider's protocol.
pub(super) trait Protocol: Send + Sync {
    /// The form of its tools, calls and results.
    fn dialect(&self) -> Dialect;

    /// Where a request goes, behind the base URL.
    fn path(&self, model: &str, is_streamed: bool) -> String;

    /// The header that has the key.
    fn key(&self, key: &Key) -> Option<(HeaderName, HeaderValue)>;

    /// Headers that every request has.
    fn headers(&self) -> &[(&'static str, &'static str)] {
        &[]
    }

    /// What a person says, as a message.
    fn user(&self, text: &str) -> Value;

    /// An answer of a model, made anew from what is known of it: one of another model, or one that was cut off. There is
    /// some text, or there are calls.
    fn assistant(&self, text: &str, calls: &[Past<'_>]) -> Value;

    /// An answer as the provider gave it, made fit to be sent back. Nothing where it is not what it should be.
    fn again(&self, turn: &Value, calls: &[Past<'_>]) -> Option<Vec<Value>>;

    /// The ids that results refer to, in the order of the calls in these messages.
    fn ids(&self, turn: &[Value]) -> Vec<String>;

    /// The whole request.
    fn body(&self, asked: Asked<'_>) -> Value;

    /// What an event says of the answer besides text and calls. A whole response is read as one event.
    fn note(&self, event: &Value, notes: &mut Notes);

    /// What the model thinks, in an event or in a whole response.
    fn thinking(&self, event: &Value) -> String;

    /// What the model says in an event in another place than its text, such as a refusal.
    fn aside<'a>(&self, _event: &'a Value) -> &'a str {
        ""
    }

    /// What the model says, in a whole response.
    fn text(&self, response: &Value) -> String;
}

/// A call of an earlier turn.
pub(super) struct Past<'a> {
    pub(super) id: String,
    /// What the provider calls the tool.
    pub(super) name: String,
    /// The arguments as the model wrote them, if they are a JSON object. Several servers parse what they are sent, and
    /// refuse the whole conversation for a call that was answered with an error long ago.
    pub(super) arguments: &'a str,
}

impl Past<'_> {
    pub(super) fn object(&self) -> Value {
        serde_json::from_str(self.arguments).unwrap_or_else(|_| Value::Object(serde_json::Map::new()))
    }
}

/// What goes into a request.
pub(super) struct Asked<'a> {
    pub(super) model: &'a str,
    pub(super) system: Option<&'a str>,
    pub(super) messages: Vec<Value>,
    /// The tools. Where none are offered, those of earlier calls.
    pub(super) tools: &'a Offer,
    pub(super) may_call: bool,
    pub(super) options: &'a Options,
    pub(super) is_streamed: bool,
}

/// What is noted of an answer while it comes.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) usage: Usage,
    /// Input tokens that the provider has written to its cache.
    pub(super) cache_written: u64,
    pub(super) stop: Stop,
    /// The provider says that the model could not finish its call. Asked again, it may.
    pub(super) is_garbled: bool,
    /// Nothing comes after this. Where a protocol does not say so, the end of the body is the end.
    pub(super) is_over: bool,
}

/// The number at a path.
fn count(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path)?.as_u64()
}

/// The items of a list at a path.
fn items<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

/// The text at a path.
fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_that_no_server_can_mean_are_as_high_as_can_be() {
        let most = u64::MAX;
        let anthropic = json!({"usage": {"input_tokens": most, "cache_read_input_tokens": most,
            "cache_creation_input_tokens": most, "output_tokens": most}});
        let gemini = json!({"usageMetadata": {"promptTokenCount": most, "toolUsePromptTokenCount": most,
            "candidatesTokenCount": most, "thoughtsTokenCount": most, "cachedContentTokenCount": most}});
        let protocols: [(&dyn Protocol, Value); 2] = [(&Anthropic, anthropic), (&Gemini, gemini)];
        for (protocol, event) in protocols {
            let mut notes = Notes::default();
            protocol.note(&event, &mut notes);
            assert_eq!(notes.usage, Usage::new(most, most).cached(most), "{event}");
        }
    }
}
