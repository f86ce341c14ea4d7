//! What happens to calls, as it happens.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::StatusCode;
use http::request::Parts;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tool_runtime::CancellationToken;
use tool_runtime::events::EventKind;

use super::Api;
use crate::Problem;
use crate::extract::Asked;
use crate::feed::{Place, Reader, Told};
use crate::streaming::event;

/// How many events that a client did not ask for are passed over before it is sent the id of the last one.
const MOST_PASSED_OVER: u32 = 64;

/// Which events.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EventQuery {
    /// Those of this conversation.
    conversation: Option<String>,
    /// Those of this tool, by the name under which it was registered.
    tool: Option<String>,
    /// Those behind this one, as the header `Last-Event-ID` says it, for clients that cannot send one.
    last_event_id: Option<String>,
}

/// The events from now on, or behind the last one that a client has seen.
pub(crate) async fn stream(
    State(api): Api,
    parts: Parts,
    Asked(mut query): Asked<EventQuery>,
) -> Result<Response, Problem> {
    query.conversation = api.conversation(&parts, query.conversation.as_deref())?;
    let from_header = parts.headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let behind = match from_header.or(query.last_event_id.take()).filter(|id| !id.is_empty()) {
        None => None,
        Some(id) => Some(Place::read(&id).ok_or_else(|| {
            Problem::bad_request("last_event_id", format!("`{id}` is the id of no event: send one as it came."))
        })?),
    };
    let Some(reader) = api.feed.read(behind) else {
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "watchers", "Too many watch: come back later.");
        return Err(problem.with_retry_after(Duration::from_secs(5)));
    };
    let watched = Watched { reader, query, until: api.until.clone(), is_greeted: false };
    let events = stream::unfold(watched, |mut watched| async move {
        let event = watched.next().await?;
        Some((Ok::<_, Infallible>(event), watched))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

struct Watched {
    reader: Reader,
    query: EventQuery,
    until: CancellationToken,
    is_greeted: bool,
}

impl Watched {
    async fn next(&mut self) -> Option<Event> {
        if !std::mem::replace(&mut self.is_greeted, true) {
            // From here on nothing is lost to a client that comes back with this id.
            return Some(event("ready", &json!({})).id(self.reader.place().to_string()));
        }
        let mut passed_over = 0;
        loop {
            let next = match passed_over {
                0 => self.until.run_until_cancelled(self.reader.next()).await?,
                MOST_PASSED_OVER => None,
                _ => self.reader.next_kept(),
            };
            let Some((place, told)) = next else {
                // No event, only its id. A client that comes back with it has missed nothing of what it asked for.
                let place = self.reader.place().to_string();
                return (passed_over > 0).then(|| Event::default().id(place));
            };
            let shown = match &told {
                Told::Missed(count) => event("missed", &json!({"count": count})),
                Told::Event(told) if self.query.fits(told) => event(name(&told.kind), &**told),
                Told::Event(_) => {
                    passed_over += 1;
                    continue;
                }
            };
            return Some(shown.id(place.to_string()));
        }
    }
}

impl EventQuery {
    fn fits(&self, event: &tool_runtime::events::Event) -> bool {
        self.tool.as_ref().is_none_or(|tool| event.call.tool == *tool)
            && self.conversation.as_ref().is_none_or(|wanted| event.call.conversation.as_ref() == Some(wanted))
    }
}

fn name(what: &EventKind) -> &'static str {
    match what {
        EventKind::Started { .. } => "started",
        EventKind::Pending { .. } => "pending",
        EventKind::Progress { .. } => "progress",
        EventKind::Finished { .. } => "finished",
        _ => "event",
    }
}
