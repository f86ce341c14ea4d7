//! The futures of `async` handlers, in reused allocations.
//!
//! Most handlers complete on the first poll and need their memory only until then. So each thread keeps one box for each
//! size of small futures, and a handler that finds one does not allocate.

mod reused_box;

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::handler_result::HandlerResult;

type Handler = dyn Future<Output = HandlerResult> + Send;

/// The future of an `async` handler. On completion it is dropped, and its allocation is kept for the next one.
pub struct HandlerFuture(Option<Pin<Box<Handler>>>);

impl HandlerFuture {
    #[inline]
    pub(crate) fn new(handler: impl Future<Output = HandlerResult> + Send + 'static) -> Self {
        Self(Some(reused_box::boxed(handler)))
    }
}

impl Future for HandlerFuture {
    type Output = HandlerResult;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<HandlerResult> {
        let Some(handler) = &mut self.0 else { return Poll::Pending };
        let result = ready!(handler.as_mut().poll(context));
        if let Some(handler) = self.0.take() {
            reused_box::empty(handler);
        }
        Poll::Ready(result)
    }
}

#[cfg(test)]
mod tests;
