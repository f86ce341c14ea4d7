//! Streamed responses, with one file per provider.

mod anthropic;
mod bedrock;
mod gemini;
mod mcp;
mod openai_chat;
mod openai_responses;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::ParsedCall;
use super::raw::RawJson;
use crate::{Dialect, MalformedCall, RequestedCall, ResponseError};

/// The state of one provider's streamed response.
pub(crate) trait ProviderStream: Send + Sync {
    /// Adds one event and returns the text in it.
    fn push(&mut self, event: RawJson<'_>) -> String;

    /// Returns the response received so far.
    fn response(&self) -> PartialResponse;
}

/// The part of a response received so far.
pub(crate) struct PartialResponse {
    pub(crate) calls: Vec<ParsedCall>,
    pub(crate) turn: Vec<Value>,
    pub(crate) is_complete: bool,
}

pub(crate) fn new_stream(dialect: Dialect) -> Box<dyn ProviderStream> {
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenRouter => Box::<openai_chat::ChatStream>::default(),
        Dialect::OpenAiResponses => Box::<openai_responses::ResponsesStream>::default(),
        Dialect::Anthropic => Box::<anthropic::AnthropicStream>::default(),
        Dialect::Gemini => Box::<gemini::GeminiStream>::default(),
        Dialect::Bedrock => Box::<bedrock::BedrockStream>::default(),
        Dialect::Mcp => Box::<mcp::McpStream>::default(),
    }
}

/// Adds one event. A failure reported by the provider is an error.
pub(crate) fn push(stream: &mut dyn ProviderStream, dialect: Dialect, event: &str) -> Result<String, ResponseError> {
    let event = RawJson::read(event)?;
    match failure(event) {
        Some(failure) => {
            let title = dialect.rules().title;
            Err(ResponseError::new(format!("{title} returned an error: {}", failure.shown())))
        }
        None => Ok(stream.push(event)),
    }
}

/// Returns the error that a provider reports within a stream.
fn failure(event: RawJson<'_>) -> Option<RawJson<'_>> {
    let fields = event.fields()?;
    let bedrock_failure = fields.iter().find(|(key, _)| key.ends_with("Exception")).map(|(_, value)| *value);
    let responses_failure = match event.text_at("type").as_deref() {
        Some("error") => Some(event),
        Some("response.failed") => event.get("response").and_then(|response| response.get("error")).or(Some(event)),
        _ => None,
    };
    event.get("error").or(responses_failure).or(bedrock_failure)
}

/// A call whose arguments arrive in several events.
#[derive(Clone, Default)]
struct PartialCall {
    id: String,
    name: Option<String>,
    arguments: String,
    /// `true` if the provider marked the call as complete.
    is_ended: bool,
}

impl PartialCall {
    /// Returns `true` if the arguments may be incomplete. They are an object, and no proper prefix of an object is
    /// valid JSON.
    fn is_truncated(&self) -> bool {
        match self.arguments.trim() {
            "" => !self.is_ended,
            text => serde_json::from_str::<IgnoredAny>(text).is_err(),
        }
    }

    /// Returns the call; `no_name` is the error message for a missing name.
    fn parse(&self, no_name: &str) -> ParsedCall {
        let Some(name) = self.name.clone() else { return Err(MalformedCall::new(self.id.clone(), None, no_name)) };
        if self.is_truncated() {
            return Err(MalformedCall::new(
                self.id.clone(),
                Some(name),
                "the stream ended before the arguments were complete",
            ));
        }
        let arguments = if self.arguments.trim().is_empty() { "{}" } else { &self.arguments };
        Ok(RequestedCall::new(self.id.clone(), name, arguments))
    }

    /// Returns the arguments as a value; an empty object if they were cut off.
    fn input(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| Value::Object(serde_json::Map::new()))
    }
}

/// Appends to the string at a key, creating it if needed.
fn append(object: &mut Value, key: &str, more: &str) {
    let known = object.get(key).and_then(Value::as_str).unwrap_or_default();
    object[key] = Value::from(format!("{known}{more}"));
}
