//! Sub-agents.

use serde_json::json;
use tool_agent::{
    Agent, AgentBuilder, AgentEvent, AgentUpdate, Message, Mode, ModelRequest, ReachedLimit, Reply, RunEnding,
    RunLimits, ScriptedModel, StopReason, SubAgents, Usage,
};
use tool_builtins::spawn::Spawn;
use tool_runtime::confirm::{self, Decision, Deferred, SealingKey};
use tool_runtime::limits::{Limit, Limiter};
use tool_runtime::{CancellationToken, ErrorKind, ToolCall};

use crate::support::{Gauge, User, assert_valid, builder, kinds, until};

/// The parent spawns; the sub-agent does its task.
fn family(request: ModelRequest<'_>) -> Reply {
    match request.messages {
        [Message::User { text }] if text.starts_with("Task: ") => match text.trim_start_matches("Task: ") {
            "deeper" => Reply::call("spawn", json!({"task": "Task: deepest"})),
            "deepest" => Reply::call("spawn", json!({"task": "Task: too deep"})),
            "delete" => Reply::call("thing.delete", json!({"name": "a"})),
            "whose" => Reply::call("whose", json!({})),
            "wait" => Reply::call("work.endless", json!({})),
            _ => Reply::call("work.steps", json!({"steps": 2})),
        },
        [Message::User { text }] => Reply::call("spawn", json!({"task": format!("Task: {text}")})),
        [.., Message::Tools { results }] => Reply::text(format!("<{}>", results[0].result.output)),
        _ => Reply::text("?"),
    }
}

fn agent(gauge: &Gauge) -> Agent {
    agent_with(gauge, |agent| agent)
}

