//! The client behind a call, for handlers that need something from it.

#![expect(deprecated, reason = "sampling, roots and logging are deprecated in MCP, but clients still use them")]

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequest,
    ElicitRequestParams, ElicitResult, ElicitationCapability, Implementation, InputRequest, InputRequests,
    InputResponses, ListRootsRequest, ListRootsResult, LoggingLevel, LoggingMessageNotificationParam, ProtocolVersion,
    RootsCapabilities, SamplingCapability,
};
use rmcp::service::{RequestContext, ServiceError};
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The client that made a call, for handlers that need input of its user, a completion of its model, or its roots.
///
/// Declare it with [`per_call::<McpClient>()`](tool_runtime::Builder::per_call); an [`McpServer`](crate::McpServer)
/// passes one with every call.
///
/// ```
/// use serde_json::json;
/// use tool_mcp::{McpClient, ClientError};
/// use tool_runtime::{Dispatcher, tool};
///
/// /// Greet the user by name.
/// #[tool]
/// async fn greet(#[inject] client: &McpClient) -> Result<String, ClientError> {
///     let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
///     let response = client.ask("name", "What is your name?", schema).await?;
///     Ok(match response.content {
///         Some(content) => format!("Hello, {}!", content["name"].as_str().unwrap_or("you")),
///         None => "Hello!".to_owned(),
///     })
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().per_call::<McpClient>().build()?;
/// # drop(tools);
/// # Ok(())
/// # }
/// ```
///
/// A client of 2025-11-25 is asked while the handler waits. A client of 2026-07-28 receives the questions as the result
/// of its call and calls again with the responses: the handler **runs again from the start**, and this time each
/// question has its response. Therefore ask before any side effect, return [`ClientError::InputRequired`] with `?`, and
/// give each question of a handler its own name, which identifies the response. Questions asked before the first
/// `InputRequired` is returned are sent together.
#[derive(Clone)]
pub struct McpClient {
    inner: Arc<CallContext>,
}

struct CallContext {
    context: RequestContext<RoleServer>,
    level: Arc<LogLevel>,
    /// The client's responses, of this round and of earlier ones.
    responses: InputResponses,
    requested: Mutex<RequestedInput>,
}

/// The input that a call has requested from its client.
#[derive(Default)]
pub(super) struct RequestedInput {
    /// The requests to which the next round must respond.
    pub(super) requests: InputRequests,
    /// Capabilities that the client would need.
    pub(super) lacking: Option<ClientCapabilities>,
    /// The error of a response that could not be parsed.
    pub(super) malformed: Option<ErrorData>,
    /// The text shown to the user for approval.
    pub(super) approval: Option<String>,
}

impl McpClient {
    pub(super) fn new(context: RequestContext<RoleServer>, level: Arc<LogLevel>, responses: InputResponses) -> Self {
        Self { inner: Arc::new(CallContext { context, level, responses, requested: Mutex::default() }) }
    }

    /// Returns the capabilities of the client.
    #[must_use]
    pub fn capabilities(&self) -> ClientCapabilities {
        self.inner.context.client_capabilities().unwrap_or_default()
    }

    /// Returns the name and version of the client, if it has sent them.
    #[must_use]
    pub fn info(&self) -> Option<Implementation> {
        self.inner.context.client_info()
    }

    /// Returns the head of the HTTP request of the call, including the extensions that a check has set.
    #[must_use]
    pub fn http(&self) -> Option<&http::request::Parts> {
        self.inner.context.extensions.get()
    }

    /// Asks the user to fill in a form. `schema` is an object schema whose properties are strings, numbers, booleans and
    /// enums. `name` identifies the question among those of the handler.
    ///
    /// # Errors
    /// The errors of [`elicit`](Self::elicit), and [`ClientError::Failed`] for an unsuitable schema.
    pub async fn ask(&self, name: &str, message: &str, schema: Value) -> Result<ElicitResult, ClientError> {
        let requested_schema = serde_json::from_value(schema)
            .map_err(|error| ClientError::Failed(format!("the schema of {name:?} is not a form schema: {error}")))?;
        let form =
            ElicitRequestParams::FormElicitationParams { meta: None, message: message.to_owned(), requested_schema };
        self.elicit(name, form).await
    }

    /// Asks the user for input, by a form or at a URL.
    ///
    /// # Errors
    /// [`ClientError::InputRequired`] if the client will call again with the response. Other errors if the client does not
    /// support the request, or has sent no valid response.
    pub async fn elicit(&self, name: &str, request: ElicitRequestParams) -> Result<ElicitResult, ClientError> {
        let by_url = matches!(request, ElicitRequestParams::UrlElicitationParams { .. });
        if !can_elicit(&self.capabilities(), by_url) {
            let mut lacking = ClientCapabilities::default();
            lacking.elicitation = Some(ElicitationCapability::default());
            return Err(self.lacks("elicitation", lacking));
        }
        if self.uses_rounds() {
            return self.response(name, || InputRequest::Elicitation(ElicitRequest::new(request)));
        }
        self.inner.context.peer.create_elicitation(request).await.map_err(failed)
    }

