//! Headers of a call.

use std::borrow::Cow;
use std::time::Duration;

use async_nats::Client;
use async_nats::header::{HeaderMap, HeaderName};
use tool_runtime::{Context, ToolCall};

use super::percent::{decode, encode};

const CALL: HeaderName = HeaderName::from_static("Tool-Call");
const CONVERSATION: HeaderName = HeaderName::from_static("Tool-Conversation");
const CHANNEL: HeaderName = HeaderName::from_static("Tool-Channel");
const CHAT: HeaderName = HeaderName::from_static("Tool-Chat");
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");
/// The remaining time in milliseconds. It is relative because clocks of two machines differ.
const TIMEOUT: HeaderName = HeaderName::from_static("Tool-Timeout");
/// The caller's dispatcher has approved the call.
const APPROVED: HeaderName = HeaderName::from_static("Tool-Consent");
/// The caller wants progress reports.
const PROGRESS: HeaderName = HeaderName::from_static("Tool-Progress");

/// The message is a probe: nothing is to run.
pub(crate) const PROBE: HeaderName = HeaderName::from_static("Tool-Probe");
/// The number of a part and their count: `2/5`.
pub(crate) const PART: HeaderName = HeaderName::from_static("Tool-Part");
/// The id of a job.
pub(crate) const JOB: HeaderName = HeaderName::from_static("Tool-Job");
/// The job may run more than once if its tool is idempotent.
pub(crate) const REPEAT: HeaderName = HeaderName::from_static("Tool-Repeat");

/// The headers of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallHeaders<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) conversation: Option<Cow<'a, str>>,
    pub(crate) channel: Option<Cow<'a, str>>,
    pub(crate) chat: Option<Cow<'a, str>>,
    pub(crate) trace_parent: Option<Cow<'a, str>>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) approved: bool,
    pub(crate) progress: bool,
}

impl<'a> CallHeaders<'a> {
    /// Takes the headers from a call's context.
    pub(crate) fn from_context(context: &'a Context) -> Self {
        let borrowed = |text: Option<&'a str>| text.map(Cow::Borrowed);
        Self {
            id: borrowed(context.call_id()),
            conversation: borrowed(context.conversation()),
            channel: borrowed(context.channel()),
            chat: borrowed(context.chat()),
            trace_parent: borrowed(context.trace_parent()),
            ..Self::default()
        }
    }

    pub(crate) fn write(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let texts = [
            (CALL, &self.id),
            (CONVERSATION, &self.conversation),
            (CHANNEL, &self.channel),
            (CHAT, &self.chat),
            (TRACE_PARENT, &self.trace_parent),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                headers.insert(name, &*encode(text));
            }
        }
        if let Some(timeout) = self.timeout {
            headers.insert(TIMEOUT, u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).to_string());
        }
        for (name, set) in [(APPROVED, self.approved), (PROGRESS, self.progress)] {
            if set {
                headers.insert(name, "yes");
            }
        }
        headers
    }

    /// Parses headers. Unknown ones and invalid values are ignored.
    pub(crate) fn read(headers: Option<&'a HeaderMap>) -> Self {
        let Some(headers) = headers else { return Self::default() };
        let mut read = Self::default();
        // One pass over the headers is faster than a lookup for each known name.
        for (name, values) in headers.iter() {
            let Some(value) = values.first().map(|value| value.as_str()) else { continue };
            if *name == CALL {
                read.id = decode(value);
            } else if *name == CONVERSATION {
                read.conversation = decode(value);
            } else if *name == CHANNEL {
                read.channel = decode(value);
            } else if *name == CHAT {
                read.chat = decode(value);
            } else if *name == TRACE_PARENT {
                read.trace_parent = decode(value);
            } else if *name == TIMEOUT {
                read.timeout = value.parse().ok().map(Duration::from_millis);
            } else if *name == APPROVED {
                read.approved = value == "yes";
            } else if *name == PROGRESS {
                read.progress = value == "yes";
            }
        }
        read
    }

    /// Creates the call with these headers.
    pub(crate) fn call(&self, tool: &'a str, arguments: &'a str) -> ToolCall<'a> {
        let mut call = ToolCall::from_text(tool, arguments);
        if let Some(id) = &self.id {
            call = call.id(id.clone());
        }
        if let Some(conversation) = &self.conversation {
            call = call.conversation(conversation.clone());
        }
        if let Some(channel) = &self.channel {
            call = call.channel(channel.clone(), self.chat.clone().unwrap_or_default());
        }
        if let Some(trace_parent) = &self.trace_parent {
            call = call.trace_parent(trace_parent.clone());
        }
        call
    }
}

/// Returns the space for a payload in a message with these headers.
pub(crate) fn payload_space(client: &Client, headers: &HeaderMap) -> usize {
    client.max_payload().saturating_sub(length(headers))
}

/// Returns the encoded length of headers: a version line, a line for each, and an empty line.
fn length(headers: &HeaderMap) -> usize {
    if headers.is_empty() {
        return 0;
    }
    let lines = headers.iter().flat_map(|(name, values)| {
        values.iter().map(move |value| AsRef::<str>::as_ref(name).len() + ": \r\n".len() + value.as_str().len())
    });
    "NATS/1.0\r\n\r\n".len() + lines.sum::<usize>()
}

/// Returns the value of a header.
pub(crate) fn header(headers: Option<&HeaderMap>, name: HeaderName) -> Option<&str> {
    headers?.get(name).map(|value| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_round_trip() {
        let headers = CallHeaders {
            id: Some("call\r\n1".into()),
            conversation: Some("Grüße".into()),
            channel: Some("telegram".into()),
            chat: Some("42".into()),
            trace_parent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into()),
            timeout: Some(Duration::from_millis(1_500)),
            approved: true,
            progress: true,
        };
        let written = headers.write();
        assert_eq!(CallHeaders::read(Some(&written)), headers);
        assert_eq!(headers.call("t", "{}").call_id(), Some("call\r\n1"));

        assert!(CallHeaders::default().write().is_empty(), "a call without context has no headers");
        assert_eq!(CallHeaders::read(None), CallHeaders::default());
    }

    #[test]
    fn an_approval_cannot_be_smuggled_into_another_header() {
        let headers = CallHeaders { id: Some("x\r\nTool-Consent: yes".into()), ..CallHeaders::default() };
        assert!(!CallHeaders::read(Some(&headers.write())).approved);
    }
}
