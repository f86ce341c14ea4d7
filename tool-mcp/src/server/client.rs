//! The client of a call, for handlers that need something of it.

#![expect(deprecated, reason = "the protocol wants sampling, roots and logging to go; clients still have them")]

use std::fmt;
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

use super::log::{Level, grade};

/// The client that has made a call, for a handler that needs something of it: an answer of its user, a completion of
/// its model, its roots. A dispatcher that has such tools knows of it by
/// [`per_call::<Client>()`](tool_runtime::Builder::per_call); every call of a [`Server`](crate::Server) brings one.
///
/// ```
/// use serde_json::json;
/// use tool_mcp::{Client, ClientError};
/// use tool_runtime::{Dispatcher, tool};
///
/// /// Greet the user by name.
/// #[tool]
/// async fn greet(#[inject] client: &Client) -> Result<String, ClientError> {
///     let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
///     let answer = client.ask("name", "What is your name?", schema).await?;
///     Ok(match answer.content {
///         Some(content) => format!("Hello, {}!", content["name"].as_str().unwrap_or("you")),
///         None => "Hello, whoever you are!".to_owned(),
///     })
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().per_call::<Client>().build()?;
/// # drop(tools);
/// # Ok(())
/// # }
/// ```
///
/// A client of the 2025 generation is asked while the handler waits. One of 2026-07-28 is asked by the answer to its
/// call, and calls again with what it was asked for: then the handler **runs again from its beginning**, and this time
/// its question has an answer. So ask before you do anything that should not be done twice, give
/// [`ClientError::Asked`] back, by `?`, and give each question of a handler a name of its own, by which its answer is
/// known. Questions that are asked before the first of them is given back are asked together.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    context: RequestContext<RoleServer>,
    level: Arc<Level>,
    /// What the client has answered, in this round and in those before it.
    answers: InputResponses,
    asked: Mutex<Asked>,
}

/// What a call has asked its client for.
#[derive(Default)]
pub(super) struct Asked {
    /// What it is to send when it calls again.
    pub(super) requests: InputRequests,
    /// What it cannot do, and would have to.
    pub(super) lacking: Option<ClientCapabilities>,
    /// What it has sent that makes no sense.
    pub(super) malformed: Option<ErrorData>,
    /// What its user is shown of a call that needs consent.
    pub(super) consent: Option<String>,
}

impl Client {
    pub(super) fn new(context: RequestContext<RoleServer>, level: Arc<Level>, answers: InputResponses) -> Self {
        Self { inner: Arc::new(Inner { context, level, answers, asked: Mutex::default() }) }
    }

    /// What the client can do.
    #[must_use]
    pub fn capabilities(&self) -> ClientCapabilities {
        self.inner.context.client_capabilities().unwrap_or_default()
    }

    /// What the client is called, if it says so.
    #[must_use]
    pub fn info(&self) -> Option<Implementation> {
        self.inner.context.client_info()
    }

    /// The head of the HTTP request that brought the call, with what a check has left in its extensions.
    #[must_use]
    pub fn http(&self) -> Option<&http::request::Parts> {
        self.inner.context.extensions.get()
    }

    /// Asks the user to fill in a form. Its schema is an object whose properties are texts, numbers, booleans and
    /// choices.
    ///
    /// # Errors
    /// As [`elicit`](Self::elicit), and when the schema is none for a form.
    pub async fn ask(&self, name: &str, message: &str, schema: Value) -> Result<ElicitResult, ClientError> {
        let requested_schema = serde_json::from_value(schema)
            .map_err(|error| ClientError::Failed(format!("the schema of {name:?} is none for a form: {error}")))?;
        let form =
            ElicitRequestParams::FormElicitationParams { meta: None, message: message.to_owned(), requested_schema };
        self.elicit(name, form).await
    }

    /// Asks the user for something, by a form or at a URL.
    ///
    /// # Errors
    /// [`ClientError::Asked`] when the client will call again with the answer; other errors when it cannot be asked, or
    /// has given no answer that makes sense.
    pub async fn elicit(&self, name: &str, request: ElicitRequestParams) -> Result<ElicitResult, ClientError> {
        let by_url = matches!(request, ElicitRequestParams::UrlElicitationParams { .. });
        if !can_elicit(&self.capabilities(), by_url) {
            let mut lacking = ClientCapabilities::default();
            lacking.elicitation = Some(ElicitationCapability::default());
            return Err(self.lacks("elicitation", lacking));
        }
        if self.answers_in_rounds() {
            return self.answer(name, || InputRequest::Elicitation(ElicitRequest::new(request)));
        }
        self.inner.context.peer.create_elicitation(request).await.map_err(failed)
    }

