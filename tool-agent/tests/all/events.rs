//! Events for user interfaces.

use std::time::Duration;

use serde_json::json;
use tool_agent::{
    Agent, AgentEvent, AgentUpdate, ModelError, ModelErrorKind, Reply, RetryPolicy, RetryingModel, RunEnding,
    ScriptedModel,
};
use tool_runtime::CancellationToken;
use tool_runtime::confirm::{self, Decision, Deferred, SealingKey};

use crate::support::{three_calls, tools, until};

fn drain(events: &mut tool_agent::AgentSubscriber) -> Vec<AgentEvent> {
    let event = |update: AgentUpdate| update.into_event().expect("nothing is lost");
    std::iter::from_fn(|| events.try_next()).map(event).collect()
}

#[tokio::test]
async fn a_subscriber_receives_all_events_in_order() {
    let agent = Agent::builder(ScriptedModel::from_fn(three_calls), tools().0).build();
    let conversation = agent.conversation("c");
    let mut of_all = conversation.events();
    let run = conversation.say("Work!");
    let mut of_run = run.events();
    let outcome = run.await;
    let events = drain(&mut of_run);
    assert_eq!(drain(&mut of_all), events);
    assert_eq!(of_run.next().await, None, "a run has an end");

    let name = |event: &AgentEvent| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned();
    let names: Vec<String> = events.iter().map(name).filter(|name| name != "call_progress").collect();
    assert_eq!(names[..6], ["began", "kept", "text", "call_started", "call_started", "call_started"]);
    assert_eq!(names[6..9], ["call_finished", "call_finished", "call_finished"]);
    assert_eq!(names[9..], ["turn_ended", "text", "turn_ended", "ended"]);
    assert_eq!(events[0], AgentEvent::Began { text: Some("Work!".into()) });
    assert_eq!(events[2], AgentEvent::Text { text: "I work.".into() });
    assert_eq!(events.last(), Some(&AgentEvent::Ended(outcome.into())));
    // Each call starts, reports progress, and ends.
    for steps in 1..=3_u32 {
        let start = events.iter().position(
            |event| matches!(event, AgentEvent::CallStarted { arguments, .. } if *arguments == json!({"steps": steps})),
        );
        let start = start.unwrap();
        let AgentEvent::CallStarted { id, .. } = &events[start] else { unreachable!() };
        let reports = events
            .iter()
            .enumerate()
            .filter(|(_, event)| matches!(event, AgentEvent::CallProgress { id: its, .. } if its == id));
        let reports: Vec<usize> = reports.map(|(at, _)| at).collect();
        let end = events.iter().position(|event| matches!(event, AgentEvent::CallFinished(ended) if *ended.id == **id));
        let end = end.unwrap();
        assert_eq!(reports.len(), steps as usize);
        assert!(reports.iter().all(|at| start < *at && *at < end), "{start} {reports:?} {end}");
    }

    conversation.say("Again!").await;
    assert!(drain(&mut of_run).is_empty() && !drain(&mut of_all).is_empty());
}

/// Two pages with one conversation: each sees the messages of the other, and which response belongs to which.
#[tokio::test]
async fn each_event_has_the_id_of_its_run() {
    let model = ScriptedModel::new([Reply::text("One."), Reply::text("Two.")]);
    let agent = Agent::builder(model, tools().0).build();
    let (one, other) = (agent.conversation("c"), agent.conversation("c"));
    let mut events = one.events();
    let (first, second) = (one.say("First"), other.say("Second"));
    let ids = [first.id(), second.id(), agent.conversation("d").resume().id()];
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    first.await;
    second.await;
    assert_eq!(one.resume().await.answer(), Some("Two."));
    let mut said: Vec<(u64, Option<String>, String)> = Vec::new();
    while let Some(AgentUpdate::Event { run, event }) = events.try_next() {
        match event {
            AgentEvent::Began { text } => said.push((run, text, String::new())),
            AgentEvent::Text { text } => {
                let last = said.last_mut().expect("it has begun");
                assert_eq!(last.0, run);
                last.2.push_str(&text);
            }
            _ => assert_eq!(said.last().expect("it has begun").0, run, "{event:?}"),
        }
    }
    assert_eq!(said[0], (ids[0], Some("First".to_owned()), "One.".to_owned()));
    assert_eq!(said[1], (ids[1], Some("Second".to_owned()), "Two.".to_owned()));
    assert_eq!((said.len(), &said[2].1, said[2].2.as_str()), (3, &None, ""), "there is no new message");
}

