//! What an agent's loop costs by itself: `agent <ours|rig> <turns> <runs>`, to be counted by callgrind.
//!
//! The model is scripted and answers at once: in each run it asks for three calls of `add` in as many turns as is said,
//! then answers in text. Both agents use the scripted model that their own crate has for tests, both keep the
//! conversation while a run goes on, and the scripts are made before anything is counted.
//! Two counts with different numbers of runs give the cost of a run, two with different numbers of turns that of a turn.
//! With `allocations` as the last word it prints how often and how much a run allocates, and what it was answered.

mod ours;
mod rig;

use contest::allocations;
use tokio::runtime::Builder;

/// An agent with a script for so many runs.
trait Agent: Sized {
    fn new(turns: usize, runs: usize) -> Self;

    /// One run: what the model says in the end.
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
        "ours" => measure::<ours::Ours>(turns, runs, is_counted),
        "rig" => measure::<rig::Rig>(turns, runs, is_counted),
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
