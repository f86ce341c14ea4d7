//! Handles `tools/call`.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitResult, InputRequest,
    InputRequests, InputRequiredResult, JsonObject, RequestId, RequestMetaObject, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::Value;
use tool_runtime::confirm::{Confirm, Decision, Question, TokenError};
use tool_runtime::{Call, Dispatcher, ErrorKind, Progress, ToolCall, ToolResult};

use super::ServerShared;
use super::approval::{AskClient, approval, form};
use super::client::McpClient;
use super::handler::ServerSession;
use super::listing::ListedTool;
use super::progress::ProgressForwarder;
use super::request_parser::{arguments_object, arguments_text};
use super::rounds::{RoundApproval, RoundState, StateSeal, associated_data};

/// The key of the input request for approval.
const APPROVAL_KEY: &str = "tool-mcp.consent";

/// The metadata key for MCP content blocks.
const CONTENT_KEY: &str = "content";
/// The metadata key for structured content that differs from the output.
const STRUCTURED_KEY: &str = "structured_content";

impl<H: ServerHandler> ServerSession<H> {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let listing = self.shared.listings.current(&self.shared.tools)?;
        let Some(listed) = listing.get(&request.name) else {
            let call = self.shared.tools.call(ToolCall::from_text(request.name, "{}"));
            return Err(ErrorData::invalid_params(call.await.output, None));
        };
        let needs_approval = self.shared.needs_approval(listed);
        if needs_approval || listed.sees_client || request.request_state.is_some() {
            // Boxed, because its large future would otherwise be moved with every call.
            return Box::pin(self.call_with_client(listed, needs_approval, request, context)).await;
        }
        // Fast path: neither an approval nor the handler involves the client.
        let text = arguments_text(request.arguments.as_ref(), &context.extensions)?;
        let call = tool_call(listed, &request.name, text, self.conversation(&context), &context.id, &context.meta);
        let call = self.shared.tools.call(call).cancel(context.ct.clone());
        let result = match context.meta.get_progress_token() {
            None => call.await,
            Some(token) => {
                let (progress, reports) = ProgressForwarder::new(token, context.peer.clone());
                Box::pin(reports.run(call.with(progress))).await
            }
        };
        let whole = |result: &_| self.shared.tools.whole_output(self.conversation(&context).as_deref(), result);
        call_response(result, listed, whole)
    }

    /// Handles a call that may involve its client.
    async fn call_with_client(
        &self,
        listed: &ListedTool,
        needs_approval: bool,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name: called, arguments, input_responses, request_state, .. } = request;
        let arguments = arguments_object(arguments, &context.extensions)?;
        let state = match request_state {
            None => RoundState::default(),
            Some(sealed) => {
                let associated = associated_data(&listed.own_name, arguments.as_ref(), &context.extensions);
                self.shared.rounds.seal()?.open(&sealed, &associated)?
            }
        };
        let mut responses = state.responses;
        responses.extend(input_responses.unwrap_or_default());
        let response = responses.remove(APPROVAL_KEY);
        let client = McpClient::new(context, self.level.clone(), responses);
        let round = CallRound { session: self, listed, called, arguments, client };
        match state.approval {
            None => round.start(needs_approval).await,
            Some(RoundApproval { token, shown: None }) => round.resume(&token).await,
            Some(RoundApproval { token, shown: Some(shown) }) => match response.map(ElicitResult::deserialize) {
                None => round.ask_for_approval(token, shown),
                Some(Ok(response)) => match approval(&response) {
                    Ok(()) => round.resume(&token).await,
                    Err(reason) => round.refuse(&token, reason).await,
                },
                Some(Err(error)) => Err(ErrorData::invalid_params(
                    format!("`inputResponses.{APPROVAL_KEY}` is not a valid response: {error}"),
                    None,
                )),
            },
        }
    }
}

impl<H> ServerShared<H> {
    /// Returns `true` if the client may have to approve a call.
    pub(super) fn needs_approval(&self, listed: &ListedTool) -> bool {
        listed.needs_approval && self.asks_client
    }
}

