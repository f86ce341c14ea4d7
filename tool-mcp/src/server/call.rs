//! One `tools/call`.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitResult, InputRequest, InputRequests,
    InputRequiredResult, JsonObject, RequestId, RequestMetaObject,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use tool_runtime::confirm::{Confirm, Decision, Question, TokenError};
use tool_runtime::{Call, Dispatcher, ErrorKind, Progress, ToolCall, ToolResult};

use super::client::Client;
use super::consent::{AskClient, form, said};
use super::handler::Session;
use super::listing::Listed;
use super::progress::Reports;
use super::read::{arguments_object, arguments_text};
use super::rounds::{Consent, Seal, State, bound};
use super::{Shared, answer};

/// Under which name the client is asked for consent.
const CONSENT: &str = "tool-mcp.consent";

impl<H: ServerHandler> Session<H> {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let listing = self.shared.listings.of(&self.shared.tools)?;
        let Some(listed) = listing.get(&request.name) else {
            let call = self.shared.tools.call(ToolCall::from_text(request.name, "{}"));
            return Err(ErrorData::invalid_params(call.await.output, None));
        };
        let may_ask = self.shared.may_ask(listed);
        if may_ask || listed.sees_client || request.request_state.is_some() {
            // In a box: its future is large, and would be moved about with every call.
            return Box::pin(self.call_for_client(listed, may_ask, request, context)).await;
        }
        // A call that has nothing to do with its client, as most: nobody may have to be asked, and no handler asks.
        let text = arguments_text(request.arguments.as_ref(), &context.extensions)?;
        let call = tool_call(listed, text, self.conversation(&context), &context.id, &context.meta);
        let call = self.shared.tools.call(call).cancel(context.ct.clone());
        let result = match context.meta.get_progress_token() {
            None => call.await,
            Some(token) => {
                let (progress, reports) = Reports::new(token, context.peer.clone());
                Box::pin(reports.during(call.with(progress))).await
            }
        };
        let whole = |result: &_| self.shared.tools.whole_output(self.conversation(&context).as_deref(), result);
        answered(result, listed, whole)
    }

    /// A call that may have to do with its client.
    async fn call_for_client(
        &self,
        listed: &Listed,
        may_ask: bool,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { arguments, input_responses, request_state, .. } = request;
        let arguments = arguments_object(arguments, &context.extensions)?;
        let state = match request_state {
            None => State::default(),
            Some(sealed) => {
                let bound = bound(&listed.own_name, arguments.as_ref(), &context.extensions);
                self.shared.rounds.seal()?.open(&sealed, &bound)?
            }
        };
        let mut answers = state.answers;
        answers.extend(input_responses.unwrap_or_default());
        let answer = answers.remove(CONSENT);
        let client = Client::new(context, self.level.clone(), answers);
        let round = Round { session: self, listed, arguments, client };
        match state.consent {
            None => round.first(may_ask).await,
            Some(Consent { token, shown: None }) => round.resume(&token).await,
            Some(Consent { token, shown: Some(shown) }) => match answer.map(ElicitResult::deserialize) {
                None => round.ask_for_consent(token, shown),
                Some(Ok(answer)) => match said(&answer) {
                    Ok(()) => round.resume(&token).await,
                    Err(reason) => round.refuse(&token, reason).await,
                },
                Some(Err(error)) => {
                    Err(ErrorData::invalid_params(format!("`inputResponses.{CONSENT}` is no answer: {error}"), None))
                }
            },
        }
    }
}

impl<H> Shared<H> {
    /// Whether the client may have to be asked about a call.
    pub(super) fn may_ask(&self, listed: &Listed) -> bool {
        listed.may_ask && self.asks_client
    }
}

/// The call as the dispatcher takes it.
pub(super) fn tool_call<'a>(
    listed: &'a Listed,
    arguments: Cow<'a, str>,
    conversation: Option<Cow<'a, str>>,
    id: &RequestId,
    meta: &'a RequestMetaObject,
) -> ToolCall<'a> {
    let mut call = ToolCall::from_text(&*listed.own_name, arguments);
    // An id means something only together with the conversation that it is one of.
    if let Some(conversation) = conversation {
        call = call.conversation(conversation).id(id.to_string());
    }
    if let Some(parent) = meta.get_traceparent() {
        call = call.trace_parent(parent);
    }
    call
}

/// What the client is answered in the end.
pub(super) fn answered(
    result: ToolResult,
    listed: &Listed,
    whole: impl FnOnce(&ToolResult) -> Option<Arc<str>>,
) -> Result<CallToolResponse, ErrorData> {
    match &result.error {
        Some(error) if error.kind == ErrorKind::UnknownTool => Err(ErrorData::invalid_params(result.output, None)),
        _ => Ok(answer::answer(result, &listed.tool, whole).into()),
    }
}

/// A call that may have to do with its client, from what it sent to what it is answered.
struct Round<'a, H: ServerHandler> {
    session: &'a Session<H>,
    listed: &'a Listed,
    arguments: Option<JsonObject>,
    client: Client,
}

