//! Panics of application code.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs a function. A panic becomes an error with its message.
///
/// Values that a panic leaves half-changed are dropped with the call, which is why `AssertUnwindSafe` is sound here.
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(message)
}

/// A future whose panics become errors with their messages.
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

/// Returns the message of a panic. The payload may be anything, even a value that panics when it is dropped.
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
        // Dropping the second payload might panic again, so it is leaked.
        std::mem::forget(payload);
    }
}
