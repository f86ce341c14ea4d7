//! Calls one tool of one contender a number of times, to be counted by callgrind:
//! `dispatch <table|sync|async> <add|search|order> <times>`. With `allocations` as the number, prints what one call
//! allocates instead.

mod allocations;
#[cfg(feature = "many")]
mod many {
    include!(concat!(env!("OUT_DIR"), "/many.rs"));
}
mod ours;
mod table;
mod work;

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tool_runtime::{Dispatcher, ToolCall};

fn ready<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the tool does not wait"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, who, tool, times] = arguments.as_slice() else { panic!("dispatch <who> <tool> <times>") };
    let text = match tool.as_str() {
        "add" => work::ADD,
        "search" => work::SEARCH,
        "order" => work::ORDER,
        other => panic!("no tool {other}"),
    };
    let table = table::table();
    let dispatcher = Dispatcher::builder().build().expect("the tools are complete");
    let name = format!("{who}.{tool}");
    let call = || match who.as_str() {
        "table" => {
            let function = table.get(black_box(tool.as_str())).expect("in the table");
            ready(function(black_box(text))).expect("succeeds")
        }
        _ => {
            let result = ready(dispatcher.call(ToolCall::from_text(black_box(name.as_str()), black_box(text))));
            assert!(result.success, "{}", result.output);
            result.output
        }
    };
    if times == "allocations" {
        black_box(call());
        let (count, bytes) = allocations::of(|| drop(black_box(call())));
        println!("{count} {bytes}");
        return;
    }
    for _ in 0..times.parse::<u32>().expect("a number") {
        black_box(call());
    }
}