fn agent_with(gauge: &Gauge, more: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Agent {
    let sub_agents = SubAgents::default();
    let tools = builder(gauge).service(Spawn::new(sub_agents.clone())).build().unwrap();
    let deferred = Deferred::new(SealingKey::random().unwrap());
    let model = ScriptedModel::from_fn(|request| family(request).usage(Usage::new(10, 1)));
    let agent = more(Agent::builder(model, tools).deferred(deferred)).build();
    sub_agents.bind(&agent);
    agent
}

#[tokio::test]
async fn a_sub_agent_does_its_task_and_reports_its_calls() {
    let agent = agent(&Gauge::default());
    let conversation = agent.conversation("c");
    let run = conversation.say("work");
    let mut events = run.events();
    let outcome = run.await;
    assert_eq!(outcome.answer(), Some("<<2>>"));
    let reports = std::iter::from_fn(|| events.try_next()).filter_map(|update| match update {
        AgentUpdate::Event { event: AgentEvent::CallProgress { progress, .. }, .. } => Some(progress),
        _ => None,
    });
    let expected =
        [json!({"calls": "work.steps", "arguments": {"steps": 2}}), json!({"called": "work.steps", "success": true})];
    assert_eq!(reports.collect::<Vec<_>>(), expected);
    assert_eq!(conversation.history().await.unwrap().len(), 4, "its calls are not part of the history");
}

#[tokio::test]
async fn sub_agents_have_a_maximum_depth() {
    let outcome = agent(&Gauge::default()).conversation("c").say("deeper").await;
    let answer = outcome.answer().unwrap();
    assert!(answer.starts_with("<<<") && answer.contains("nest at most 2 deep"), "{answer}");
}

/// There is no conversation to decide in.
#[tokio::test]
async fn a_sub_agent_does_not_wait_for_approval() {
    let gauge = Gauge::default();
    let outcome = agent(&gauge).conversation("c").say("delete").await;
    let answer = outcome.answer().unwrap();
    assert!(answer.contains("a sub-agent cannot wait"), "{answer}");
    assert_eq!(gauge.steps(), 0);
}

/// Parent and sub-agent each take two turns and a call.
#[tokio::test]
async fn a_sub_agent_uses_the_budget_of_its_run() {
    for (limits, ending, spent, steps) in [
        (RunLimits::default(), RunEnding::Answered, (4, 2, Usage::new(40, 4)), 2),
        (RunLimits::default().turns(3), RunEnding::Limit(ReachedLimit::Turns), (3, 2, Usage::new(30, 3)), 2),
        (RunLimits::default().turns(2), RunEnding::Limit(ReachedLimit::Turns), (2, 2, Usage::new(20, 2)), 2),
        (RunLimits::default().calls(1), RunEnding::Answered, (3, 1, Usage::new(30, 3)), 0),
        (RunLimits::default().tokens(22), RunEnding::Limit(ReachedLimit::Tokens), (2, 1, Usage::new(20, 2)), 0),
    ] {
        let gauge = Gauge::default();
        let agent = agent(&gauge);
        let conversation = agent.conversation("c");
        let outcome = conversation.say("work").limits(limits.clone()).await;
        assert_eq!(outcome.ending, ending, "{limits:?}");
        assert_eq!((outcome.turns, outcome.calls, outcome.usage), spent, "{limits:?}");
        assert_eq!(gauge.steps(), steps, "{limits:?}");
        assert_valid(&conversation.history().await.unwrap());
    }
}

/// A limit per conversation includes its sub-agents at any depth.
#[tokio::test]
async fn a_sub_agent_counts_towards_the_parent_conversation() {
    for (said, answer) in [("work", "<<2>>"), ("deeper", "<<<2>>>")] {
        let (gauge, sub_agents) = (Gauge::default(), SubAgents::default());
        let once = Limiter::new().tool_in_conversation("work.steps", Limit::total(1));
        let spawn = Spawn::new(sub_agents.clone()).max_depth(2);
        let tools = builder(&gauge).service(spawn).limit(once).build().unwrap();
        let model = ScriptedModel::from_fn(|request| match request.messages {
            [Message::User { text }] if text == "Task: deeper" => Reply::call("spawn", json!({"task": "Task: work"})),
            _ => family(request),
        });
        let agent = Agent::builder(model, tools.clone()).build();
        sub_agents.bind(&agent);
        assert_eq!(agent.conversation("c").say(said).await.answer(), Some(answer));
        let call = |conversation: &'static str| {
            tools.call(ToolCall::from_text("work.steps", r#"{"steps": 2}"#).conversation(conversation))
        };
        let again = call("c").await;
        assert_eq!(again.error.map(|error| error.kind), Some(ErrorKind::RateLimited), "{said}");
        assert!(call("another").await.success);
    }
}

/// It acts for the same user, who is asked in the same place.
#[tokio::test]
async fn a_sub_agent_inherits_the_settings_of_its_run() {
    let gauge = Gauge::default();
    let agent = agent_with(&gauge, |agent| agent.mode(Mode::Plan));
    let run = async |id, text: &str| {
        let conversation = agent.conversation(id);
        conversation.set_mode(Mode::Build).await.unwrap();
        conversation.say(text).confirm(confirm::from_fn(|_| async { Decision::Run }))
    };
    let outcome = run("c", "whose").await.each(|call| call.with(User("Ada"))).channel("web", "7").await;
    let answer = outcome.answer().unwrap();
    assert!(answer.contains(r#"Ada Some("c/agent-1") Some("web") Some("7")"#), "{answer}");
    assert_eq!(run("d", "delete").await.await.answer(), Some("<<a is gone>>"));
    assert_eq!(gauge.steps(), 1);
}

/// A partial or empty answer is reported as such.
#[tokio::test]
async fn an_incomplete_answer_is_a_failure() {
    for (reply, expected) in [
        (Reply::text("Half of").stop(StopReason::Length), "was cut off. The text so far: Half of"),
        (Reply::default(), "returned an empty answer"),
        (Reply::default().stop(StopReason::Filtered), "did not answer: the model's response is empty"),
    ] {
        let sub_agent =
            Agent::builder(ScriptedModel::new([reply]), builder(&Gauge::default()).build().unwrap()).build();
        let tools = builder(&Gauge::default()).service(Spawn::new(sub_agent)).build().unwrap();
        let result = tools.call(ToolCall::new("spawn", json!({"task": "Go"})).conversation("c")).await;
        assert!(!result.success && result.output.contains(expected), "{result:?}");
    }
}

#[tokio::test]
async fn a_sub_agent_stops_with_its_parent() {
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