impl<H: ServerHandler> Round<'_, H> {
    fn tools(&self) -> &Dispatcher {
        &self.session.shared.tools
    }

    fn conversation(&self) -> Option<Cow<'_, str>> {
        self.session.conversation(self.client.context())
    }

    /// Runs a call that nobody has been asked about.
    async fn first(&self, may_ask: bool) -> Result<CallToolResponse, ErrorData> {
        let context = self.client.context();
        let text = arguments_text(self.arguments.as_ref(), &context.extensions)?;
        let call = tool_call(self.listed, text, self.conversation(), &context.id, &context.meta);
        let mut call = self.tools().call(call);
        if may_ask {
            let deferred = match self.client.answers_in_rounds() {
                true => Some(self.seal()?.deferred.clone()),
                false => None,
            };
            call = call.confirm(AskClient { client: self.client.clone(), deferred });
        }
        let result = self.run(|progress| self.dressed(call, progress)).await;
        self.answer(result, None).await
    }

    /// Runs a call that somebody has agreed to: what was asked, and nothing else.
    async fn resume(&self, token: &str) -> Result<CallToolResponse, ErrorData> {
        let mut agreed = None;
        let deferred = &self.seal()?.deferred;
        let result = self
            .run(|progress| {
                deferred.resume(token, SystemTime::now(), |question| {
                    agreed = Some(question.clone());
                    self.dressed(self.tools().approve(question), progress)
                })
            })
            .await;
        self.answer(result.map_err(gone)?, agreed).await
    }

    /// Answers a call that somebody does not want.
    async fn refuse(&self, token: &str, reason: &str) -> Result<CallToolResponse, ErrorData> {
        let waiting = self.seal()?.deferred.redeem(token, SystemTime::now()).await.map_err(gone)?;
        let result = self.tools().refuse(&waiting.question, Some(reason)).await;
        self.answer(result, None).await
    }

    /// Asks the user, by the answer to the call.
    fn ask_for_consent(&self, token: String, shown: String) -> Result<CallToolResponse, ErrorData> {
        let request = InputRequest::Elicitation(ElicitRequest::new(form(&shown)));
        let requests = InputRequests::from([(CONSENT.to_owned(), request)]);
        self.ask(requests, Some(Consent { token, shown: Some(shown) }))
    }

    fn ask(&self, requests: InputRequests, consent: Option<Consent>) -> Result<CallToolResponse, ErrorData> {
        let state = State { answers: self.client.answers().clone(), consent };
        let bound = bound(&self.listed.own_name, self.arguments.as_ref(), &self.client.context().extensions);
        let sealed = self.seal()?.seal(&state, &bound)?;
        Ok(InputRequiredResult::new(Some(requests), Some(sealed)).into())
    }

    /// What the client is answered: what it is asked for, or the result. `agreed` is what the user has agreed to in this
    /// round; they are not asked again when the handler wants something else of the client.
    async fn answer(&self, result: ToolResult, agreed: Option<Question>) -> Result<CallToolResponse, ErrorData> {
        let whole = |result: &_| self.tools().whole_output(self.conversation().as_deref(), result);
        let Some(error) = &result.error else { return answered(result, self.listed, whole) };
        let asked = std::mem::take(&mut *self.client.asked());
        if let Some(error) = asked.malformed {
            return Err(error);
        }
        if let Some(shown) = asked.consent.filter(|_| error.kind == ErrorKind::Pending)
            && let Some(token) = result.metadata.get("token").and_then(|token| token.as_str())
        {
            return self.ask_for_consent(token.to_owned(), shown);
        }
        if !asked.requests.is_empty() {
            let consent = match agreed {
                None => None,
                Some(question) => Some(self.agreed(&question).await?),
            };
            return self.ask(asked.requests, consent);
        }
        match asked.lacking {
            Some(lacking) if self.client.answers_in_rounds() => {
                Err(ErrorData::missing_required_client_capability(lacking))
            }
            _ => answered(result, self.listed, whole),
        }
    }

    /// Lets a call wait again that the user has agreed to.
    async fn agreed(&self, question: &Question) -> Result<Consent, ErrorData> {
        match self.seal()?.deferred.confirm(question).await {
            Decision::Pending(pending) => Ok(Consent { token: pending.token, shown: None }),
            _ => Err(ErrorData::internal_error("the call cannot wait for the client now; try again later", None)),
        }
    }

    /// Runs a call, and passes on its progress to a client that has asked for it.
    async fn run<T, F: Future<Output = T>>(&self, call: impl FnOnce(Option<Progress>) -> F) -> T {
        let context = self.client.context();
        match context.meta.get_progress_token() {
            None => call(None).await,
            Some(token) => {
                let (progress, reports) = Reports::new(token, context.peer.clone());
                reports.during(call(Some(progress))).await
            }
        }
    }

    fn dressed<'c>(&self, call: Call<'c>, progress: Option<Progress>) -> Call<'c> {
        let call = call.with(self.client.clone()).cancel(self.client.context().ct.clone());
        match progress {
            Some(progress) => call.with(progress),
            None => call,
        }
    }

    fn seal(&self) -> Result<&Seal, ErrorData> {
        self.session.shared.rounds.seal()
    }
}

fn gone(error: TokenError) -> ErrorData {
    match error {
        TokenError::Unavailable => ErrorData::internal_error(error.to_string(), None),
        _ => ErrorData::invalid_params(format!("the call that was asked about does not wait any more: {error}"), None),
    }
}
