//! Who watches a conversation.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tool_runtime::output::Stream;

use super::queue::Queue;
use super::{Event, Update};
use crate::conversation::Shared;

/// Reads the events of a conversation; also a [`Stream`]. Dropped, it watches no more.
///
/// It never holds the conversation up. Each subscriber has a queue of its own, in which pieces of text that were not
/// read yet are joined, so that one who is slow misses nothing. Only of one who leaves thousands of events unread, or
/// many megabytes, some are let go, reports of progress first, and it is [told](Update::Missed).
pub struct Subscriber {
    queue: Arc<Mutex<Queue>>,
    /// What is watched is not forgotten meanwhile.
    _conversation: Arc<Shared>,
}

impl Subscriber {
    /// What comes next. Of a run, nothing once it is over; a conversation has no end. Can be cancelled without loss.
    pub async fn next(&mut self) -> Option<Update> {
        std::future::poll_fn(|context| lock(&self.queue).poll(context)).await
    }

    /// What has come already.
    pub fn try_next(&mut self) -> Option<Update> {
        lock(&self.queue).pop()
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber").finish_non_exhaustive()
    }
}

impl Stream for Subscriber {
    type Item = Update;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Update>> {
        lock(&self.queue).poll(context)
    }
}

/// All who watch one conversation.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    /// Beside the list, so that a conversation that nobody watches pays for one look at a number.
    number: AtomicUsize,
    watching: Mutex<Vec<Watching>>,
}

#[derive(Debug)]
struct Watching {
    queue: Arc<Mutex<Queue>>,
    /// The run that it watches, if it is only one.
    run: Option<u64>,
}

impl Hub {
    /// Watches a conversation from now on: one run, or all.
    pub(crate) fn subscribe(conversation: Arc<Shared>, run: Option<u64>) -> Subscriber {
        let (hub, queue) = (&conversation.hub, Arc::new(Mutex::new(Queue::default())));
        let mut watching = lock(&hub.watching);
        watching.retain(|one| !one.is_gone());
        watching.push(Watching { queue: queue.clone(), run });
        hub.number.store(watching.len(), Ordering::Release);
        drop(watching);
        Subscriber { queue, _conversation: conversation }
    }

    /// Whether anybody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.number.load(Ordering::Acquire) != 0
    }

    /// Tells everybody who watches this run. They are woken by the caller, who may hold a lock now.
    pub(crate) fn tell(&self, run: u64, event: impl FnOnce() -> Event) -> Told {
        self.tell_those(run, |one| one.run.is_none_or(|its| its == run), event)
    }

    /// Tells those who watch only this run, and nobody who watches the whole conversation.
    pub(crate) fn tell_alone(&self, run: u64, event: impl FnOnce() -> Event) -> Told {
        self.tell_those(run, |one| one.run == Some(run), event)
    }

    fn tell_those(&self, run: u64, whom: impl Fn(&Watching) -> bool, event: impl FnOnce() -> Event) -> Told {
        let mut told = Told::default();
        if !self.is_watched() {
            return told;
        }
        let mut watching = lock(&self.watching);
        watching.retain(|one| !one.is_gone());
        self.number.store(watching.len(), Ordering::Release);
        let mut concerned = watching.iter().filter(|one| whom(one)).peekable();
        let mut event = concerned.peek().is_some().then(event);
        while let Some(one) = concerned.next() {
            let event = if concerned.peek().is_some() { event.clone() } else { event.take() };
            told.to_wake.extend(event.and_then(|event| lock(&one.queue).push(run, event)));
        }
        told
    }

    /// Tells those who watch only this run that nothing more comes.
    pub(crate) fn close(&self, run: u64) {
        if !self.is_watched() {
            return;
        }
        let mut watching = lock(&self.watching);
        let over: Vec<_> = watching.extract_if(.., |one| one.run == Some(run)).collect();
        self.number.store(watching.len(), Ordering::Release);
        drop(watching);
        over.iter().for_each(Watching::close);
    }
}

/// Those who were told something, and sleep. To wake them is foreign code, which is not run under a lock.
#[derive(Default)]
#[must_use = "they sleep until they are woken"]
pub(crate) struct Told {
    to_wake: Vec<Waker>,
}

impl Told {
    pub(crate) fn wake(self) {
        self.to_wake.into_iter().for_each(Waker::wake);
    }
}

impl Watching {
    /// Whether it has left the queue to us alone.
    fn is_gone(&self) -> bool {
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
    fn those_who_have_gone_are_let_go_of_also_where_nothing_happens() {
        let conversation = Arc::new(Shared::passing("c"));
        let stays = Hub::subscribe(conversation.clone(), None);
        (0..100).for_each(|_| drop(Hub::subscribe(conversation.clone(), None)));
        assert_eq!(lock(&conversation.hub.watching).len(), 2, "the one who stays, and the last");
        drop(stays);
    }
}
