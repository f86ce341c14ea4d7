//! Event streams with a limit on the length of an event.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use futures_core::stream::BoxStream;
use rmcp::model::ServerJsonRpcMessage;
use sse_stream::{Error, Sse, SseStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

type Chunks = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;
type Events = Pin<Box<dyn Stream<Item = Result<Sse, Error>> + Send>>;

/// Returns the events of a response, until `stop` is cancelled. An event over the limit is replaced by `too_long` and ends
/// the stream.
pub(super) fn events(
    response: reqwest::Response,
    longest: usize,
    too_long: Option<ServerJsonRpcMessage>,
    stop: &CancellationToken,
) -> BoxStream<'static, Result<Sse, Error>> {
    let chunks = LimitedBytes { chunks: Box::pin(response.bytes_stream()), longest, event: 0, line: 0 };
    let events: Events = Box::pin(SseStream::from_bytes_stream(chunks));
    Box::pin(LimitedEvents { events: Some(events), too_long, stop: Box::pin(stop.clone().cancelled_owned()) })
}

/// The bytes of a response, up to an event over the limit.
struct LimitedBytes {
    chunks: Chunks,
    longest: usize,
    /// The length of the current event and of its current line.
    event: usize,
    line: usize,
}

/// An event over the limit, or a broken connection.
#[derive(Debug)]
enum SseBodyError {
    TooLong,
    Connection(reqwest::Error),
}

impl fmt::Display for SseBodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the event is too long"),
            Self::Connection(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SseBodyError {}

impl Stream for LimitedBytes {
    type Item = Result<Bytes, SseBodyError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(match ready!(self.chunks.as_mut().poll_next(context)) {
            None => None,
            Some(Err(error)) => Some(Err(SseBodyError::Connection(error))),
            Some(Ok(chunk)) => Some(if self.fits(&chunk) { Ok(chunk) } else { Err(SseBodyError::TooLong) }),
        })
    }
}

impl LimitedBytes {
    /// Counts the bytes of a chunk; an empty line ends an event.
    fn fits(&mut self, chunk: &[u8]) -> bool {
        chunk.iter().all(|&byte| {
            match byte {
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => {
                    self.line += 1;
                    self.event += 1;
                }
            }
            self.event <= self.longest
        })
    }
}

/// Ends a stream after an event over the limit, or when `stop` is cancelled.
struct LimitedEvents {
    events: Option<Events>,
    too_long: Option<ServerJsonRpcMessage>,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Stream for LimitedEvents {
    type Item = Result<Sse, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.stop.as_mut().poll(context).is_ready() {
            self.events = None;
        }
        let Some(events) = &mut self.events else { return Poll::Ready(None) };
        let event = ready!(events.as_mut().poll_next(context));
        Poll::Ready(match event {
            Some(Err(Error::Body(error))) if matches!(error.downcast_ref(), Some(SseBodyError::TooLong)) => {
                self.events = None;
                self.too_long
                    .take()
                    .and_then(|message| serde_json::to_string(&message).ok())
                    .map(|data| Ok(Sse::default().data(data)))
            }
            event => event,
        })
    }
}
