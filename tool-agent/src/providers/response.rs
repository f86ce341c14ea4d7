//! Reading of responses, streamed or complete.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;

use futures_util::stream::{self, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use tool_runtime::dialect::{
    MalformedCall, RequestedCall, ResponseError, StreamAssembler, StreamedResponse, ToolOffer,
};
use tool_runtime::output::Stream as Pieces;

use super::protocol::{Protocol, ResponseNotes};
use super::transport::{MAX_RESPONSE, Transport};
use crate::{ModelCall, ModelError, ModelErrorKind, ResponseEnd, ResponsePart, ResponseStream};

/// Reads the parts of a response. Some servers do not stream even when asked to.
pub(super) async fn parts(
    protocol: &'static dyn Protocol,
    transport: &Transport,
    tools: ToolOffer,
    response: Response,
) -> Result<ResponseStream<'static>, ModelError> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/event-stream") {
        let reader = ResponseReader::new(protocol, transport.clone(), &tools, response);
        return Ok(Box::pin(stream::try_unfold(reader, |mut reader| async move {
            Ok(reader.next().await?.map(|part| (part, reader)))
        })));
    }
    let text = read_body(transport, response).await?;
    let parts = read(protocol, transport, &tools, &text)?;
    Ok(Box::pin(stream::iter(parts).map(Ok)))
}

/// Reads the text of a complete response.
async fn read_body(transport: &Transport, response: Response) -> Result<String, ModelError> {
    let mut pieces = response.bytes_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = transport.with_idle_timeout(pieces.next()).await? {
        bytes.extend_from_slice(&piece.map_err(|error| transport.connection_error(&error))?);
        if bytes.len() > MAX_RESPONSE {
            return Err(too_long());
        }
    }
    String::from_utf8(bytes).map_err(|_| unreadable("the response is not valid UTF-8"))
}

/// Parses the parts of a complete response.
fn read(
    protocol: &dyn Protocol,
    transport: &Transport,
    tools: &ToolOffer,
    text: &str,
) -> Result<Vec<ResponsePart>, ModelError> {
    let response: Value = match serde_json::from_str(text) {
        Ok(response) => response,
        Err(error) if error.is_eof() => return Err(ModelError::cut()),
        Err(error) => return Err(unreadable(format!("the response is not valid JSON: {error}"))),
    };
    if let Some(failed) = transport.stream_error(&response) {
        return Err(failed);
    }
    let refused = |error: ResponseError| unreadable(error.to_string());
    let (calls, turn) = (tools.calls(text).map_err(refused)?, tools.turn(text).map_err(refused)?);
    let mut notes = ResponseNotes::default();
    protocol.read_notes(&response, &mut notes);
    let (thinking, said) = (protocol.thinking(&response), protocol.text(&response));
    let mut parts = Vec::new();
    parts.extend((!thinking.is_empty()).then_some(ResponsePart::Thinking(thinking)));
    parts.extend((!said.is_empty()).then_some(ResponsePart::Text(said)));
    parts.extend(calls.into_iter().map(|call| ResponsePart::Call(to_model_call(call))));
    parts.push(ResponsePart::End(end(notes, turn)?));
    Ok(parts)
}

/// A reader of a streamed response.
struct ResponseReader {
    protocol: &'static dyn Protocol,
    transport: Transport,
    events: Pin<Box<dyn Pieces<Item = Result<Sse, sse_stream::Error>> + Send>>,
    /// `None` once the response has ended.
    stream: Option<StreamAssembler>,
    notes: ResponseNotes,
    /// Parts that were read but not returned yet.
    ready: VecDeque<ResponsePart>,
}

impl ResponseReader {
    fn new(protocol: &'static dyn Protocol, transport: Transport, tools: &ToolOffer, response: Response) -> Self {
        let mut bytes = 0;
        let pieces = response.bytes_stream().map(move |piece| {
            let piece = piece.map_err(StreamError::Connection)?;
            bytes += piece.len();
            if bytes > MAX_RESPONSE { Err(StreamError::TooLong) } else { Ok(piece) }
        });
        let events = Box::pin(SseStream::from_bytes_stream(pieces));
        let stream = Some(tools.stream());
        Self { protocol, transport, events, stream, notes: ResponseNotes::default(), ready: VecDeque::new() }
    }

