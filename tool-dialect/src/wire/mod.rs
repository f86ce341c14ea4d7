//! What goes over the wire: lists of definitions out, calls in, results out. One file per provider's form; `pieces` has them for streams.

mod anthropic;
mod bedrock;
mod gemini;
mod mcp;
mod openai_chat;
mod openai_responses;
pub(crate) mod pieces;
mod raw;

use serde_json::Value;

use crate::{Answer, Dialect, Malformed, Requested, ResponseError};
use raw::Raw;

/// A call that was found, or what is wrong with it.
pub(crate) type Found = Result<Requested, Malformed>;

/// An answer on its way to the provider.
pub(crate) struct Returned<'a> {
    pub(crate) answer: &'a Answer,
    /// What the provider calls the tool.
    pub(crate) name: &'a str,
    /// Whether the provider was told what the output looks like.
    pub(crate) structured: bool,
}

/// Definitions as the list that a request has.
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

/// The calls in a response.
pub(crate) fn calls(dialect: Dialect, response: &str) -> Result<Vec<Found>, ResponseError> {
    let body = Raw::read(response)?;
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

/// The model's turn as it goes back into the conversation.
pub(crate) fn turn(dialect: Dialect, response: &str) -> Result<Vec<Value>, ResponseError> {
    let body = Raw::read(response)?;
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

/// The messages that return results.
pub(crate) fn results(dialect: Dialect, returned: Vec<Returned<'_>>) -> Vec<Value> {
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

fn not_a_response(dialect: Dialect, body: Raw<'_>) -> ResponseError {
    let title = dialect.rules().title;
    // An error of the provider is worth more than our surprise.
    match body.get("error") {
        Some(error) => ResponseError::new(format!("{title} answered with an error: {}", error.shown())),
        None => ResponseError::new(format!("not a response of {title}: {}", body.shown())),
    }
}