/// A delay is visible to the user, and does not change the response.
#[tokio::test]
async fn a_retry_is_an_event() {
    let busy = |message: &'static str| Reply::error(ModelError::new(ModelErrorKind::RateLimited, message));
    let model = ScriptedModel::new([busy("too many"), busy("still too many"), Reply::text("Here I am.")]);
    let model = RetryingModel::new(model).retry(RetryPolicy::default().first_wait(Duration::from_millis(1)));
    let agent = Agent::builder(model, tools().0).build();
    let run = agent.conversation("c").say("Hello?");
    let mut events = run.events();
    assert_eq!(run.await.answer(), Some("Here I am."));
    let received = drain(&mut events);
    let waits = |event: &AgentEvent| match event {
        AgentEvent::Retrying { why, after } => {
            assert!(!after.is_zero());
            Some(why.to_string())
        }
        _ => None,
    };
    assert_eq!(received.iter().filter_map(waits).collect::<Vec<_>>(), ["too many", "still too many"]);
    assert!(waits(&received[2]).is_some() && waits(&received[3]).is_some(), "before the answer: {received:?}");
}

/// Neither a subscriber that never reads nor one that is dropped affects the run or other subscribers.
#[tokio::test]
async fn slow_and_dropped_subscribers_block_nothing() {
    let model = ScriptedModel::from_fn(|request| {
        let turn = request.messages.len();
        if turn < 100 {
            Reply::text("x".repeat(100)).and_call("work.steps", json!({"steps": 100}))
        } else {
            Reply::text("ok")
        }
    });
    let limits = tool_agent::RunLimits::default().turns(100);
    let agent = Agent::builder(model, tools().0).limits(limits).build();
    let conversation = agent.conversation("c");
    let mut never_read = conversation.events();
    drop(conversation.events());
    let run = conversation.say("Go");
    drop(run.events());
    let mut slow = run.events();
    let running = tokio::spawn(run.into_future());
    let (mut missed, mut finished, mut text, mut turns) = (0, 0, 0, 0);
    while let Some(update) = slow.next().await {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        match update {
            AgentUpdate::Missed(more) => missed += more,
            AgentUpdate::Event { event: AgentEvent::CallFinished(_), .. } => finished += 1,
            AgentUpdate::Event { event: AgentEvent::Text { text: more }, .. } => text += more.len(),
            AgentUpdate::Event { event: AgentEvent::TurnEnded { .. }, .. } => turns += 1,
            _ => {}
        }
    }
    assert_eq!(running.await.unwrap().ending, RunEnding::Answered);
    assert_eq!((missed, finished, text, turns), (0, 50, 5_002, 51), "slow, and nothing is missed");
    // The subscriber that never read has lost progress reports only, and learns how many.
    let updates: Vec<AgentUpdate> = std::iter::from_fn(|| never_read.try_next()).collect();
    let count = |is: fn(&AgentUpdate) -> bool| updates.iter().filter(|update| is(update)).count() as u64;
    assert_eq!(count(|update| matches!(update, AgentUpdate::Event { event: AgentEvent::TurnEnded { .. }, .. })), 51);
    assert_eq!(count(|update| matches!(update, AgentUpdate::Event { event: AgentEvent::CallFinished(_), .. })), 50);
    let reports = count(|update| matches!(update, AgentUpdate::Event { event: AgentEvent::CallProgress { .. }, .. }));
    let [AgentUpdate::Missed(missed), ..] = updates.as_slice() else { panic!("nothing was missed") };
    assert!(*missed > 0 && reports + missed == 50 * 100, "{reports} {missed}");
}

