//! Runs that are dropped at every point at which they wait.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use serde_json::json;
use tool_agent::{
    Agent, Assistant, CallResult, Ending, Event, Message, ModelCall, Outcome, Reply, Scripted, SqliteStore, Update,
};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, ToolCall};

use crate::support::{Gauge, Hesitant, assert_valid, flaw, kinds, three_calls, tools, until};

/// Polls a future so many times, lets what it has started go on for a while, then drops it. What it came to, if it did.
pub async fn polled<T>(times: usize, then: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = Box::pin(future);
    let mut left = times;
    let done = poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Pending if left == 0 => Poll::Ready(None),
            polled => polled.map(Some),
        }
    });
    let done = done.await;
    for _ in 0..then {
        tokio::task::yield_now().await;
    }
    done
}

/// Whether nothing is left of what was stopped: no handler goes on, nothing is unfinished.
async fn nothing_is_left(gauge: &Gauge) -> bool {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    let before = gauge.steps();
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    gauge.steps() == before && gauge.running() == 0
}

#[tokio::test]
async fn a_run_dropped_at_any_point_leaves_nothing_behind_but_a_valid_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let (tools, gauge) = tools();
    let build = |store: SqliteStore| {
        Agent::builder(Hesitant(Scripted::from_fn(three_calls)), tools.clone()).store(store).build()
    };
    let agent = build(store.clone());
    let (mut lengths, mut stopped) = (BTreeSet::new(), 0);
    // One in three is dropped at once, the others when its tools have gone on without it.
    for round in 0.. {
        let (times, then) = (round / 3, round % 3 * 2);
        assert!(times < 2_000, "it never ends");
        let id = format!("c{round}");
        let conversation = agent.conversation(&id);
        let run = conversation.say("Work!");
        let mut events = run.events();
        let outcome: Option<Outcome> = polled(times, then, run.into_future()).await;
        assert!(nothing_is_left(&gauge).await, "a tool runs on after {times} polls");
        until("the end of all sessions", || gauge.sessions() == 0).await;
        let told: Vec<Update> = std::iter::from_fn(|| events.try_next()).collect();
        let (started, finished) = told.iter().fold((0, 0), |(started, finished), update| match update {
            Update::Event(Event::CallStarted { .. }) => (started + 1, finished),
            Update::Event(Event::CallFinished(_)) => (started, finished + 1),
            _ => (started, finished),
        });
        assert_eq!(started, finished, "{told:?}");
        let ended = told.iter().filter(|update| matches!(update, Update::Event(Event::Ended(_)))).count();
        assert_eq!(ended, usize::from(times > 0), "{told:?}");

        let history = conversation.history().await.unwrap();
        assert_valid(&history);
        lengths.insert(history.len());
        let last = history.last().filter(|message| matches!(message, Message::Tools { .. }));
        stopped += usize::from(last.is_some_and(|last| kinds(last).contains(&Some(ErrorKind::Cancelled))));
        // What another process reads is valid too.
        let elsewhere = build(store.clone()).conversation(&id).history().await.unwrap();
        assert_valid(&elsewhere);
        // And the conversation can go on.
        let next = conversation.say("And now?").await;
        assert_eq!(next.ending, Ending::Answered, "after {times} polls");
        let history = conversation.history().await.unwrap();
        assert_valid(&history);
        let elsewhere = build(store.clone()).conversation(&id).history().await.unwrap();
        assert_eq!(elsewhere, history, "after {times} polls");
        if let Some(outcome) = outcome {
            assert_eq!(outcome.answer(), Some("The steps: 1, 2, 3"));
            println!(
                "dropped in {round} rounds, after up to {times} polls; in {stopped} of them in the middle of a call"
            );
            break;
        }
    }
    assert!(lengths.len() >= 4 && stopped > 0, "it was dropped in many places: {lengths:?}, {stopped}");
}

