//! Turns, calls and failures.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;
use tool_agent::{
    Agent, AgentEvent, Message, Model, ModelError, ModelErrorKind, ModelRequest, ReachedLimit, Reply, ResponsePart,
    ResponseStream, RunEnding, RunLimits, ScriptedModel, SqliteStore, StopReason, Usage,
};
use tool_runtime::confirm::{self, Decision};
use tool_runtime::journal::MemoryJournal;
use tool_runtime::{CancellationToken, ErrorKind};

use crate::support::{Gauge, User, assert_valid, builder, call, flaw, kinds, pass, three_calls, tools};

#[tokio::test]
async fn makes_calls_and_reads_their_results() {
    let agent = Agent::builder(ScriptedModel::from_fn(three_calls), tools().0).build();
    let conversation = agent.conversation("c");
    let outcome = conversation.say("Work!").await;
    assert_eq!(outcome.answer(), Some("The steps: 1, 2, 3"));
    assert_eq!((outcome.turns, outcome.calls), (2, 3));
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(history.len(), 4);
    assert_eq!(agent.conversation("c").history().await.unwrap(), history, "another handle sees the same");
    assert!(agent.conversation("d").history().await.unwrap().is_empty());
}

/// The model reads the error of any kind of failed call and can continue.
#[tokio::test]
async fn the_model_reads_the_errors_of_its_calls() {
    let wrong = Reply::call("work.step", json!({}))
        .and(call("b", "work.steps", r#"{"steps": "#))
        .and(call("c", "work.steps", r#"{"steps": "many"}"#))
        .and_call("work.fail", json!({"how": "itself"}))
        .and_call("work.fail", json!({"how": "panic"}))
        .and_call("thing.delete", json!({"name": "it"}))
        .and(call("d", "", ""));
    let model = ScriptedModel::new([wrong, Reply::text("I see.")]).allow_unknown_tools();
    let agent = Agent::builder(model, tools().0).build();
    let conversation = agent.conversation("c");
    let outcome = conversation.say("Try.").await;
    assert_eq!(outcome.answer(), Some("I see."));
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    let expected = [
        ErrorKind::UnknownTool,
        ErrorKind::InvalidArguments,
        ErrorKind::InvalidArguments,
        ErrorKind::Failed,
        ErrorKind::Panicked,
        ErrorKind::Refused,
        ErrorKind::UnknownTool,
    ];
    assert_eq!(kinds(&history[2]), expected.map(Some));
}

#[tokio::test]
async fn a_response_that_is_cut_off_keeps_its_text_and_runs_no_calls() {
    let cut = Reply::text("Let me ").and_text("see").and_call("work.steps", json!({"steps": 1}));
    let nothing = Reply::call("work.steps", json!({"steps": 1}));
    let model = ScriptedModel::new([
        cut.and_error(ModelError::cut()),
        nothing.and_error(ModelError::new(ModelErrorKind::Server, "it burns")),
        Reply::text("Fine."),
        Reply::text("Never asked for."),
    ]);
    let (tools, gauge) = tools();
    let agent = Agent::builder(model, tools).build();
    let conversation = agent.conversation("c");
    let outcome = conversation.say("One").await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (RunEnding::Failed(ModelError::cut()), "Let me see"));
    assert!(matches!(conversation.say("Two").await.ending, RunEnding::Failed(error) if error.is_retryable()));
    assert_eq!(conversation.resume().await.answer(), Some("Fine."));
    assert_eq!(conversation.resume().await.answer(), Some("Fine."), "it has already answered");
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    let expected =
        [Message::user("One"), Message::assistant("Let me see"), Message::user("Two"), Message::assistant("Fine.")];
    let texts = |messages: &[Message]| -> Vec<String> {
        let text = |message: &Message| match message {
            Message::User { text } => text.clone(),
            Message::Assistant(answer) => answer.text.clone(),
            other => panic!("{other:?}"),
        };
        messages.iter().map(text).collect()
    };
    assert_eq!(texts(&history), texts(&expected));
    assert_eq!(gauge.steps(), 0, "calls of a response that was cut off do not run");
}

/// The end of a response after its first piece.
#[derive(Clone, Copy, Debug)]
enum Then {
    Fails,
    NeverComes,
}

/// A model whose first response is cut off, and whose second is complete.
struct BreaksOff(Then, AtomicBool);

impl Model for BreaksOff {
    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        assert!(matches!(request.messages.last(), Some(Message::User { .. })), "{:?}", request.messages);
        if self.1.swap(true, Ordering::SeqCst) {
            return Reply::text("All of it.").into_stream();
        }
        let begun = futures_util::stream::iter([Ok(ResponsePart::Text("A part".into()))]);
        match self.0 {
            Then::Fails => Reply::text("A part").and_error(ModelError::cut()).into_stream(),
            Then::NeverComes => Box::pin(begun.chain(futures_util::stream::pending())),
        }
    }
}

/// A partial response never counts as the answer, however it was cut off.
#[tokio::test]
async fn a_response_that_was_cut_off_is_requested_again() {
    let in_time = RunLimits::default().time(Duration::from_secs(10));
    for (then, limits, expected) in [
        (Then::Fails, RunLimits::default(), RunEnding::Failed(ModelError::cut())),
        (Then::NeverComes, in_time, RunEnding::Limit(ReachedLimit::Time)),
        (Then::NeverComes, RunLimits::default(), RunEnding::Cancelled),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
        let agent = |cut| {
            let model = BreaksOff(then, AtomicBool::new(cut));
            Agent::builder(model, tools().0).store(store.clone()).build()
        };
        let conversation = agent(false).conversation("c");
        let token = CancellationToken::new();
        let run = conversation.say("Go").limits(limits).cancel(token.clone());
        let mut events = run.events();
        let run = tokio::spawn(run.into_future());
        while !matches!(events.next().await.unwrap().event(), Some(AgentEvent::Text { .. })) {}
        match expected {
            RunEnding::Cancelled => token.cancel(),
            RunEnding::Limit(_) => pass(Duration::from_secs(11)).await,
            _ => {}
        }
        let outcome = run.await.unwrap();
        assert_eq!((outcome.ending, outcome.text.as_str()), (expected, "A part"));
        // The text is kept, and after a restart it is still marked as cut off.
        assert_eq!(conversation.history().await.unwrap().len(), 2);
        let conversation = agent(true).conversation("c");
        assert_eq!(conversation.resume().await.answer(), Some("All of it."), "{then:?}");
        let history = conversation.history().await.unwrap();
        assert_eq!(history.len(), 2, "{history:?}");
        assert_eq!(agent(true).conversation("c").history().await.unwrap(), history);
    }
}

/// The text of an earlier turn is not the answer.
#[tokio::test]
async fn an_empty_response_is_not_the_text_of_an_earlier_turn() {
    let works = || Reply::text("I look.").and_call("work.steps", json!({"steps": 1}));
    let said = async |last: Reply| {
        let agent = Agent::builder(ScriptedModel::new([works(), last]), tools().0).build();
        agent.conversation("c").say("Work!").await
    };
    assert_eq!(said(Reply::default()).await.answer(), Some(""), "it had nothing to add");
    for stop in [StopReason::Length, StopReason::Filtered] {
        let outcome = said(Reply::text("\n").stop(stop)).await;
        let RunEnding::Failed(error) = &outcome.ending else { panic!("{outcome:?}") };
        assert_eq!((error.kind, outcome.text.as_str(), outcome.turns), (ModelErrorKind::Empty, "", 2));
    }
    let outcome = said(Reply::error(ModelError::cut())).await;
    assert_eq!((outcome.ending, outcome.text.as_str()), (RunEnding::Failed(ModelError::cut()), ""));
}

/// The call may be truncated even if it is valid.
#[tokio::test]
async fn the_last_call_of_a_response_that_was_too_long_does_not_run() {
    let long = Reply::call("work.steps", json!({"steps": 1})).and_call("work.steps", json!({"steps": 2}));
    let model = ScriptedModel::new([long.stop(StopReason::Length), Reply::text("Short.").stop(StopReason::Length)]);
    let (tools, gauge) = tools();
    let agent = Agent::builder(model, tools).build();
    let conversation = agent.conversation("c");
    let outcome = conversation.say("Work!").await;
    assert_eq!((outcome.answer(), outcome.stop), (Some("Short."), StopReason::Length));
    assert_eq!(gauge.steps(), 1);
    assert_eq!(kinds(&conversation.history().await.unwrap()[2]), [None, Some(ErrorKind::InvalidArguments)]);
}

#[tokio::test]
async fn an_empty_response_adds_no_message() {
    let model = ScriptedModel::new([Reply::default(), Reply::text("  \n"), Reply::text("Here.")]);
    let agent = Agent::builder(model, tools().0).build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("One").await.answer(), Some(""));
    assert_eq!(conversation.resume().await.ending, RunEnding::Answered);
    assert_eq!(conversation.resume().await.answer(), Some("Here."));
    assert_eq!(conversation.history().await.unwrap().len(), 2);
    assert!(matches!(conversation.say(" ").await.ending, RunEnding::Failed(error) if !error.is_retryable()));
    assert_eq!(conversation.history().await.unwrap().len(), 2);
}

/// Some providers send no ids, others the same ids in every response.
#[tokio::test]
async fn calls_with_the_same_provider_id_are_distinct() {
    let twice = || Reply::default().and(call("call_0", "work.steps", r#"{"steps": 1}"#));
    let twice = || twice().and(call("call_0", "work.steps", r#"{"steps": 2}"#)).and(call("", "work.steps", "{}"));
    let agent = Agent::builder(ScriptedModel::new([twice(), twice(), Reply::text("Done.")]), tools().0).build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("Work!").await.calls, 6);
    assert_valid(&conversation.history().await.unwrap());
}

/// A journal replays the result of a known call id. A conversation that was deleted and started again has new ids.
#[tokio::test]
async fn the_journal_of_an_earlier_conversation_is_not_replayed() {
    let gauge = Gauge::default();
    let tools = builder(&gauge).journal(MemoryJournal::new()).build().unwrap();
    let model = ScriptedModel::from_fn(|request| match request.messages.last() {
        Some(Message::Tools { results }) => Reply::text(&results[0].result.output),
        _ => Reply::default().and(call("call_0", "thing.delete", r#"{"name": "a"}"#)),
    });
    let agent = Agent::builder(model, tools).confirm(confirm::from_fn(|_| async { Decision::Run })).build();
    let conversation = agent.conversation("c");
    for times in 1..=3 {
        assert_eq!(conversation.say("Delete!").await.answer(), Some("a is gone"));
        assert_eq!(gauge.steps(), times);
        conversation.delete().await.unwrap();
    }
}

struct Broken;

impl Model for Broken {
    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        match request.messages.len() {
            1 => panic!("before it answers"),
            _ => Box::pin(futures_util::stream::poll_fn(|_| panic!("while it answers"))),
        }
    }
}

#[tokio::test]
async fn a_model_that_panics_has_failed() {
    let agent = Agent::builder(Broken, tools().0).build();
    let conversation = agent.conversation("c");
    for _ in 0..2 {
        assert!(matches!(conversation.say("Hello").await.ending, RunEnding::Failed(_)));
    }
    assert_eq!(conversation.history().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_conversation_has_one_active_run_at_a_time() {
    let model =
        ScriptedModel::from_fn(|request| Reply::text(request.messages.len().to_string()).usage(Usage::new(3, 2)));
    let agent = Agent::builder(model, tools().0).build();
    let says = |text: &str| agent.conversation("c").say(text).into_future();
    let (one, two, three) = tokio::join!(says("a"), says("b"), says("c"));
    assert_eq!([one.text.as_str(), two.text.as_str(), three.text.as_str()], ["1", "3", "5"]);
    assert_eq!(three.usage, Usage::new(3, 2));
    assert_eq!(agent.conversation("c").history().await.unwrap().len(), 6);
}

/// Per-call values and the channel reach the handlers.
#[tokio::test]
async fn the_settings_of_a_run_reach_its_calls() {
    let tools = tools().0;
    let agent = Agent::builder(ScriptedModel::new([Reply::call("whose", json!({})), Reply::text("ok")]), tools).build();
    let conversation = agent.conversation("c");
    conversation.say("Whose?").each(|call| call.with(User("Ada"))).channel("web", "7").await;
    let history = conversation.history().await.unwrap();
    let Message::Tools { results } = &history[2] else { panic!("{history:?}") };
    assert_eq!(results[0].result.output, r#"Ada Some("c") Some("web") Some("7")"#);
}

/// Checks the history validator itself.
#[test]
fn an_invalid_history_is_detected() {
    let answer = |ids: &[&str]| {
        let calls = ids.iter().map(|id| tool_agent::ModelCall::new(*id, "t", "{}"));
        Message::Assistant(tool_agent::AssistantMessage::new("", calls))
    };
    let results = |ids: &[&str]| {
        let result = |id: &&str| tool_agent::CallResult::new(*id, "t", tool_runtime::ToolResult::success("".into()));
        Message::Tools { results: ids.iter().map(result).collect() }
    };
    assert_eq!(flaw(&[answer(&["a", "b"]), results(&["a", "b"]), Message::user("x")]), None);
    for flawed in [
        vec![answer(&["a"])],
        vec![answer(&["a"]), Message::user("x")],
        vec![answer(&["a"]), results(&["b"])],
        vec![answer(&["a", "b"]), results(&["a"])],
        vec![answer(&["a", "b"]), results(&["b", "a"])],
        vec![answer(&["a", "a"]), results(&["a", "a"])],
        vec![results(&["a"])],
        vec![answer(&[])],
    ] {
        assert!(flaw(&flawed).is_some(), "{flawed:?}");
    }
}
