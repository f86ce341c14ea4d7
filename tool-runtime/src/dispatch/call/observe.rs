//! What whoever watches is told of a call: its events, and its span.

use std::any::TypeId;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tracing::Span;

use crate::dispatch::call::span::{has_subscriber, span_of};
use crate::dispatch::{BoundTool, CallValue};
use crate::events::{EventKind, Events, WatchedCall};
use crate::inject::InjectedValue;
use crate::tool_result::EXPIRES;
use crate::{ErrorKind, Progress, ToolCall, ToolResult};

/// Tells of a call: that it starts, and when this is dropped, how it ended. So each call that starts has one end,
/// however it comes.
pub(crate) struct CallObserver {
    watched: Option<WatchedCall>,
    pub(crate) span: Span,
    since: Instant,
    has_started: bool,
    end: CallEnd,
}

enum CallEnd {
    Finished { success: bool, kind: Option<ErrorKind> },
    Pending { expires: SystemTime },
}

impl CallObserver {
    pub(crate) fn new(watched: Option<WatchedCall>, span: Span) -> Self {
        let end = CallEnd::Finished { success: false, kind: Some(ErrorKind::Cancelled) };
        Self { watched, span, since: Instant::now(), has_started: false, end }
    }

    /// Tells of a call that was answered before anything else.
    #[cold]
    pub(crate) fn at_once(events: &Events, call: &ToolCall<'_>, tool: Option<&BoundTool>, result: &ToolResult) {
        let watched = events.watch(call);
        if watched.is_some() || has_subscriber() {
            Self::new(watched, span_of(call, tool)).ends(result);
        }
    }

    /// Says that the call starts.
    pub(crate) fn starts(&mut self, arguments: impl FnOnce() -> Value) {
        self.has_started = true;
        if let Some(watched) = &self.watched {
            watched.send(EventKind::Started { arguments: arguments() });
        }
    }

    /// As [`starts`](Self::starts), with arguments that may be wrong.
    pub(crate) fn starts_with_text(&mut self, text: &str, tool: &BoundTool) {
        self.starts(|| {
            serde_json::from_str(text).map_or(Value::Null, |value| tool.schemas().redaction().redact(&value))
        });
    }

    /// Hears what the handler reports, as whoever came with the call does.
    pub(crate) fn listen(&self, with: &mut Vec<CallValue>) {
        let Some(watched) = self.watched.clone() else { return };
        let is_progress = |given: &CallValue| given.type_id == TypeId::of::<Progress>();
        let theirs = with.iter().find(|given| is_progress(given));
        let theirs = theirs.and_then(|given| InjectedValue::Slot(given.slot.clone()).cloned::<Progress>().ok());
        with.retain(|given| !is_progress(given));
        with.push(CallValue::new(Progress::to(move |progress| {
            if let Some(theirs) = &theirs {
                theirs.report(&progress);
            }
            watched.send(EventKind::Progress { progress });
        })));
    }

    /// How the call ends; told when this is dropped.
    pub(crate) fn ends(&mut self, result: &ToolResult) {
        let kind = result.error.as_ref().map(|error| error.kind);
        // It may be from another program, and no time at all.
        let expires = result.metadata.get(EXPIRES).and_then(Value::as_u64).map(Duration::from_millis);
        let expires = expires.and_then(|expires| SystemTime::UNIX_EPOCH.checked_add(expires));
        self.end = match (kind, expires) {
            (Some(ErrorKind::Pending), Some(expires)) => CallEnd::Pending { expires },
            _ => CallEnd::Finished { success: result.success, kind },
        };
    }
}

impl Drop for CallObserver {
    fn drop(&mut self) {
        if !self.has_started {
            self.starts(|| Value::Null);
        }
        let what = match &self.end {
            CallEnd::Pending { expires } => {
                self.span.record("error.type", ErrorKind::Pending.as_str());
                EventKind::Pending { expires: *expires }
            }
            CallEnd::Finished { success, kind } => {
                if let Some(kind) = kind {
                    self.span.record("error.type", kind.as_str());
                }
                EventKind::Finished { success: *success, kind: *kind, duration: self.since.elapsed() }
            }
        };
        if let Some(watched) = &self.watched {
            watched.send(what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolError;
    use crate::events::Update;

    /// How a call ends that waits for consent until then.
    fn end_of_pending(expires: Value) -> EventKind {
        let events = Events::default();
        let mut subscriber = events.subscribe();
        let mut result = ToolResult::failure(ToolError::new(ErrorKind::Pending, "waits"));
        result.metadata.insert(EXPIRES, expires);
        CallObserver::at_once(&events, &ToolCall::from_text("t", "{}"), None, &result);
        let mut next = || match subscriber.try_next() {
            Some(Update::Event(event)) => event.kind.clone(),
            other => panic!("{other:?}"),
        };
        assert!(matches!(next(), EventKind::Started { .. }));
        next()
    }

    #[test]
    fn a_time_that_cannot_be_is_none() {
        assert_eq!(
            end_of_pending(7.into()),
            EventKind::Pending { expires: SystemTime::UNIX_EPOCH + Duration::from_millis(7) }
        );
        for none in [Value::from("soon"), Value::from(-7), Value::Null] {
            let ended = end_of_pending(none);
            assert!(matches!(ended, EventKind::Finished { kind: Some(ErrorKind::Pending), .. }), "{ended:?}");
        }
    }
}
