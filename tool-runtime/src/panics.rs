//! Panics of code that is not ours.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs a function; a panic becomes its message.
///
/// What a panic may leave half-changed is dropped with the call, so that nobody sees it.
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(message)
}

/// A future whose panics become messages.
pub(crate) struct CatchPanic<F>(pub(crate) F);

impl<F: Future + Unpin> Future for CatchPanic<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match catch(|| Pin::new(&mut self.0).poll(context)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

/// The words of a panic. Its payload may be anything, even something that panics when dropped.
fn message(payload: Box<dyn Any + Send>) -> String {
    let message = match (payload.downcast_ref::<&'static str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "a panic without a message".to_owned(),
    };
    drop_quietly(payload);
    message
}

/// Drops a value whose own `Drop` may panic.
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // A second payload that panics again is not worth a third try.
        std::mem::forget(payload);
    }
}
