//! Limits of a run.

use std::time::Duration;

use serde_json::json;
use tool_agent::{
    Agent, Model, ModelRequest, ReachedLimit, Reply, ResponseStream, RunEnding, RunLimits, ScriptedModel, Usage,
};
use tool_runtime::ErrorKind;

use crate::support::{assert_valid, kinds, tools};

/// A model that never stops calling tools.
fn endless() -> ScriptedModel {
    let calls = || Reply::call("work.steps", json!({"steps": 1})).and_call("work.steps", json!({"steps": 1}));
    ScriptedModel::from_fn(move |_| calls().usage(Usage::new(90, 10)))
}

#[tokio::test]
async fn a_model_that_never_stops_reaches_each_limit() {
    let unlimited = || RunLimits::default().turns(u32::MAX).calls(u32::MAX).time(None);
    for (limits, reached, turns, calls) in [
        (unlimited().turns(3), ReachedLimit::Turns, 3, 6),
        (unlimited().calls(5), ReachedLimit::Calls, 3, 5),
        (unlimited().calls(4), ReachedLimit::Calls, 3, 4),
        (unlimited().tokens(250), ReachedLimit::Tokens, 3, 4),
        (unlimited().turns(0), ReachedLimit::Turns, 0, 0),
        (unlimited().tokens(0), ReachedLimit::Tokens, 0, 0),
    ] {
        let (tools, gauge) = tools();
        let agent = Agent::builder(endless(), tools).limits(limits.clone()).build();
        let conversation = agent.conversation("c");
        let outcome = conversation.say("Go").await;
        assert_eq!(outcome.ending, RunEnding::Limit(reached), "{limits:?}");
        assert_eq!((outcome.turns, outcome.calls), (turns, calls), "{limits:?}");
        assert_eq!(gauge.steps(), u64::from(calls), "{limits:?}");
        let history = conversation.history().await.unwrap();
        assert_valid(&history);
        // Each run starts from zero.
        assert_eq!(conversation.say("Go on").await.turns, turns, "{limits:?}");
        assert_valid(&conversation.history().await.unwrap());
    }
}

#[tokio::test]
async fn calls_beyond_a_limit_have_results_without_running() {
    let agent = Agent::builder(endless(), tools().0).limits(RunLimits::default().calls(1)).build();
    let conversation = agent.conversation("c");
    conversation.say("Go").await;
    assert_eq!(kinds(&conversation.history().await.unwrap()[2]), [None, Some(ErrorKind::RateLimited)]);
}

/// Uses exactly the allowed number of calls.
#[tokio::test]
async fn a_run_within_its_limits_is_answered() {
    let model = ScriptedModel::new([Reply::call("work.steps", json!({"steps": 1})), Reply::text("ok")]);
    let agent = Agent::builder(model, tools().0).limits(RunLimits::default().turns(2).calls(1)).build();
    assert_eq!(agent.conversation("c").say("Go").await.answer(), Some("ok"));
}

/// Many local models do not report tokens.
#[tokio::test]
async fn unreported_tokens_are_estimated() {
    let model = ScriptedModel::from_fn(|_| Reply::text("x".repeat(400)).and_call("work.steps", json!({"steps": 1})));
    let agent = Agent::builder(model, tools().0).limits(RunLimits::default().tokens(500)).build();
    let outcome = agent.conversation("c").say("Go").await;
    assert_eq!((outcome.ending, outcome.turns), (RunEnding::Limit(ReachedLimit::Tokens), 3));
}

struct Silent;

impl Model for Silent {
    fn respond<'a>(&'a self, _: ModelRequest<'a>) -> ResponseStream<'a> {
        Box::pin(futures_util::stream::pending())
    }
}

#[tokio::test]
async fn a_response_or_a_call_that_never_ends_is_stopped_in_time() {
    let limits = RunLimits::default().time(Duration::from_millis(20));
    let agent = Agent::builder(Silent, tools().0).limits(limits.clone()).build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("Hello?").await.ending, RunEnding::Limit(ReachedLimit::Time));

    let (tools, gauge) = tools();
    let calls = Reply::call("work.endless", json!({})).and_call("work.steps", json!({"steps": 1}));
    let agent = Agent::builder(ScriptedModel::new([calls]), tools).limits(limits).build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("Go").await.ending, RunEnding::Limit(ReachedLimit::Time));
    assert_eq!(gauge.running(), 0);
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2])[0], Some(ErrorKind::Cancelled));
}

/// A model whose stream is always ready does not prevent a stop.
#[tokio::test]
async fn a_model_that_streams_forever_is_stopped() {
    struct Talker;
    impl Model for Talker {
        fn respond<'a>(&'a self, _: ModelRequest<'a>) -> ResponseStream<'a> {
            Box::pin(futures_util::stream::repeat_with(|| Ok(tool_agent::ResponsePart::Text("bla ".into()))))
        }
    }
    let agent = Agent::builder(Talker, tools().0).limits(RunLimits::default().time(Duration::from_millis(20))).build();
    let conversation = agent.conversation("c");
    let outcome = conversation.say("Hello").await;
    assert_eq!(outcome.ending, RunEnding::Limit(ReachedLimit::Time));
    assert!(outcome.text.starts_with("bla "));
}
