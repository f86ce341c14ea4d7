//! Queue of unread events.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

use super::{AgentEvent, AgentUpdate};

/// The maximum number of unread events. A run within the default limits has fewer, progress aside.
const CAPACITY: usize = 4_096;

/// The approximate maximum size of unread events, because results can be long.
const MAX_BYTES: usize = 32 * 1_024 * 1_024;

/// The maximum length of joined text, in bytes.
const MAX_JOINED: usize = 64 * 1_024;

/// The unread events of a subscriber.
///
/// Adjacent pieces of text are joined, so that a slow subscriber reads the same text in fewer pieces. If there are
/// still too many events or bytes, the oldest progress report is dropped first, then the oldest event, and the
/// subscriber learns how many were dropped.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: VecDeque<QueuedEvent>,
    /// The total size of the events.
    bytes: usize,
    missed: u64,
    waker: Option<Waker>,
    /// Set if no more events will follow.
    is_closed: bool,
}

/// An event with its run.
#[derive(Debug)]
struct QueuedEvent {
    run: u64,
    event: AgentEvent,
    bytes: usize,
}

impl EventQueue {
    /// Adds an event. Returns the waker, which must not be called under a lock because it is foreign code.
    #[must_use]
    pub(super) fn push(&mut self, run: u64, event: AgentEvent) -> Option<Waker> {
        let bytes = size_of_event(&event);
        self.bytes += bytes;
        if let Some(event) = self.join(run, event) {
            self.events.push_back(QueuedEvent { run, event, bytes });
        }
        // The newest event stays, whatever its size.
        while self.events.len() > CAPACITY || (self.bytes > MAX_BYTES && self.events.len() > 1) {
            self.drop_one();
        }
        self.waker.take()
    }

    /// Appends text to the last event if that is text of the same run. Otherwise returns the event.
    fn join(&mut self, run: u64, event: AgentEvent) -> Option<AgentEvent> {
        let Some(last) = self.events.back_mut().filter(|last| last.run == run) else { return Some(event) };
        let (text, more) = match (&mut last.event, &event) {
            (AgentEvent::Text { text }, AgentEvent::Text { text: more }) => (text, more),
            (AgentEvent::Thinking { text }, AgentEvent::Thinking { text: more }) => (text, more),
            _ => return Some(event),
        };
        if text.len() + more.len() > MAX_JOINED {
            return Some(event);
        }
        text.push_str(more);
        last.bytes += more.len();
        None
    }

    fn drop_one(&mut self) {
        let last = self.events.len() - 1;
        let progress =
            self.events.iter().take(last).position(|one| matches!(one.event, AgentEvent::CallProgress { .. }));
        if let Some(dropped) = self.events.remove(progress.unwrap_or(0)) {
            self.bytes -= dropped.bytes;
            self.missed += 1;
        }
    }

    #[must_use]
    pub(super) fn close(&mut self) -> Option<Waker> {
        self.is_closed = true;
        self.waker.take()
    }

    /// Returns the next update, if there is one.
    pub(super) fn pop(&mut self) -> Option<AgentUpdate> {
        if self.missed > 0 {
            return Some(AgentUpdate::Missed(std::mem::take(&mut self.missed)));
        }
        let QueuedEvent { run, event, bytes } = self.events.pop_front()?;
        self.bytes -= bytes;
        Some(AgentUpdate::Event { run, event })
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<AgentUpdate>> {
        match self.pop() {
            None if !self.is_closed => {
                self.waker = Some(context.waker().clone());
                Poll::Pending
            }
            update => Poll::Ready(update),
        }
    }
}

/// Returns the approximate heap size of an event.
fn size_of_event(event: &AgentEvent) -> usize {
    match event {
        AgentEvent::Text { text } | AgentEvent::Thinking { text } => text.len(),
        AgentEvent::Began { text } => text.as_ref().map_or(0, String::len),
        AgentEvent::CallStarted { arguments: value, .. } | AgentEvent::CallProgress { progress: value, .. } => {
            size_of_value(value)
        }
        AgentEvent::CallFinished(ended) => ended.result.output.len(),
        AgentEvent::Ended(outcome) => outcome.text.len(),
        AgentEvent::Retrying { why, .. } => why.message.len(),
        AgentEvent::Kept | AgentEvent::CallPending { .. } | AgentEvent::TurnEnded { .. } => 0,
    }
}

fn size_of_value(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of_value).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + size_of_value(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inside
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Usage;

    fn text(text: &str) -> AgentEvent {
        AgentEvent::Text { text: text.to_owned() }
    }

    fn progress(id: &str) -> AgentEvent {
        AgentEvent::CallProgress { id: id.into(), progress: json!(1) }
    }

    fn turn(turn: u32) -> AgentEvent {
        AgentEvent::TurnEnded { turn, usage: Usage::default(), total: Usage::default() }
    }

    #[test]
    fn joins_only_adjacent_text() {
        let mut queue = EventQueue::default();
        for event in [text("a"), text("b"), progress("1"), progress("1"), text("c"), text("d")] {
            assert!(queue.push(1, event).is_none());
        }
        drop(queue.push(2, text("e")));
        let expected = [(1, text("ab")), (1, progress("1")), (1, progress("1")), (1, text("cd")), (2, text("e"))];
        for (run, event) in expected {
            assert_eq!(queue.pop(), Some(AgentUpdate::Event { run, event }));
        }
        assert_eq!((queue.pop(), queue.bytes), (None, 0));
        drop(queue.push(1, text(&"x".repeat(MAX_JOINED))));
        drop(queue.push(1, text("y")));
        assert_eq!(queue.events.len(), 2, "joined text has a maximum length");
    }

    #[test]
    fn drops_progress_first_and_reports_the_number_of_dropped_events() {
        let mut queue = EventQueue::default();
        drop(queue.push(1, turn(0)));
        drop(queue.push(1, progress("1")));
        (1..CAPACITY as u32).for_each(|at| drop(queue.push(1, turn(at))));
        assert_eq!(queue.events.len(), CAPACITY);
        assert_eq!(queue.pop(), Some(AgentUpdate::Missed(1)));
        assert_eq!(queue.events.front().map(|one| &one.event), Some(&turn(0)), "progress goes before older events");
        drop(queue.push(1, turn(9)));
        assert_eq!(queue.pop(), Some(AgentUpdate::Missed(1)));
        assert_eq!(queue.pop(), Some(AgentUpdate::Event { run: 1, event: turn(1) }));
    }

    #[test]
    fn drops_events_that_exceed_the_byte_limit() {
        let mut queue = EventQueue::default();
        let long =
            |id: &str| AgentEvent::CallProgress { id: id.into(), progress: json!({"text": "x".repeat(MAX_BYTES / 4)}) };
        drop(queue.push(1, turn(1)));
        (0..20).for_each(|at| drop(queue.push(1, long(&at.to_string()))));
        assert!(queue.bytes <= MAX_BYTES && queue.events.len() == 4, "{} in {}", queue.bytes, queue.events.len());
        assert_eq!(queue.pop(), Some(AgentUpdate::Missed(17)));
        assert_eq!(queue.pop(), Some(AgentUpdate::Event { run: 1, event: turn(1) }));
        let whole = text(&"x".repeat(MAX_BYTES * 2));
        drop(queue.push(1, whole.clone()));
        assert_eq!(queue.pop(), Some(AgentUpdate::Missed(3)));
        assert_eq!(
            (queue.pop(), queue.bytes),
            (Some(AgentUpdate::Event { run: 1, event: whole }), 0),
            "the newest stays"
        );
    }
}
