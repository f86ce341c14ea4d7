//! The future of an `async` handler, in memory that the next one takes over.
//!
//! Most handlers answer when they are polled for the first time, and need their memory for that moment only. So each
//! thread keeps a frame for each size of small futures; a handler that finds its frame costs no allocation.

use std::cell::Cell;
use std::future::pending;
use std::mem::replace;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_util::sync::ReusableBoxFuture;

use crate::answer::Answer;

type Frame = ReusableBoxFuture<'static, Answer>;

/// How many sizes of futures have a frame, in words. What is larger is worth an allocation.
const SIZES: usize = 64;

thread_local! {
    /// The frames that nobody needs at the moment, by their size.
    static FRAMES: [Cell<Option<Frame>>; SIZES] = const { [const { Cell::new(None) }; SIZES] };
}

/// The future of an `async` handler. Once it has answered, its frame is for the next one.
///
/// What is left in a frame is a future that has answered, until another takes its place: as `async` blocks do, it has
/// dropped all that it held by then.
pub struct HandlerFuture(Frame);

impl HandlerFuture {
    #[inline]
    pub(crate) fn new<F: Future<Output = Answer> + Send + 'static>(future: F) -> Self {
        match take(size_of::<F>()) {
            Some(mut frame) => {
                frame.set(future);
                Self(frame)
            }
            None => Self(Frame::new(future)),
        }
    }
}

impl Future for HandlerFuture {
    type Output = Answer;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let polled = self.0.poll(context);
        if polled.is_ready() {
            // A future without content takes no memory.
            keep(replace(&mut self.0, Frame::new(pending())));
        }
        polled
    }
}

/// The frame for a future of so many bytes, if there is one to be had. Not inlined: each `async` tool would have it.
fn take(size: usize) -> Option<Frame> {
    FRAMES.try_with(|frames| frames.get(size / size_of::<usize>())?.take()).ok().flatten()
}

/// Keeps a frame, unless it is large or the thread about to end.
fn keep(mut frame: Frame) {
    let size = size_of_val(&*frame.get_pin());
    let _ = FRAMES.try_with(|frames| {
        if let Some(place) = frames.get(size / size_of::<usize>()) {
            place.set(Some(frame));
        }
    });
}

#[cfg(test)]
mod tests;
