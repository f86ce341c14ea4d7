//! Language models of providers.
//!
//! They use each provider's own wire format, which `tool-dialect` encodes and decodes, over HTTP. A crate with a
//! uniform interface for all providers loses what an agent needs: the text of arguments that are not JSON, whether a
//! call failed, opaque data that must be sent back unchanged, and whether a stream was complete or cut off.

mod api_key;
mod builder;
mod catalog;
mod encode;
mod failure;
mod protocol;
mod response;
mod transport;

use std::fmt;
use std::time::Duration;

use futures_util::stream::{self, TryStreamExt};
use tool_runtime::dialect::NameClash;

use self::protocol::{Protocol, RequestParts};
use self::transport::Transport;
use crate::{Model, ModelError, ModelRequest, ResponseStream};

pub use builder::{ProviderBuilder, SetupError};

/// The default idle timeout. Reasoning models can be silent for minutes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// A language model of a provider, selected by environment variables or in code.
///
/// [`from_env`](Self::from_env) reads these variables:
///
/// | variable | meaning |
/// |---|---|
/// | `TOOL_MODEL` | the model, as `provider/model`; unset, empty or `offline`: none |
/// | `OPENAI_API_KEY`, `OPENAI_BASE_URL` | for `openai/…`: OpenAI, or a server with a compatible Chat Completions API at that URL, such as LiteLLM or vLLM. With a URL, the key is optional |
/// | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL` | for `anthropic/…` |
/// | `GEMINI_API_KEY` (or `GOOGLE_API_KEY`), `GEMINI_BASE_URL` | for `gemini/…` |
/// | `OPENROUTER_API_KEY`, `OPENROUTER_BASE_URL` | for `openrouter/…`, such as `openrouter/qwen/qwen3-coder` |
/// | `OLLAMA_BASE_URL` | for `ollama/…`; defaults to this machine |
/// | `HTTPS_PROXY`, `NO_PROXY` | the proxy, as usual |
///
/// [`openai`](Self::openai), [`anthropic`](Self::anthropic), [`gemini`](Self::gemini), [`openrouter`](Self::openrouter)
/// and [`ollama`](Self::ollama) only read the API key from the environment:
///
/// ```
/// use tool_agent::{Model, ProviderModel};
///
/// let model = ProviderModel::openai("qwen3-coder").base_url("http://127.0.0.1:8000/v1").build()?;
/// assert_eq!(model.name(), "openai/qwen3-coder");
/// # Ok::<(), tool_agent::SetupError>(())
/// ```
///
/// API keys are only read from the environment. They are sent in a header and never appear in errors, logs or `Debug`
/// output, even if a provider repeats the key that it rejects. Redirects are not followed, so that no other host
/// receives a key.
///
/// [`ModelOptions`](crate::ModelOptions) are passed on unchanged, except for the temperature, which Anthropic no longer
/// accepts. A provider may reject an effort that its model does not support.
///
/// A failed request is not retried. Wrap the model in [`RetryingModel`](crate::RetryingModel) for that:
///
/// ```no_run
/// use tool_agent::{ProviderModel, RetryingModel};
///
/// let model = ProviderModel::from_env()?.map(RetryingModel::new);
/// # Ok::<(), tool_agent::SetupError>(())
/// ```
#[derive(Clone)]
pub struct ProviderModel {
    protocol: &'static dyn Protocol,
    transport: Transport,
    /// The name, with the provider as a prefix.
    name: String,
    /// The provider's name of the model.
    model: String,
    is_streamed: bool,
}

impl ProviderModel {
    /// Creates the model that the environment selects, or `None` if it selects none.
    ///
    /// # Errors
    /// If a variable is invalid, or the API key is missing.
    pub fn from_env() -> Result<Option<Self>, SetupError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Creates the model with variables from another source, such as a secret store or a test.
    ///
    /// ```
    /// use tool_agent::{Model, ProviderModel};
    ///
    /// let variable = |name: &str| match name {
    ///     "TOOL_MODEL" => Some("ollama/qwen3".to_owned()),
    ///     _ => None,
    /// };
    /// let model = ProviderModel::from_variables(variable)?.unwrap();
    /// assert_eq!(model.name(), "ollama/qwen3");
    /// # Ok::<(), tool_agent::SetupError>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, SetupError> {
        builder::from_variables(&variable)
    }

    /// Builds a model of OpenAI, or of a server with a compatible Chat Completions API at another
    /// [URL](ProviderBuilder::base_url), such as LiteLLM or vLLM. Its key is `OPENAI_API_KEY`.
    pub fn openai(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&catalog::OPENAI, model)
    }

    /// Builds a model of Anthropic. Its key is `ANTHROPIC_API_KEY`.
    pub fn anthropic(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&catalog::ANTHROPIC, model)
    }

    /// Builds a model of Google. Its key is `GEMINI_API_KEY`, or else `GOOGLE_API_KEY`.
    pub fn gemini(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&catalog::GEMINI, model)
    }

    /// Builds a model of OpenRouter, such as `qwen/qwen3-coder`. Its key is `OPENROUTER_API_KEY`.
    pub fn openrouter(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&catalog::OPENROUTER, model)
    }

    /// Builds a model of Ollama, on this machine unless a [URL](ProviderBuilder::base_url) is set. It needs no key.
    pub fn ollama(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&catalog::OLLAMA, model)
    }

    /// Disables streaming, for servers that do not stream well.
    #[must_use]
    pub fn without_streaming(mut self) -> Self {
        self.is_streamed = false;
        self
    }

    /// Sets how long the provider may be silent before the request fails. Defaults to five minutes.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.transport.idle_timeout = timeout;
        self
    }

    async fn begin(&self, request: ModelRequest<'_>) -> Result<ResponseStream<'static>, ModelError> {
        let clash = |clash: NameClash| ModelError::rejected(clash.to_string());
        let tools = encode::tools(self.protocol, &request).map_err(clash)?;
        let body = self.protocol.body(RequestParts {
            model: &self.model,
            system: request.system,
            messages: encode::messages(self.protocol, &tools, &self.name, request.messages),
            tools: &tools,
            may_call: request.tools.is_some(),
            options: request.options,
            is_streamed: self.is_streamed,
        });
        let path = self.protocol.path(&self.model, self.is_streamed);
        let response = self.transport.send(self.protocol, &path, &body).await?;
        response::parts(self.protocol, &self.transport, tools, response).await
    }
}

impl Model for ProviderModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        Box::pin(stream::once(self.begin(request)).try_flatten())
    }
}

impl fmt::Debug for ProviderModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderModel")
            .field("name", &self.name)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}
