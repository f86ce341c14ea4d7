//! Boxes that are emptied and filled again. All `unsafe` code of this crate is here.
//!
//! The code that fills a box is compiled for each `async` tool, so it is as small as `Box::pin`. The safe alternative,
//! tokio-util's `ReusableBoxFuture`, adds 2.3 kB to the binary for each tool.

#![allow(unsafe_code, reason = "safe code cannot drop the content of a pinned box and keep the allocation")]

use std::alloc::Layout;
use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;

use super::Handler;
use crate::handler_result::HandlerResult;

/// A box whose content was dropped. It still has the layout, and frees the memory when it is dropped itself.
pub(super) type EmptiedBox = Box<ManuallyDrop<Handler>>;

/// The number of sizes, in words, for which a box is kept. Larger futures are allocated.
const SIZES: usize = 64;

thread_local! {
    /// The boxes that are not in use, by their size.
    static EMPTIED: [Cell<Option<EmptiedBox>>; SIZES] = const { [const { Cell::new(None) }; SIZES] };
}

/// Pins a future like `Box::pin`, in an emptied box if there is one.
#[inline]
pub(super) fn boxed<F: Future<Output = HandlerResult> + Send + 'static>(handler: F) -> Pin<Box<F>> {
    let memory: Box<MaybeUninit<F>> = match take(Layout::new::<F>()) {
        // SAFETY: a box allocated this memory with the layout of `F`, and gives up its ownership. `MaybeUninit` accepts
        // any content.
        Some(emptied) => unsafe { Box::from_raw(Box::into_raw(emptied).cast()) },
        None => Box::new_uninit(),
    };
    Box::into_pin(Box::write(memory, handler))
}

/// Drops a handler and keeps its box for the next one.
pub(super) fn empty(handler: Pin<Box<Handler>>) {
    // SAFETY: the handler is dropped in place and not moved.
    let handler = Box::into_raw(unsafe { Pin::into_inner_unchecked(handler) });
    // SAFETY: the pointer comes from a box, and a `ManuallyDrop` has the layout of its content.
    let mut emptied = unsafe { Box::from_raw(handler as *mut ManuallyDrop<Handler>) };
    // SAFETY: the content is not used afterwards. If this panics, the box only frees the memory.
    unsafe { ManuallyDrop::drop(&mut emptied) };
    keep(emptied);
}

/// Takes a box of this layout, if there is one. Not inlined, because each `async` tool would contain it.
pub(super) fn take(layout: Layout) -> Option<EmptiedBox> {
    let emptied = EMPTIED.try_with(|sizes| sizes.get(layout.size() / size_of::<usize>())?.take()).ok()??;
    (Layout::for_value(&**emptied) == layout).then_some(emptied)
}

/// Keeps a box, unless it is large or the thread is ending.
pub(super) fn keep(emptied: EmptiedBox) {
    let size = size_of_val(&**emptied);
    let _ = EMPTIED.try_with(|sizes| {
        if let Some(cell) = sizes.get(size / size_of::<usize>()) {
            cell.set(Some(emptied));
        }
    });
}
