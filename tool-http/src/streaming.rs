//! Calls that stream their progress as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderMap, StatusCode, header};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tool_runtime::{Progress, ToolResult};
use tracing::Instrument;

use crate::Problem;
use crate::response::ResultBody;

/// Maximum number of reports buffered for a slow client. Further ones are counted as missed.
const MAX_REPORTS: usize = 256;

/// Returns `true` if the client accepts an event stream.
pub(crate) fn accepts_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter().filter_map(|accept| accept.to_str().ok());
    accepted
        .flat_map(|accept| accept.split(','))
        .any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream")))
}

/// Runs a call and streams `progress` for each report, then `result`.
///
/// A client that stops reading delays the response but not the call, whose timeouts still apply. A client that
/// disconnects cancels the call, unless the call runs in its own task.
pub(crate) fn respond<F>(structured: bool, call: impl FnOnce(Progress) -> F) -> Response
where
    F: Future<Output = Result<ToolResult, Problem>> + Send + 'static,
{
    let (sender, reports) = mpsc::channel(MAX_REPORTS);
    let missed = Arc::new(AtomicU64::new(0));
    let counter = missed.clone();
    let progress = Progress::to(move |report| {
        if sender.try_send(report).is_err() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut running = JoinSet::new();
    running.spawn(call(progress).in_current_span());
    let calls = CallStream { running, ended: None, reports, missed, structured };
    let events = stream::unfold(calls, |mut calls| async move {
        let event = calls.next().await?;
        Some((Ok::<_, Infallible>(event), calls))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

struct CallStream {
    /// The running call. Dropping the set cancels it.
    running: JoinSet<Result<ToolResult, Problem>>,
    ended: Option<Result<ToolResult, Problem>>,
    reports: mpsc::Receiver<Value>,
    missed: Arc<AtomicU64>,
    structured: bool,
}

impl CallStream {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Ok(report) = self.reports.try_recv() {
                return Some(event("progress", &report));
            }
            match self.missed.swap(0, Ordering::Relaxed) {
                0 => {}
                count => return Some(event("missed", &json!({"count": count}))),
            }
            match self.ended.take() {
                None => {}
                Some(Ok(result)) => return Some(event("result", &ResultBody::new(&result, self.structured))),
                Some(Err(problem)) => return Some(event("problem", &problem)),
            }
            tokio::select! {
                biased;
                Some(report) = self.reports.recv() => return Some(event("progress", &report)),
                ended = self.running.join_next() => self.ended = Some(ended?.unwrap_or_else(|error| Err(lost(&error)))),
            }
        }
    }
}

/// Reports a task that panicked or was cancelled. The dispatcher catches panics of handlers, so this is a bug elsewhere.
pub(crate) fn lost(error: &JoinError) -> Problem {
    tracing::error!(%error, "the task of a call failed");
    let detail = "The call failed unexpectedly and may have taken effect: check before you repeat it.";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "lost", detail)
}

/// Returns an event with JSON data.
pub(crate) fn event(name: &str, data: &impl Serialize) -> Event {
    let text = serde_json::to_string(data).unwrap_or_else(|error| {
        tracing::error!(%error, "failed to serialize an event");
        "null".to_owned()
    });
    Event::default().event(name).data(text)
}
