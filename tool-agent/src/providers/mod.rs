//! Language models of the providers.
//!
//! They speak each provider's own wire format, which `tool-dialect` reads and writes, over plain HTTP. A crate that puts
//! one form over all of them loses what a loop needs: the text of arguments that are no JSON, and with it the answer;
//! whether a call has failed; what stands beside text and calls and must come back as it was; whether a stream has come
//! to its end or was cut.

mod answer;
mod builder;
mod failure;
mod history;
mod key;
mod known;
mod protocol;
mod setup;
mod transport;

use std::fmt;
use std::time::Duration;

use futures_util::stream::{self, TryStreamExt};
use tool_runtime::dialect::NameClash;

use self::protocol::{Asked, Protocol};
use self::transport::Transport;
use crate::{Answering, Model, ModelError, Request};

pub use builder::ProviderBuilder;
pub use setup::SetupError;

/// How long nothing may come, unless it is said. Models that think before they answer are silent for minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// A language model of a provider, chosen by the environment or by the code.
///
/// [`from_env`](Self::from_env) has it from these variables:
///
/// | variable | it says |
/// |---|---|
/// | `TOOL_MODEL` | which model, as `provider/model`; unset, empty or `offline`: none |
/// | `OPENAI_API_KEY`, `OPENAI_BASE_URL` | for `openai/…`: OpenAI, or whatever speaks its Chat Completions under that URL, such as LiteLLM or vLLM. With a URL, the key may be left out |
/// | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL` | for `anthropic/…` |
/// | `GEMINI_API_KEY` (or `GOOGLE_API_KEY`), `GEMINI_BASE_URL` | for `gemini/…` |
/// | `OPENROUTER_API_KEY`, `OPENROUTER_BASE_URL` | for `openrouter/…`, such as `openrouter/qwen/qwen3-coder` |
/// | `OLLAMA_BASE_URL` | for `ollama/…`; this machine unless it is set |
/// | `HTTPS_PROXY`, `NO_PROXY` | the way out, as everywhere |
///
/// [`openai`](Self::openai), [`anthropic`](Self::anthropic), [`gemini`](Self::gemini), [`openrouter`](Self::openrouter)
/// and [`ollama`](Self::ollama) take from it the key and no more:
///
/// ```
/// use tool_agent::{Model, Provider};
///
/// let model = Provider::openai("qwen3-coder").base_url("http://127.0.0.1:8000/v1").build()?;
/// assert_eq!(model.name(), "openai/qwen3-coder");
/// # Ok::<(), tool_agent::SetupError>(())
/// ```
///
/// Keys are read from the environment and nowhere else. They go into a header; errors, logs and `Debug` do not have them,
/// also where a provider repeats the key that it refuses. Redirections are not followed, so that nobody else is shown one.
///
/// [`Options`](crate::Options) go to the provider as they are, but for the temperature, which Anthropic takes no more. A
/// provider refuses an effort that its model does not know.
///
/// A provider is asked once. [`Retrying`](crate::Retrying) asks again where that may help:
///
/// ```no_run
/// use tool_agent::{Provider, Retrying};
///
/// let model = Provider::from_env()?.map(Retrying::new);
/// # Ok::<(), tool_agent::SetupError>(())
/// ```
#[derive(Clone)]
pub struct Provider {
    protocol: &'static dyn Protocol,
    transport: Transport,
    /// With the provider's name in front.
    name: String,
    /// What the provider calls it.
    model: String,
    is_streamed: bool,
}

impl Provider {
    /// The model that the environment names; none where it names none.
    ///
    /// # Errors
    /// When what the environment says makes no sense, or the key is missing.
    pub fn from_env() -> Result<Option<Self>, SetupError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// As [`from_env`](Self::from_env), where variables are kept elsewhere: in a service's secrets, or in a test.
    ///
    /// ```
    /// use tool_agent::{Model, Provider};
    ///
    /// let variable = |name: &str| match name {
    ///     "TOOL_MODEL" => Some("ollama/qwen3".to_owned()),
    ///     _ => None,
    /// };
    /// let model = Provider::from_variables(variable)?.unwrap();
    /// assert_eq!(model.name(), "ollama/qwen3");
    /// # Ok::<(), tool_agent::SetupError>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, SetupError> {
        setup::chosen(&variable)
    }

    /// A model of OpenAI, or of whoever speaks its Chat Completions under another [URL](ProviderBuilder::base_url), such
    /// as LiteLLM or vLLM. Its key is `OPENAI_API_KEY`.
    pub fn openai(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&known::OPENAI, model)
    }

    /// A model of Anthropic. Its key is `ANTHROPIC_API_KEY`.
    pub fn anthropic(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&known::ANTHROPIC, model)
    }

    /// A model of Google. Its key is `GEMINI_API_KEY`, or else `GOOGLE_API_KEY`.
    pub fn gemini(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&known::GEMINI, model)
    }

    /// A model behind OpenRouter, such as `qwen/qwen3-coder`. Its key is `OPENROUTER_API_KEY`.
    pub fn openrouter(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&known::OPENROUTER, model)
    }

    /// A model of Ollama, on this machine unless a [URL](ProviderBuilder::base_url) says otherwise. It needs no key.
    pub fn ollama(model: impl Into<String>) -> ProviderBuilder {
        ProviderBuilder::new(&known::OLLAMA, model)
    }

    /// Asks for answers in one piece, from servers that do not stream well.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_streamed = false;
        self
    }

    /// How long nothing may come before the request is given up; five minutes unless it is said.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.transport.patience = patience;
        self
    }

    async fn begin(&self, request: Request<'_>) -> Result<Answering<'static>, ModelError> {
        let clash = |clash: NameClash| ModelError::rejected(clash.to_string());
        let tools = history::tools(self.protocol, &request).map_err(clash)?;
        let body = self.protocol.body(Asked {
            model: &self.model,
            system: request.system,
            messages: history::messages(self.protocol, &tools, &self.name, request.messages),
            tools: &tools,
            may_call: request.tools.is_some(),
            options: request.options,
            is_streamed: self.is_streamed,
        });
        let path = self.protocol.path(&self.model, self.is_streamed);
        let response = self.transport.send(self.protocol, &path, &body).await?;
        answer::parts(self.protocol, &self.transport, tools, response).await
    }
}

impl Model for Provider {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer<'a>(&'a self, request: Request<'a>) -> Answering<'a> {
        Box::pin(stream::once(self.begin(request)).try_flatten())
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("name", &self.name).field("transport", &self.transport).finish_non_exhaustive()
    }
}
