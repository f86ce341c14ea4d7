//! One call of a remote tool.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, RequestId, RequestParamsMeta,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use tool_runtime::{ErrorKind, Scope, ToolResult};

use super::connection::Connection;
use super::failure::{failed, failure, is_forgotten, unsent};
use super::link::Link;
use super::listed::Listed;
use super::transport::{Listener, Sent};
use super::{content, promise};

/// How often a server may ask for more before a call must be over.
const ROUNDS: usize = 10;

/// Calls a tool of the server.
pub(super) async fn call(
    link: Arc<Link>,
    tool: Arc<Listed>,
    arguments: Map<String, Value>,
    scope: Scope,
) -> ToolResult {
    let params = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
    let mut call = Call { link: &link, tool: &tool, params, scope: &scope, sent: Sent::default() };
    let mut answered = call.answered().await;
    if answered.as_ref().is_err_and(is_forgotten) {
        // The server does not know the session, so that nothing has run. Once it has listed its tools in a new one, the
        // call is made there, if it is still a call of the same tool.
        answered = call.answered().await;
    }
    answered.unwrap_or_else(|error| match error {
        ServiceError::TransportClosed if !call.sent.is_so() => unsent(link.name(), &tool.name),
        error => failed(&link, &tool.name, error),
    })
}

struct Call<'a> {
    link: &'a Link,
    tool: &'a Arc<Listed>,
    params: CallToolRequestParams,
    scope: &'a Scope,
    /// Whether the server has it by now, if only the first round.
    sent: Sent,
}

impl Call<'_> {
    /// Makes the call over the connection that there is, and answers the server where it asks back.
    async fn answered(&mut self) -> Result<ToolResult, ServiceError> {
        let connection = match self.link.connection().await {
            Ok(connection) => connection,
            Err(away) => return Ok(failure(ErrorKind::Retry, away)),
        };
        self.sent = Sent::default();
        // What cannot be wanted again is not kept.
        let mut params = match connection.asks_back || connection.may_forget {
            true => self.params.clone(),
            false => std::mem::take(&mut self.params),
        };
        for _ in 0..ROUNDS {
            if let Err(withheld) = self.tool.check() {
                return Ok(withheld.refusal(self.link.name(), &self.tool.name));
            }
            match self.send(&connection, params).await? {
                ServerResult::CallToolResult(answer) => {
                    let is_error = answer.is_error == Some(true);
                    let broken = self.tool.broken_by(is_error, answer.structured_content.as_ref());
                    return Ok(self.kept(broken, content::result(answer)));
                }
                // Only the newer generation asks back; there the call is made again.
                ServerResult::InputRequiredResult(asked) if connection.asks_back => {
                    let answers = match connection.requests.answer(asked.input_requests.unwrap_or_default()).await {
                        Ok(answers) => answers,
                        Err(error) => return Ok(self.unanswered(&error.message)),
                    };
                    params = self.params.clone();
                    params.input_responses = (!answers.is_empty()).then_some(answers);
                    params.request_state = asked.request_state;
                }
                ServerResult::CustomResult(answer) => {
                    let broken = self.tool.broken_by(answer.0["isError"] == true, answer.0.get("structuredContent"));
                    let result = content::loose_result(answer.0).ok_or(ServiceError::UnexpectedResponse)?;
                    return Ok(self.kept(broken, result));
                }
                _ => return Err(ServiceError::UnexpectedResponse),
            }
        }
        Ok(self.unanswered("it kept asking"))
    }

    fn unanswered(&self, why: &str) -> ToolResult {
        let (server, tool) = (self.link.name(), &self.tool.name);
        let message =
            format!("The server `{server}` asked for more before it went on with `{tool}`, and had no answer: {why}.");
        failure(ErrorKind::Failed, message)
    }

    /// The result, unless it is not what was promised.
    fn kept(&self, broken: Option<String>, result: ToolResult) -> ToolResult {
        match broken {
            None => result,
            Some(why) => promise::broken(self.link.name(), &self.tool.name, &why, &result),
        }
    }

    async fn send(
        &self,
        connection: &Connection,
        mut params: CallToolRequestParams,
    ) -> Result<ServerResult, ServiceError> {
        if let Some(parent) = self.scope.context().trace_parent() {
            params.set_traceparent(parent);
        }
        let mut request = CallToolRequest::new(params);
        // What it was checked against is checked again when it leaves.
        request.extensions.insert(self.tool.clone());
        request.extensions.insert(self.sent.clone());
        let progress = self.scope.progress();
        if progress.is_heard() {
            request.extensions.insert(Listener(progress));
        }
        let request = ClientRequest::CallToolRequest(request);
        let peer = &connection.peer;
        let waiting = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
        let mut abandoned = Abandoned { peer, id: Some(waiting.id.clone()) };
        let answer = tokio::select! {
            biased;
            answer = waiting.await_response() => answer,
            () = connection.wire.never_sends(&self.sent) => Err(ServiceError::TransportClosed),
        };
        abandoned.id = None;
        answer
    }
}

/// Tells the server when nobody waits for its answer any more: the call was cancelled, or its time is up.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        let reason = Some("nobody waits for the answer any more".to_owned());
        runtime
            .spawn(async move { drop(peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await) });
    }
}