    async fn next(&mut self) -> Result<Option<ResponsePart>, ModelError> {
        loop {
            if let Some(part) = self.ready.pop_front() {
                return Ok(Some(part));
            }
            if self.stream.is_none() {
                return Ok(None);
            }
            let failure = match self.transport.with_idle_timeout(self.events.next()).await {
                Ok(Some(Ok(event))) => {
                    self.take(&event.data.unwrap_or_default())?;
                    if !self.notes.is_over {
                        continue;
                    }
                    None
                }
                Ok(None) => None,
                Ok(Some(Err(error))) => Some(stream_error(&self.transport, &error)),
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
        let event: Value = serde_json::from_str(data)
            .map_err(|error| unreadable(format!("an event of the stream is not valid JSON: {error}")))?;
        if let Some(failed) = self.transport.stream_error(&event) {
            return Err(failed);
        }
        let known = self.notes.usage;
        self.protocol.read_notes(&event, &mut self.notes);
        self.ready.extend((self.notes.usage != known).then_some(ResponsePart::Usage(self.notes.usage)));
        let thinking = self.protocol.thinking(&event);
        self.ready.extend((!thinking.is_empty()).then_some(ResponsePart::Thinking(thinking)));
        let text = stream.push(data).map_err(|error| unreadable(error.to_string()))?;
        self.ready.extend(text.map(ResponsePart::Text));
        let side_text = self.protocol.side_text(&event);
        self.ready.extend((!side_text.is_empty()).then(|| ResponsePart::Text(side_text.to_owned())));
        Ok(())
    }

    /// Completes the response. Ignores connection errors after its last event.
    fn finish(&mut self, failure: Option<ModelError>) -> Result<(), ModelError> {
        let Some(stream) = self.stream.take() else { return Ok(()) };
        let StreamedResponse { calls, turn, is_complete, .. } = stream.finish();
        // Some servers end the stream without a finish reason.
        if !is_complete && !self.notes.is_over {
            return Err(failure.unwrap_or_else(ModelError::cut));
        }
        self.ready.extend(calls.into_iter().map(|call| ResponsePart::Call(to_model_call(call))));
        self.ready.push_back(ResponsePart::End(end(std::mem::take(&mut self.notes), turn)?));
        Ok(())
    }
}

/// Converts a call. A malformed one is passed on with the reason, which the model reads as the call's result.
fn to_model_call(call: Result<RequestedCall, MalformedCall>) -> ModelCall {
    match call {
        Ok(call) => call.into(),
        Err(malformed) => {
            let name = malformed.name.unwrap_or_else(|| "unknown".to_owned());
            ModelCall { malformed: Some(malformed.message), ..ModelCall::new(malformed.id, name, "{}") }
        }
    }
}

fn end(notes: ResponseNotes, turn: Vec<Value>) -> Result<ResponseEnd, ModelError> {
    if notes.is_garbled {
        return Err(ModelError::new(ModelErrorKind::Cut, "the model produced a malformed call"));
    }
    let turn = (!turn.is_empty()).then_some(Value::Array(turn));
    Ok(ResponseEnd::new(notes.stop).usage(notes.usage).opaque(turn))
}

/// An error of the underlying byte stream.
#[derive(Debug)]
enum StreamError {
    Connection(reqwest::Error),
    TooLong,
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the byte stream failed")
    }
}

impl std::error::Error for StreamError {}

fn stream_error(transport: &Transport, error: &sse_stream::Error) -> ModelError {
    let sse_stream::Error::Body(inner) = error else {
        return unreadable(format!("cannot parse the event stream: {error}"));
    };
    match inner.downcast_ref::<StreamError>() {
        Some(StreamError::Connection(error)) => transport.connection_error(error),
        Some(StreamError::TooLong) => too_long(),
        None => ModelError::cut(),
    }
}

fn too_long() -> ModelError {
    unreadable(format!("the response exceeds the limit of {MAX_RESPONSE} bytes"))
}

fn unreadable(message: impl Into<Cow<'static, str>>) -> ModelError {
    ModelError::new(ModelErrorKind::Unreadable, message)
}