/// A handler that cannot be cancelled keeps reporting after its call has ended.
#[tokio::test]
async fn no_event_of_a_call_follows_its_end() {
    for is_deferred in [false, true] {
        let (tools, gauge) = tools();
        let model = ScriptedModel::new([Reply::call("work.hold", json!({})), Reply::text("ok")]);
        let agent = Agent::builder(model, tools);
        let agent = match is_deferred {
            true => agent.deferred(Deferred::new(SealingKey::random().unwrap())),
            false => agent.confirm(confirm::from_fn(|_| async { Decision::Run })),
        };
        let conversation = agent.build().conversation("c");
        let mut events = conversation.events();
        let mut run = conversation.say("Hold!");
        if is_deferred {
            assert_eq!(run.await.ending, RunEnding::Waiting(1));
            let waiting = conversation.pending_calls().await.unwrap();
            run = conversation.decide(&waiting[0].0.token, Decision::Run);
        }
        assert_eq!(run.each(|call| call.timeout(Duration::from_millis(500))).await.answer(), Some("ok"));
        assert_eq!(gauge.running(), 1, "it goes on");
        gauge.release();
        until("its end", || gauge.running() == 0).await;
        let received = drain(&mut events);
        let reports = received.iter().filter(|event| matches!(event, AgentEvent::CallProgress { .. })).count();
        assert!(reports <= 1 && matches!(received.last(), Some(AgentEvent::Ended(_))), "{received:?}");
    }
}

/// A run that is stopped while it waits for its turn does not end the active one.
#[tokio::test]
async fn the_end_of_a_queued_run_is_reported_to_its_own_subscribers_only() {
    let (tools, gauge) = tools();
    let agent = Agent::builder(ScriptedModel::new([Reply::call("work.endless", json!({}))]), tools).build();
    let conversation = agent.conversation("c");
    let mut of_all = conversation.events();
    let first = tokio::spawn(conversation.say("Go").into_future());
    until("a tool runs", || gauge.running() == 1).await;
    for by_token in [true, false] {
        let stop = CancellationToken::new();
        let second = conversation.say("And me?").cancel(stop.clone());
        let mut of_second = second.events();
        let second = tokio::spawn(second.into_future());
        tokio::task::yield_now().await;
        match by_token {
            true => stop.cancel(),
            false => second.abort(),
        }
        let own = of_second.next().await;
        assert!(
            matches!(own, Some(AgentUpdate::Event { event: AgentEvent::Ended(ref end), .. }) if end.ending == RunEnding::Cancelled),
            "{own:?}"
        );
        assert_eq!(of_second.next().await, None);
    }
    let is_end = |event: &AgentEvent| matches!(event, AgentEvent::Ended(_));
    assert!(!drain(&mut of_all).iter().any(is_end), "the first one continues");
    first.abort();
    until("its end", || gauge.running() == 0).await;
    assert_eq!(drain(&mut of_all).iter().filter(|event| is_end(event)).count(), 1);
}

#[tokio::test]
async fn events_do_not_contain_secrets() {
    let call = Reply::call("door.open", json!({"user": "ada", "password": "hunter2"}));
    let agent = Agent::builder(ScriptedModel::new([call, Reply::text("In.")]), tools().0).build();
    let run = agent.conversation("c").say("Open!");
    let mut events = run.events();
    run.await;
    let events = drain(&mut events);
    assert!(!format!("{events:?}").contains("hunter2"), "{events:?}");
    assert!(format!("{events:?}").contains("ada is in, 7"), "{events:?}");
}

#[tokio::test]
async fn a_run_that_was_never_awaited_ends_for_its_subscribers() {
    let agent = Agent::builder(ScriptedModel::new([]), tools().0).build();
    let run = agent.conversation("c").say("Hello");
    let mut events = run.events();
    drop(run);
    assert_eq!(events.next().await, None);
}
