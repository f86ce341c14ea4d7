//! Responses as streams of server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderName, HeaderValue, header};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tool_runtime::CancellationToken;

/// The interval of heartbeats, which keep proxies from closing an idle connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    // Disables buffering by nginx.
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
];

/// Returns a response that streams messages until the server stops.
pub(super) fn sse_response(
    messages: impl Stream<Item = ServerSseMessage> + Send + 'static,
    stop: CancellationToken,
) -> Response {
    let (stop, heartbeat) = (Box::pin(stop.cancelled_owned()), Box::pin(sleep(HEARTBEAT)));
    let events = EventStream { messages: Box::pin(messages), stop, heartbeat };
    (HEADERS, Body::from_stream(events)).into_response()
}

struct EventStream<S> {
    messages: Pin<Box<S>>,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    heartbeat: Pin<Box<Sleep>>,
}

impl<S: Stream<Item = ServerSseMessage>> Stream for EventStream<S> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(message) = self.messages.as_mut().poll_next(context) {
            return Poll::Ready(message.map(|message| Ok(event(&message).into())));
        }
        if self.stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        self.heartbeat.as_mut().poll(context).map(|()| {
            self.heartbeat.as_mut().reset(Instant::now() + HEARTBEAT);
            Some(Ok(Bytes::from_static(b":\n\n")))
        })
    }
}

/// Serializes a message as an event. An event without a message only carries the id for resuming the stream.
fn event(message: &ServerSseMessage) -> Vec<u8> {
    let mut event = Vec::from(b"data: ");
    if let Some(message) = &message.message {
        let start = event.len();
        // Compact JSON has no line breaks.
        if let Err(error) = serde_json::to_writer(&mut event, message) {
            tracing::error!(%error, "cannot serialize a message");
            event.truncate(start);
        }
    }
    if let Some(id) = &message.event_id {
        event.extend_from_slice(format!("\nid: {id}").as_bytes());
    }
    if let Some(retry) = message.retry {
        event.extend_from_slice(format!("\nretry: {}", retry.as_millis()).as_bytes());
    }
    event.extend_from_slice(b"\n\n");
    event
}
