//! `POST /tools/{name}` and its preview.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::{Call, Effect, Progress, ToolCall, ToolResult};
use tracing::Instrument;

use super::SharedState;
use crate::api::{ApiState, check_id};
use crate::call_values::CallValue;
use crate::extract::{PathName, QueryParams};
use crate::idempotency::IdempotencyKey;
use crate::openapi::mirror;
use crate::response::{has_structured_output, problem, result_response};
use crate::{Problem, streaming};

/// Query parameters of a call.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CallQuery {
    /// Reports the effect of the call without running it or asking for approval.
    dry_run: bool,
    /// The timeout of the call in milliseconds, bounded by that of the server.
    timeout_ms: Option<u64>,
    /// The conversation of the call.
    conversation: Option<String>,
}

/// The preview of a call.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Preview")]
pub(crate) struct CallPreview {
    /// The effect that the call would have; `null` if the tool has no preview.
    #[schemars(with = "Option<mirror::Effect>")]
    effect: Option<Effect>,
}

pub(crate) async fn call(
    State(api): SharedState,
    PathName(name): PathName,
    QueryParams(query): QueryParams<CallQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let structured = api.tools.definition(&name).is_some_and(|tool| has_structured_output(&tool)) && !query.dry_run;
    let CallRequest { headers, setup, call, key } = read_request(&api, name, &query, request).await?;
    if let Some(key) = key.filter(|_| !query.dry_run) {
        let keyed = api.keys.reserve(&api.tools, key).await?;
        return respond(&headers, structured, move |progress| {
            run_detached(async move {
                let call = setup.apply(api.tools.call(call), progress);
                keyed.run(call, api.pending.as_ref()).await
            })
        })
        .await;
    }
    respond(&headers, structured, move |progress| async move {
        let tools = &api.tools;
        let call = setup.apply(tools.call(call), progress);
        Ok(if query.dry_run { call.dry_run() } else { call }.await)
    })
    .await
}

pub(crate) async fn preview(
    State(api): SharedState,
    PathName(name): PathName,
    QueryParams(query): QueryParams<CallQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let CallRequest { setup, call, .. } = read_request(&api, name, &query, request).await?;
    let effect = setup.apply(api.tools.call(call), None).preview().await;
    Ok(match effect {
        Ok(effect) => Json(CallPreview { effect }).into_response(),
        Err(error) => problem(&error).into_response(),
    })
}

/// A call read from a request.
struct CallRequest {
    headers: HeaderMap,
    setup: CallSetup,
    call: ToolCall<'static>,
    key: Option<IdempotencyKey>,
}

/// Reads a call from a request. Per-call values are made first, so that an unauthorized request is rejected before its
/// body is read.
async fn read_request(
    api: &Arc<ApiState>,
    name: String,
    query: &CallQuery,
    request: Request,
) -> Result<CallRequest, Problem> {
    let (parts, body) = request.into_parts();
    let setup = CallSetup::from_request(api, &parts, query.timeout_ms).await?;
    let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().map(str::to_owned));
    let conversation = api.conversation(&parts, query.conversation.as_deref())?;
    let id = text("idempotency-key")
        .transpose()
        .map_err(|_| Problem::bad_request("idempotency_key", "An `Idempotency-Key` must be ASCII."))?;
    let mut key = None;
    if let Some(id) = &id {
        check_id("idempotency_key", id)?;
        key = Some(IdempotencyKey::new(&api.tools, conversation.as_deref(), id)?);
    }
    let trace = text("traceparent").and_then(Result::ok).filter(|trace| trace.len() <= 256);
    let mut call = ToolCall::from_text(name, api.body.text(&parts.headers, body).await?);
    if let Some(conversation) = conversation {
        call = call.conversation(conversation);
    }
    if let Some(id) = id {
        call = call.id(id);
    }
    if let Some(trace) = trace {
        call = call.trace_parent(trace);
    }
    Ok(CallRequest { headers: parts.headers, setup, call, key })
}

/// Timeout, per-call values and confirmer of a request's call, whether it is new or was pending.
pub(crate) struct CallSetup {
    api: Arc<ApiState>,
    values: Vec<Box<dyn CallValue>>,
    within: Duration,
}

impl CallSetup {
    pub(crate) async fn from_request(
        api: &Arc<ApiState>,
        parts: &Parts,
        timeout_ms: Option<u64>,
    ) -> Result<Self, Problem> {
        let mut values = Vec::with_capacity(api.call_values.len());
        for factory in &api.call_values {
            values.push(factory.make(parts).await?);
        }
        let within = timeout_ms.map_or(api.max_timeout, |asked| api.max_timeout.min(Duration::from_millis(asked)));
        Ok(Self { api: api.clone(), values, within })
    }

    pub(crate) fn apply<'c>(self, call: Call<'c>, progress: Option<Progress>) -> Call<'c> {
        let mut call = self.values.into_iter().fold(call.within(self.within), |call, value| value.attach(call));
        if let Some(progress) = progress {
            call = call.with(progress);
        }
        match &self.api.pending {
            Some(deferred) => call.confirm(deferred.clone()),
            None => call,
        }
    }
}

/// Runs a call in its own task, so that it completes even if the client disconnects.
pub(crate) async fn run_detached(
    call: impl Future<Output = Result<ToolResult, Problem>> + Send + 'static,
) -> Result<ToolResult, Problem> {
    tokio::spawn(call.in_current_span()).await.unwrap_or_else(|error| Err(streaming::lost(&error)))
}

/// Runs a call and returns its result, or a stream of its progress if the client accepts one. The output of a `structured`
/// call is sent as JSON too.
pub(crate) async fn respond<F>(
    headers: &HeaderMap,
    structured: bool,
    call: impl FnOnce(Option<Progress>) -> F,
) -> Result<Response, Problem>
where
    F: Future<Output = Result<ToolResult, Problem>> + Send + 'static,
{
    if streaming::accepts_stream(headers) {
        return Ok(streaming::respond(structured, |progress| call(Some(progress))));
    }
    Ok(result_response(&call(None).await?, structured))
}
