//! What a subscriber has not read yet.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

use super::{Event, Update};

/// How many events wait for a subscriber. A run within the usual limits has fewer, reports of progress aside.
const CAPACITY: usize = 4_096;

/// How many bytes of them, about: results can be long, and whoever never reads is not to fill the memory.
const BYTES: usize = 32 * 1_024 * 1_024;

/// The longest text that pieces are joined to, in bytes.
const LONGEST: usize = 64 * 1_024;

/// The events that a subscriber has not read yet.
///
/// Pieces of text are joined, so that somebody who is slow reads the same text in fewer pieces and loses nothing. Where
/// there are too many events all the same, or too many bytes of them, since somebody holds a subscriber and never reads
/// it, the oldest report of progress goes first, and if there is none, the oldest event; the subscriber is told how many
/// are gone.
#[derive(Debug, Default)]
pub(super) struct Queue {
    events: VecDeque<Unread>,
    /// The bytes of them all.
    bytes: usize,
    missed: u64,
    waker: Option<Waker>,
    /// Whether nothing more comes.
    is_closed: bool,
}

/// An event with its run.
#[derive(Debug)]
struct Unread {
    run: u64,
    event: Event,
    bytes: usize,
}

impl Queue {
    /// Adds an event. Whom to wake for it is given back: that is foreign code, and not run under a lock.
    #[must_use]
    pub(super) fn push(&mut self, run: u64, event: Event) -> Option<Waker> {
        let bytes = bytes_of(&event);
        self.bytes += bytes;
        if let Some(event) = self.join(run, event) {
            self.events.push_back(Unread { run, event, bytes });
        }
        // The newest stays, however long it is.
        while self.events.len() > CAPACITY || (self.bytes > BYTES && self.events.len() > 1) {
            self.let_one_go();
        }
        self.waker.take()
    }

    /// Adds a text to the last one, if that is a text of the same run too. Else the event is given back.
    fn join(&mut self, run: u64, event: Event) -> Option<Event> {
        let Some(last) = self.events.back_mut().filter(|last| last.run == run) else { return Some(event) };
        let (text, more) = match (&mut last.event, &event) {
            (Event::Text { text }, Event::Text { text: more }) => (text, more),
            (Event::Thinking { text }, Event::Thinking { text: more }) => (text, more),
            _ => return Some(event),
        };
        if text.len() + more.len() > LONGEST {
            return Some(event);
        }
        text.push_str(more);
        last.bytes += more.len();
        None
    }

    fn let_one_go(&mut self) {
        let last = self.events.len() - 1;
        let progress = self.events.iter().take(last).position(|one| matches!(one.event, Event::CallProgress { .. }));
        if let Some(gone) = self.events.remove(progress.unwrap_or(0)) {
            self.bytes -= gone.bytes;
            self.missed += 1;
        }
    }

    #[must_use]
    pub(super) fn close(&mut self) -> Option<Waker> {
        self.is_closed = true;
        self.waker.take()
    }

    /// What comes next, if it is there.
    pub(super) fn pop(&mut self) -> Option<Update> {
        if self.missed > 0 {
            return Some(Update::Missed(std::mem::take(&mut self.missed)));
        }
        let Unread { run, event, bytes } = self.events.pop_front()?;
        self.bytes -= bytes;
        Some(Update::Event { run, event })
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Update>> {
        match self.pop() {
            None if !self.is_closed => {
                self.waker = Some(context.waker().clone());
                Poll::Pending
            }
            update => Poll::Ready(update),
        }
    }
}

/// About how many bytes an event holds besides itself.
fn bytes_of(event: &Event) -> usize {
    match event {
        Event::Text { text } | Event::Thinking { text } => text.len(),
        Event::Began { text } => text.as_ref().map_or(0, String::len),
        Event::CallStarted { arguments: value, .. } | Event::CallProgress { progress: value, .. } => {
            bytes_of_value(value)
        }
        Event::CallFinished(ended) => ended.result.output.len(),
        Event::Ended(outcome) => outcome.text.len(),
        Event::Retrying { why, .. } => why.message.len(),
        Event::Kept | Event::CallPending { .. } | Event::TurnEnded { .. } => 0,
    }
}

fn bytes_of_value(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes_of_value).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + bytes_of_value(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inside
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Usage;

    fn text(text: &str) -> Event {
        Event::Text { text: text.to_owned() }
    }

    fn progress(id: &str) -> Event {
        Event::CallProgress { id: id.into(), progress: json!(1) }
    }

    fn turn(turn: u32) -> Event {
        Event::TurnEnded { turn, usage: Usage::default(), total: Usage::default() }
    }

    #[test]
    fn text_is_joined_and_nothing_else_is() {
        let mut queue = Queue::default();
        for event in [text("a"), text("b"), progress("1"), progress("1"), text("c"), text("d")] {
            assert!(queue.push(1, event).is_none());
        }
        drop(queue.push(2, text("e")));
        let expected = [(1, text("ab")), (1, progress("1")), (1, progress("1")), (1, text("cd")), (2, text("e"))];
        for (run, event) in expected {
            assert_eq!(queue.pop(), Some(Update::Event { run, event }));
        }
        assert_eq!((queue.pop(), queue.bytes), (None, 0));
        drop(queue.push(1, text(&"x".repeat(LONGEST))));
        drop(queue.push(1, text("y")));
        assert_eq!(queue.events.len(), 2, "a text does not grow without end");
    }

    #[test]
    fn who_never_reads_is_told_what_is_gone_and_progress_goes_first() {
        let mut queue = Queue::default();
        drop(queue.push(1, turn(0)));
        drop(queue.push(1, progress("1")));
        (1..CAPACITY as u32).for_each(|at| drop(queue.push(1, turn(at))));
        assert_eq!(queue.events.len(), CAPACITY);
        assert_eq!(queue.pop(), Some(Update::Missed(1)));
        assert_eq!(queue.events.front().map(|one| &one.event), Some(&turn(0)), "the report went, not the older event");
        drop(queue.push(1, turn(9)));
        assert_eq!(queue.pop(), Some(Update::Missed(1)));
        assert_eq!(queue.pop(), Some(Update::Event { run: 1, event: turn(1) }));
    }

    #[test]
    fn few_events_that_are_long_are_too_many_as_well() {
        let mut queue = Queue::default();
        let long = |id: &str| Event::CallProgress { id: id.into(), progress: json!({"text": "x".repeat(BYTES / 4)}) };
        drop(queue.push(1, turn(1)));
        (0..20).for_each(|at| drop(queue.push(1, long(&at.to_string()))));
        assert!(queue.bytes <= BYTES && queue.events.len() == 4, "{} in {}", queue.bytes, queue.events.len());
        assert_eq!(queue.pop(), Some(Update::Missed(17)));
        assert_eq!(queue.pop(), Some(Update::Event { run: 1, event: turn(1) }));
        let whole = text(&"x".repeat(BYTES * 2));
        drop(queue.push(1, whole.clone()));
        assert_eq!(queue.pop(), Some(Update::Missed(3)));
        assert_eq!((queue.pop(), queue.bytes), (Some(Update::Event { run: 1, event: whole }), 0), "the newest stays");
    }
}
