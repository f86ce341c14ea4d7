//! The future of an `async` handler, in memory that the next one takes over.
//!
//! Most handlers answer when they are polled for the first time, and need their memory for that moment only. So each
//! thread keeps some for each size of small futures; a handler that finds it costs no allocation.

mod reused_box;

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::handler_result::HandlerResult;

type Handler = dyn Future<Output = HandlerResult> + Send;

/// The future of an `async` handler. Once it has answered, it is dropped, and its memory is for the next one.
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
        let answer = ready!(handler.as_mut().poll(context));
        if let Some(handler) = self.0.take() {
            reused_box::empty(handler);
        }
        Poll::Ready(answer)
    }
}

#[cfg(test)]
mod tests;