/// Builds the dispatcher's call. `called` is the name that the client used, which may be an alias.
pub(super) fn tool_call<'a>(
    listed: &'a ListedTool,
    called: &'a str,
    arguments: Cow<'a, str>,
    conversation: Option<Cow<'a, str>>,
    id: &RequestId,
    meta: &'a RequestMetaObject,
) -> ToolCall<'a> {
    let name = if called == listed.tool.name { &*listed.own_name } else { called };
    let mut call = ToolCall::from_text(name, arguments);
    // An id is unique only within its conversation.
    if let Some(conversation) = conversation {
        call = call.conversation(conversation).id(id.to_string());
    }
    if let Some(parent) = meta.get_traceparent() {
        call = call.trace_parent(parent);
    }
    call
}

/// Returns the response to a finished call.
pub(super) fn call_response(
    result: ToolResult,
    listed: &ListedTool,
    whole: impl FnOnce(&ToolResult) -> Option<Arc<str>>,
) -> Result<CallToolResponse, ErrorData> {
    match &result.error {
        Some(error) if error.kind == ErrorKind::UnknownTool => Err(ErrorData::invalid_params(result.output, None)),
        _ => Ok(to_mcp_result(result, &listed.tool, whole).into()),
    }
}

/// One round of a call that may involve its client.
struct CallRound<'a, H: ServerHandler> {
    session: &'a ServerSession<H>,
    listed: &'a ListedTool,
    /// The name that the client used.
    called: Cow<'static, str>,
    arguments: Option<JsonObject>,
    client: McpClient,
}

impl<H: ServerHandler> CallRound<'_, H> {
    fn tools(&self) -> &Dispatcher {
        &self.session.shared.tools
    }

    fn conversation(&self) -> Option<Cow<'_, str>> {
        self.session.conversation(self.client.context())
    }

    /// Runs a call for the first time.
    async fn start(&self, needs_approval: bool) -> Result<CallToolResponse, ErrorData> {
        let context = self.client.context();
        let text = arguments_text(self.arguments.as_ref(), &context.extensions)?;
        let call = tool_call(self.listed, &self.called, text, self.conversation(), &context.id, &context.meta);
        let mut call = self.tools().call(call);
        if needs_approval {
            let deferred = match self.client.uses_rounds() {
                true => Some(self.seal()?.deferred.clone()),
                false => None,
            };
            call = call.confirm(AskClient { client: self.client.clone(), deferred });
        }
        let result = self.run(|progress| self.with_client(call, progress)).await;
        self.respond(result, None).await
    }

    /// Runs an approved call, exactly as it was shown.
    async fn resume(&self, token: &str) -> Result<CallToolResponse, ErrorData> {
        let mut approved = None;
        let deferred = &self.seal()?.deferred;
        let result = self
            .run(|progress| {
                deferred.resume(token, SystemTime::now(), |question| {
                    approved = Some(question.clone());
                    self.with_client(self.tools().approve(question), progress)
                })
            })
            .await;
        self.respond(result.map_err(token_error)?, approved).await
    }

    /// Responds to a call that the user refused.
    async fn refuse(&self, token: &str, reason: &str) -> Result<CallToolResponse, ErrorData> {
        let pending = self.seal()?.deferred.redeem(token, SystemTime::now()).await.map_err(token_error)?;
        let result = self.tools().refuse(&pending.question, Some(reason)).await;
        self.respond(result, None).await
    }

    /// Asks the user for approval, by the result of the call.
    fn ask_for_approval(&self, token: String, shown: String) -> Result<CallToolResponse, ErrorData> {
        let request = InputRequest::Elicitation(ElicitRequest::new(form(&shown)));
        let requests = InputRequests::from([(APPROVAL_KEY.to_owned(), request)]);
        self.request_input(requests, Some(RoundApproval { token, shown: Some(shown) }))
    }

    fn request_input(
        &self,
        requests: InputRequests,
        approval: Option<RoundApproval>,
    ) -> Result<CallToolResponse, ErrorData> {
        let state = RoundState { responses: self.client.responses().clone(), approval };
        let associated =
            associated_data(&self.listed.own_name, self.arguments.as_ref(), &self.client.context().extensions);
        let sealed = self.seal()?.seal(&state, &associated)?;
        Ok(InputRequiredResult::new(Some(requests), Some(sealed)).into())
    }

    /// Returns the response of this round: a request for input, or the result. `approved` is the question that the user
    /// approved in this round; it is not asked again if the handler requests other input.
    async fn respond(&self, result: ToolResult, approved: Option<Question>) -> Result<CallToolResponse, ErrorData> {
        let whole = |result: &_| self.tools().whole_output(self.conversation().as_deref(), result);
        let Some(error) = &result.error else { return call_response(result, self.listed, whole) };
        let requested = std::mem::take(&mut *self.client.requested());
        if let Some(error) = requested.malformed {
            return Err(error);
        }
        if let Some(shown) = requested.approval.filter(|_| error.kind == ErrorKind::Pending)
            && let Some(token) = result.metadata.get("token").and_then(|token| token.as_str())
        {
            return self.ask_for_approval(token.to_owned(), shown);
        }
        if !requested.requests.is_empty() {
            let approval = match approved {
                None => None,
                Some(question) => Some(self.defer_approved(&question).await?),
            };
            return self.request_input(requested.requests, approval);
        }
        match requested.lacking {
            Some(lacking) if self.client.uses_rounds() => Err(ErrorData::missing_required_client_capability(lacking)),
            _ => call_response(result, self.listed, whole),
        }
    }

    /// Defers a call that the user has approved to the next round.
    async fn defer_approved(&self, question: &Question) -> Result<RoundApproval, ErrorData> {
        match self.seal()?.deferred.confirm(question).await {
            Decision::Pending(pending) => Ok(RoundApproval { token: pending.token, shown: None }),
            _ => Err(ErrorData::internal_error("the call cannot be deferred now; try again later", None)),
        }
    }

    /// Runs a call and forwards its progress if the client requested it.
    async fn run<T, F: Future<Output = T>>(&self, call: impl FnOnce(Option<Progress>) -> F) -> T {
        let context = self.client.context();
        match context.meta.get_progress_token() {
            None => call(None).await,
            Some(token) => {
                let (progress, reports) = ProgressForwarder::new(token, context.peer.clone());
                reports.run(call(Some(progress))).await
            }
        }
    }

    fn with_client<'c>(&self, call: Call<'c>, progress: Option<Progress>) -> Call<'c> {
        let call = call.with(self.client.clone()).cancel(self.client.context().ct.clone());
        match progress {
            Some(progress) => call.with(progress),
            None => call,
        }
    }

    fn seal(&self) -> Result<&StateSeal, ErrorData> {
        self.session.shared.rounds.seal()
    }
}

