//! Many conversations at once.

use std::process::Command;
use std::sync::Arc;

use tool_agent::{Agent, AgentEvent, AgentSubscriber, AgentUpdate, RunEnding, ScriptedModel};

use crate::support::{assert_valid, three_calls, tools};

const CONVERSATIONS: usize = 200;

/// Checks that the events of one run are complete and in order.
async fn check(mut events: AgentSubscriber) {
    let (mut started, mut reports, mut finished, mut turns, mut text) = (0, 0, 0, 0, String::new());
    let mut ended = 0;
    while let Some(update) = events.next().await {
        let AgentUpdate::Event { event, .. } = update else { panic!("something is lost: {update:?}") };
        assert_eq!(ended, 0, "nothing comes after the end");
        match event {
            AgentEvent::Began { .. } | AgentEvent::Kept => assert_eq!((started, text.as_str()), (0, "")),
            AgentEvent::Text { text: more } => text.push_str(&more),
            AgentEvent::CallStarted { .. } => started += 1,
            AgentEvent::CallProgress { .. } => reports += 1,
            AgentEvent::CallFinished(_) => finished += 1,
            AgentEvent::TurnEnded { turn, .. } => {
                turns += 1;
                assert_eq!(turn, turns);
                assert_eq!((started, reports, finished), (3, 6, 3));
            }
            AgentEvent::Ended(outcome) => {
                ended += 1;
                assert_eq!(outcome.ending, RunEnding::Answered);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((turns, ended, text.as_str()), (2, 1, "I work.The steps: 1, 2, 3"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_event_of_many_conversations_is_lost() {
    let agent = Agent::builder(ScriptedModel::from_fn(three_calls), tools().0).build();
    let mut runs = tokio::task::JoinSet::new();
    for number in 0..CONVERSATIONS {
        let agent = agent.clone();
        runs.spawn(async move {
            let conversation = agent.conversation(format!("c{number}"));
            let run = conversation.say("Work!");
            let (eager, late) = (run.events(), run.events());
            // Some subscribers are dropped, some read at once, some only afterwards.
            drop(run.events());
            let eager = tokio::spawn(check(eager));
            let outcome = run.await;
            assert_eq!(outcome.answer(), Some("The steps: 1, 2, 3"));
            eager.await.unwrap();
            check(late).await;
            assert_valid(&conversation.history().await.unwrap());
        });
    }
    assert_eq!(runs.join_all().await.len(), CONVERSATIONS);
}

/// Returns the resident memory of this process, in kilobytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Holds rounds of conversations with new ids each, in a separate process, so that other tests are not measured.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "run by the test below"]
fn rounds() {
    let remembered = std::env::var("REMEMBERED").unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let agent =
            Agent::builder(ScriptedModel::from_fn(three_calls), tools().0).max_idle_conversations(remembered).build();
        for round in 0..40 {
            let runs = (0..CONVERSATIONS).map(|number| {
                let conversation = agent.conversation(format!("{round}/{number}"));
                let events = conversation.events();
                tokio::spawn(async move {
                    let ending = conversation.say("x".repeat(4_000)).await.ending;
                    drop(events);
                    ending
                })
            });
            for run in runs.collect::<Vec<_>>() {
                assert_eq!(run.await.unwrap(), RunEnding::Answered);
            }
            if round == 9 || round == 39 {
                println!("RESIDENT {}", resident());
            }
        }
    });
}

/// Returns the kilobytes after 10 and after 40 rounds.
#[cfg(target_os = "linux")]
fn measured(remembered: usize) -> (u64, u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "concurrency::rounds", "--ignored", "--nocapture"])
        .env("REMEMBERED", remembered.to_string())
        // Per-thread arenas of the allocator would distort the figures.
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<u64> =
        text.lines().filter_map(|line| line.split("RESIDENT ").nth(1)?.trim().parse().ok()).collect();
    let [early, late] = figures[..] else { panic!("{text}{}", String::from_utf8_lossy(&output.stderr)) };
    (early, late)
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat_over_many_conversations() {
    let (early, late) = measured(100);
    println!("100 remembered: {early} kB, then {late} kB");
    assert!(late < early + 2_048, "from {early} kB to {late} kB");
    // The control: the memory of 6,000 cached conversations of 4 kB and more is visible.
    let (early, late) = measured(1_000_000);
    println!("all remembered: {early} kB, then {late} kB");
    assert!(late > early + 24_000, "from {early} kB to {late} kB");
}

/// Two concurrent lookups of one id return the same conversation.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_lookups_return_the_same_conversation() {
    let agent =
        Arc::new(Agent::builder(ScriptedModel::from_fn(three_calls), tools().0).max_idle_conversations(0).build());
    for round in 0..50 {
        let says = (0..4).map(|_| {
            let agent = agent.clone();
            tokio::spawn(async move { agent.conversation(format!("c{round}")).say("Work!").await.ending })
        });
        let kept = agent.conversation(format!("c{round}"));
        for said in says.collect::<Vec<_>>() {
            assert_eq!(said.await.unwrap(), RunEnding::Answered);
        }
        let history = kept.history().await.unwrap();
        assert_eq!(history.len(), 16);
        assert_valid(&history);
    }
}
