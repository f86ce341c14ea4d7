//! Boxes that are emptied and filled again. All the `unsafe` of this crate is here.
//!
//! What fills a box is compiled for each `async` tool, so there is as little of it as in `Box::pin`. A safe way would
//! be tokio-util's `ReusableBoxFuture`, which adds 2.3 kB to the binary for each of them.

#![allow(unsafe_code, reason = "no safe code drops what is pinned in a box and keeps the memory")]

use std::alloc::Layout;
use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;

use super::Handler;
use crate::handler_result::HandlerResult;

/// A box whose content was dropped. It still knows the layout, and frees the memory when it is dropped itself.
pub(super) type EmptiedBox = Box<ManuallyDrop<Handler>>;

/// How many sizes are kept, in words. What is larger is worth an allocation.
const SIZES: usize = 64;

thread_local! {
    /// The boxes that nobody needs at the moment, by their size.
    static EMPTIED: [Cell<Option<EmptiedBox>>; SIZES] = const { [const { Cell::new(None) }; SIZES] };
}

/// As `Box::pin`, in a box that was emptied if there is one.
#[inline]
pub(super) fn boxed<F: Future<Output = HandlerResult> + Send + 'static>(handler: F) -> Pin<Box<F>> {
    let memory: Box<MaybeUninit<F>> = match take(Layout::new::<F>()) {
        // SAFETY: a box allocated this memory with the layout of `F`, and gives it up. A `MaybeUninit` takes what is
        // left in it.
        Some(emptied) => unsafe { Box::from_raw(Box::into_raw(emptied).cast()) },
        None => Box::new_uninit(),
    };
    Box::into_pin(Box::write(memory, handler))
}

/// Drops a handler, and keeps its box for the next one.
pub(super) fn empty(handler: Pin<Box<Handler>>) {
    // SAFETY: the handler is dropped where it lies.
    let handler = Box::into_raw(unsafe { Pin::into_inner_unchecked(handler) });
    // SAFETY: the pointer comes from a box, and a `ManuallyDrop` has the layout of its content.
    let mut emptied = unsafe { Box::from_raw(handler as *mut ManuallyDrop<Handler>) };
    // SAFETY: from here on nobody uses the content. If this panics, the box frees the memory and nothing else.
    unsafe { ManuallyDrop::drop(&mut emptied) };
    keep(emptied);
}

/// A box of that layout, if there is one to be had. Not inlined: each `async` tool would have it.
pub(super) fn take(layout: Layout) -> Option<EmptiedBox> {
    let emptied = EMPTIED.try_with(|sizes| sizes.get(layout.size() / size_of::<usize>())?.take()).ok()??;
    (Layout::for_value(&**emptied) == layout).then_some(emptied)
}

/// Keeps a box, unless it is large or the thread about to end.
pub(super) fn keep(emptied: EmptiedBox) {
    let size = size_of_val(&**emptied);
    let _ = EMPTIED.try_with(|sizes| {
        if let Some(place) = sizes.get(size / size_of::<usize>()) {
            place.set(Some(emptied));
        }
    });
}
