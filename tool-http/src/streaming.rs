//! A call whose progress is told while it runs, as server-sent events.

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

/// How many reports wait for a client that reads slowly. It is told how many more there were.
const MOST_REPORTS: usize = 256;

/// Whether a client wants to be told of progress.
pub(crate) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).into_iter().filter_map(|accept| accept.to_str().ok());
    accepted
        .flat_map(|accept| accept.split(','))
        .any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream")))
}

/// Runs a call beside its response: `progress` for each report, then `result`. A client that does not read holds up the
/// response, but not the call, whose time limits hold all the same. One that goes away takes the response with it, and so
/// the call, unless that runs in a task of its own.
pub(crate) fn respond<F>(call: impl FnOnce(Progress) -> F) -> Response
where
    F: Future<Output = Result<ToolResult, Problem>> + Send + 'static,
{
    let (sender, reports) = mpsc::channel(MOST_REPORTS);
    let missed = Arc::new(AtomicU64::new(0));
    let unheard = missed.clone();
    let progress = Progress::to(move |report| {
        if sender.try_send(report).is_err() {
            unheard.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut running = JoinSet::new();
    running.spawn(call(progress).in_current_span());
    let streamed = Streamed { running, ended: None, reports, missed };
    let events = stream::unfold(streamed, |mut streamed| async move {
        let event = streamed.next().await?;
        Some((Ok::<_, Infallible>(event), streamed))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

struct Streamed {
    /// The call, as long as it runs. Dropped, it drops the call.
    running: JoinSet<Result<ToolResult, Problem>>,
    ended: Option<Result<ToolResult, Problem>>,
    reports: mpsc::Receiver<Value>,
    missed: Arc<AtomicU64>,
}

impl Streamed {
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
                Some(Ok(result)) => return Some(event("result", &result)),
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

/// A dispatcher answers even for a handler that panics: what gets here is a fault of what stands around it.
pub(crate) fn lost(error: &JoinError) -> Problem {
    tracing::error!(%error, "a call was lost");
    let detail = "The call was lost, and how far it has come is not known: look before you make it again.";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "lost", detail)
}

/// An event with JSON for data.
pub(crate) fn event(name: &str, data: &impl Serialize) -> Event {
    let text = serde_json::to_string(data).unwrap_or_else(|error| {
        tracing::error!(%error, "an event could not be written");
        "null".to_owned()
    });
    Event::default().event(name).data(text)
}
