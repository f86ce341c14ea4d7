//! Encoding and decoding of definitions, calls and results, with one file per provider. `streaming` does the same for
//! streams.

mod anthropic;
mod bedrock;
mod gemini;
mod mcp;
mod openai_chat;
mod openai_responses;
mod raw;
pub(crate) mod streaming;

use serde_json::Value;

use crate::{Dialect, MalformedCall, ProviderResult, RequestedCall, ResponseError};
use raw::RawJson;

/// A parsed call, or the reason why it is malformed.
pub(crate) type ParsedCall = Result<RequestedCall, MalformedCall>;

/// A result with the data needed to encode it.
pub(crate) struct EncodedResult<'a> {
    pub(crate) result: &'a ProviderResult,
    /// The provider's name of the tool.
    pub(crate) name: &'a str,
    /// `true` if the provider has the schema of the output.
    pub(crate) structured: bool,
}

/// Joins definitions into the list for a request.
pub(crate) fn listed<'a>(dialect: Dialect, definitions: impl Iterator<Item = &'a str> + Clone) -> String {
    let (open, close) = match dialect {
        Dialect::Gemini if definitions.clone().next().is_some() => (r#"[{"functionDeclarations":["#, "]}]"),
        _ => ("[", "]"),
    };
    let size = definitions.clone().map(|text| text.len() + 1).sum::<usize>();
    let mut list = String::with_capacity(size + open.len() + close.len());
    list.push_str(open);
    for (at, definition) in definitions.enumerate() {
        if at > 0 {
            list.push(',');
        }
        list.push_str(definition);
    }
    list.push_str(close);
    list
}

/// Returns the calls in a response.
pub(crate) fn calls(dialect: Dialect, response: &str) -> Result<Vec<ParsedCall>, ResponseError> {
    let body = RawJson::read(response)?;
    let calls = match dialect {
        Dialect::OpenAiChat | Dialect::OpenRouter => openai_chat::calls(body),
        Dialect::OpenAiResponses => openai_responses::calls(body),
        Dialect::Anthropic => anthropic::calls(body),
        Dialect::Gemini => gemini::calls(body),
        Dialect::Bedrock => bedrock::calls(body),
        Dialect::Mcp => mcp::calls(body),
    };
    calls.ok_or_else(|| not_a_response(dialect, body))
}

/// Returns the model's turn, to be appended to the conversation.
pub(crate) fn turn(dialect: Dialect, response: &str) -> Result<Vec<Value>, ResponseError> {
    let body = RawJson::read(response)?;
    let turn = match dialect {
        Dialect::OpenAiChat | Dialect::OpenRouter => openai_chat::turn(body),
        Dialect::OpenAiResponses => openai_responses::turn(body),
        Dialect::Anthropic => anthropic::turn(body),
        Dialect::Gemini => gemini::turn(body),
        Dialect::Bedrock => bedrock::turn(body),
        Dialect::Mcp => mcp::calls(body).map(|_| Vec::new()),
    };
    turn.ok_or_else(|| not_a_response(dialect, body))
}

/// Returns the messages that carry the results.
pub(crate) fn results(dialect: Dialect, returned: Vec<EncodedResult<'_>>) -> Vec<Value> {
    if returned.is_empty() {
        return Vec::new();
    }
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenRouter => returned.iter().map(openai_chat::result).collect(),
        Dialect::OpenAiResponses => returned.iter().map(openai_responses::result).collect(),
        Dialect::Anthropic => vec![anthropic::results(&returned)],
        Dialect::Gemini => vec![gemini::results(&returned)],
        Dialect::Bedrock => vec![bedrock::results(&returned)],
        Dialect::Mcp => returned.iter().map(mcp::result).collect(),
    }
}

fn not_a_response(dialect: Dialect, body: RawJson<'_>) -> ResponseError {
    let title = dialect.rules().title;
    // Prefer the provider's own error.
    match body.get("error") {
        Some(error) => ResponseError::new(format!("{title} returned an error: {}", error.shown())),
        None => ResponseError::new(format!("not a response of {title}: {}", body.shown())),
    }
}
