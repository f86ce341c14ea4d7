use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::thread;

use super::*;

fn said(text: &str) -> Answer {
    Ok(text.to_owned().into())
}

fn poll(handler: &mut HandlerFuture) -> Option<String> {
    match Pin::new(handler).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer.expect("no handler here fails").text),
        Poll::Pending => None,
    }
}

/// Where the future of a handler lies.
fn place(handler: &mut HandlerFuture) -> *const () {
    std::ptr::from_ref(&*handler.0.get_pin()).cast()
}

/// Where the thread has a frame to give away, for a future of that size.
fn kept_place(size: usize) -> Option<*const ()> {
    let mut frame = take(size)?;
    let place = std::ptr::from_ref(&*frame.get_pin()).cast();
    keep(frame);
    Some(place)
}

fn size(handler: &mut HandlerFuture) -> usize {
    size_of_val(&*handler.0.get_pin())
}

fn yields() -> impl Future<Output = ()> {
    let mut was_polled = false;
    std::future::poll_fn(move |_| if replace(&mut was_polled, true) { Poll::Ready(()) } else { Poll::Pending })
}

/// Calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn futures_of_one_size_follow_each_other_in_one_frame() {
    let mut first = HandlerFuture::new(async { said("first") });
    let (frame, small) = (place(&mut first), size(&mut first));
    assert_eq!(poll(&mut first).as_deref(), Some("first"));
    assert_eq!(kept_place(small), Some(frame), "it has answered");

    let mut second = HandlerFuture::new(async { said("second") });
    assert_eq!((place(&mut second), size(&mut second)), (frame, small), "another type of the same size");
    assert_eq!(kept_place(small), None, "it is in use");
    let mut third = HandlerFuture::new(async { said("third") });
    assert_ne!(place(&mut third), frame);

    let text = ["fourth"; 20];
    let mut fourth = HandlerFuture::new(async move { said(text[19]) });
    assert_ne!(size(&mut fourth), small);
    let other_frame = place(&mut fourth);
    let answers = [&mut second, &mut third, &mut fourth].map(|handler| poll(handler).unwrap_or_default());
    assert_eq!(answers, ["second", "third", "fourth"]);
    let mut fifth = HandlerFuture::new(async move { said(text[7]) });
    assert_eq!(place(&mut fifth), other_frame, "each size has its own");
}

#[test]
fn what_is_large_or_must_lie_otherwise_has_memory_of_its_own() {
    #[repr(align(64))]
    struct Aligned([u8; 64]);

    let long = [7_u8; 1024];
    let mut large = HandlerFuture::new(async move { said(&long.len().to_string()) });
    let size_of_large = size(&mut large);
    assert_eq!(poll(&mut large).as_deref(), Some("1024"));
    assert_eq!(kept_place(size_of_large), None);

    let words = [0_u64; 15];
    let mut before = HandlerFuture::new(async move { said(&words.len().to_string()) });
    let size_of_both = size(&mut before);
    assert_eq!(poll(&mut before).as_deref(), Some("15"));
    let aligned = Aligned([1; 64]);
    let mut over = HandlerFuture::new(async move {
        let lies_well = std::ptr::from_ref(&aligned).is_aligned();
        said(&format!("{lies_well} {}", aligned.0.len()))
    });
    assert_eq!(size(&mut over), size_of_both, "only the alignment tells them apart");
    assert_eq!(poll(&mut over).as_deref(), Some("true 64"));
    let mut after = HandlerFuture::new(async move { said(&words.len().to_string()) });
    assert_eq!(poll(&mut after).as_deref(), Some("15"));
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
    drop((ends, ends_at_once));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_panic_leaves_the_frame_usable() {
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
        let (frame, size) = (place(&mut moved), size(&mut moved));
        (poll(&mut moved), kept_place(size) == Some(frame))
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
