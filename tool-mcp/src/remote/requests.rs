//! Requests by servers: elicitation, sampling and roots.

#![expect(deprecated, reason = "sampling and roots are deprecated in MCP, but servers still use them")]

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

/// A request for user input by a server: a form to fill in, or a URL to visit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The local name of the server.
    pub server: Arc<str>,
    /// The parameters of the request.
    pub request: ElicitRequestParams,
}

/// A request for a completion by a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The local name of the server.
    pub server: Arc<str>,
    /// The parameters of the request.
    pub request: CreateMessageRequestParams,
}

type ResponseFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type OnElicitation = Arc<dyn Fn(ElicitationRequest) -> ResponseFuture<ElicitResult> + Send + Sync>;
type OnSampling = Arc<dyn Fn(SamplingRequest) -> ResponseFuture<Result<CreateMessageResult, String>> + Send + Sync>;

/// The application's handlers. The capability of a missing handler is not declared, and its requests are declined.
#[derive(Clone, Default)]
pub(super) struct RequestHandlers {
    pub(super) elicitation: Option<OnElicitation>,
    pub(super) sampling: Option<OnSampling>,
    pub(super) roots: Vec<Root>,
}

/// The most concurrent requests of one server; further ones are declined.
const MAX_CONCURRENT: usize = 8;

/// Responds to the requests of one server.
#[derive(Clone)]
pub(super) struct ServerRequests {
    server: Arc<str>,
    handlers: Arc<RequestHandlers>,
    permits: Arc<Semaphore>,
}

impl ServerRequests {
    pub(super) fn new(server: Arc<str>, handlers: Arc<RequestHandlers>) -> Self {
        Self { server, handlers, permits: Arc::new(Semaphore::new(MAX_CONCURRENT)) }
    }

    /// Responds to the input requests of a result.
    pub(super) async fn respond(&self, requests: InputRequests) -> Result<BTreeMap<String, Value>, ErrorData> {
        let mut responses = BTreeMap::new();
        for (key, request) in requests {
            let response = match request {
                InputRequest::Elicitation(request) => serde_json::to_value(self.elicit(request.params).await),
                InputRequest::CreateMessage(request) => serde_json::to_value(self.sample(request.params).await?),
                InputRequest::ListRoots(_) => serde_json::to_value(self.roots()?),
                _ => return Err(unsupported("this kind of request")),
            };
            responses.insert(key, response.map_err(|error| ErrorData::internal_error(error.to_string(), None))?);
        }
        Ok(responses)
    }

    async fn elicit(&self, request: ElicitRequestParams) -> ElicitResult {
        let (Some(handler), Ok(_permit)) = (&self.handlers.elicitation, self.permits.try_acquire()) else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let defaults = defaults(&request);
        let mut response = handler(ElicitationRequest { server: self.server.clone(), request }).await;
        if response.action == ElicitationAction::Accept && !defaults.is_empty() {
            let content = response.content.get_or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(content) = content {
                for (name, value) in defaults {
                    content.entry(name).or_insert(value);
                }
            }
        }
        response
    }

    async fn sample(&self, request: CreateMessageRequestParams) -> Result<CreateMessageResult, ErrorData> {
        let handler = self.handlers.sampling.as_ref().ok_or_else(|| unsupported("sampling"))?;
        let _permit =
            self.permits.try_acquire().map_err(|_| ErrorData::internal_error("too many concurrent requests", None))?;
        let sampling = SamplingRequest { server: self.server.clone(), request };
        handler(sampling).await.map_err(|error| ErrorData::internal_error(error, None))
    }

    fn roots(&self) -> Result<ListRootsResult, ErrorData> {
        match self.handlers.roots.as_slice() {
            [] => Err(unsupported("roots")),
            roots => Ok(ListRootsResult::new(roots.to_vec())),
        }
    }
}

fn unsupported(feature: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("this application does not support {feature}"), None)
}

/// Returns the default values of a form, for fields that the response omits.
fn defaults(request: &ElicitRequestParams) -> Map<String, Value> {
    let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = request else { return Map::new() };
    let Ok(Value::Object(mut schema)) = serde_json::to_value(requested_schema) else { return Map::new() };
    let Some(Value::Object(properties)) = schema.remove("properties") else { return Map::new() };
    let default = |(name, mut property): (String, Value)| Some((name, property.as_object_mut()?.remove("default")?));
    properties.into_iter().filter_map(default).collect()
}

impl ClientHandler for ServerRequests {
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
        let (server, data) = (&*self.server, &message.data);
        match message.level {
            LoggingLevel::Debug => tracing::trace!(target: "tool_mcp::log", server, %data),
            LoggingLevel::Info | LoggingLevel::Notice => tracing::debug!(target: "tool_mcp::log", server, %data),
            _ => tracing::info!(target: "tool_mcp::log", server, %data),
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
