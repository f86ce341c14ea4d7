//! Replies to a call: heartbeats, progress, and the result, in parts if it is long.
//!
//! Most results are plain text. Such a reply has no headers and the text as payload; the type of any other reply is in
//! its header.

use async_nats::header::{HeaderMap, HeaderName};
use async_nats::service::{NATS_SERVICE_ERROR, NATS_SERVICE_ERROR_CODE};
use async_nats::{Message, StatusCode};
use bytes::Bytes;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use super::headers::{PART, header};

const ANSWER: HeaderName = HeaderName::from_static("Tool-Answer");

/// Space reserved for the headers of a message, which count towards its size.
const HEADER_SPACE: usize = 512;

/// The maximum length of a result. Longer ones are truncated.
const MAX_RESULT: usize = 64 << 20;

/// The maximum number of parts that are accepted.
const MAX_PARTS: usize = 1 << 17;

/// An outgoing reply.
pub(crate) struct CallReply {
    pub(crate) headers: Option<HeaderMap>,
    pub(crate) payload: Bytes,
}

impl CallReply {
    fn tagged(tag: &str, payload: Bytes) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(ANSWER, tag);
        Self { headers: Some(headers), payload }
    }

    /// Creates a heartbeat: this worker is running the call.
    pub(crate) fn working(worker: &str) -> Self {
        Self::tagged("working", Bytes::copy_from_slice(worker.as_bytes()))
    }

    /// Creates a progress report.
    pub(crate) fn progress(progress: &serde_json::Value) -> Self {
        Self::tagged("progress", progress.to_string().into())
    }

    fn part(number: usize, count: usize, payload: Bytes) -> Self {
        let mut reply = Self::tagged("part", payload);
        if let Some(headers) = &mut reply.headers {
            headers.insert(PART, format!("{number}/{count}"));
        }
        reply
    }
}

/// Encodes a result as messages of at most this size.
pub(crate) fn messages(mut result: ToolResult, max_payload: usize) -> Vec<CallReply> {
    let most = max_payload.saturating_sub(HEADER_SPACE).max(1);
    if result.success && result.metadata.is_empty() && result.output.len() <= most {
        return vec![CallReply { headers: None, payload: result.output.into() }];
    }
    if result.output.len() > MAX_RESULT {
        truncate_output(&mut result);
    }
    let payload = match serde_json::to_vec(&result) {
        Ok(json) => Bytes::from(json),
        // Strings and JSON values always serialize.
        Err(error) => error.to_string().into(),
    };
    if payload.len() > most {
        let count = payload.len().div_ceil(most);
        let part = |number| payload.slice(number * most..payload.len().min((number + 1) * most));
        return (0..count).map(|number| CallReply::part(number, count, part(number))).collect();
    }
    let mut reply = CallReply::tagged("result", payload);
    if let (Some(error), Some(headers)) = (&result.error, &mut reply.headers) {
        // The headers of NATS services, so that NATS's own tools recognize failures.
        headers.insert(NATS_SERVICE_ERROR, error.kind.as_str());
        headers.insert(NATS_SERVICE_ERROR_CODE, if error.kind == ErrorKind::InvalidArguments { "400" } else { "500" });
    }
    vec![reply]
}

/// Truncates an output that exceeds the limit.
fn truncate_output(result: &mut ToolResult) {
    let bytes = result.output.len();
    let mut end = MAX_RESULT;
    while !result.output.is_char_boundary(end) {
        end -= 1;
    }
    result.output.truncate(end);
    result.output.push_str("\n… truncated: the result exceeds the size limit …");
    result.metadata.insert("cut_from_bytes", bytes);
}

/// A received reply.
#[derive(Debug, PartialEq)]
pub(crate) enum ReceivedReply {
    /// No worker is subscribed, as reported by the server: the call has not run.
    NoWorkers,
    /// A heartbeat with the id of the worker.
    Working(String),
    /// A progress report.
    Progress(serde_json::Value),
    /// The result.
    Result(ToolResult),
    /// A part of the result.
    Part { number: usize, count: usize, payload: Bytes },
}

