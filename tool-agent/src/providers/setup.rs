//! Which model, by the environment.

use std::fmt;

use reqwest::Url;
use tool_runtime::dialect::Dialect;

use super::Provider;
use super::key::Key;
use super::protocol::{Anthropic, Gemini, OpenAi, Protocol};
use super::transport::{self, Transport};

/// The variable that says which model.
const MODEL: &str = "TOOL_MODEL";

/// A provider that can be named.
struct Known {
    name: &'static str,
    title: &'static str,
    protocol: &'static dyn Protocol,
    keys: &'static [&'static str],
    base_variable: &'static str,
    base: &'static str,
    needs_key: bool,
}

static KNOWN: [Known; 5] = [
    Known {
        name: "openai",
        title: "OpenAI",
        protocol: &OpenAi { dialect: Dialect::OpenAiChat, limit: "max_completion_tokens" },
        keys: &["OPENAI_API_KEY"],
        base_variable: "OPENAI_BASE_URL",
        base: "https://api.openai.com/v1",
        needs_key: true,
    },
    Known {
        name: "anthropic",
        title: "Anthropic",
        protocol: &Anthropic,
        keys: &["ANTHROPIC_API_KEY"],
        base_variable: "ANTHROPIC_BASE_URL",
        base: "https://api.anthropic.com",
        needs_key: true,
    },
    Known {
        name: "gemini",
        title: "Gemini",
        protocol: &Gemini,
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_variable: "GEMINI_BASE_URL",
        base: "https://generativelanguage.googleapis.com",
        needs_key: true,
    },
    Known {
        name: "openrouter",
        title: "OpenRouter",
        protocol: &OpenAi { dialect: Dialect::OpenRouter, limit: "max_tokens" },
        keys: &["OPENROUTER_API_KEY"],
        base_variable: "OPENROUTER_BASE_URL",
        base: "https://openrouter.ai/api/v1",
        needs_key: true,
    },
    Known {
        name: "ollama",
        title: "Ollama",
        protocol: &OpenAi { dialect: Dialect::OpenAiChat, limit: "max_tokens" },
        keys: &["OLLAMA_API_KEY"],
        base_variable: "OLLAMA_BASE_URL",
        base: "http://127.0.0.1:11434/v1",
        needs_key: false,
    },
];

/// OpenAI's protocol on somebody else's server.
static COMPATIBLE: OpenAi = OpenAi { dialect: Dialect::OpenAiChat, limit: "max_tokens" };

/// The provider that the variables name; none where they name none.
pub(super) fn chosen(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Provider>, SetupError> {
    let set = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let Some(named) = set(MODEL).filter(|named| named != "offline") else { return Ok(None) };
    let (known, model) = read(&named)?;
    let other = set(known.base_variable);
    let base = parsed(known, other.as_deref().unwrap_or(known.base))?;
    let key = known.keys.iter().find_map(|name| Key::new(&variable(name)?));
    // A server of one's own often has no keys.
    if key.is_none() && known.needs_key && other.is_none() {
        return Err(SetupError(format!("`{MODEL}` names {}, and `{}` is not set", known.title, known.keys[0])));
    }
    if key.is_some() && base.scheme() == "http" && !transport::is_here(&base) {
        tracing::warn!(host = base.host_str(), "the key goes to this host unencrypted");
    }
    let client = transport::client(&base)
        .map_err(|reason| SetupError(format!("no connection can be made to {}: {reason}", known.title)))?;
    let protocol = match other {
        Some(_) if known.name == "openai" => &COMPATIBLE,
        _ => known.protocol,
    };
    let transport = Transport { client, base, key, title: known.title, patience: super::PATIENCE };
    Ok(Some(Provider { protocol, transport, name: named.clone(), model: model.to_owned(), is_streamed: true }))
}

fn read(named: &str) -> Result<(&'static Known, &str), SetupError> {
    let known = || KNOWN.each_ref().map(|known| known.name).join(", ");
    let Some((provider, model)) = named.split_once('/') else {
        let message = format!("`{MODEL}` is `provider/model`, such as `anthropic/claude-sonnet-5-5`, not `{named}`");
        return Err(SetupError(format!("{message}. Providers are {}", known())));
    };
    let Some(provider) = KNOWN.iter().find(|known| known.name == provider) else {
        return Err(SetupError(format!("`{MODEL}` names the provider `{provider}`; there are {}", known())));
    };
    // It becomes a part of a URL.
    let is_model = |sign: char| sign.is_ascii_alphanumeric() || "-_.:/@+".contains(sign);
    if model.is_empty() || !model.chars().all(is_model) || model.contains("..") {
        return Err(SetupError(format!("`{MODEL}` names no model of {}: `{model}`", provider.title)));
    }
    Ok((provider, model))
}

/// The URL is not shown where it cannot be read: it may have a password.
fn parsed(known: &Known, base: &str) -> Result<Url, SetupError> {
    let url =
        Url::parse(base).map_err(|error| SetupError(format!("`{}` is not a URL: {error}", known.base_variable)))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() || url.query().is_some() {
        let message = format!("`{}` is to be `https://host/path`, without a query", known.base_variable);
        return Err(SetupError(message));
    }
    Ok(url)
}

/// Why the environment names no model that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError(String);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}