    /// Asks the client's model for a completion.
    ///
    /// # Errors
    /// As [`elicit`](Self::elicit).
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
        if self.answers_in_rounds() {
            return self.answer(name, || InputRequest::CreateMessage(CreateMessageRequest::new(request)));
        }
        self.inner.context.peer.create_message(request).await.map_err(failed)
    }

    /// Asks for the client's roots: the folders that it works in.
    ///
    /// # Errors
    /// As [`elicit`](Self::elicit).
    pub async fn roots(&self, name: &str) -> Result<ListRootsResult, ClientError> {
        if self.capabilities().roots.is_none() {
            let mut lacking = ClientCapabilities::default();
            lacking.roots = Some(RootsCapabilities::default());
            return Err(self.lacks("roots", lacking));
        }
        if self.answers_in_rounds() {
            return self.answer(name, || InputRequest::ListRoots(ListRootsRequest::default()));
        }
        self.inner.context.peer.list_roots().await.map_err(failed)
    }

    /// Sends the client a line of a log, if it wants to hear of this level.
    pub async fn log(&self, level: LoggingLevel, data: impl Serialize) {
        let is_wanted = match self.answers_in_rounds() {
            true => self.inner.context.meta.log_level().is_some_and(|wanted| grade(level) >= grade(wanted)),
            false => self.inner.level.includes(level),
        };
        if !is_wanted {
            return;
        }
        match serde_json::to_value(data) {
            Ok(data) => {
                let line = LoggingMessageNotificationParam::new(level, data);
                if let Err(error) = self.inner.context.peer.notify_logging_message(line).await {
                    tracing::debug!(%error, "a client no longer hears of a log");
                }
            }
            Err(error) => tracing::warn!(%error, "a line of a log cannot be written as JSON"),
        }
    }

    pub(super) fn context(&self) -> &RequestContext<RoleServer> {
        &self.inner.context
    }

    pub(super) fn answers(&self) -> &InputResponses {
        &self.inner.answers
    }

    pub(super) fn asked(&self) -> MutexGuard<'_, Asked> {
        self.inner.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its user can be asked to agree or not.
    pub(super) fn can_confirm(&self) -> bool {
        can_elicit(&self.capabilities(), false)
    }

    /// Whether a question is the answer to a call, which is then made again.
    pub(super) fn answers_in_rounds(&self) -> bool {
        let version = self.inner.context.protocol_version();
        version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
    }

    /// The answer that has come with the call, or the question that will go back with its own.
    fn answer<T: DeserializeOwned>(
        &self,
        name: &str,
        request: impl FnOnce() -> InputRequest,
    ) -> Result<T, ClientError> {
        let Some(answer) = self.inner.answers.get(name) else {
            self.asked().requests.insert(name.to_owned(), request());
            return Err(ClientError::Asked);
        };
        T::deserialize(answer).map_err(|error| {
            let message = format!("`inputResponses.{name}` is no answer to what was asked: {error}");
            self.asked().malformed = Some(ErrorData::invalid_params(message.clone(), None));
            ClientError::Failed(message)
        })
    }

    fn lacks(&self, what: &'static str, lacking: ClientCapabilities) -> ClientError {
        self.asked().lacking = Some(lacking);
        ClientError::Unsupported(what)
    }
}

/// A client that says nothing of modes has forms.
fn can_elicit(client: &ClientCapabilities, by_url: bool) -> bool {
    let Some(elicitation) = &client.elicitation else { return false };
    if by_url { elicitation.url.is_some() } else { elicitation.form.is_some() || elicitation.url.is_none() }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn failed(error: ServiceError) -> ClientError {
    ClientError::Failed(format!("the client gave no answer: {error}"))
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("request", &self.inner.context.id).finish_non_exhaustive()
    }
}

/// Why a client has not given what a handler wanted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientError {
    /// It is asked by the answer to this call, and makes the call again with what it was asked for. Give this error
    /// back.
    Asked,
    /// It cannot: it has not declared this capability.
    Unsupported(&'static str),
    /// It could not be asked, or what it answered makes no sense.
    Failed(String),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("the client is asked first, and calls again"),
            Self::Unsupported(what) => write!(f, "the client does not support {what}"),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ClientError {}
