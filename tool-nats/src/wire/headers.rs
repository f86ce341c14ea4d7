//! What comes with a call besides its arguments.

use std::borrow::Cow;
use std::time::Duration;

use async_nats::Client;
use async_nats::header::{HeaderMap, HeaderName};
use tool_runtime::{Context, ToolCall};

use super::text::{decode, encode};

const CALL: HeaderName = HeaderName::from_static("Tool-Call");
const CONVERSATION: HeaderName = HeaderName::from_static("Tool-Conversation");
const CHANNEL: HeaderName = HeaderName::from_static("Tool-Channel");
const CHAT: HeaderName = HeaderName::from_static("Tool-Chat");
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");
/// How long the call may take, in milliseconds. Not a moment: clocks of two machines differ.
const TIMEOUT: HeaderName = HeaderName::from_static("Tool-Timeout");
/// The caller's dispatcher has let the call run: whoever had to be asked has agreed.
const CONSENT: HeaderName = HeaderName::from_static("Tool-Consent");
/// Somebody listens to progress.
const PROGRESS: HeaderName = HeaderName::from_static("Tool-Progress");

/// Nothing is to run: the caller only asks whether somebody is there.
pub(crate) const PROBE: HeaderName = HeaderName::from_static("Tool-Probe");
/// Which part of how many: `2/5`.
pub(crate) const PART: HeaderName = HeaderName::from_static("Tool-Part");
/// The id of a job.
pub(crate) const JOB: HeaderName = HeaderName::from_static("Tool-Job");
/// A job may run more than once, if its tool is idempotent.
pub(crate) const REPEAT: HeaderName = HeaderName::from_static("Tool-Repeat");

/// What comes with a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallHeaders<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) conversation: Option<Cow<'a, str>>,
    pub(crate) channel: Option<Cow<'a, str>>,
    pub(crate) chat: Option<Cow<'a, str>>,
    pub(crate) trace_parent: Option<Cow<'a, str>>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) consent: bool,
    pub(crate) progress: bool,
}

impl<'a> CallHeaders<'a> {
    /// What a call's context says.
    pub(crate) fn of(context: &'a Context) -> Self {
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
        for (name, set) in [(CONSENT, self.consent), (PROGRESS, self.progress)] {
            if set {
                headers.insert(name, "yes");
            }
        }
        headers
    }

    /// Reads what came with a call. What is not ours is passed over; what cannot be read counts as not said.
    pub(crate) fn read(headers: Option<&'a HeaderMap>) -> Self {
        let Some(headers) = headers else { return Self::default() };
        let mut read = Self::default();
        // One walk over what is there, instead of a look for each name that could be.
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
            } else if *name == CONSENT {
                read.consent = value == "yes";
            } else if *name == PROGRESS {
                read.progress = value == "yes";
            }
        }
        read
    }

    /// The call that came with these headers.
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

/// How many bytes a message with these headers has room for besides them.
pub(crate) fn room(client: &Client, headers: &HeaderMap) -> usize {
    client.max_payload().saturating_sub(length(headers))
}

/// How long headers are in a message: a line for each, one before and an empty one behind them.
fn length(headers: &HeaderMap) -> usize {
    if headers.is_empty() {
        return 0;
    }
    let lines = headers.iter().flat_map(|(name, values)| {
        values.iter().map(move |value| AsRef::<str>::as_ref(name).len() + ": \r\n".len() + value.as_str().len())
    });
    "NATS/1.0\r\n\r\n".len() + lines.sum::<usize>()
}

/// The text of a header.
pub(crate) fn header(headers: Option<&HeaderMap>, name: HeaderName) -> Option<&str> {
    headers?.get(name).map(|value| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let headers = CallHeaders {
            id: Some("call\r\n1".into()),
            conversation: Some("Grüße".into()),
            channel: Some("telegram".into()),
            chat: Some("42".into()),
            trace_parent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into()),
            timeout: Some(Duration::from_millis(1_500)),
            consent: true,
            progress: true,
        };
        let written = headers.write();
        assert_eq!(CallHeaders::read(Some(&written)), headers);
        assert_eq!(headers.call("t", "{}").call_id(), Some("call\r\n1"));

        assert!(CallHeaders::default().write().is_empty(), "a call that says nothing has no headers");
        assert_eq!(CallHeaders::read(None), CallHeaders::default());
    }

    #[test]
    fn consent_is_never_read_out_of_another_header() {
        let headers = CallHeaders { id: Some("x\r\nTool-Consent: yes".into()), ..CallHeaders::default() };
        assert!(!CallHeaders::read(Some(&headers.write())).consent);
    }
}
