//! The messages that answer a call: that somebody has it, how far it is, and its result, in parts if it is long.
//!
//! Most calls are answered by a text and nothing else. Such an answer has no headers and is the text itself; any other
//! says in its header what it is.

use async_nats::header::{HeaderMap, HeaderName};
use async_nats::service::{NATS_SERVICE_ERROR, NATS_SERVICE_ERROR_CODE};
use async_nats::{Message, StatusCode};
use bytes::Bytes;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use super::headers::{PART, header};

const ANSWER: HeaderName = HeaderName::from_static("Tool-Answer");

/// Room for the headers of a message, which count as a part of it.
const HEADER_ROOM: usize = 512;

/// The longest result that is sent, in parts or not. A longer one is shortened.
const MOST_BYTES: usize = 64 << 20;

/// The most parts of a result that are taken.
const MOST_PARTS: usize = 1 << 17;

/// A message to be sent.
pub(crate) struct Reply {
    pub(crate) headers: Option<HeaderMap>,
    pub(crate) payload: Bytes,
}

impl Reply {
    fn tagged(tag: &str, payload: Bytes) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(ANSWER, tag);
        Self { headers: Some(headers), payload }
    }

    /// A worker has the call, and works on it.
    pub(crate) fn working(worker: &str) -> Self {
        Self::tagged("working", Bytes::copy_from_slice(worker.as_bytes()))
    }

    /// How far the handler is.
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

/// The messages that say a result, where a message can have so many bytes.
pub(crate) fn messages(mut result: ToolResult, max_payload: usize) -> Vec<Reply> {
    let most = max_payload.saturating_sub(HEADER_ROOM).max(1);
    if result.success && result.metadata.is_empty() && result.output.len() <= most {
        return vec![Reply { headers: None, payload: result.output.into() }];
    }
    if result.output.len() > MOST_BYTES {
        shorten(&mut result);
    }
    let payload = match serde_json::to_vec(&result) {
        Ok(json) => Bytes::from(json),
        // A result is strings and JSON values, which can always be written.
        Err(error) => error.to_string().into(),
    };
    if payload.len() > most {
        let count = payload.len().div_ceil(most);
        let part = |number| payload.slice(number * most..payload.len().min((number + 1) * most));
        return (0..count).map(|number| Reply::part(number, count, part(number))).collect();
    }
    let mut reply = Reply::tagged("result", payload);
    if let (Some(error), Some(headers)) = (&result.error, &mut reply.headers) {
        // As services say it, so that the tools of NATS see failures as such.
        headers.insert(NATS_SERVICE_ERROR, error.kind.as_str());
        headers.insert(NATS_SERVICE_ERROR_CODE, if error.kind == ErrorKind::InvalidArguments { "400" } else { "500" });
    }
    vec![reply]
}

/// Keeps the beginning of an output that nobody could read as a whole.
fn shorten(result: &mut ToolResult) {
    let bytes = result.output.len();
    let mut end = MOST_BYTES;
    while !result.output.is_char_boundary(end) {
        end -= 1;
    }
    result.output.truncate(end);
    result.output.push_str("\n… cut here: the result is longer than what is sent …");
    result.metadata.insert("cut_from_bytes", bytes);
}

/// What a message says.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    /// Nobody listens to the subject: the server itself says so, and nothing has run.
    NobodyThere,
    /// A worker has the call; this is its id.
    Working(String),
    /// How far the handler is.
    Progress(serde_json::Value),
    /// The result.
    Result(ToolResult),
    /// A part of it.
    Part { number: usize, count: usize, payload: Bytes },
}

impl Answer {
    pub(crate) fn read(message: Message) -> Self {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            return Self::NobodyThere;
        }
        let Some(tag) = header(message.headers.as_ref(), ANSWER) else {
            return Self::Result(match String::from_utf8(message.payload.into()) {
                Ok(text) => ToolResult::success(text),
                Err(_) => unreadable("it is no text"),
            });
        };
        match tag {
            "working" => Self::Working(String::from_utf8_lossy(&message.payload).into_owned()),
            "progress" => match serde_json::from_slice(&message.payload) {
                Ok(progress) => Self::Progress(progress),
                Err(error) => Self::Progress(error.to_string().into()),
            },
            "part" => match place(header(message.headers.as_ref(), PART)) {
                Some((number, count)) => Self::Part { number, count, payload: message.payload },
                None => Self::Result(unreadable("a part does not say which it is")),
            },
            "result" => Self::Result(read_result(&message.payload)),
            _ => Self::Result(unreadable("it is of a newer kind")),
        }
    }
}

