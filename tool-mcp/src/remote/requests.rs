//! What servers ask of us: a form to fill in, a text from a model, the folders that matter.

#![expect(deprecated, reason = "sampling and roots are deprecated, and still asked for")]

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability,
    Implementation, InputRequest, InputRequests, ListRootsResult, LoggingLevel, LoggingMessageNotificationParam, Root,
    RootsCapabilities, SamplingCapability, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

/// A question that a server asks a person: a form to fill in, or a page to visit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elicitation {
    /// The server that asks, by its name here.
    pub server: Arc<str>,
    /// What it asks.
    pub request: ElicitRequestParams,
}

/// A text that a server wants from a language model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sampling {
    /// The server that asks, by its name here.
    pub server: Arc<str>,
    /// What it asks.
    pub request: CreateMessageRequestParams,
}

type Answer<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type OnElicitation = Arc<dyn Fn(Elicitation) -> Answer<ElicitResult> + Send + Sync>;
type OnSampling = Arc<dyn Fn(Sampling) -> Answer<Result<CreateMessageResult, String>> + Send + Sync>;

/// Who answers the requests of servers. What nobody answers is declined, and not offered to begin with.
#[derive(Clone, Default)]
pub(super) struct Handlers {
    pub(super) elicitation: Option<OnElicitation>,
    pub(super) sampling: Option<OnSampling>,
    pub(super) roots: Vec<Root>,
}

/// How many requests of one server are answered at once. More are declined: a server could ask without end.
const AT_ONCE: usize = 8;

/// Answers the requests of one server.
#[derive(Clone)]
pub(super) struct Requests {
    server: Arc<str>,
    handlers: Arc<Handlers>,
    places: Arc<Semaphore>,
}

impl Requests {
    pub(super) fn new(server: Arc<str>, handlers: Arc<Handlers>) -> Self {
        Self { server, handlers, places: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Answers what a result asks for before the call can go on.
    pub(super) async fn answer(&self, asked: InputRequests) -> Result<BTreeMap<String, Value>, ErrorData> {
        let mut answers = BTreeMap::new();
        for (key, request) in asked {
            let answer = match request {
                InputRequest::Elicitation(request) => serde_json::to_value(self.elicit(request.params).await),
                InputRequest::CreateMessage(request) => serde_json::to_value(self.sample(request.params).await?),
                InputRequest::ListRoots(_) => serde_json::to_value(self.roots()?),
                _ => return Err(not_done("what it asks for")),
            };
            answers.insert(key, answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?);
        }
        Ok(answers)
    }

    async fn elicit(&self, request: ElicitRequestParams) -> ElicitResult {
        let (Some(handler), Ok(_place)) = (&self.handlers.elicitation, self.places.try_acquire()) else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let defaults = defaults(&request);
        let mut answer = handler(Elicitation { server: self.server.clone(), request }).await;
        if answer.action == ElicitationAction::Accept && !defaults.is_empty() {
            let content = answer.content.get_or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(content) = content {
                for (name, value) in defaults {
                    content.entry(name).or_insert(value);
                }
            }
        }
        answer
    }

    async fn sample(&self, request: CreateMessageRequestParams) -> Result<CreateMessageResult, ErrorData> {
        let handler = self.handlers.sampling.as_ref().ok_or_else(|| not_done("sampling"))?;
        let _place = self.places.try_acquire().map_err(|_| ErrorData::internal_error("too many at once", None))?;
        let sampling = Sampling { server: self.server.clone(), request };
        handler(sampling).await.map_err(|error| ErrorData::internal_error(error, None))
    }

    fn roots(&self) -> Result<ListRootsResult, ErrorData> {
        match self.handlers.roots.as_slice() {
            [] => Err(not_done("roots")),
            roots => Ok(ListRootsResult::new(roots.to_vec())),
        }
    }
}

fn not_done(what: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("this application does not do {what}"), None)
}

/// What a form is filled in with where the answer leaves something out.
fn defaults(request: &ElicitRequestParams) -> Map<String, Value> {
    let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = request else { return Map::new() };
    let Ok(Value::Object(mut schema)) = serde_json::to_value(requested_schema) else { return Map::new() };
    let Some(Value::Object(properties)) = schema.remove("properties") else { return Map::new() };
    let default = |(name, mut property): (String, Value)| Some((name, property.as_object_mut()?.remove("default")?));
    properties.into_iter().filter_map(default).collect()
}

impl ClientHandler for Requests {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicit(request).await)
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.sample(request).await
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.roots()
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let (server, said) = (&*self.server, &message.data);
        match message.level {
            LoggingLevel::Debug => tracing::trace!(target: "tool_mcp::log", server, %said),
            LoggingLevel::Info | LoggingLevel::Notice => tracing::debug!(target: "tool_mcp::log", server, %said),
            _ => tracing::info!(target: "tool_mcp::log", server, %said),
        }
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.handlers.elicitation.is_some() {
            let form = FormElicitationCapability::default();
            let url = UrlElicitationCapability::default();
            capabilities.elicitation = Some(ElicitationCapability::new().with_form(form).with_url(url));
        }
        if self.handlers.sampling.is_some() {
            capabilities.sampling = Some(SamplingCapability::default());
        }
        if !self.handlers.roots.is_empty() {
            capabilities.roots = Some(RootsCapabilities::default());
        }
        let client = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, client)
    }
}
