use std::alloc::Layout;
use std::cell::RefCell;
use std::future::poll_fn;
use std::mem::replace;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::thread;

use super::*;
use crate::handler_future::reused_box::{keep, take};

fn said(text: &str) -> HandlerResult {
    Ok(text.to_owned().into())
}

fn poll(handler: &mut HandlerFuture) -> Option<String> {
    match Pin::new(handler).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer.expect("no handler here fails").text),
        Poll::Pending => None,
    }
}

fn handler(handler: &HandlerFuture) -> &Handler {
    handler.0.as_deref().expect("it has not completed")
}

/// Returns the address of a handler's future.
fn address(of: &HandlerFuture) -> *const () {
    std::ptr::from_ref(handler(of)).cast()
}

fn layout(of: &HandlerFuture) -> Layout {
    Layout::for_value(handler(of))
}

/// Returns the address of the box that the thread keeps for this layout.
fn kept_address(layout: Layout) -> Option<*const ()> {
    let emptied = take(layout)?;
    let address = std::ptr::from_ref(&*emptied).cast();
    keep(emptied);
    Some(address)
}

fn yields() -> impl Future<Output = ()> {
    let mut was_polled = false;
    poll_fn(move |_| if replace(&mut was_polled, true) { Poll::Ready(()) } else { Poll::Pending })
}

/// A value that calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn futures_of_one_size_reuse_one_box() {
    let mut first = HandlerFuture::new(async { said("first") });
    let (memory, small) = (address(&first), layout(&first));
    assert_eq!(poll(&mut first).as_deref(), Some("first"));
    assert_eq!(kept_address(small), Some(memory), "it has completed");

    let mut second = HandlerFuture::new(async { said("second") });
    assert_eq!((address(&second), layout(&second)), (memory, small), "another type of the same size");
    assert_eq!(kept_address(small), None, "it is in use");
    let mut third = HandlerFuture::new(async { said("third") });
    assert_ne!(address(&third), memory);

    let text = ["fourth"; 20];
    let mut fourth = HandlerFuture::new(async move { said(text[19]) });
    assert_ne!(layout(&fourth), small);
    let other_memory = address(&fourth);
    let answers = [&mut second, &mut third, &mut fourth].map(|handler| poll(handler).unwrap_or_default());
    assert_eq!(answers, ["second", "third", "fourth"]);
    let fifth = HandlerFuture::new(async move { said(text[7]) });
    assert_eq!(address(&fifth), other_memory, "each size has its own");
}

#[test]
fn large_or_overaligned_futures_have_their_own_memory() {
    #[repr(align(64))]
    struct Aligned([u8; 64]);

    let long = [7_u8; 1024];
    let mut large = HandlerFuture::new(async move { said(&long.len().to_string()) });
    let layout_of_large = layout(&large);
    assert_eq!(poll(&mut large).as_deref(), Some("1024"));
    assert_eq!(kept_address(layout_of_large), None);

    let words = [0_u64; 15];
    let mut before = HandlerFuture::new(async move { said(&words.len().to_string()) });
    let size_of_both = layout(&before).size();
    assert_eq!(poll(&mut before).as_deref(), Some("15"));
    let aligned = Aligned([1; 64]);
    let mut over = HandlerFuture::new(async move {
        let is_aligned = std::ptr::from_ref(&aligned).is_aligned();
        said(&format!("{is_aligned} {}", aligned.0.len()))
    });
    assert_eq!(layout(&over).size(), size_of_both, "only the alignment tells them apart");
    assert_eq!(poll(&mut over).as_deref(), Some("true 64"));
    let mut after = HandlerFuture::new(async move { said(&words.len().to_string()) });
    assert_eq!(poll(&mut after).as_deref(), Some("15"));
}

#[test]
fn does_not_reuse_memory_of_another_layout() {
    let answer = || {
        let bytes = [0_u8; 9];
        let mut handler = HandlerFuture::new(async move { said(&bytes.len().to_string()) });
        let layout = layout(&handler);
        assert_eq!(poll(&mut handler).as_deref(), Some("9"));
        layout
    };
    let kept = answer();
    assert!(kept_address(kept).is_some());
    for (size, align) in [(kept.size() + 1, kept.align()), (kept.size(), kept.align() * 2)] {
        answer();
        assert_eq!(size / size_of::<usize>(), kept.size() / size_of::<usize>(), "they share a cell");
        assert_eq!(kept_address(Layout::from_size_align(size, align).expect("a layout")), None);
    }
}

#[test]
fn a_zero_sized_future_needs_no_memory() {
    let nothing = || HandlerFuture::new(poll_fn(|_| Poll::Ready(said("nothing"))));
    let mut handlers = [nothing(), nothing()];
    assert_eq!(layout(&handlers[0]).size(), 0);
    for handler in &mut handlers {
        assert_eq!(poll(handler).as_deref(), Some("nothing"));
    }
    assert_eq!(poll(&mut nothing()).as_deref(), Some("nothing"));
}

