//! The events of a response, none of them longer than a message may be.

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

/// The events of a response, until `stop` is cancelled. One that is too long ends them, with `too_long` in its place.
pub(super) fn events(
    response: reqwest::Response,
    longest: usize,
    too_long: Option<ServerJsonRpcMessage>,
    stop: &CancellationToken,
) -> BoxStream<'static, Result<Sse, Error>> {
    let chunks = Limited { chunks: Box::pin(response.bytes_stream()), longest, event: 0, line: 0 };
    let events: Events = Box::pin(SseStream::from_bytes_stream(chunks));
    Box::pin(Told { events: Some(events), too_long, stop: Box::pin(stop.clone().cancelled_owned()) })
}

/// The bytes of a response, up to an event that is too long.
struct Limited {
    chunks: Chunks,
    longest: usize,
    /// The length of the event so far, and of the line.
    event: usize,
    line: usize,
}

/// An event is too long, or the connection broke.
#[derive(Debug)]
enum Broken {
    TooLong,
    Connection(reqwest::Error),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the answer is too long"),
            Self::Connection(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Broken {}

impl Stream for Limited {
    type Item = Result<Bytes, Broken>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(match ready!(self.chunks.as_mut().poll_next(context)) {
            None => None,
            Some(Err(error)) => Some(Err(Broken::Connection(error))),
            Some(Ok(chunk)) => Some(if self.fits(&chunk) { Ok(chunk) } else { Err(Broken::TooLong) }),
        })
    }
}

impl Limited {
    /// An empty line ends an event.
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

struct Told {
    events: Option<Events>,
    too_long: Option<ServerJsonRpcMessage>,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Stream for Told {
    type Item = Result<Sse, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.stop.as_mut().poll(context).is_ready() {
            self.events = None;
        }
        let Some(events) = &mut self.events else { return Poll::Ready(None) };
        let event = ready!(events.as_mut().poll_next(context));
        Poll::Ready(match event {
            Some(Err(Error::Body(error))) if matches!(error.downcast_ref(), Some(Broken::TooLong)) => {
                self.events = None;
                self.too_long
                    .take()
                    .and_then(|told| serde_json::to_string(&told).ok())
                    .map(|told| Ok(Sse::default().data(told)))
            }
            event => event,
        })
    }
}
