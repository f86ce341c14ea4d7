//! Measures the overhead of an agent's loop: `agent <ours|rig> <turns> <runs>`, to be counted by callgrind.
//!
//! The model is scripted and responds at once: in each run it makes three calls of `add` in each of `turns` turns, then
//! responds in text. Both agents use the scripted model that their own crate has for tests, both keep the
//! conversation during a run, and the scripts are built before anything is counted.
//! Two counts with different numbers of runs give the cost of a run; different numbers of turns give that of a turn.
//! With `allocations` as the last argument, prints allocations and bytes per run, and the final text.

mod ours;
mod rig;

use contest::allocations;
use tokio::runtime::Builder;

/// An agent with a script for a number of runs.
trait Agent: Sized {
    fn new(turns: usize, runs: usize) -> Self;

    /// Makes one run and returns the final text of the model.
    async fn run(&mut self) -> String;
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("not a number: {word}"));
    let (name, turns, runs) = match words.as_slice() {
        [name, turns, runs, ..] => (name.as_str(), number(turns), number(runs)),
        _ => panic!("agent <ours|rig> <turns> <runs> [allocations]"),
    };
    let is_counted = words.get(3).is_some_and(|word| word == "allocations");
    match name {
        "ours" => measure::<ours::OwnAgent>(turns, runs, is_counted),
        "rig" => measure::<rig::RigAgent>(turns, runs, is_counted),
        other => panic!("no agent {other}"),
    }
}

fn measure<A: Agent>(turns: usize, runs: usize, is_counted: bool) {
    const WARM_UP: usize = 10;
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut agent = A::new(turns, runs + WARM_UP);
        for _ in 0..WARM_UP {
            agent.run().await;
        }
        let before = allocations::now();
        let mut answer = String::new();
        for _ in 0..runs {
            answer = agent.run().await;
        }
        if is_counted {
            let (count, bytes) = allocations::since(before);
            println!("{} {} {answer}", count / runs as u64, bytes / runs as u64);
        }
        std::mem::forget(agent);
    });
}