#[test]
fn values_of_a_future_are_dropped_once_and_with_it() {
    let held = Arc::new(());
    let holder = |waits: bool| {
        let held = held.clone();
        HandlerFuture::new(async move {
            if waits {
                yields().await;
            }
            said(&Arc::strong_count(&held).to_string())
        })
    };
    let never_polled = holder(true);
    assert_eq!(Arc::strong_count(&held), 2);
    drop(never_polled);
    assert_eq!(Arc::strong_count(&held), 1);

    let mut waits = holder(true);
    assert_eq!(poll(&mut waits), None);
    assert_eq!(Arc::strong_count(&held), 2);
    drop(waits);
    assert_eq!(Arc::strong_count(&held), 1);

    let mut ends = holder(true);
    assert_eq!((poll(&mut ends), poll(&mut ends).as_deref()), (None, Some("2")));
    let mut ends_at_once = holder(false);
    assert_eq!(poll(&mut ends_at_once).as_deref(), Some("2"));
    let inside = held.clone();
    let mut keeps = HandlerFuture::new(poll_fn(move |_| Poll::Ready(said(&Arc::strong_count(&inside).to_string()))));
    assert_eq!(poll(&mut keeps).as_deref(), Some("2"));
    assert_eq!(Arc::strong_count(&held), 1, "they have completed");
    drop((ends, ends_at_once, keeps));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_panic_leaves_the_memory_usable() {
    let held = Arc::new(());
    let inside = held.clone();
    let mut panics = HandlerFuture::new(async move {
        yields().await;
        let _inside = inside;
        panic!("on purpose")
    });
    assert_eq!(poll(&mut panics), None);
    assert!(catch_unwind(AssertUnwindSafe(|| poll(&mut panics))).is_err());
    drop(panics);
    assert_eq!(Arc::strong_count(&held), 1);

    let inside = (OnDrop(|| panic!("on purpose")), held.clone());
    let panics = HandlerFuture::new(async move {
        let _inside = inside;
        said("")
    });
    assert!(catch_unwind(AssertUnwindSafe(|| drop(panics))).is_err());
    assert_eq!(Arc::strong_count(&held), 1, "the other values are dropped all the same");

    let inside = (OnDrop(|| panic!("on purpose")), held.clone());
    let mut panics = HandlerFuture::new(poll_fn(move |_| {
        let _inside = &inside;
        Poll::Ready(said(""))
    }));
    assert!(
        catch_unwind(AssertUnwindSafe(|| poll(&mut panics))).is_err(),
        "the panic belongs to this future, not to the next"
    );
    assert_eq!(Arc::strong_count(&held), 1);
    assert_eq!(poll(&mut panics), None, "it has ended");

    let mut after = HandlerFuture::new(async { said("after") });
    assert_eq!(poll(&mut after).as_deref(), Some("after"));
}

#[test]
fn a_future_may_complete_on_another_thread() {
    let held = Arc::new(());
    let inside = held.clone();
    let mut moved = HandlerFuture::new(async move {
        yields().await;
        said(&Arc::strong_count(&inside).to_string())
    });
    assert_eq!(poll(&mut moved), None);
    let there = thread::spawn(move || {
        let (memory, layout) = (address(&moved), layout(&moved));
        (poll(&mut moved), kept_address(layout) == Some(memory))
    });
    assert_eq!(there.join().expect("it ends well"), (Some("2".to_owned()), true));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_future_may_outlive_the_boxes_of_its_thread() {
    thread_local! {
        static LAST: RefCell<Option<HandlerFuture>> = const { RefCell::new(None) };
    }

    let held = Arc::new(());
    for comes_first in [true, false] {
        let inside = held.clone();
        let ends = thread::spawn(move || {
            // The drop order of thread-locals is unspecified, so both orders of first use are tried.
            if comes_first {
                LAST.set(None);
            }
            poll(&mut HandlerFuture::new(async { said("") }));
            let inside = OnDrop(move || {
                let _inside = &inside;
                let mut late = HandlerFuture::new(async { said("late") });
                assert_eq!(poll(&mut late).as_deref(), Some("late"));
            });
            LAST.set(Some(HandlerFuture::new(async move {
                let _inside = inside;
                said("")
            })));
        });
        ends.join().expect("it ends well");
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

#[test]
fn a_future_may_run_and_drop_others() {
    let answer = |text: &'static str| {
        let mut handler = HandlerFuture::new(async move { said(text) });
        poll(&mut handler).unwrap_or_default()
    };
    let mut outer = HandlerFuture::new(async move {
        let _last = OnDrop(move || assert_eq!(answer("dropped"), "dropped"));
        let before = answer("before");
        yields().await;
        said(&format!("{before} {}", answer("after")))
    });
    assert_eq!((poll(&mut outer), poll(&mut outer).as_deref()), (None, Some("before after")));
    drop(outer);

    let mut waits = HandlerFuture::new(async move {
        let _last = OnDrop(move || assert_eq!(answer("dropped"), "dropped"));
        yields().await;
        said("")
    });
    assert_eq!(poll(&mut waits), None);
    drop(waits);
}

#[test]
fn a_future_may_run_others_of_its_own_type() {
    fn nested(depth: usize) -> HandlerFuture {
        HandlerFuture::new(async move {
            let inner = if depth > 0 { poll(&mut nested(depth - 1)).unwrap_or_default() } else { String::new() };
            said(&format!("{depth}{inner}"))
        })
    }

    for _ in 0..2 {
        assert_eq!(poll(&mut nested(3)).as_deref(), Some("3210"));
    }
}
