//! Work that must not stop in the middle.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tracing::Instrument;

/// Work that is done to its end: dropped before, it goes on in the background, if there is a runtime.
pub(crate) struct DetachOnDrop<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    runtime: Option<Handle>,
}

impl<T: Send + 'static> DetachOnDrop<T> {
    pub(crate) fn new(runtime: Option<Handle>, work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)), runtime }
    }
}

impl<T: Send + 'static> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out while it is polled: what panics is not polled again.
        let mut work = self.work.take().expect("it is not polled after its end");
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for DetachOnDrop<T> {
    fn drop(&mut self) {
        if let (Some(work), Some(runtime)) = (self.work.take(), &self.runtime) {
            runtime.spawn(work.in_current_span());
        }
    }
}
