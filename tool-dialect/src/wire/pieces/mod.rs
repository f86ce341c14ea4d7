//! Responses in pieces, as they come in a stream. One file per provider's form.

mod anthropic;
mod bedrock;
mod gemini;
mod mcp;
mod openai_chat;
mod openai_responses;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::Found;
use super::raw::Raw;
use crate::{Dialect, Malformed, Requested, ResponseError};

/// A response of which pieces have come.
pub(crate) trait Pieces: Send + Sync {
    /// Takes one event and gives the text in it.
    fn push(&mut self, event: Raw<'_>) -> String;

    /// What has come so far.
    fn whole(&self) -> Whole;
}

/// What has come of a response.
pub(crate) struct Whole {
    pub(crate) calls: Vec<Found>,
    pub(crate) turn: Vec<Value>,
    pub(crate) is_complete: bool,
}

pub(crate) fn of(dialect: Dialect) -> Box<dyn Pieces> {
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenRouter => Box::<openai_chat::Chat>::default(),
        Dialect::OpenAiResponses => Box::<openai_responses::Items>::default(),
        Dialect::Anthropic => Box::<anthropic::Blocks>::default(),
        Dialect::Gemini => Box::<gemini::Parts>::default(),
        Dialect::Bedrock => Box::<bedrock::Blocks>::default(),
        Dialect::Mcp => Box::<mcp::Requests>::default(),
    }
}

/// Takes one event; a failure of the provider is an error.
pub(crate) fn push(pieces: &mut dyn Pieces, dialect: Dialect, event: &str) -> Result<String, ResponseError> {
    let event = Raw::read(event)?;
    match failure(event) {
        Some(failure) => {
            let title = dialect.rules().title;
            Err(ResponseError::new(format!("{title} answered with an error: {}", failure.shown())))
        }
        None => Ok(pieces.push(event)),
    }
}

/// What a provider says in the middle of a stream when it fails.
fn failure(event: Raw<'_>) -> Option<Raw<'_>> {
    let fields = event.fields()?;
    let of_bedrock = fields.iter().find(|(key, _)| key.ends_with("Exception")).map(|(_, value)| *value);
    let of_responses = match event.text_at("type").as_deref() {
        Some("error") => Some(event),
        Some("response.failed") => event.get("response").and_then(|response| response.get("error")).or(Some(event)),
        _ => None,
    };
    event.get("error").or(of_responses).or(of_bedrock)
}

/// A call whose arguments come in pieces.
#[derive(Clone, Default)]
struct Call {
    id: String,
    name: Option<String>,
    arguments: String,
    /// Whether the provider has said that this was all of it.
    is_ended: bool,
}

impl Call {
    /// Whether its arguments may be a part of what the model meant. They are an object, of which no part is JSON.
    fn is_cut(&self) -> bool {
        match self.arguments.trim() {
            "" => !self.is_ended,
            text => serde_json::from_str::<IgnoredAny>(text).is_err(),
        }
    }

    /// The call; `no_name` says what is missing where it is.
    fn found(&self, no_name: &str) -> Found {
        let Some(name) = self.name.clone() else { return Err(Malformed::new(self.id.clone(), None, no_name)) };
        if self.is_cut() {
            return Err(Malformed::new(self.id.clone(), Some(name), "the stream ended before its arguments did"));
        }
        let arguments = if self.arguments.trim().is_empty() { "{}" } else { &self.arguments };
        Ok(Requested::new(self.id.clone(), name, arguments))
    }

    /// The arguments as a value; none where they were cut off.
    fn input(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| Value::Object(serde_json::Map::new()))
    }
}

/// Appends to the string under a key, or begins it.
fn append(object: &mut Value, key: &str, more: &str) {
    let known = object.get(key).and_then(Value::as_str).unwrap_or_default();
    object[key] = Value::from(format!("{known}{more}"));
}
