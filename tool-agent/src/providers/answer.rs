//! An answer, as it comes or whole.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;

use futures_util::stream::{self, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use tool_runtime::dialect::{Malformed, Offer, Received, Requested, ResponseError, Stream};
use tool_runtime::output::Stream as Pieces;

use super::protocol::{Notes, Protocol};
use super::transport::{LONGEST, Transport};
use crate::{Answering, End, ModelCall, ModelError, ModelErrorKind, Part};

/// The parts of a response. Some servers do not stream, whatever they are asked.
pub(super) async fn parts(
    protocol: &'static dyn Protocol,
    transport: &Transport,
    tools: Offer,
    response: Response,
) -> Result<Answering<'static>, ModelError> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/event-stream") {
        let reader = Reader::new(protocol, transport.clone(), &tools, response);
        return Ok(Box::pin(stream::try_unfold(reader, |mut reader| async move {
            Ok(reader.next().await?.map(|part| (part, reader)))
        })));
    }
    let text = whole(transport, response).await?;
    let parts = read(protocol, transport, &tools, &text)?;
    Ok(Box::pin(stream::iter(parts).map(Ok)))
}

/// The text of a whole response.
async fn whole(transport: &Transport, response: Response) -> Result<String, ModelError> {
    let mut pieces = response.bytes_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = transport.in_time(pieces.next()).await? {
        bytes.extend_from_slice(&piece.map_err(|error| transport.broken(&error))?);
        if bytes.len() > LONGEST {
            return Err(too_long());
        }
    }
    String::from_utf8(bytes).map_err(|_| unreadable("the answer is not text"))
}

/// The parts of a whole response.
fn read(protocol: &dyn Protocol, transport: &Transport, tools: &Offer, text: &str) -> Result<Vec<Part>, ModelError> {
    let response: Value = match serde_json::from_str(text) {
        Ok(response) => response,
        Err(error) if error.is_eof() => return Err(ModelError::cut()),
        Err(error) => return Err(unreadable(format!("the answer is not JSON: {error}"))),
    };
    if let Some(failed) = transport.failed(&response) {
        return Err(failed);
    }
    let refused = |error: ResponseError| unreadable(error.to_string());
    let (calls, turn) = (tools.calls(text).map_err(refused)?, tools.turn(text).map_err(refused)?);
    let mut notes = Notes::default();
    protocol.note(&response, &mut notes);
    let (thinking, said) = (protocol.thinking(&response), protocol.text(&response));
    let mut parts = Vec::new();
    parts.extend((!thinking.is_empty()).then_some(Part::Thinking(thinking)));
    parts.extend((!said.is_empty()).then_some(Part::Text(said)));
    parts.extend(calls.into_iter().map(|call| Part::Call(asked_for(call))));
    parts.push(Part::End(end(notes, turn)?));
    Ok(parts)
}

/// Reads a stream.
struct Reader {
    protocol: &'static dyn Protocol,
    transport: Transport,
    events: Pin<Box<dyn Pieces<Item = Result<Sse, sse_stream::Error>> + Send>>,
    /// Nothing once the answer has ended.
    stream: Option<Stream>,
    notes: Notes,
    /// Parts that are there already.
    ready: VecDeque<Part>,
}

impl Reader {
    fn new(protocol: &'static dyn Protocol, transport: Transport, tools: &Offer, response: Response) -> Self {
        let mut bytes = 0;
        let pieces = response.bytes_stream().map(move |piece| {
            let piece = piece.map_err(Broken::Connection)?;
            bytes += piece.len();
            if bytes > LONGEST { Err(Broken::TooLong) } else { Ok(piece) }
        });
        let events = Box::pin(SseStream::from_bytes_stream(pieces));
        let stream = Some(tools.stream());
        Self { protocol, transport, events, stream, notes: Notes::default(), ready: VecDeque::new() }
    }