    /// Requests a completion from the client's model.
    ///
    /// # Errors
    /// The errors of [`elicit`](Self::elicit).
    pub async fn sample(
        &self,
        name: &str,
        request: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ClientError> {
        if self.capabilities().sampling.is_none() {
            let mut lacking = ClientCapabilities::default();
            lacking.sampling = Some(SamplingCapability::default());
            return Err(self.lacks("sampling", lacking));
        }
        if self.uses_rounds() {
            return self.response(name, || InputRequest::CreateMessage(CreateMessageRequest::new(request)));
        }
        self.inner.context.peer.create_message(request).await.map_err(failed)
    }

    /// Requests the client's roots: the directories that it works in.
    ///
    /// # Errors
    /// The errors of [`elicit`](Self::elicit).
    pub async fn roots(&self, name: &str) -> Result<ListRootsResult, ClientError> {
        if self.capabilities().roots.is_none() {
            let mut lacking = ClientCapabilities::default();
            lacking.roots = Some(RootsCapabilities::default());
            return Err(self.lacks("roots", lacking));
        }
        if self.uses_rounds() {
            return self.response(name, || InputRequest::ListRoots(ListRootsRequest::default()));
        }
        self.inner.context.peer.list_roots().await.map_err(failed)
    }

    /// Sends a log message to the client, if the client wants messages of this level.
    pub async fn log(&self, level: LoggingLevel, data: impl Serialize) {
        let is_wanted = match self.uses_rounds() {
            true => self.inner.context.meta.log_level().is_some_and(|wanted| severity(level) >= severity(wanted)),
            false => self.inner.level.includes(level),
        };
        if !is_wanted {
            return;
        }
        match serde_json::to_value(data) {
            Ok(data) => {
                let message = LoggingMessageNotificationParam::new(level, data);
                if let Err(error) = self.inner.context.peer.notify_logging_message(message).await {
                    tracing::debug!(%error, "cannot send a log message to a client");
                }
            }
            Err(error) => tracing::warn!(%error, "cannot serialize a log message"),
        }
    }

    pub(super) fn context(&self) -> &RequestContext<RoleServer> {
        &self.inner.context
    }

    pub(super) fn responses(&self) -> &InputResponses {
        &self.inner.responses
    }

    pub(super) fn requested(&self) -> MutexGuard<'_, RequestedInput> {
        self.inner.requested.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the client can ask its user for approval.
    pub(super) fn can_confirm(&self) -> bool {
        can_elicit(&self.capabilities(), false)
    }

    /// Returns `true` if the client receives questions as the result of its call and then calls again.
    pub(super) fn uses_rounds(&self) -> bool {
        let version = self.inner.context.protocol_version();
        version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
    }

    /// Returns the response that came with the call, or records the request for the next round.
    fn response<T: DeserializeOwned>(
        &self,
        name: &str,
        request: impl FnOnce() -> InputRequest,
    ) -> Result<T, ClientError> {
        let Some(response) = self.inner.responses.get(name) else {
            self.requested().requests.insert(name.to_owned(), request());
            return Err(ClientError::InputRequired);
        };
        T::deserialize(response).map_err(|error| {
            let message = format!("`inputResponses.{name}` is not a valid response: {error}");
            self.requested().malformed = Some(ErrorData::invalid_params(message.clone(), None));
            ClientError::Failed(message)
        })
    }

    fn lacks(&self, capability: &'static str, lacking: ClientCapabilities) -> ClientError {
        self.requested().lacking = Some(lacking);
        ClientError::Unsupported(capability)
    }
}

/// A client that names no elicitation mode supports forms.
fn can_elicit(client: &ClientCapabilities, by_url: bool) -> bool {
    let Some(elicitation) = &client.elicitation else { return false };
    if by_url { elicitation.url.is_some() } else { elicitation.form.is_some() || elicitation.url.is_none() }
}

#[expect(clippy::needless_pass_by_value, reason = "used with `map_err`")]
fn failed(error: ServiceError) -> ClientError {
    ClientError::Failed(format!("the client did not respond: {error}"))
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient").field("request", &self.inner.context.id).finish_non_exhaustive()
    }
}

/// The error of a request to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientError {
    /// The request is sent as the result of this call, and the client calls again with the response. Return this error
    /// from the handler.
    InputRequired,
    /// The client has not declared this capability.
    Unsupported(&'static str),
    /// The request failed, or its response is invalid.
    Failed(String),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InputRequired => f.write_str("input of the client is required; it calls again"),
            Self::Unsupported(capability) => write!(f, "the client does not support {capability}"),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ClientError {}

/// The lowest severity that a client of 2025-11-25 wants to receive. Defaults to `info`.
pub(super) struct LogLevel(AtomicU8);

impl Default for LogLevel {
    fn default() -> Self {
        Self(AtomicU8::new(severity(LoggingLevel::Info)))
    }
}

impl LogLevel {
    pub(super) fn set(&self, level: LoggingLevel) {
        self.0.store(severity(level), Ordering::Relaxed);
    }

    fn includes(&self, level: LoggingLevel) -> bool {
        severity(level) >= self.0.load(Ordering::Relaxed)
    }
}

fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
