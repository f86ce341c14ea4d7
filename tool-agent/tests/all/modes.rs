//! Modes.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use serde_json::json;
use tool_agent::{Agent, Message, Mode, ModelRequest, Reply, ScriptedModel};
use tool_runtime::ErrorKind;

use crate::support::{assert_valid, kinds, tools};

/// The requests that a model received.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sent {
    system: String,
    tools: Option<Vec<String>>,
}

impl Sent {
    fn from_request(request: ModelRequest<'_>) -> Self {
        let names = |tools: &tool_runtime::Dispatcher| {
            tools.definitions().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        };
        Self { system: request.system.unwrap_or_default().to_owned(), tools: request.tools.map(names) }
    }
}

fn recording(
    reply: impl Fn(ModelRequest<'_>) -> Reply + Send + Sync + 'static,
) -> (ScriptedModel, Arc<Mutex<Vec<Sent>>>) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let record = sent.clone();
    let model = ScriptedModel::from_fn(move |request| {
        record.lock().unwrap().push(Sent::from_request(request));
        reply(request)
    });
    (model, sent)
}

#[tokio::test]
async fn each_mode_sends_its_tools_and_its_prompt() {
    let (model, sent) = recording(|_| Reply::text("ok"));
    let agent = Agent::builder(model, tools().0)
        .system("You are a test.")
        .prompt(Mode::PlanReading, "Look.")
        .mode(Mode::Plan)
        .build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.mode().await, Ok(Mode::Plan));
    conversation.say("One").await;
    conversation.set_mode(Mode::PlanReading).await.unwrap();
    conversation.say("Two").await;
    conversation.set_mode(Mode::Build).await.unwrap();
    conversation.say("Three").await;
    let sent = sent.lock().unwrap();
    assert_eq!(sent[0].tools, None);
    assert!(sent[0].system.starts_with("You are a test.\n\nPlan only"), "{}", sent[0].system);
    assert_eq!(sent[1], Sent { system: "You are a test.\n\nLook.".into(), tools: Some(vec!["work.steps".into()]) });
    assert!(sent[2].tools.as_ref().unwrap().len() > 4, "{:?}", sent[2]);
    assert!(!sent[2].system.contains("Plan"), "{}", sent[2].system);
}

/// A model may make up a call in a mode without tools, or with read-only ones.
#[tokio::test]
async fn tools_outside_of_the_mode_do_not_run() {
    for (mode, expected) in [
        (Mode::Plan, [Some(ErrorKind::UnknownTool), Some(ErrorKind::UnknownTool)]),
        (Mode::PlanReading, [None, Some(ErrorKind::UnknownTool)]),
        (Mode::Build, [None, Some(ErrorKind::Failed)]),
    ] {
        let calls = Reply::call("work.steps", json!({"steps": 1})).and_call("work.fail", json!({"how": "x"}));
        let (tools, gauge) = tools();
        let model = ScriptedModel::new([calls, Reply::text("ok")]).allow_unknown_tools();
        let agent = Agent::builder(model, tools).mode(mode).build();
        let conversation = agent.conversation("c");
        conversation.say("Go").await;
        let history = conversation.history().await.unwrap();
        assert_valid(&history);
        assert_eq!(kinds(&history[2]), expected, "{mode:?}");
        assert_eq!(gauge.steps(), u64::from(mode != Mode::Plan));
    }
}

/// A new mode applies from the next turn on, also in an active run.
#[tokio::test]
async fn the_mode_can_be_changed_between_turns() {
    let slot: Arc<Mutex<Option<tool_agent::Conversation>>> = Arc::default();
    let inside = slot.clone();
    let (model, sent) = recording(move |request| match request.messages.last() {
        Some(Message::User { .. }) => {
            let conversation = inside.lock().unwrap().clone().unwrap();
            conversation.set_mode(Mode::Plan).now_or_never().expect("it does not wait for the run").unwrap();
            Reply::call("work.steps", json!({"steps": 1}))
        }
        _ => Reply::text("ok"),
    });
    let (tools, gauge) = tools();
    let agent = Agent::builder(model, tools).build();
    let conversation = agent.conversation("c");
    *slot.lock().unwrap() = Some(conversation.clone());
    assert_eq!(conversation.say("Go").await.answer(), Some("ok"));
    slot.lock().unwrap().take();
    assert_eq!(gauge.steps(), 1, "the turn that had started had its tools");
    let sent = sent.lock().unwrap().clone();
    assert!(sent[0].tools.is_some() && sent[1].tools.is_none(), "{sent:?}");
    assert_eq!(conversation.mode().await, Ok(Mode::Plan));
}