    async fn next(&mut self) -> Result<Option<Part>, ModelError> {
        loop {
            if let Some(part) = self.ready.pop_front() {
                return Ok(Some(part));
            }
            if self.stream.is_none() {
                return Ok(None);
            }
            let failure = match self.transport.in_time(self.events.next()).await {
                Ok(Some(Ok(event))) => {
                    self.take(&event.data.unwrap_or_default())?;
                    if !self.notes.is_over {
                        continue;
                    }
                    None
                }
                Ok(None) => None,
                Ok(Some(Err(error))) => Some(broken(&self.transport, &error)),
                Err(late) => Some(late),
            };
            self.finish(failure)?;
        }
    }

    fn take(&mut self, data: &str) -> Result<(), ModelError> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if data.trim() == "[DONE]" {
            self.notes.is_over = true;
            return Ok(());
        }
        if data.trim().is_empty() {
            return Ok(());
        }
        let event: Value =
            serde_json::from_str(data).map_err(|error| unreadable(format!("an event is not JSON: {error}")))?;
        if let Some(failed) = self.transport.failed(&event) {
            return Err(failed);
        }
        let known = self.notes.usage;
        self.protocol.note(&event, &mut self.notes);
        self.ready.extend((self.notes.usage != known).then_some(Part::Usage(self.notes.usage)));
        let thinking = self.protocol.thinking(&event);
        self.ready.extend((!thinking.is_empty()).then_some(Part::Thinking(thinking)));
        let text = stream.push(data).map_err(|error| unreadable(error.to_string()))?;
        self.ready.extend(text.map(Part::Text));
        let aside = self.protocol.aside(&event);
        self.ready.extend((!aside.is_empty()).then(|| Part::Text(aside.to_owned())));
        Ok(())
    }

    /// Puts together what has come. What happens to the connection after the last word does not matter.
    fn finish(&mut self, failure: Option<ModelError>) -> Result<(), ModelError> {
        let Some(stream) = self.stream.take() else { return Ok(()) };
        let Received { calls, turn, is_complete, .. } = stream.finish();
        // There are servers that end without a word on why.
        if !is_complete && !self.notes.is_over {
            return Err(failure.unwrap_or_else(ModelError::cut));
        }
        self.ready.extend(calls.into_iter().map(|call| Part::Call(asked_for(call))));
        self.ready.push_back(Part::End(end(std::mem::take(&mut self.notes), turn)?));
        Ok(())
    }
}

/// Converts a call. A malformed one is passed on with the reason, which the model reads as the call's result.
fn asked_for(call: Result<Requested, Malformed>) -> ModelCall {
    match call {
        Ok(call) => call.into(),
        Err(malformed) => {
            let name = malformed.name.unwrap_or_else(|| "unknown".to_owned());
            ModelCall { malformed: Some(malformed.message), ..ModelCall::new(malformed.id, name, "{}") }
        }
    }
}

fn end(notes: Notes, turn: Vec<Value>) -> Result<End, ModelError> {
    if notes.is_garbled {
        return Err(ModelError::new(ModelErrorKind::Cut, "the model could not finish its call"));
    }
    let turn = (!turn.is_empty()).then_some(Value::Array(turn));
    Ok(End::new(notes.stop).usage(notes.usage).opaque(turn))
}

/// Why a stream has no more pieces.
#[derive(Debug)]
enum Broken {
    Connection(reqwest::Error),
    TooLong,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stream is broken")
    }
}

impl std::error::Error for Broken {}

fn broken(transport: &Transport, error: &sse_stream::Error) -> ModelError {
    let sse_stream::Error::Body(inner) = error else {
        return unreadable(format!("the stream cannot be read: {error}"));
    };
    match inner.downcast_ref::<Broken>() {
        Some(Broken::Connection(error)) => transport.broken(error),
        Some(Broken::TooLong) => too_long(),
        None => ModelError::cut(),
    }
}

fn too_long() -> ModelError {
    unreadable("the answer is longer than any answer is")
}

fn unreadable(message: impl Into<Cow<'static, str>>) -> ModelError {
    ModelError::new(ModelErrorKind::Unreadable, message)
}
