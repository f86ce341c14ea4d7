//! Builder of provider models, in code or from environment variables.

use std::fmt;

use super::api_key::ApiKey;
use super::catalog::{self, KnownProvider};
use super::transport::{self, Transport};
use super::{IDLE_TIMEOUT, ProviderModel};

/// The variable that selects the model.
const MODEL: &str = "TOOL_MODEL";

/// A builder for a model of a provider; see [`ProviderModel::openai`] and its siblings.
#[derive(Clone)]
#[must_use = "a builder does nothing until `build()`"]
pub struct ProviderBuilder {
    known: &'static KnownProvider,
    model: String,
    base: Option<BaseUrl>,
    key: Option<String>,
}

/// A base URL, and its name in errors.
#[derive(Clone)]
struct BaseUrl {
    url: String,
    label: String,
}

impl ProviderBuilder {
    pub(super) fn new(known: &'static KnownProvider, model: impl Into<String>) -> Self {
        Self { known, model: model.into(), base: None, key: None }
    }

    /// Sets the base URL of the provider or of a compatible server, such as `http://127.0.0.1:8000/v1`. With a base URL
    /// the API key is optional, because self-hosted servers often need none.
    pub fn base_url(self, url: impl Into<String>) -> Self {
        self.named_base_url(url, "the base URL")
    }

    pub(super) fn named_base_url(mut self, url: impl Into<String>, label: &str) -> Self {
        self.base = Some(BaseUrl { url: url.into(), label: label.to_owned() });
        self
    }

    /// Sets the environment variable that contains the API key, if it is not the provider's usual one. The variable
    /// must then be set. There is no way to pass the key itself, which does not belong in code.
    pub fn key_variable(mut self, name: impl Into<String>) -> Self {
        self.key = Some(name.into());
        self
    }

    /// Builds the model.
    ///
    /// # Errors
    /// If the model name or the URL is invalid, or the API key is missing.
    pub fn build(self) -> Result<ProviderModel, SetupError> {
        self.build_from(|name| std::env::var(name).ok())
    }

    /// Builds the model with variables from another source, such as a secret store or a test.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_from(self, variable: impl Fn(&str) -> Option<String>) -> Result<ProviderModel, SetupError> {
        let Self { known, model, base, key } = self;
        catalog::check_model(known, &model)?;
        let url = match &base {
            None => catalog::parse_base_url("the base URL", known.base)?,
            Some(base) => catalog::parse_base_url(&base.label, base.url.trim())?,
        };
        let is_explicit = key.is_some();
        let names = key.map_or_else(|| known.keys.iter().map(|name| (*name).to_owned()).collect(), |name| vec![name]);
        let key = names.iter().find_map(|name| ApiKey::new(&variable(name)?));
        if key.is_none() && (is_explicit || (known.needs_key && base.is_none())) {
            return Err(SetupError::new(format!(
                "{} needs an API key: {} is not set",
                known.title,
                display_name(&names[0])
            )));
        }
        if key.is_some() && url.scheme() == "http" && !transport::is_local(&url) {
            tracing::warn!(host = url.host_str(), "the API key is sent unencrypted to this host");
        }
        let client = transport::client(&url)
            .map_err(|reason| SetupError::new(format!("cannot create an HTTP client for {}: {reason}", known.title)))?;
        let protocol = known.protocol(base.is_some());
        let transport = Transport { client, base: url, key, title: known.title, idle_timeout: IDLE_TIMEOUT };
        let name = format!("{}/{model}", known.name);
        Ok(ProviderModel { protocol, transport, name, model, is_streamed: true })
    }
}

/// Returns the name of a variable, unless it may be a key that was passed by mistake.
fn display_name(name: &str) -> String {
    let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if is_name { format!("`{name}`") } else { "the configured variable".to_owned() }
}

/// Omits the URL, which may contain a password.
impl fmt::Debug for ProviderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ProviderBuilder");
        debug.field("provider", &self.known.name).field("model", &self.model).finish_non_exhaustive()
    }
}

/// Returns the model that the variables select, or `None` if they select none.
pub(super) fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<ProviderModel>, SetupError> {
    let set = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let Some(named) = set(MODEL).filter(|named| named != "offline") else { return Ok(None) };
    let names = || catalog::ALL.map(|known| known.name).join(", ");
    let Some((provider, model)) = named.split_once('/') else {
        let message =
            format!("`{MODEL}` must be `provider/model`, such as `anthropic/claude-sonnet-5-5`, not `{named}`");
        return Err(SetupError(format!("{message}. Supported providers: {}", names())));
    };
    let Some(known) = catalog::ALL.into_iter().find(|known| known.name == provider) else {
        return Err(SetupError(format!(
            "`{MODEL}` names the unknown provider `{provider}`. Supported providers: {}",
            names()
        )));
    };
    let mut builder = ProviderBuilder::new(known, model);
    if let Some(base) = set(known.base_variable) {
        builder = builder.named_base_url(base, &format!("`{}`", known.base_variable));
    }
    builder.build_from(variable).map(Some)
}

/// An error in the configuration of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError(String);

impl SetupError {
    pub(super) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}