/// On several threads a call may end in the moment in which its run is dropped.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_call_ends_once_and_nothing_is_told_after_the_end() {
    let (tools, gauge) = tools();
    let agent = Agent::builder(Hesitant(Scripted::from_fn(three_calls)), tools).build();
    for round in 0..400_usize {
        let conversation = agent.conversation(format!("c{round}"));
        let mut events = conversation.events();
        let run = tokio::spawn(conversation.say("Work!").into_future());
        for _ in 0..round % 40 {
            tokio::task::yield_now().await;
        }
        run.abort();
        let _ = run.await;
        until("the end of the tools", || gauge.running() == 0).await;
        let told: Vec<Update> = std::iter::from_fn(|| events.try_next()).collect();
        let (mut open, mut is_over) = (BTreeSet::new(), false);
        for update in &told {
            let Update::Event(event) = update else { panic!("{told:?}") };
            assert!(!is_over, "{told:?}");
            match event {
                Event::CallStarted { id, .. } => assert!(open.insert(id.to_string()), "{told:?}"),
                Event::CallProgress { id, .. } => assert!(open.contains(&**id), "{told:?}"),
                Event::CallFinished(ended) => assert!(open.remove(&ended.id), "{told:?}"),
                Event::Ended(_) => is_over = true,
                _ => {}
            }
        }
        assert!(open.is_empty(), "{told:?}");
        assert_valid(&conversation.history().await.unwrap());
    }
}

/// A loop as one would write it at first.
async fn naive(tools: &Dispatcher, history: &Mutex<Vec<Message>>) {
    let calls: Vec<ModelCall> = (1..4)
        .map(|steps| ModelCall::new(format!("{steps}"), "work.steps", json!({"steps": 20}).to_string()))
        .collect();
    tokio::task::yield_now().await;
    history.lock().unwrap().push(Message::Assistant(Assistant { calls: calls.clone(), ..Assistant::default() }));
    let mut results = Vec::new();
    for call in calls {
        let tools = tools.clone();
        let running = tokio::spawn(async move {
            let result = tools.call(ToolCall::from_text(&call.name, &call.arguments)).await;
            CallResult::new(&call.id, &call.name, result)
        });
        results.push(running.await.unwrap());
    }
    history.lock().unwrap().push(Message::Tools { results });
}

/// The control: what the test above looks for is found where it is not prevented.
#[tokio::test]
async fn a_naive_loop_leaves_calls_unanswered_and_tools_running() {
    let (tools, gauge) = tools();
    let (mut flawed, mut left) = (0, 0);
    for times in 0..100 {
        let history = Arc::new(Mutex::new(vec![Message::user("Work!")]));
        let done = polled(times, 2, naive(&tools, &history)).await;
        let before = gauge.steps();
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        left += usize::from(gauge.steps() > before);
        flawed += usize::from(flaw(&history.lock().unwrap()).is_some());
        until("the end of the tools", || gauge.running() == 0).await;
        if done.is_some() {
            break;
        }
    }
    assert!(flawed > 0 && left > 0, "flawed {flawed}, left {left}");
}

#[tokio::test]
async fn a_token_stops_the_model_and_the_tools() {
    let (tools, gauge) = tools();
    let calls = Reply::text("Now.").and_call("work.endless", json!({})).and_call("work.steps", json!({"steps": 1}));
    let agent = Agent::builder(Scripted::new([calls]), tools).build();
    let conversation = agent.conversation("c");
    let token = CancellationToken::new();
    let run = tokio::spawn(conversation.say("Go").cancel(token.clone()).into_future());
    until("a tool runs", || gauge.running() == 1 && gauge.steps() == 1).await;
    token.cancel();
    let outcome = run.await.unwrap();
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Cancelled, "Now."));
    assert_eq!(gauge.running(), 0);
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::Cancelled), None]);
    let cancelled = conversation.say("Go").cancel(token).await;
    assert_eq!(cancelled.ending, Ending::Cancelled);
}
