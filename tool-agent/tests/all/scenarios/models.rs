//! Behaviour of providers and their models.

use std::time::Duration;

use serde_json::json;
use tool_agent::{AgentEvent, AgentUpdate, Mode, ModelErrorKind, ReachedLimit, RunEnding, RunLimits, SqliteStore};
use tool_runtime::CancellationToken;

use super::Scene;
use crate::providers::Way;
use crate::server::{Called, End, Received, Reply, Wire};
use crate::support::{pass, until};

pub async fn a_response_without_calls(scene: Scene) -> Vec<Received> {
    let outcome = scene.say("Hi.", [Reply::text("Hello.")]).await;
    assert_eq!((outcome.answer(), outcome.turns, outcome.calls), (Some("Hello."), 1, 0));
    assert_eq!((outcome.usage.input, outcome.usage.output), (80, 20));
    scene.goes_on().await
}

pub async fn concurrent_calls(scene: Scene) -> Vec<Received> {
    let calls = [1, 2, 3].map(|number| scene.call(number, "math.add", json!({"a": number, "b": 10})));
    let script = [Reply::calls(calls).saying("Let me see."), Reply::text("11, 12 and 13.")];
    let outcome = scene.say("Add.", script).await;
    assert_eq!((outcome.answer(), outcome.turns, outcome.calls), (Some("11, 12 and 13."), 2, 3));
    assert_eq!(scene.outputs().await, ["11", "12", "13"]);
    scene.goes_on().await
}

pub async fn a_model_with_reasoning(scene: Scene) -> Vec<Received> {
    let script = [
        scene.add(1, 2).thinking("A sum."),
        scene.add(3, 4).thinking("Another."),
        Reply::text("3 and 7.").thinking("Done."),
    ];
    assert_eq!(scene.say("Add.", script).await.answer(), Some("3 and 7."));
    scene.goes_on().await
}

