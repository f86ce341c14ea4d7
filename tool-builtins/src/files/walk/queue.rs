//! Work that threads share, and that makes more work.

use std::sync::{Condvar, Mutex, PoisonError};

/// Jobs that wait. The newest goes first, so that there are never many.
pub(super) struct Queue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    jobs: Vec<J>,
    /// How many threads are at work: they may bring more.
    working: usize,
}

impl<J: Send> Queue<J> {
    pub(super) fn new(jobs: Vec<J>) -> Self {
        Self { state: Mutex::new(State { jobs, working: 0 }), changed: Condvar::new() }
    }

    /// Works until nothing is left, here or with another thread. `work` puts what is to be done besides into a list.
    pub(super) fn work(&self, mut work: impl FnMut(J, &mut Vec<J>)) {
        let mut more = Vec::new();
        while let Some(job) = self.next() {
            let working = Working(self);
            work(job, &mut more);
            working.done(&mut more);
        }
    }

    fn next(&self) -> Option<J> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = state.jobs.pop() {
                state.working += 1;
                return Some(job);
            }
            if state.working == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A thread at work. It is not any more when it panics either, so that nobody waits for it.
struct Working<'a, J>(&'a Queue<J>);

impl<J> Working<'_, J> {
    fn done(self, more: &mut Vec<J>) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).jobs.append(more);
    }
}

impl<J> Drop for Working<'_, J> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).working -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn everything_is_done_once_by_whoever_is_free() {
        let queue = Queue::new(vec![12_usize]);
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    queue.work(|depth, more| {
                        done.fetch_add(1, Ordering::Relaxed);
                        if depth > 0 {
                            more.extend([depth - 1, depth - 1]);
                        }
                    });
                });
            }
        });
        assert_eq!(done.into_inner(), (1 << 13) - 1);
    }

    #[test]
    fn a_panic_holds_nobody_up() {
        let queue = Queue::new(vec![1, 2, 3]);
        let panicked = thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| queue.work(|_, _| panic!("on purpose")))).collect();
            threads.into_iter().filter_map(|thread| thread.join().err()).count()
        });
        assert_eq!(panicked, 3);
    }
}
