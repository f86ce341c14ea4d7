//! A queue of jobs that threads share and that produce further jobs.

use std::sync::{Condvar, Mutex, PoisonError};

/// A queue of jobs. The newest goes first, which keeps the queue short.
pub(super) struct WalkQueue<J> {
    state: Mutex<QueueState<J>>,
    changed: Condvar,
}

struct QueueState<J> {
    jobs: Vec<J>,
    /// The number of threads at work, which may add jobs.
    working: usize,
}

impl<J: Send> WalkQueue<J> {
    pub(super) fn new(jobs: Vec<J>) -> Self {
        Self { state: Mutex::new(QueueState { jobs, working: 0 }), changed: Condvar::new() }
    }

    /// Runs jobs until none is left on any thread. `work` adds further jobs to the list.
    pub(super) fn work(&self, mut work: impl FnMut(J, &mut Vec<J>)) {
        let mut more = Vec::new();
        while let Some(job) = self.next() {
            let guard = WorkGuard(self);
            work(job, &mut more);
            guard.done(&mut more);
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

/// Counts a thread as working until dropped, even by a panic, so that others do not wait for it.
struct WorkGuard<'a, J>(&'a WalkQueue<J>);

impl<J> WorkGuard<'_, J> {
    fn done(self, more: &mut Vec<J>) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).jobs.append(more);
    }
}

impl<J> Drop for WorkGuard<'_, J> {
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
    fn runs_every_job_once() {
        let queue = WalkQueue::new(vec![12_usize]);
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
    fn a_panic_does_not_block_other_threads() {
        let queue = WalkQueue::new(vec![1, 2, 3]);
        let panicked = thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| queue.work(|_, _| panic!("on purpose")))).collect();
            threads.into_iter().filter_map(|thread| thread.join().err()).count()
        });
        assert_eq!(panicked, 3);
    }
}
