//! Conversations with the model.

mod card;
mod chat_error;
mod chats;
mod diff;
mod follow;
mod icon;
mod list;
mod live;
mod page;
mod record;
mod runs;
mod subscribers;

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Redirect, Response, Sse};
use serde::Deserialize;
use serde_json::{Value, json};
use tool_agent::Mode;
use tool_runtime::confirm::Decision;

pub use self::chats::Chats;

use self::chat_error::ChatError;
use self::live::LiveRun;
use super::SiteState;
use super::full_output::{full_output, plain};
use crate::settings::Extension;

/// Maximum length of a user's message in bytes.
const LONGEST: usize = 100_000;

/// Interval of keep-alive events. `chat.js` waits three times as long.
const ALIVE: Duration = Duration::from_secs(15);

/// Redirects to a new conversation, which is stored with its first message.
pub(super) async fn start() -> Result<Redirect, ChatError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| ChatError::failed(&error))?;
    Ok(Redirect::to(&format!("/chat/{:016x}", u64::from_be_bytes(bytes))))
}

/// Query parameters of a conversation's page.
#[derive(Deserialize)]
pub(super) struct PageQuery {
    output: Option<String>,
}

pub(super) async fn show(
    State(site): State<SiteState>,
    Path(id): Path<String>,
    Query(part): Query<PageQuery>,
) -> Result<Response, ChatError> {
    check(&id)?;
    if let Some(call) = part.output {
        let result = site.chats.result(&id, &call).await.map_err(|error| ChatError::failed(&error))?;
        return Ok(plain(result.and_then(|result| full_output(site.tools.dispatcher(), Some(&id), &result))));
    }
    let is_on = site.settings.get().has(Extension::AiChat);
    let view = site.chats.view(&id).await.map_err(|error| ChatError::failed(&error))?;
    let recent = site.chats.recent().await.map_err(|error| ChatError::failed(&error))?;
    Ok(page::render(&id, &view, &recent, site.tools.policy(), is_on).into_response())
}

/// The part of a conversation that a page has already. If unset, only new events are sent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SeenMessages {
    messages: Option<usize>,
    /// The run whose end the page has not received.
    run: Option<u64>,
}

impl SeenMessages {
    /// Returns `true` if the page has all messages before the current run.
    fn is_all_before(&self, live: Option<&LiveRun>, messages: usize) -> bool {
        let before = live.map_or(messages, |live| live.before(messages));
        let goes_on = |run: u64| live.is_some_and(|live| live.number == run);
        self.messages.is_none_or(|seen| seen == before) && self.run.is_none_or(goes_on)
    }
}

/// Streams the events of a conversation.
pub(super) async fn events(
    State(site): State<SiteState>,
    Path(id): Path<String>,
    Query(seen): Query<SeenMessages>,
) -> Result<Response, ChatError> {
    check(&id)?;
    let notes = site.chats.follow(id, seen, site.stopped.clone()).ok_or_else(ChatError::crowded)?;
    let events = futures_util::StreamExt::map(notes, |note| Ok::<_, Infallible>(Event::default().data(&*note)));
    // Scripts do not see comments of an event stream, so keep-alive is an event.
    let alive = Event::default().data(json!({"kind": "alive"}).to_string());
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE).event(alive)).into_response())
}

/// A message of the user.
#[derive(Deserialize)]
pub(super) struct MessageBody {
    text: String,
}

pub(super) async fn say(
    State(site): State<SiteState>,
    Path(id): Path<String>,
    Json(MessageBody { text }): Json<MessageBody>,
) -> Result<Json<Value>, ChatError> {
    check(&id)?;
    check_on(&site)?;
    if text.trim().is_empty() || text.len() > LONGEST {
        let problem = format!("A message must have 1 to {LONGEST} bytes.");
        return Err(ChatError::new(StatusCode::UNPROCESSABLE_ENTITY, problem));
    }
    site.chats.say(&id, text).await?;
    Ok(Json(json!({})))
}

/// A decision of the user about a call.
#[derive(Deserialize)]
pub(super) struct DecisionBody {
    token: String,
    decision: DecisionKind,
    /// The edited arguments as text, with a placeholder for each secret.
    edited: Option<String>,
    reason: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DecisionKind {
    Run,
    Edit,
    Refuse,
    Abort,
}

pub(super) async fn decide(
    State(site): State<SiteState>,
    Path(id): Path<String>,
    Json(decided): Json<DecisionBody>,
) -> Result<Json<Value>, ChatError> {
    check(&id)?;
    check_on(&site)?;
    let decision = match decided.decision {
        DecisionKind::Run => Decision::Run,
        DecisionKind::Edit => Decision::Edit(site.chats.edited(&id, &decided.token, decided.edited.as_deref()).await?),
        DecisionKind::Refuse => Decision::Refuse(decided.reason.filter(|reason| !reason.trim().is_empty())),
        DecisionKind::Abort => Decision::Abort,
    };
    site.chats.decide(&id, decided.token, decision).await?;
    Ok(Json(json!({})))
}

/// The new mode of a conversation.
#[derive(Deserialize)]
pub(super) struct NewMode {
    mode: Mode,
}

pub(super) async fn set_mode(
    State(site): State<SiteState>,
    Path(id): Path<String>,
    Json(NewMode { mode }): Json<NewMode>,
) -> Result<Json<Value>, ChatError> {
    check(&id)?;
    site.chats.set_mode(&id, mode).await.map_err(|error| ChatError::failed(&error))?;
    Ok(Json(json!({"mode": mode})))
}

pub(super) async fn stop(State(site): State<SiteState>, Path(id): Path<String>) -> Result<Json<Value>, ChatError> {
    check(&id)?;
    Ok(Json(json!({"stopped": site.chats.stop(&id)})))
}

/// Deletes a conversation.
pub(super) async fn delete(State(site): State<SiteState>, Path(id): Path<String>) -> Result<Json<Value>, ChatError> {
    check(&id)?;
    // Run in a task, so that a browser that disconnects does not interrupt it.
    let deleting = tokio::spawn(async move { site.chats.delete(&id).await });
    deleting.await.map_err(|error| ChatError::failed(&error))?.map_err(|error| ChatError::failed(&error))?;
    Ok(Json(json!({})))
}

fn check(id: &str) -> Result<(), ChatError> {
    let is_id = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_id { Ok(()) } else { Err(ChatError::new(StatusCode::NOT_FOUND, "There is no such conversation.")) }
}

fn check_on(site: &SiteState) -> Result<(), ChatError> {
    if site.settings.get().has(Extension::AiChat) {
        return Ok(());
    }
    Err(ChatError::new(StatusCode::NOT_FOUND, "The extension `ai_chat` is disabled: enable it in the settings."))
}