pub async fn malformed_arguments(scene: Scene) -> Vec<Received> {
    let broken = scene.call(1, "math.add", r#"{"a": 1, "b"#);
    let wrong = scene.call(2, "math.add", json!({"a": "many", "c": 2}));
    let script = [Reply::calls([broken, wrong]), scene.add(1, 2), Reply::text("It is 3.")];
    let outcome = scene.say("Add.", script).await;
    assert_eq!(outcome.answer(), Some("It is 3."), "{:?}", outcome.ending);
    let outputs = scene.outputs().await;
    assert!(outputs[1].contains("`a`") && outputs[1].contains("`b`"), "{outputs:?}");
    assert_eq!((outputs.len(), outputs[2].as_str()), (3, "3"));
    scene.goes_on().await
}

pub async fn unknown_tools(scene: Scene) -> Vec<Received> {
    let made_up = scene.call(1, "functions.math add!", json!({}));
    let script = [Reply::calls([made_up]), Reply::text("There is no such tool.")];
    assert_eq!(scene.say("Add.", script).await.answer(), Some("There is no such tool."));
    assert!(scene.outputs().await[0].contains("functions"), "{:?}", scene.outputs().await);
    scene.goes_on().await
}

pub async fn a_tool_that_fails(scene: Scene) -> Vec<Received> {
    let failing = scene.call(1, "math.fail", json!({}));
    let script = [Reply::calls([failing]), Reply::text("Not today.")];
    assert_eq!(scene.say("Fail.", script).await.answer(), Some("Not today."));
    assert_eq!(scene.outputs().await, ["no numbers today"]);
    scene.goes_on().await
}

pub async fn rate_limited_requests(scene: Scene) -> Vec<Received> {
    let slow_down = || Reply::status(429).retry_after("0");
    let script = [slow_down(), scene.add(1, 2), slow_down(), Reply::status(503), Reply::text("It is 3.")];
    let outcome = scene.say("Add.", script).await;
    assert_eq!((outcome.answer(), outcome.turns), (Some("It is 3."), 2), "{:?}", outcome.ending);
    scene.goes_on().await
}

pub async fn a_provider_that_keeps_failing(scene: Scene) -> Vec<Received> {
    let outcome = scene.say("Add.", [scene.add(1, 2), Reply::status(500).forever()]).await;
    let RunEnding::Failed(error) = &outcome.ending else { panic!("{:?}", outcome.ending) };
    assert_eq!((error.kind, scene.server.received().len()), (ModelErrorKind::Server, 4), "{error}");
    scene.goes_on().await
}

pub async fn a_stream_that_is_cut_off_before_its_first_word(scene: Scene) -> Vec<Received> {
    let cut = |end| scene.add(1, 2).cut(0, end);
    let script = [cut(End::Quiet), cut(End::Broken), scene.add(1, 2), Reply::text("It is 3.")];
    let outcome = scene.say("Add.", script).await;
    assert_eq!((outcome.answer(), outcome.calls), (Some("It is 3."), 1), "{:?}", outcome.ending);
    scene.goes_on().await
}

/// The number of events that contain the text, but not the call after it.
fn said(wire: Wire) -> usize {
    match wire {
        Wire::OpenAi => 4,
        Wire::Anthropic => 6,
        Wire::Gemini => 2,
    }
}

pub async fn a_response_that_is_cut_off(scene: Scene) -> Vec<Received> {
    let cut = scene.add(1, 2).saying("Let me see.").cut(said(scene.way.wire), End::Broken);
    let outcome = scene.say("Add.", [cut.forever()]).await;
    let RunEnding::Failed(error) = &outcome.ending else { panic!("{:?}", outcome.ending) };
    assert_eq!((error.kind, outcome.calls), (ModelErrorKind::Cut, 0), "{error}");
    if scene.way.is_streamed {
        assert_eq!(scene.server.received().len(), 1, "it is not requested again");
    }
    scene.goes_on().await
}

pub async fn a_response_that_never_comes(scene: Scene) -> Vec<Received> {
    scene.server.follow([scene.add(1, 2), Reply::Silence]);
    let limits = RunLimits::default().time(Duration::from_secs(10));
    let run = tokio::spawn(scene.conversation.say("Add.").limits(limits).into_future());
    until("the second request", || scene.server.left() == 0).await;
    pass(Duration::from_secs(11)).await;
    assert_eq!(run.await.expect("it does not panic").ending, RunEnding::Limit(ReachedLimit::Time));
    scene.goes_on().await
}

pub async fn a_response_that_is_cancelled(scene: Scene) -> Vec<Received> {
    let stalled = scene.add(1, 2).saying("Let me see.").cut(said(scene.way.wire), End::Stalled);
    scene.server.follow([scene.add(3, 4), stalled]);
    let token = CancellationToken::new();
    let run = scene.conversation.say("Add.").cancel(token.clone());
    let mut events = run.events();
    let run = tokio::spawn(run.into_future());
    until("the second request", || scene.server.received().len() >= 2).await;
    let is_text = |update: &AgentUpdate| matches!(update.event(), Some(AgentEvent::Text { .. }));
    // A response that is not streamed has no event before its end, which never comes.
    while scene.way.is_streamed && !is_text(&events.next().await.expect("it goes on")) {}
    token.cancel();
    assert_eq!(run.await.expect("it does not panic").ending, RunEnding::Cancelled);
    scene.goes_on().await
}

pub async fn a_model_that_never_stops(scene: Scene) -> Vec<Received> {
    scene.server.follow([scene.add(1, 2).forever()]);
    let outcome = scene.conversation.say("Add.").limits(RunLimits::default().turns(4)).await;
    assert_eq!((outcome.ending, outcome.turns), (RunEnding::Limit(ReachedLimit::Turns), 4));
    assert_eq!(scene.server.received().len(), 4);
    scene.goes_on().await
}

pub async fn a_turn_with_too_many_calls(scene: Scene) -> Vec<Received> {
    let calls: Vec<Called> =
        (0..5).map(|number| scene.call(number, "math.add", json!({"a": number, "b": 0}))).collect();
    scene.server.follow([Reply::calls(calls)]);
    let outcome = scene.conversation.say("Add.").limits(RunLimits::default().calls(3)).await;
    assert_eq!(outcome.ending, RunEnding::Limit(ReachedLimit::Calls));
    assert_eq!(scene.outputs().await.len(), 5, "each call has its result, whether it ran or not");
    scene.goes_on().await
}

pub async fn a_plan_between_two_builds(scene: Scene) -> Vec<Received> {
    assert_eq!(scene.say("Add.", [scene.add(1, 2), Reply::text("It is 3.")]).await.answer(), Some("It is 3."));
    scene.conversation.set_mode(Mode::Plan).await.unwrap();
    assert_eq!(scene.say("Plan.", [Reply::text("I would add.")]).await.answer(), Some("I would add."));
    scene.conversation.set_mode(Mode::Build).await.unwrap();
    scene.goes_on().await
}

/// Another provider continues the conversation: signatures, ids and names of the first one mean nothing to it.
pub async fn another_provider_continues(scene: Scene) -> Vec<Received> {
    let mut sent = Vec::new();
    for other in Wire::ALL {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("conversations.sqlite")).await.unwrap();
        let first = Scene::with(scene.way, |agent| agent.store(store.clone())).await;
        let calls = [1, 2].map(|number| first.call(number, "math.add", json!({"a": number, "b": 10})));
        let calls = Reply::calls(calls).saying("Let me see.").thinking("Two sums.");
        let made_up = Reply::calls([first.call(1, "functions.math add!", "[")]);
        let outcome = first.say("Add.", [calls, made_up, Reply::status(400)]).await;
        assert!(matches!(outcome.ending, RunEnding::Failed(_)), "{:?}", outcome.ending);
        sent.extend(first.server.received());

        let next = Scene::with(Way { wire: other, ..scene.way }, |agent| agent.store(store)).await;
        next.server.follow([Reply::text("11 and 12.")]);
        assert_eq!(next.conversation.resume().await.answer(), Some("11 and 12."), "{:?}, {other:?}", scene.way);
        sent.extend(next.goes_on().await);
    }
    sent
}
