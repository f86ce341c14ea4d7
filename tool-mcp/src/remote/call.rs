//! Calls of remote tools.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, RequestId, RequestParamsMeta,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use tool_runtime::{ErrorKind, Scope, ToolResult};

use super::connection::ServerConnection;
use super::failure::{call_failure, failure, is_session_expired, unsent_failure};
use super::link::ServerLink;
use super::mcp_tool::McpTool;
use super::transport::{ProgressListener, SentFlag};
use super::{content, output_check};

/// The most rounds that a server may request for one call.
const MAX_ROUNDS: usize = 10;

/// Calls a tool of a server.
pub(super) async fn call(
    link: Arc<ServerLink>,
    tool: Arc<McpTool>,
    arguments: Map<String, Value>,
    scope: Scope,
) -> ToolResult {
    let params = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
    let mut call = RemoteCall { link: &link, tool: &tool, params, scope: &scope, sent: SentFlag::default() };
    let mut result = call.run().await;
    if result.as_ref().is_err_and(is_session_expired) {
        // The server does not know the session, so nothing has run. The call is repeated in a new session, after the
        // tools were listed there, if the tool is still the same.
        result = call.run().await;
    }
    result.unwrap_or_else(|error| match error {
        ServiceError::TransportClosed if !call.sent.is_set() => unsent_failure(link.name(), &tool.name),
        error => call_failure(&link, &tool.name, error),
    })
}

struct RemoteCall<'a> {
    link: &'a ServerLink,
    tool: &'a Arc<McpTool>,
    params: CallToolRequestParams,
    scope: &'a Scope,
    /// Set once the first round may have reached the server.
    sent: SentFlag,
}

impl RemoteCall<'_> {
    /// Makes the call over the current connection, and responds to the server's requests for input.
    async fn run(&mut self) -> Result<ToolResult, ServiceError> {
        let connection = match self.link.connection().await {
            Ok(connection) => connection,
            Err(why) => return Ok(failure(ErrorKind::Retry, why)),
        };
        self.sent = SentFlag::default();
        // The parameters are cloned only if the call may have to be sent again.
        let mut params = match connection.uses_rounds || connection.may_expire {
            true => self.params.clone(),
            false => std::mem::take(&mut self.params),
        };
        for _ in 0..MAX_ROUNDS {
            if let Err(withheld) = self.tool.check() {
                return Ok(withheld.refusal(self.link.name(), &self.tool.name));
            }
            match self.send(&connection, params).await? {
                ServerResult::CallToolResult(result) => {
                    let is_error = result.is_error == Some(true);
                    let mismatch = self.tool.output_mismatch(is_error, result.structured_content.as_ref());
                    return Ok(self.checked(mismatch, content::result(result)));
                }
                // Only the 2026 generation requests input this way; the call is then sent again.
                ServerResult::InputRequiredResult(required) if connection.uses_rounds => {
                    let requests = required.input_requests.unwrap_or_default();
                    let responses = match connection.requests.respond(requests).await {
                        Ok(responses) => responses,
                        Err(error) => return Ok(self.input_failure(&error.message)),
                    };
                    params = self.params.clone();
                    params.input_responses = (!responses.is_empty()).then_some(responses);
                    params.request_state = required.request_state;
                }
                ServerResult::CustomResult(result) => {
                    let mismatch =
                        self.tool.output_mismatch(result.0["isError"] == true, result.0.get("structuredContent"));
                    let result = content::lenient_result(result.0).ok_or(ServiceError::UnexpectedResponse)?;
                    return Ok(self.checked(mismatch, result));
                }
                _ => return Err(ServiceError::UnexpectedResponse),
            }
        }
        Ok(self.input_failure("too many rounds"))
    }

    fn input_failure(&self, why: &str) -> ToolResult {
        let (server, tool) = (self.link.name(), &self.tool.name);
        let message =
            format!("The server `{server}` requested input for `{tool}`, and no response could be given: {why}.");
        failure(ErrorKind::Failed, message)
    }

    /// Returns the result, or a failure if the result does not match the output schema.
    fn checked(&self, mismatch: Option<String>, result: ToolResult) -> ToolResult {
        match mismatch {
            None => result,
            Some(why) => output_check::mismatch_failure(self.link.name(), &self.tool.name, &why, &result),
        }
    }

    async fn send(
        &self,
        connection: &ServerConnection,
        mut params: CallToolRequestParams,
    ) -> Result<ServerResult, ServiceError> {
        if let Some(parent) = self.scope.context().trace_parent() {
            params.set_traceparent(parent);
        }
        let mut request = CallToolRequest::new(params);
        // The HTTP transport checks the tool again right before sending.
        request.extensions.insert(self.tool.clone());
        request.extensions.insert(self.sent.clone());
        let progress = self.scope.progress();
        if progress.is_heard() {
            request.extensions.insert(ProgressListener(progress));
        }
        let request = ClientRequest::CallToolRequest(request);
        let peer = &connection.peer;
        let pending = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
        let mut guard = RemoteCancelGuard { peer, id: Some(pending.id.clone()) };
        let response = tokio::select! {
            biased;
            response = pending.await_response() => response,
            () = connection.monitor.never_sends(&self.sent) => Err(ServiceError::TransportClosed),
        };
        guard.id = None;
        response
    }
}

/// Notifies the server when the call is dropped because it was cancelled or timed out.
struct RemoteCancelGuard<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for RemoteCancelGuard<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        let reason = Some("the call was cancelled".to_owned());
        runtime
            .spawn(async move { drop(peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await) });
    }
}