/// `2/5`, within what is sent at all.
fn place(part: Option<&str>) -> Option<(usize, usize)> {
    let (number, count) = part?.split_once('/')?;
    let (number, count): (usize, usize) = (number.parse().ok()?, count.parse().ok()?);
    (number < count && count <= MOST_PARTS).then_some((number, count))
}

fn read_result(json: &[u8]) -> ToolResult {
    serde_json::from_slice(json).unwrap_or_else(|error| unreadable(&error.to_string()))
}

/// The call ran, and what it answered is lost.
fn unreadable(why: &str) -> ToolResult {
    let message = format!("The call was answered, but the answer cannot be read: {why}. It may have taken effect.");
    ToolResult::failure(ToolError::new(ErrorKind::OutcomeUnknown, message))
}

/// The parts of a result that have come.
#[derive(Debug, Default)]
pub(crate) struct AnswerParts {
    parts: Vec<Option<Bytes>>,
    there: usize,
}

impl AnswerParts {
    /// Takes a part; the result, once all are there.
    pub(crate) fn take(&mut self, number: usize, count: usize, payload: Bytes) -> Option<ToolResult> {
        if self.parts.is_empty() {
            self.parts = vec![None; count];
        }
        if self.parts.len() != count {
            return Some(unreadable("its parts do not belong together"));
        }
        match self.parts.get_mut(number) {
            Some(place) if place.is_none() => *place = Some(payload),
            _ => return Some(unreadable("a part came twice")),
        }
        self.there += 1;
        (self.there == count).then(|| read_result(&self.parts.drain(..).flatten().collect::<Vec<_>>().concat()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn received(reply: Reply) -> Message {
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

    fn there_and_back(result: ToolResult, max_payload: usize) -> ToolResult {
        let mut parts = AnswerParts::default();
        let mut replies = messages(result, max_payload);
        // Parts come in any order.
        replies.reverse();
        for reply in replies {
            assert!(reply.payload.len() <= max_payload);
            match Answer::read(received(reply)) {
                Answer::Result(result) => return result,
                Answer::Part { number, count, payload } => {
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
    fn every_result_comes_back() {
        let plain = ToolResult::success("42".to_owned());
        assert!(messages(plain.clone(), 1_000)[0].headers.is_none(), "the text itself");
        let mut noted = ToolResult::success("ü".repeat(5_000));
        noted.metadata.insert("a", json!([1]));
        let failed = ToolResult::failure(ToolError::new(ErrorKind::TimedOut, "late"));
        let later = ToolError::new(ErrorKind::Busy, "later").with_retry_after(Duration::from_millis(1_500));
        let later = ToolResult::failure(later);
        for result in [plain, noted, failed, later, ToolResult::success("x\n".repeat(20_000))] {
            assert_eq!(there_and_back(result.clone(), 1_000), result);
            assert_eq!(there_and_back(result.clone(), 1_000_000), result);
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_success() {
        let mut odd = received(Reply::tagged("result", "{".into()));
        let kind = |message| match Answer::read(message) {
            Answer::Result(result) => result.error.map(|error| error.kind),
            _ => None,
        };
        assert_eq!(kind(odd.clone()), Some(ErrorKind::OutcomeUnknown));
        odd.headers = None;
        odd.payload = Bytes::from_static(b"\xff");
        assert_eq!(kind(odd), Some(ErrorKind::OutcomeUnknown));
        assert_eq!(kind(received(Reply::tagged("from the future", Bytes::new()))), Some(ErrorKind::OutcomeUnknown));
        assert_eq!(kind(received(Reply::part(7, 3, Bytes::new()))), Some(ErrorKind::OutcomeUnknown));
    }
}
