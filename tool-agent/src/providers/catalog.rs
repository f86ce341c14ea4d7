//! The supported providers.

use reqwest::Url;
use tool_runtime::dialect::Dialect;

use super::SetupError;
use super::protocol::{Anthropic, Gemini, OpenAi, Protocol};

/// A supported provider.
pub(super) struct KnownProvider {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    protocol: &'static dyn Protocol,
    pub(super) keys: &'static [&'static str],
    pub(super) base_variable: &'static str,
    pub(super) base: &'static str,
    pub(super) needs_key: bool,
}

pub(super) static ALL: [&KnownProvider; 5] = [&OPENAI, &ANTHROPIC, &GEMINI, &OPENROUTER, &OLLAMA];

pub(super) static OPENAI: KnownProvider = KnownProvider {
    name: "openai",
    title: "OpenAI",
    protocol: &OpenAi { dialect: Dialect::OpenAiChat, limit: "max_completion_tokens" },
    keys: &["OPENAI_API_KEY"],
    base_variable: "OPENAI_BASE_URL",
    base: "https://api.openai.com/v1",
    needs_key: true,
};

pub(super) static ANTHROPIC: KnownProvider = KnownProvider {
    name: "anthropic",
    title: "Anthropic",
    protocol: &Anthropic,
    keys: &["ANTHROPIC_API_KEY"],
    base_variable: "ANTHROPIC_BASE_URL",
    base: "https://api.anthropic.com",
    needs_key: true,
};

pub(super) static GEMINI: KnownProvider = KnownProvider {
    name: "gemini",
    title: "Gemini",
    protocol: &Gemini,
    keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    base_variable: "GEMINI_BASE_URL",
    base: "https://generativelanguage.googleapis.com",
    needs_key: true,
};

pub(super) static OPENROUTER: KnownProvider = KnownProvider {
    name: "openrouter",
    title: "OpenRouter",
    protocol: &OpenAi { dialect: Dialect::OpenRouter, limit: "max_tokens" },
    keys: &["OPENROUTER_API_KEY"],
    base_variable: "OPENROUTER_BASE_URL",
    base: "https://openrouter.ai/api/v1",
    needs_key: true,
};

pub(super) static OLLAMA: KnownProvider = KnownProvider {
    name: "ollama",
    title: "Ollama",
    protocol: &OpenAi { dialect: Dialect::OpenAiChat, limit: "max_tokens" },
    keys: &["OLLAMA_API_KEY"],
    base_variable: "OLLAMA_BASE_URL",
    base: "http://127.0.0.1:11434/v1",
    needs_key: false,
};

/// The protocol of servers that are compatible with OpenAI.
static COMPATIBLE: OpenAi = OpenAi { dialect: Dialect::OpenAiChat, limit: "max_tokens" };

impl KnownProvider {
    /// Returns the protocol; another one if OpenAI's base URL is overridden.
    pub(super) fn protocol(&self, is_elsewhere: bool) -> &'static dyn Protocol {
        if is_elsewhere && self.name == OPENAI.name { &COMPATIBLE } else { self.protocol }
    }
}

/// Validates a model name, which becomes part of a URL.
pub(super) fn check_model(known: &KnownProvider, model: &str) -> Result<(), SetupError> {
    let is_model = |sign: char| sign.is_ascii_alphanumeric() || "-_.:/@+".contains(sign);
    if model.is_empty() || !model.chars().all(is_model) || model.contains("..") {
        return Err(SetupError::new(format!("`{model}` is not a valid model name for {}", known.title)));
    }
    Ok(())
}

/// Parses a base URL. Errors do not contain the URL, which may contain a password.
pub(super) fn parse_base_url(label: &str, base: &str) -> Result<Url, SetupError> {
    let url = Url::parse(base).map_err(|error| SetupError::new(format!("{label} is not a URL: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() || url.query().is_some() {
        return Err(SetupError::new(format!("{label} must have the form `https://host/path`, without a query")));
    }
    Ok(url)
}