impl ReceivedReply {
    pub(crate) fn parse(message: Message) -> Self {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            return Self::NoWorkers;
        }
        let Some(tag) = header(message.headers.as_ref(), ANSWER) else {
            return Self::Result(match String::from_utf8(message.payload.into()) {
                Ok(text) => ToolResult::success(text),
                Err(_) => unreadable("it is not valid UTF-8"),
            });
        };
        match tag {
            "working" => Self::Working(String::from_utf8_lossy(&message.payload).into_owned()),
            "progress" => match serde_json::from_slice(&message.payload) {
                Ok(progress) => Self::Progress(progress),
                Err(error) => Self::Progress(error.to_string().into()),
            },
            "part" => match part_number(header(message.headers.as_ref(), PART)) {
                Some((number, count)) => Self::Part { number, count, payload: message.payload },
                None => Self::Result(unreadable("a part has no valid number")),
            },
            "result" => Self::Result(parse_result(&message.payload)),
            _ => Self::Result(unreadable("its type is unknown")),
        }
    }
}

/// Parses `2/5`, within the limits.
fn part_number(part: Option<&str>) -> Option<(usize, usize)> {
    let (number, count) = part?.split_once('/')?;
    let (number, count): (usize, usize) = (number.parse().ok()?, count.parse().ok()?);
    (number < count && count <= MAX_PARTS).then_some((number, count))
}

fn parse_result(json: &[u8]) -> ToolResult {
    serde_json::from_slice(json).unwrap_or_else(|error| unreadable(&error.to_string()))
}

/// Creates the result of a call that ran but whose reply cannot be read.
fn unreadable(why: &str) -> ToolResult {
    let message = format!("The reply to the call cannot be read: {why}. The call may have taken effect.");
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}

/// The received parts of a result.
#[derive(Debug, Default)]
pub(crate) struct ReplyParts {
    parts: Vec<Option<Bytes>>,
    received: usize,
}

impl ReplyParts {
    /// Adds a part. Returns the result once all parts are there.
    pub(crate) fn take(&mut self, number: usize, count: usize, payload: Bytes) -> Option<ToolResult> {
        if self.parts.is_empty() {
            self.parts = vec![None; count];
        }
        if self.parts.len() != count {
            return Some(unreadable("its parts are inconsistent"));
        }
        match self.parts.get_mut(number) {
            Some(place) if place.is_none() => *place = Some(payload),
            _ => return Some(unreadable("a part was received twice")),
        }
        self.received += 1;
        (self.received == count).then(|| parse_result(&self.parts.drain(..).flatten().collect::<Vec<_>>().concat()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn message(reply: CallReply) -> Message {
        let length = reply.payload.len();
        Message {
            subject: "x".into(),
            reply: None,
            payload: reply.payload,
            headers: reply.headers,
            status: None,
            description: None,
            length,
        }
    }

    fn round_trip(result: ToolResult, max_payload: usize) -> ToolResult {
        let mut parts = ReplyParts::default();
        let mut replies = messages(result, max_payload);
        // Parts come in any order.
        replies.reverse();
        for reply in replies {
            assert!(reply.payload.len() <= max_payload);
            match ReceivedReply::parse(message(reply)) {
                ReceivedReply::Result(result) => return result,
                ReceivedReply::Part { number, count, payload } => {
                    if let Some(result) = parts.take(number, count, payload) {
                        return result;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        panic!("parts are missing");
    }

    #[test]
    fn results_round_trip() {
        let plain = ToolResult::success("42".to_owned());
        assert!(messages(plain.clone(), 1_000)[0].headers.is_none(), "the text itself");
        let mut noted = ToolResult::success("ü".repeat(5_000));
        noted.metadata.insert("a", json!([1]));
        let failed = ToolResult::failure(ToolError::new(ErrorKind::TimedOut, "late"));
        let later = ToolError::new(ErrorKind::Busy, "later").with_retry_after(Duration::from_millis(1_500));
        let later = ToolResult::failure(later);
        for result in [plain, noted, failed, later, ToolResult::success("x\n".repeat(20_000))] {
            assert_eq!(round_trip(result.clone(), 1_000), result);
            assert_eq!(round_trip(result.clone(), 1_000_000), result);
        }
    }

    #[test]
    fn an_unreadable_reply_is_an_unknown_outcome() {
        let mut odd = message(CallReply::tagged("result", "{".into()));
        let kind = |message| match ReceivedReply::parse(message) {
            ReceivedReply::Result(result) => result.error.map(|error| error.kind),
            _ => None,
        };
        assert_eq!(kind(odd.clone()), Some(ErrorKind::OutcomeUnknown));
        odd.headers = None;
        odd.payload = Bytes::from_static(b"\xff");
        assert_eq!(kind(odd), Some(ErrorKind::OutcomeUnknown));
        assert_eq!(kind(message(CallReply::tagged("from the future", Bytes::new()))), Some(ErrorKind::OutcomeUnknown));
        assert_eq!(kind(message(CallReply::part(7, 3, Bytes::new()))), Some(ErrorKind::OutcomeUnknown));
    }
}
