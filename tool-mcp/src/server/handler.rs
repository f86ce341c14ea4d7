//! The rmcp handler of a server: tools are served here, everything else by the extra handler.

#![expect(deprecated, reason = "sampling, roots and logging are deprecated in MCP, but clients still use them")]

use std::borrow::Cow;
use std::sync::Arc;

use http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams, CompleteResult, ConstString,
    CustomNotification, CustomRequest, CustomResult, ErrorCode, GetPromptRequestMethod, GetPromptRequestParams,
    GetPromptResponse, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tool_runtime::CancellationToken;
use tool_runtime::display::excerpt;

use super::ServerShared;
use super::client::LogLevel;
use super::http::SESSION;

/// The default extra handler of an [`McpServer`](crate::McpServer): no prompts, no resources, no completions. See
/// [`McpServer::extra`](crate::McpServer::extra).
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolsOnly;

impl ServerHandler for ToolsOnly {}

/// A connection, an HTTP session, or an HTTP request without a session.
pub(super) struct ServerSession<H> {
    pub(super) shared: Arc<ServerShared<H>>,
    pub(super) level: Arc<LogLevel>,
    /// The conversation id of a connection's calls.
    connection: Option<String>,
    /// Cancelled when the client of a connection has closed its output.
    gone: CancellationToken,
    /// Counts against `HttpConfig::max_sessions`.
    _permit: Option<OwnedSemaphorePermit>,
}

impl<H: ServerHandler> ServerSession<H> {
    /// Creates the session of a connection, whose calls are one conversation.
    pub(super) fn for_connection(shared: Arc<ServerShared<H>>, gone: CancellationToken) -> Self {
        let connection = Some(uuid::Uuid::new_v4().to_string());
        Self { shared, level: Arc::default(), connection, gone, _permit: None }
    }

    /// Creates a session for HTTP, where a header names the conversation of a call.
    pub(super) fn for_http(shared: Arc<ServerShared<H>>, permit: OwnedSemaphorePermit) -> Self {
        Self { shared, level: Arc::default(), connection: None, gone: CancellationToken::new(), _permit: Some(permit) }
    }

    /// Returns the conversation that a call belongs to, if any.
    pub(super) fn conversation<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Option<Cow<'a, str>> {
        let in_header = || context.extensions.get::<Parts>()?.headers.get(SESSION)?.to_str().ok();
        self.connection.as_deref().or_else(in_header).map(Cow::Borrowed)
    }

    /// Rejects methods of capabilities that the extra handler does not declare.
    fn check_declared<M: ConstString>(&self, what: impl Fn(&ServerCapabilities) -> bool) -> Result<(), ErrorData> {
        if what(&self.shared.info.capabilities) { Ok(()) } else { Err(ErrorData::method_not_found::<M>()) }
    }
}

impl<H: ServerHandler> ServerHandler for ServerSession<H> {
    fn get_info(&self) -> ServerConfig {
        self.shared.info.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.as_ref().and_then(|request| request.cursor.as_deref());
        self.shared.listings.current(&self.shared.tools)?.page(cursor, self.shared.page_size)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let listing = self.shared.listings.current(&self.shared.tools).ok()?;
        listing.get(name).map(|listed| listed.tool.clone())
    }

    /// Not an `async fn`: its future would store the arguments twice.
    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send + '_ {
        self.call(request, context)
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.level.set(request.level);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.add_peer(context.peer.clone());
        self.shared.extra.on_initialized(context).await;
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = self.shared.extra.accepted_subscription_filter(requested).unwrap_or_default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let ours = self.shared.notify_subscriber(context.sink().clone());
        // Boxed to keep the futures of all other requests small.
        let mut theirs = Box::pin(self.shared.extra.listen(context));
        let both = async {
            tokio::select! {
                () = ours => theirs.await,
                result = &mut theirs => result,
            }
        };
        self.gone.run_until_cancelled(both).await.unwrap_or(Ok(()))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.check_declared::<CompleteRequestMethod>(|declared| declared.completions.is_some())?;
        self.shared.extra.complete(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.check_declared::<GetPromptRequestMethod>(|declared| declared.prompts.is_some())?;
        self.shared.extra.get_prompt(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.check_declared::<ListPromptsRequestMethod>(|declared| declared.prompts.is_some())?;
        self.shared.extra.list_prompts(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.check_declared::<ListResourcesRequestMethod>(|declared| declared.resources.is_some())?;
        self.shared.extra.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.check_declared::<ListResourceTemplatesRequestMethod>(|declared| declared.resources.is_some())?;
        self.shared.extra.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.check_declared::<ReadResourceRequestMethod>(|declared| declared.resources.is_some())?;
        self.shared.extra.read_resource(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.extra.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.extra.unsubscribe(request, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let (method, params) = (request.method.clone(), request.params.clone());
        match self.shared.extra.on_custom_request(request, context).await {
            Err(error) if error.code == ErrorCode::METHOD_NOT_FOUND => Err(unknown_request(&method, params)),
            response => response,
        }
    }

    async fn on_custom_notification(&self, notification: CustomNotification, context: NotificationContext<RoleServer>) {
        self.shared.extra.on_custom_notification(notification, context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.shared.extra.on_roots_list_changed(context).await;
    }
}

/// Returns the error for an unknown request. rmcp parses an invalid `tools/call` as an unknown request, too.
fn unknown_request(method: &str, params: Option<serde_json::Value>) -> ErrorData {
    if method == "tools/call" {
        let why = CallToolRequestParams::deserialize(params.unwrap_or_default()).err();
        let why = why.map_or_else(String::new, |error| format!(": {}", excerpt(&error.to_string())));
        let expected = "expected an object with the string `name` and the object `arguments`";
        return ErrorData::invalid_params(format!("invalid params of `tools/call`{why}; {expected}"), None);
    }
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method `{}`", excerpt(method)), None)
}
