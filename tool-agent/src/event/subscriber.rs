//! Subscriptions to the events of a conversation.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tool_runtime::output::Stream;

use super::queue::EventQueue;
use super::{AgentEvent, AgentUpdate};
use crate::conversation::ConversationShared;

/// A subscription to the events of a conversation; also a [`Stream`]. Dropping it unsubscribes.
///
/// A subscriber never blocks the conversation. It has its own queue, in which unread pieces of text are joined, so that
/// a slow subscriber misses nothing. Only if thousands of events or many megabytes are unread, some are dropped,
/// progress reports first, and the subscriber receives [`AgentUpdate::Missed`].
pub struct AgentSubscriber {
    queue: Arc<Mutex<EventQueue>>,
    /// Keeps the conversation in the agent's cache.
    _conversation: Arc<ConversationShared>,
}

impl AgentSubscriber {
    /// Waits for the next update. Returns `None` when the run is over; a conversation has no end. Cancel safe.
    pub async fn next(&mut self) -> Option<AgentUpdate> {
        std::future::poll_fn(|context| lock(&self.queue).poll(context)).await
    }

    /// Returns the next update if it is available.
    pub fn try_next(&mut self) -> Option<AgentUpdate> {
        lock(&self.queue).pop()
    }
}

impl fmt::Debug for AgentSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSubscriber").finish_non_exhaustive()
    }
}

impl Stream for AgentSubscriber {
    type Item = AgentUpdate;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AgentUpdate>> {
        lock(&self.queue).poll(context)
    }
}

/// The subscriptions of one conversation.
#[derive(Debug, Default)]
pub(crate) struct EventHub {
    /// The number of subscriptions, so that a conversation without any only pays for one atomic load.
    count: AtomicUsize,
    subscriptions: Mutex<Vec<Subscription>>,
}

#[derive(Debug)]
struct Subscription {
    queue: Arc<Mutex<EventQueue>>,
    /// The run to report, or `None` for all runs.
    run: Option<u64>,
}

impl EventHub {
    /// Subscribes to a conversation: to one run, or to all.
    pub(crate) fn subscribe(conversation: Arc<ConversationShared>, run: Option<u64>) -> AgentSubscriber {
        let (hub, queue) = (&conversation.hub, Arc::new(Mutex::new(EventQueue::default())));
        let mut subscriptions = lock(&hub.subscriptions);
        subscriptions.retain(|one| !one.is_dropped());
        subscriptions.push(Subscription { queue: queue.clone(), run });
        hub.count.store(subscriptions.len(), Ordering::Release);
        drop(subscriptions);
        AgentSubscriber { queue, _conversation: conversation }
    }

    /// Returns `true` if there are subscriptions.
    pub(crate) fn has_subscribers(&self) -> bool {
        self.count.load(Ordering::Acquire) != 0
    }

    /// Queues an event for everyone subscribed to this run. The caller wakes them, as it may be holding a lock now.
    pub(crate) fn send(&self, run: u64, event: impl FnOnce() -> AgentEvent) -> EventWakers {
        self.queue_for(run, |one| one.run.is_none_or(|its| its == run), event)
    }

    /// Queues an event for subscribers of this run only, not for those of the whole conversation.
    pub(crate) fn send_to_run(&self, run: u64, event: impl FnOnce() -> AgentEvent) -> EventWakers {
        self.queue_for(run, |one| one.run == Some(run), event)
    }

    fn queue_for(
        &self,
        run: u64,
        is_concerned: impl Fn(&Subscription) -> bool,
        event: impl FnOnce() -> AgentEvent,
    ) -> EventWakers {
        let mut wakers = EventWakers::default();
        if !self.has_subscribers() {
            return wakers;
        }
        let mut subscriptions = lock(&self.subscriptions);
        subscriptions.retain(|one| !one.is_dropped());
        self.count.store(subscriptions.len(), Ordering::Release);
        let mut concerned = subscriptions.iter().filter(|one| is_concerned(one)).peekable();
        let mut event = concerned.peek().is_some().then(event);
        while let Some(one) = concerned.next() {
            let event = if concerned.peek().is_some() { event.clone() } else { event.take() };
            wakers.to_wake.extend(event.and_then(|event| lock(&one.queue).push(run, event)));
        }
        wakers
    }

    /// Ends the subscriptions of this run.
    pub(crate) fn close(&self, run: u64) {
        if !self.has_subscribers() {
            return;
        }
        let mut subscriptions = lock(&self.subscriptions);
        let ended: Vec<_> = subscriptions.extract_if(.., |one| one.run == Some(run)).collect();
        self.count.store(subscriptions.len(), Ordering::Release);
        drop(subscriptions);
        ended.iter().for_each(Subscription::close);
    }
}

/// Wakers of subscribers with new events. Waking runs foreign code, which must not happen under a lock.
#[derive(Default)]
#[must_use = "subscribers sleep until they are woken"]
pub(crate) struct EventWakers {
    to_wake: Vec<Waker>,
}

impl EventWakers {
    pub(crate) fn wake(self) {
        self.to_wake.into_iter().for_each(Waker::wake);
    }
}

impl Subscription {
    /// Returns `true` if the subscriber was dropped.
    fn is_dropped(&self) -> bool {
        Arc::strong_count(&self.queue) == 1
    }

    fn close(&self) {
        let woken = lock(&self.queue).close();
        woken.into_iter().for_each(Waker::wake);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_subscribers_are_removed_when_another_subscribes() {
        let conversation = Arc::new(ConversationShared::temporary("c"));
        let stays = EventHub::subscribe(conversation.clone(), None);
        (0..100).for_each(|_| drop(EventHub::subscribe(conversation.clone(), None)));
        assert_eq!(lock(&conversation.hub.subscriptions).len(), 2, "the live one, and the last dropped one");
        drop(stays);
    }
}
