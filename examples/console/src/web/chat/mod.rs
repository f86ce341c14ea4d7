//! Conversations with the model.

mod card;
mod chats;
mod diff;
mod follow;
mod icon;
mod list;
mod live;
mod page;
mod record;
mod refused;
mod runs;
mod watchers;

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

use self::live::Live;
use self::refused::Refused;
use super::Site;
use super::whole::{plain, whole};
use crate::settings::Extension;

/// Maximum length of a user's message in bytes.
const LONGEST: usize = 100_000;

/// Interval of keep-alive events. `chat.js` waits three times as long.
const ALIVE: Duration = Duration::from_secs(15);

/// Redirects to a new conversation, which is stored with its first message.
pub(super) async fn start() -> Result<Redirect, Refused> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| Refused::failed(&error))?;
    Ok(Redirect::to(&format!("/chat/{:016x}", u64::from_be_bytes(bytes))))
}

/// Query parameters of a conversation's page.
#[derive(Deserialize)]
pub(super) struct Part {
    output: Option<String>,
}

pub(super) async fn show(
    State(site): State<Site>,
    Path(id): Path<String>,
    Query(part): Query<Part>,
) -> Result<Response, Refused> {
    check(&id)?;
    if let Some(call) = part.output {
        let result = site.chats.result(&id, &call).await.map_err(|error| Refused::failed(&error))?;
        return Ok(plain(result.and_then(|result| whole(site.tools.dispatcher(), Some(&id), &result))));
    }
    let is_on = site.settings.get().has(Extension::AiChat);
    let view = site.chats.view(&id).await.map_err(|error| Refused::failed(&error))?;
    let recent = site.chats.recent().await.map_err(|error| Refused::failed(&error))?;
    Ok(page::render(&id, &view, &recent, is_on).into_response())
}

/// The part of a conversation that a page has already. If unset, only new events are sent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Seen {
    messages: Option<usize>,
    /// The run of which the page has not seen the end.
    run: Option<u64>,
}

impl Seen {
    /// Returns `true` if the page has all messages before the current run.
    fn is_all_before(&self, live: Option<&Live>, messages: usize) -> bool {
        let before = live.map_or(messages, |live| live.before(messages));
        let goes_on = |run: u64| live.is_some_and(|live| live.number == run);
        self.messages.is_none_or(|seen| seen == before) && self.run.is_none_or(goes_on)
    }
}

/// Streams the events of a conversation.
pub(super) async fn events(
    State(site): State<Site>,
    Path(id): Path<String>,
    Query(seen): Query<Seen>,
) -> Result<Response, Refused> {
    check(&id)?;
    let notes = site.chats.follow(id, seen, site.stopped.clone()).ok_or_else(Refused::crowded)?;
    let events = futures_util::StreamExt::map(notes, |note| Ok::<_, Infallible>(Event::default().data(&*note)));
    // Scripts do not see comments of an event stream, so keep-alive is an event.
    let alive = Event::default().data(json!({"kind": "alive"}).to_string());
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE).event(alive)).into_response())
}

/// A message of the user.
#[derive(Deserialize)]
pub(super) struct Said {
    text: String,
}

pub(super) async fn say(
    State(site): State<Site>,
    Path(id): Path<String>,
    Json(Said { text }): Json<Said>,
) -> Result<Json<Value>, Refused> {
    check(&id)?;
    check_on(&site)?;
    if text.trim().is_empty() || text.len() > LONGEST {
        let problem = format!("Say something, of {LONGEST} bytes at most.");
        return Err(Refused::new(StatusCode::UNPROCESSABLE_ENTITY, problem));
    }
    site.chats.say(&id, text).await?;
    Ok(Json(json!({})))
}

/// A decision of the user about a call.
#[derive(Deserialize)]
pub(super) struct Decided {
    token: String,
    decision: Choice,
    /// The edited arguments as text, with a placeholder for each secret.
    edited: Option<String>,
    reason: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Choice {
    Run,
    Edit,
    Refuse,
    Abort,
}

pub(super) async fn decide(
    State(site): State<Site>,
    Path(id): Path<String>,
    Json(decided): Json<Decided>,
) -> Result<Json<Value>, Refused> {
    check(&id)?;
    check_on(&site)?;
    let decision = match decided.decision {
        Choice::Run => Decision::Run,
        Choice::Edit => Decision::Edit(site.chats.edited(&id, &decided.token, decided.edited.as_deref()).await?),
        Choice::Refuse => Decision::Refuse(decided.reason.filter(|reason| !reason.trim().is_empty())),
        Choice::Abort => Decision::Abort,
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
    State(site): State<Site>,
    Path(id): Path<String>,
    Json(NewMode { mode }): Json<NewMode>,
) -> Result<Json<Value>, Refused> {
    check(&id)?;
    site.chats.set_mode(&id, mode).await.map_err(|error| Refused::failed(&error))?;
    Ok(Json(json!({"mode": mode})))
}

pub(super) async fn stop(State(site): State<Site>, Path(id): Path<String>) -> Result<Json<Value>, Refused> {
    check(&id)?;
    Ok(Json(json!({"stopped": site.chats.stop(&id)})))
}

/// Deletes a conversation.
pub(super) async fn delete(State(site): State<Site>, Path(id): Path<String>) -> Result<Json<Value>, Refused> {
    check(&id)?;
    // Run in a task, so that a browser that disconnects does not interrupt it.
    let deleting = tokio::spawn(async move { site.chats.delete(&id).await });
    deleting.await.map_err(|error| Refused::failed(&error))?.map_err(|error| Refused::failed(&error))?;
    Ok(Json(json!({})))
}

fn check(id: &str) -> Result<(), Refused> {
    let is_id = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_id { Ok(()) } else { Err(Refused::new(StatusCode::NOT_FOUND, "There is no such conversation.")) }
}

fn check_on(site: &Site) -> Result<(), Refused> {
    if site.settings.get().has(Extension::AiChat) {
        return Ok(());
    }
    Err(Refused::new(StatusCode::NOT_FOUND, "The extension `ai_chat` is off: switch it on in the settings."))
}
