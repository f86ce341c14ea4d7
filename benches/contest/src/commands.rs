//! The commands of a contender. Some print one line of numbers for the report to parse; the commands that print nothing
//! are counted from outside, by valgrind.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use cpu_time::ProcessTime;
use tokio::runtime::{Builder, Runtime};

use crate::{Contender, allocations, watch, work};

pub fn run<C: Contender>(words: &[&str]) {
    match words {
        ["answer", tool] => println!("{}", one_thread().block_on(answer::<C>(tool))),
        ["calls", tool, times, fillers] => {
            one_thread().block_on(calls::<C>(tool, work::text(tool), number(times), number(fillers)));
        }
        ["grow", bytes, times] => {
            one_thread().block_on(calls::<C>("search", &work::search_of(number(bytes)), number(times), 0));
        }
        ["allocations", tool, fillers] => one_thread().block_on(allocated::<C>(tool, number(fillers))),
        ["time", tool, fillers] => one_thread().block_on(time::<C>(tool, number(fillers))),
        ["together", count] => together::<C>(number(count)),
        ["start", fillers] => std::mem::forget(one_thread().block_on(C::start(number(fillers)))),
        ["list", times, fillers] => one_thread().block_on(list::<C>(number(times), number(fillers))),
        _ => panic!("no such command: {words:?}"),
    }
}

fn number(word: &str) -> usize {
    word.parse().unwrap_or_else(|_| panic!("not a number: {word}"))
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn answer<C: Contender>(tool: &str) -> String {
    C::start(0).await.call(tool, work::text(tool)).await
}

async fn calls<C: Contender>(tool: &str, text: &str, times: usize, fillers: usize) {
    let contender = C::start(fillers).await;
    for _ in 0..times {
        black_box(contender.call(black_box(tool), black_box(text)).await);
    }
    // Dropping the contender is not part of a call.
    std::mem::forget(contender);
}

async fn allocated<C: Contender>(tool: &str, fillers: usize) {
    let contender = C::start(fillers).await;
    let text = work::text(tool);
    for _ in 0..10 {
        black_box(contender.call(tool, text).await);
    }
    let times = 100;
    let before = allocations::now();
    for _ in 0..times {
        black_box(contender.call(tool, text).await);
    }
    let (count, bytes) = allocations::since(before);
    println!("{} {}", count / times, bytes / times);
}

/// Prints the median of many short rounds in nanoseconds per call, so that interrupted rounds do not count.
async fn time<C: Contender>(tool: &str, fillers: usize) {
    let contender = C::start(fillers).await;
    let text = work::text(tool);
    let round = async |times: u32| {
        let start = Instant::now();
        for _ in 0..times {
            black_box(contender.call(black_box(tool), black_box(text)).await);
        }
        start.elapsed().as_nanos() as f64 / f64::from(times)
    };
    round(200).await;
    let mut rounds = Vec::new();
    for _ in 0..101 {
        rounds.push(round(40).await);
    }
    println!("{:.1}", watch::median(rounds));
}

/// Runs `count` concurrent calls on two threads. Prints wall and processor time in nanoseconds per call.
fn together<C: Contender>(count: usize) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let (mut walls, mut processors) = (Vec::new(), Vec::new());
    runtime.block_on(async {
        let contender = Arc::new(C::start(0).await);
        // Each round makes at least 2,000 calls, because of the resolution of the processor clock.
        let batches = (2_000 / count).max(1);
        for _ in 0..11 {
            let (wall, processor) = (Instant::now(), ProcessTime::now());
            for _ in 0..batches {
                let calls = (0..count).map(|_| {
                    let contender = Arc::clone(&contender);
                    tokio::spawn(async move { contender.call("pause", work::ADD).await })
                });
                for call in calls.collect::<Vec<_>>() {
                    black_box(call.await.expect("no contender panics"));
                }
            }
            let calls = (batches * count) as f64;
            walls.push(wall.elapsed().as_nanos() as f64 / calls);
            processors.push(processor.elapsed().as_nanos() as f64 / calls);
        }
        std::mem::forget(contender);
    });
    println!("{:.1} {:.1}", watch::median(walls), watch::median(processors));
}

async fn list<C: Contender>(times: usize, fillers: usize) {
    let contender = C::start(fillers).await;
    for _ in 0..times {
        black_box(contender.list());
    }
    std::mem::forget(contender);
}
