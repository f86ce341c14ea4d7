//! Sub-agents.

use serde_json::json;
use tool_agent::{Agent, Event, Message, Reply, Request, Scripted, Stop, SubAgents, Update};
use tool_builtins::spawn::Spawn;
use tool_runtime::confirm::Key;
use tool_runtime::{CancellationToken, Deferred, ErrorKind, ToolCall};

use crate::support::{Gauge, assert_valid, builder, kinds, until};

/// The one above spawns; the one below does what its task says.
fn family(request: Request<'_>) -> Reply {
    match request.messages {
        [Message::User { text }] if text.starts_with("Task: ") => match text.trim_start_matches("Task: ") {
            "deeper" => Reply::call("spawn", json!({"task": "Task: deepest"})),
            "deepest" => Reply::call("spawn", json!({"task": "Task: too deep"})),
            "delete" => Reply::call("thing.delete", json!({"name": "a"})),
            "wait" => Reply::call("work.endless", json!({})),
            _ => Reply::call("work.steps", json!({"steps": 2})),
        },
        [Message::User { text }] => Reply::call("spawn", json!({"task": format!("Task: {text}")})),
        [.., Message::Tools { results }] => Reply::text(format!("<{}>", results[0].result.output)),
        _ => Reply::text("?"),
    }
}

fn agent(gauge: &Gauge) -> Agent {
    let sub_agents = SubAgents::default();
    let tools = builder(gauge).service(Spawn::new(sub_agents.clone())).build().unwrap();
    let deferred = Deferred::new(Key::random().unwrap());
    let agent = Agent::builder(Scripted::from_fn(family), tools).deferred(deferred).build();
    sub_agents.are(&agent);
    agent
}

#[tokio::test]
async fn a_sub_agent_does_its_task_and_reports() {
    let agent = agent(&Gauge::default());
    let conversation = agent.conversation("c");
    let run = conversation.say("work");
    let mut events = run.events();
    let outcome = run.await;
    assert_eq!(outcome.answer(), Some("<<2>>"));
    let reports = std::iter::from_fn(|| events.try_next()).filter_map(|update| match update {
        Update::Event(Event::CallProgress { progress, .. }) => Some(progress),
        _ => None,
    });
    let expected =
        [json!({"calls": "work.steps", "arguments": {"steps": 2}}), json!({"called": "work.steps", "success": true})];
    assert_eq!(reports.collect::<Vec<_>>(), expected);
    assert_eq!(conversation.history().await.unwrap().len(), 4, "what it did is its own affair");
}

#[tokio::test]
async fn sub_agents_nest_as_deep_as_they_may() {
    let outcome = agent(&Gauge::default()).conversation("c").say("deeper").await;
    let answer = outcome.answer().unwrap();
    assert!(answer.starts_with("<<<") && answer.contains("nest no deeper than 2"), "{answer}");
}

/// Nobody would know where to answer.
#[tokio::test]
async fn a_sub_agent_does_not_wait_for_consent() {
    let gauge = Gauge::default();
    let outcome = agent(&gauge).conversation("c").say("delete").await;
    let answer = outcome.answer().unwrap();
    assert!(answer.contains("a sub-agent cannot wait"), "{answer}");
    assert_eq!(gauge.steps(), 0);
}

/// Whoever reads a part of an answer, or none, knows that it is not all.
#[tokio::test]
async fn an_answer_without_an_end_is_a_failure() {
    for (reply, expected) in [
        (Reply::text("Half of").stop(Stop::Length), "broke off before its end. What there is of it: Half of"),
        (Reply::default(), "has answered nothing"),
        (Reply::default().stop(Stop::Filtered), "has not answered: the model has said nothing"),
    ] {
        let sub_agent = Agent::builder(Scripted::new([reply]), builder(&Gauge::default()).build().unwrap()).build();
        let tools = builder(&Gauge::default()).service(Spawn::new(sub_agent)).build().unwrap();
        let result = tools.call(ToolCall::new("spawn", json!({"task": "Go"})).conversation("c")).await;
        assert!(!result.success && result.output.contains(expected), "{result:?}");
    }
}

#[tokio::test]
async fn a_sub_agent_stops_with_the_one_above() {
    for by_token in [true, false] {
        let gauge = Gauge::default();
        let agent = agent(&gauge);
        let conversation = agent.conversation("c");
        let token = CancellationToken::new();
        let run = tokio::spawn(conversation.say("wait").cancel(token.clone()).into_future());
        until("its tool runs", || gauge.running() == 1).await;
        if by_token {
            token.cancel();
            run.await.unwrap();
        } else {
            run.abort();
        }
        until("its tool is stopped", || gauge.running() == 0).await;
        let history = conversation.history().await.unwrap();
        assert_valid(&history);
        assert_eq!(kinds(&history[2]), [Some(ErrorKind::Cancelled)]);
    }
}
