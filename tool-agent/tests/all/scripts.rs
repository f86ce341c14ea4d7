//! Scripted models, and the failed calls that a test finds in the outcome of a run.

use serde_json::json;
use tool_agent::{Agent, Mode, Reply, RunEnding, RunOutcome, ScriptedModel};
use tool_runtime::confirm::{Decision, Deferred, SealingKey};
use tool_runtime::{Dispatcher, ErrorKind, Selection};

use crate::support::{call, tools};

fn failed(outcome: &RunOutcome) -> Vec<(&str, ErrorKind)> {
    let kind = |call: &tool_agent::CallResult| call.result.error.as_ref().expect("it failed").kind;
    outcome.failed_calls.iter().map(|call| (call.name.as_str(), kind(call))).collect()
}

fn rejection(outcome: &RunOutcome) -> String {
    assert_eq!((outcome.answer(), outcome.text.as_str()), (None, ""));
    match &outcome.ending {
        RunEnding::Failed(error) => error.to_string(),
        other => panic!("the run ended with {other}"),
    }
}

/// The test that the README documents, with a tool that works, one that fails, and one that does not exist.
#[tokio::test]
async fn the_documented_test_fails_without_a_working_tool() {
    let passes = async |tool: &'static str, tools: Dispatcher| {
        let model = ScriptedModel::new([Reply::call(tool, json!({"steps": 1})), Reply::text("Three.")]);
        let outcome = Agent::builder(model, tools).build().conversation("chat-7").say("Go").await;
        (outcome.failed_calls.is_empty(), outcome.answer() == Some("Three."))
    };
    assert_eq!(passes("work.steps", tools().0).await, (true, true));
    assert_eq!(passes("work.fail", tools().0).await, (false, true), "its arguments are invalid");
    assert_eq!(passes("work.missing", tools().0).await, (true, false));
    let none = tools().0.select(Selection::new().predicate(|_, _| false)).unwrap();
    assert_eq!(passes("work.steps", none).await, (true, false), "there is no tool at all");
}

#[tokio::test]
async fn a_script_cannot_call_a_tool_that_is_not_offered() {
    let (tools, gauge) = tools();
    let both = || Reply::call("work.steps", json!({"steps": 1})).and_call("work.step", json!({}));
    for model in [ScriptedModel::new([both()]), ScriptedModel::from_fn(move |_| both())] {
        let outcome = Agent::builder(model, tools.clone()).build().conversation("c").say("Go").await;
        let message = rejection(&outcome);
        assert!(message.contains("calls `work.step`") && message.contains("work.steps"), "{message}");
        assert!(message.contains("allow_unknown_tools"), "{message}");
    }
    let model = ScriptedModel::new([Reply::call("work.steps", json!({"steps": 1}))]);
    let outcome = Agent::builder(model, tools).mode(Mode::Plan).build().conversation("c").say("Go").await;
    let message = rejection(&outcome);
    assert!(message.contains("it offers no tools"), "{message}");
    assert_eq!(gauge.steps(), 0, "no call of a rejected reply runs");
}

#[tokio::test]
async fn the_outcome_has_the_failed_calls_since_the_last_message() {
    let model = ScriptedModel::new([
        Reply::call("work.fail", json!({"how": "itself"})).and_call("work.steps", json!({"steps": 1})),
        Reply::default().and(call("b", "work.steps", r#"{"steps": "#)).and_call("work.gone", json!({})),
        Reply::text("It did not work."),
        Reply::call("work.steps", json!({"steps": 1})),
        Reply::text("Now it did."),
    ]);
    let agent = Agent::builder(model.allow_unknown_tools(), tools().0).build();
    let outcome = agent.conversation("c").say("Try.").await;
    assert_eq!(outcome.answer(), Some("It did not work."));
    let expected = [
        ("work.fail", ErrorKind::Failed),
        ("work.steps", ErrorKind::InvalidArguments),
        ("work.gone", ErrorKind::UnknownTool),
    ];
    assert_eq!(failed(&outcome), expected);
    assert_eq!(outcome.failed_calls[0].result.output, "failed by itself");
    assert_eq!(serde_json::to_value(&outcome).unwrap()["failed_calls"][2]["name"], "work.gone");

    let outcome = agent.conversation("c").say("Again.").await;
    assert_eq!((outcome.answer(), failed(&outcome)), (Some("Now it did."), vec![]));
    assert_eq!(serde_json::to_value(&outcome).unwrap().get("failed_calls"), None);
}

#[tokio::test]
async fn a_pending_call_has_failed_once_it_is_refused() {
    let model = ScriptedModel::new([Reply::call("thing.delete", json!({"name": "a"})), Reply::text("It stays.")]);
    let deferred = Deferred::new(SealingKey::random().unwrap());
    let agent = Agent::builder(model, tools().0).deferred(deferred).build();
    let conversation = agent.conversation("c");
    let outcome = conversation.say("Delete.").await;
    assert_eq!((&outcome.ending, failed(&outcome)), (&RunEnding::Waiting(1), vec![]));
    let token = conversation.pending_calls().await.unwrap().remove(0).0.token;
    let outcome = conversation.decide(token, Decision::refuse("keep it")).await;
    assert_eq!((outcome.answer(), failed(&outcome)), (Some("It stays."), vec![("thing.delete", ErrorKind::Refused)]));
}
