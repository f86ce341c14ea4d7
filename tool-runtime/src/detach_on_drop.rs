//! Futures that must run to completion.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tracing::Instrument;

/// A future that runs to completion: if it is dropped, it continues in the background, provided there is a runtime.
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
        // Taken out while it is polled, so that a future that panicked is not polled again.
        let mut work = self.work.take().expect("polled after completion");
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
