//! `GET /events`: a stream of server-sent events.

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
use tool_runtime::display::excerpt;
use tool_runtime::events::EventKind;

use super::SharedState;
use crate::Problem;
use crate::extract::QueryParams;
use crate::feed::{FeedEntry, FeedPosition, FeedReader};
use crate::streaming::event;

/// Maximum number of skipped events, which the client filtered out, before it is sent the id of the last one.
const MAX_SKIPPED: u32 = 64;

/// Query parameters of the event stream.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EventQuery {
    /// Only events of this conversation.
    conversation: Option<String>,
    /// Only events of the tool with this registered name.
    tool: Option<String>,
    /// Continues after this event. For clients that cannot send the header `Last-Event-ID`.
    last_event_id: Option<String>,
}

/// Streams events from now on, or after the last one that the client has received.
pub(crate) async fn stream(
    State(api): SharedState,
    parts: Parts,
    QueryParams(mut query): QueryParams<EventQuery>,
) -> Result<Response, Problem> {
    query.conversation = api.conversation(&parts, query.conversation.as_deref())?;
    let from_header = parts.headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let after = match from_header.or(query.last_event_id.take()).filter(|id| !id.is_empty()) {
        None => None,
        Some(id) => Some(FeedPosition::parse(&id).ok_or_else(|| {
            Problem::bad_request("last_event_id", format!("`{}` is not a valid event id.", excerpt(&id)))
        })?),
    };
    let Some(reader) = api.feed.reader(after) else {
        let problem = Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "watchers",
            "Too many event streams are open: try again later.",
        );
        return Err(problem.with_retry_after(Duration::from_secs(5)));
    };
    let stream = EventStream { reader, query, until: api.until.clone(), is_ready_sent: false };
    let events = stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

struct EventStream {
    reader: FeedReader,
    query: EventQuery,
    until: CancellationToken,
    is_ready_sent: bool,
}

impl EventStream {
    async fn next(&mut self) -> Option<Event> {
        if !std::mem::replace(&mut self.is_ready_sent, true) {
            // A client that reconnects with this id misses nothing from here on.
            return Some(event("ready", &json!({})).id(self.reader.position().to_string()));
        }
        let mut skipped = 0;
        loop {
            let next = match skipped {
                0 => self.until.run_until_cancelled(self.reader.next()).await?,
                MAX_SKIPPED => None,
                _ => self.reader.try_next(),
            };
            let Some((position, entry)) = next else {
                // Send an id without an event, so that a client that reconnects does not count skipped events as missed.
                let position = self.reader.position().to_string();
                return (skipped > 0).then(|| Event::default().id(position));
            };
            let sent = match &entry {
                FeedEntry::Missed(count) => event("missed", &json!({"count": count})),
                FeedEntry::Event(update) if self.query.matches(update) => event(name(&update.kind), &**update),
                FeedEntry::Event(_) => {
                    skipped += 1;
                    continue;
                }
            };
            return Some(sent.id(position.to_string()));
        }
    }
}

impl EventQuery {
    fn matches(&self, event: &tool_runtime::events::Event) -> bool {
        self.tool.as_ref().is_none_or(|tool| event.call.tool == *tool)
            && self.conversation.as_ref().is_none_or(|wanted| event.call.conversation.as_ref() == Some(wanted))
    }
}

fn name(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Started { .. } => "started",
        EventKind::Pending { .. } => "pending",
        EventKind::Progress { .. } => "progress",
        EventKind::Finished { .. } => "finished",
        _ => "event",
    }
}
