//! What a subscriber has not read yet.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use super::{Event, Update};

/// How many events wait for a subscriber. A run within the usual limits has fewer, reports of progress aside.
const CAPACITY: usize = 4_096;

/// The longest text that pieces are joined to, in bytes.
const LONGEST: usize = 64 * 1_024;

/// The events that a subscriber has not read yet.
///
/// Pieces of text are joined, so that somebody who is slow reads the same text in fewer pieces and loses nothing. Where
/// there are too many events all the same, since somebody holds a subscriber and never reads it, the oldest report of
/// progress goes first, and if there is none, the oldest event; the subscriber is told how many are gone.
#[derive(Debug, Default)]
pub(super) struct Queue {
    events: VecDeque<Event>,
    missed: u64,
    waker: Option<Waker>,
    /// Whether nothing more comes.
    is_closed: bool,
}

impl Queue {
    /// Adds an event. Whom to wake for it is given back: that is foreign code, and not run under a lock.
    #[must_use]
    pub(super) fn push(&mut self, event: Event) -> Option<Waker> {
        if let Some(event) = self.join(event) {
            if self.events.len() >= CAPACITY {
                self.let_one_go();
            }
            self.events.push_back(event);
        }
        self.waker.take()
    }

    /// Adds a text to the last one, if that is a text too. Else the event is given back.
    fn join(&mut self, event: Event) -> Option<Event> {
        let (last, more) = match (self.events.back_mut(), &event) {
            (Some(Event::Text { text: last }), Event::Text { text }) => (last, text),
            (Some(Event::Thinking { text: last }), Event::Thinking { text }) => (last, text),
            _ => return Some(event),
        };
        if last.len() + more.len() > LONGEST {
            return Some(event);
        }
        last.push_str(more);
        None
    }

    fn let_one_go(&mut self) {
        let progress = self.events.iter().position(|event| matches!(event, Event::CallProgress { .. }));
        self.events.remove(progress.unwrap_or(0));
        self.missed += 1;
    }

    #[must_use]
    pub(super) fn close(&mut self) -> Option<Waker> {
        self.is_closed = true;
        self.waker.take()
    }

    /// What comes next, if it is there.
    pub(super) fn pop(&mut self) -> Option<Update> {
        match std::mem::take(&mut self.missed) {
            0 => self.events.pop_front().map(Update::Event),
            missed => Some(Update::Missed(missed)),
        }
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
            assert!(queue.push(event).is_none());
        }
        let expected = [text("ab"), progress("1"), progress("1"), text("cd")];
        for event in expected {
            assert_eq!(queue.pop(), Some(Update::Event(event)));
        }
        assert_eq!(queue.pop(), None);
        drop(queue.push(text(&"x".repeat(LONGEST))));
        drop(queue.push(text("y")));
        assert_eq!(queue.events.len(), 2, "a text does not grow without end");
    }

    #[test]
    fn who_never_reads_is_told_what_is_gone_and_progress_goes_first() {
        let mut queue = Queue::default();
        drop(queue.push(turn(0)));
        drop(queue.push(progress("1")));
        (1..CAPACITY as u32).for_each(|at| drop(queue.push(turn(at))));
        assert_eq!(queue.events.len(), CAPACITY);
        assert_eq!(queue.pop(), Some(Update::Missed(1)));
        assert_eq!(queue.events.front(), Some(&turn(0)), "the report went, not the older event");
        drop(queue.push(turn(9)));
        assert_eq!(queue.pop(), Some(Update::Missed(1)));
        assert_eq!(queue.pop(), Some(Update::Event(turn(1))));
    }
}
