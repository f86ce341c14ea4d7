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
    handler.0.as_deref().expect("it has not answered")
}

/// Where the future of a handler lies.
fn place(of: &HandlerFuture) -> *const () {
    std::ptr::from_ref(handler(of)).cast()
}

fn layout(of: &HandlerFuture) -> Layout {
    Layout::for_value(handler(of))
}

/// Where the thread has memory to give away.
fn kept_place(layout: Layout) -> Option<*const ()> {
    let emptied = take(layout)?;
    let place = std::ptr::from_ref(&*emptied).cast();
    keep(emptied);
    Some(place)
}

fn yields() -> impl Future<Output = ()> {
    let mut was_polled = false;
    poll_fn(move |_| if replace(&mut was_polled, true) { Poll::Ready(()) } else { Poll::Pending })
}

/// Calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn futures_of_one_size_follow_each_other_in_one_place() {
    let mut first = HandlerFuture::new(async { said("first") });
    let (memory, small) = (place(&first), layout(&first));
    assert_eq!(poll(&mut first).as_deref(), Some("first"));
    assert_eq!(kept_place(small), Some(memory), "it has answered");

    let mut second = HandlerFuture::new(async { said("second") });
    assert_eq!((place(&second), layout(&second)), (memory, small), "another type of the same size");
    assert_eq!(kept_place(small), None, "it is in use");
    let mut third = HandlerFuture::new(async { said("third") });
    assert_ne!(place(&third), memory);

    let text = ["fourth"; 20];
    let mut fourth = HandlerFuture::new(async move { said(text[19]) });
    assert_ne!(layout(&fourth), small);
    let other_memory = place(&fourth);
    let answers = [&mut second, &mut third, &mut fourth].map(|handler| poll(handler).unwrap_or_default());
    assert_eq!(answers, ["second", "third", "fourth"]);
    let fifth = HandlerFuture::new(async move { said(text[7]) });
    assert_eq!(place(&fifth), other_memory, "each size has its own");
}

#[test]
fn what_is_large_or_must_lie_otherwise_has_memory_of_its_own() {
    #[repr(align(64))]
    struct Aligned([u8; 64]);

    let long = [7_u8; 1024];
    let mut large = HandlerFuture::new(async move { said(&long.len().to_string()) });
    let layout_of_large = layout(&large);
    assert_eq!(poll(&mut large).as_deref(), Some("1024"));
    assert_eq!(kept_place(layout_of_large), None);

    let words = [0_u64; 15];
    let mut before = HandlerFuture::new(async move { said(&words.len().to_string()) });
    let size_of_both = layout(&before).size();
    assert_eq!(poll(&mut before).as_deref(), Some("15"));
    let aligned = Aligned([1; 64]);
    let mut over = HandlerFuture::new(async move {
        let lies_well = std::ptr::from_ref(&aligned).is_aligned();
        said(&format!("{lies_well} {}", aligned.0.len()))
    });
    assert_eq!(layout(&over).size(), size_of_both, "only the alignment tells them apart");
    assert_eq!(poll(&mut over).as_deref(), Some("true 64"));
    let mut after = HandlerFuture::new(async move { said(&words.len().to_string()) });
    assert_eq!(poll(&mut after).as_deref(), Some("15"));
}

#[test]
fn memory_of_another_layout_is_not_taken_over() {
    let answer = || {
        let bytes = [0_u8; 9];
        let mut handler = HandlerFuture::new(async move { said(&bytes.len().to_string()) });
        let layout = layout(&handler);
        assert_eq!(poll(&mut handler).as_deref(), Some("9"));
        layout
    };
    let kept = answer();
    assert!(kept_place(kept).is_some());
    for (size, align) in [(kept.size() + 1, kept.align()), (kept.size(), kept.align() * 2)] {
        answer();
        assert_eq!(size / size_of::<usize>(), kept.size() / size_of::<usize>(), "they are kept in the same place");
        assert_eq!(kept_place(Layout::from_size_align(size, align).expect("a layout")), None);
    }
}

#[test]
fn a_future_without_content_needs_no_memory() {
    let nothing = || HandlerFuture::new(poll_fn(|_| Poll::Ready(said("nothing"))));
    let mut handlers = [nothing(), nothing()];
    assert_eq!(layout(&handlers[0]).size(), 0);
    for handler in &mut handlers {
        assert_eq!(poll(handler).as_deref(), Some("nothing"));
    }
    assert_eq!(poll(&mut nothing()).as_deref(), Some("nothing"));
}

#[test]
fn what_a_future_holds_is_dropped_once_and_with_it() {
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
    assert_eq!(Arc::strong_count(&held), 1, "they have answered");
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
    assert_eq!(Arc::strong_count(&held), 1, "the rest is dropped all the same");

    let inside = (OnDrop(|| panic!("on purpose")), held.clone());
    let mut panics = HandlerFuture::new(poll_fn(move |_| {
        let _inside = &inside;
        Poll::Ready(said(""))
    }));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(&mut panics))).is_err(), "whose destructor panics, not the next");
    assert_eq!(Arc::strong_count(&held), 1);
    assert_eq!(poll(&mut panics), None, "it is over");

    let mut after = HandlerFuture::new(async { said("after") });
    assert_eq!(poll(&mut after).as_deref(), Some("after"));
}

#[test]
fn a_future_may_end_on_another_thread() {
    let held = Arc::new(());
    let inside = held.clone();
    let mut moved = HandlerFuture::new(async move {
        yields().await;
        said(&Arc::strong_count(&inside).to_string())
    });
    assert_eq!(poll(&mut moved), None);
    let there = thread::spawn(move || {
        let (memory, layout) = (place(&moved), layout(&moved));
        (poll(&mut moved), kept_place(layout) == Some(memory))
    });
    assert_eq!(there.join().expect("it ends well"), (Some("2".to_owned()), true));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_future_may_outlive_what_its_thread_keeps() {
    thread_local! {
        static LAST: RefCell<Option<HandlerFuture>> = const { RefCell::new(None) };
    }

    let held = Arc::new(());
    for comes_first in [true, false] {
        let inside = held.clone();
        let ends = thread::spawn(move || {
            // What a thread has used first is dropped last, or the other way round: both orders are tried.
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