fn token_error(error: TokenError) -> ErrorData {
    match error {
        TokenError::Unavailable => ErrorData::internal_error(error.to_string(), None),
        _ => ErrorData::invalid_params(format!("the call is no longer pending: {error}"), None),
    }
}

/// Converts a result to MCP's form. Other metadata is for local interfaces and is not sent. `whole` returns the output
/// before it was shortened for the model, if it was.
fn to_mcp_result(
    result: ToolResult,
    tool: &Tool,
    whole: impl FnOnce(&ToolResult) -> Option<Arc<str>>,
) -> CallToolResult {
    let structured = structured_content(&result, tool, whole);
    let content = content_blocks(&result).unwrap_or_else(|| vec![ContentBlock::text(result.output)]);
    let mut converted = if result.success { CallToolResult::success(content) } else { CallToolResult::error(content) };
    converted.structured_content = structured;
    converted
}

fn content_blocks(result: &ToolResult) -> Option<Vec<ContentBlock>> {
    let content = result.metadata.get(CONTENT_KEY)?;
    Vec::deserialize(content)
        .inspect_err(|error| tracing::warn!(%error, "the `content` of a result is not a list of MCP content blocks"))
        .ok()
}

/// Returns the structured content. MCP requires it of tools with an output schema.
fn structured_content(
    result: &ToolResult,
    tool: &Tool,
    whole: impl FnOnce(&ToolResult) -> Option<Arc<str>>,
) -> Option<Value> {
    if let Some(structured) = result.metadata.get(STRUCTURED_KEY) {
        return Some(structured.clone());
    }
    if !result.success || tool.output_schema.is_none() {
        return None;
    }
    let whole = whole(result);
    serde_json::from_str(whole.as_deref().unwrap_or(&result.output)).ok().filter(Value::is_object)
}
