//! Calls.

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

use super::Api;
use crate::answer::{answer, problem};
use crate::api::{Shared, check_id};
use crate::extract::{Asked, Name};
use crate::given::Gift;
use crate::idempotency::Key;
use crate::openapi::mirror;
use crate::{Problem, streaming};

/// How a call is made.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CallQuery {
    /// Only says what the call would do: nothing runs, and nobody is asked.
    dry_run: bool,
    /// How long the call may take, in milliseconds. It can be less than what the server allows, not more.
    timeout_ms: Option<u64>,
    /// The conversation that the call belongs to.
    conversation: Option<String>,
}

/// What a call would do.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Preview {
    /// In the tool's own words; nothing if it has none.
    #[schemars(with = "Option<mirror::Effect>")]
    effect: Option<Effect>,
}

pub(crate) async fn call(
    State(api): Api,
    Name(name): Name,
    Asked(query): Asked<CallQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let Asks { headers, prepared, call, key } = asked(&api, name, &query, request).await?;
    if let Some(key) = key.filter(|_| !query.dry_run) {
        let keyed = api.keys.take(&api.tools, key).await?;
        return respond(&headers, move |progress| {
            to_the_end(async move {
                let call = prepared.prepare(api.tools.call(call), progress);
                keyed.run(call, api.pending.as_ref()).await
            })
        })
        .await;
    }
    respond(&headers, move |progress| async move {
        let tools = &api.tools;
        let call = prepared.prepare(tools.call(call), progress);
        Ok(if query.dry_run { call.dry_run() } else { call }.await)
    })
    .await
}

pub(crate) async fn preview(
    State(api): Api,
    Name(name): Name,
    Asked(query): Asked<CallQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let Asks { prepared, call, .. } = asked(&api, name, &query, request).await?;
    let effect = prepared.prepare(api.tools.call(call), None).preview().await;
    Ok(match effect {
        Ok(effect) => Json(Preview { effect }).into_response(),
        Err(error) => problem(&error).into_response(),
    })
}

/// A call as a request asks for it.
struct Asks {
    headers: HeaderMap,
    prepared: Prepared,
    call: ToolCall<'static>,
    key: Option<Key>,
}

/// Reads the call that a request asks for. Who may not ask is refused before anything is read.
async fn asked(api: &Arc<Shared>, name: String, query: &CallQuery, request: Request) -> Result<Asks, Problem> {
    let (parts, body) = request.into_parts();
    let prepared = Prepared::of(api, &parts, query.timeout_ms).await?;
    let text = |name: &str| parts.headers.get(name).map(|value| value.to_str().map(str::to_owned));
    let conversation = api.conversation(&parts, query.conversation.as_deref())?;
    let id = text("idempotency-key")
        .transpose()
        .map_err(|_| Problem::bad_request("idempotency_key", "An `Idempotency-Key` is ASCII."))?;
    let mut key = None;
    if let Some(id) = &id {
        check_id("idempotency_key", id)?;
        key = Some(Key::new(&api.tools, conversation.as_deref(), id)?);
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
    Ok(Asks { headers: parts.headers, prepared, call, key })
}

/// What every call of a request is told, whether it is new or was waiting.
pub(crate) struct Prepared {
    api: Arc<Shared>,
    gifts: Vec<Box<dyn Gift>>,
    within: Duration,
}

impl Prepared {
    pub(crate) async fn of(api: &Arc<Shared>, parts: &Parts, timeout_ms: Option<u64>) -> Result<Self, Problem> {
        let mut gifts = Vec::with_capacity(api.givers.len());
        for giver in &api.givers {
            gifts.push(giver.make(parts).await?);
        }
        let within = timeout_ms.map_or(api.longest, |asked| api.longest.min(Duration::from_millis(asked)));
        Ok(Self { api: api.clone(), gifts, within })
    }

    pub(crate) fn prepare<'c>(self, call: Call<'c>, progress: Option<Progress>) -> Call<'c> {
        let mut call = self.gifts.into_iter().fold(call.within(self.within), |call, gift| gift.give(call));
        if let Some(progress) = progress {
            call = call.with(progress);
        }
        match &self.api.pending {
            Some(deferred) => call.confirm(deferred.clone()),
            None => call,
        }
    }
}

/// Runs a call in a task of its own: it ends also if the client goes away meanwhile.
pub(crate) async fn to_the_end(
    call: impl Future<Output = Result<ToolResult, Problem>> + Send + 'static,
) -> Result<ToolResult, Problem> {
    tokio::spawn(call.in_current_span()).await.unwrap_or_else(|error| Err(streaming::lost(&error)))
}

/// Makes a call and answers, at the end or while it runs.
pub(crate) async fn respond<F>(
    headers: &HeaderMap,
    call: impl FnOnce(Option<Progress>) -> F,
) -> Result<Response, Problem>
where
    F: Future<Output = Result<ToolResult, Problem>> + Send + 'static,
{
    if streaming::is_wanted(headers) {
        return Ok(streaming::respond(|progress| call(Some(progress))));
    }
    Ok(answer(&call(None).await?))
}
