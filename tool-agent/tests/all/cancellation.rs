//! Runs that are stopped at every await point.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use serde_json::json;
use tool_agent::{
    Agent, AgentBuilder, AgentEvent, AgentUpdate, AssistantMessage, CallResult, Conversation, ConversationStore,
    Message, ModelCall, Reply, Run, RunEnding, RunOutcome, ScriptedModel, SqliteStore,
};
use tool_runtime::confirm::{self, Decision, Deferred, SealingKey};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, ToolCall};

use crate::approvals::deleting;
use crate::support::{Gauge, Hesitant, assert_valid, check_events, flaw, kinds, three_calls, tools, until};

/// Polls a future this many times, lets its tasks continue for a while, then drops it. Returns its output, if any.
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

/// Returns `true` if no handler is running and nothing is unfinished.
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

/// The way a run is stopped.
#[derive(Clone, Copy, Debug)]
enum Way {
    Dropped,
    ByToken,
}

impl Way {
    /// Stops a run after this many polls. Returns its outcome if it finished before.
    async fn stop(self, times: usize, then: usize, run: Run) -> Option<RunOutcome> {
        let token = CancellationToken::new();
        let mut run = run.cancel(token.clone()).into_future();
        match self {
            Self::Dropped => polled(times, then, run).await,
            Self::ByToken => {
                if let Some(outcome) = polled(times, then, &mut run).await {
                    return Some(outcome);
                }
                token.cancel();
                // It reports the cancellation, unless it finished anyway.
                run.await;
                None
            }
        }
    }
}

/// An agent whose runs are stopped, with its tools and its store.
struct Scene {
    agent: Agent,
    gauge: Gauge,
    store: SqliteStore,
    _folder: tempfile::TempDir,
}

/// The histories that were seen.
#[derive(Debug, Default)]
struct Seen {
    lengths: BTreeSet<usize>,
    /// The number of runs that were stopped in the middle of a call.
    in_calls: usize,
}

impl Scene {
    async fn new(model: ScriptedModel, set: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("chats.db")).await.unwrap();
        let (tools, gauge) = tools();
        let agent = set(Agent::builder(Hesitant(model), tools).store(store.clone())).build();
        Self { agent, gauge, store, _folder: folder }
    }

    /// Stops a run at every await point, in a new conversation each time. One in three is stopped at once, the others
    /// after their tools have made progress. Afterwards the conversation continues and ends as expected.
    async fn stop_at_every_point(&self, way: Way, begin: impl AsyncFn(&Conversation) -> Run, next: &RunEnding) -> Seen {
        let mut seen = Seen::default();
        for round in 0.. {
            let (times, then) = (round / 3, round % 3 * 2);
            assert!(times < 2_000, "it never ends");
            let conversation = self.agent.conversation(format!("{way:?}{round}"));
            let run = begin(&conversation).await;
            let mut events = run.events();
            let outcome = way.stop(times, then, run).await;
            assert!(nothing_is_left(&self.gauge).await, "a tool runs on after {times} polls");
            until("the end of all sessions", || self.gauge.sessions() == 0).await;
            let updates: Vec<AgentUpdate> = std::iter::from_fn(|| events.try_next()).collect();
            let is_polled = times > 0 || matches!(way, Way::ByToken);
            check_events(&updates, is_polled);

            let history = self.check(&conversation).await;
            seen.lengths.insert(history.len());
            let last = history.last().filter(|message| matches!(message, Message::Tools { .. }));
            seen.in_calls += usize::from(last.is_some_and(|last| kinds(last).contains(&Some(ErrorKind::Cancelled))));
            assert_eq!(conversation.say("And now?").await.ending, *next, "{way:?} after {times} polls");
            self.check(&conversation).await;
            if let Some(outcome) = outcome {
                println!("{way:?}: {round} rounds, up to {times} polls, {seen:?}, {:?}", outcome.ending);
                break;
            }
        }
        seen
    }

    /// Checks that the history is valid, and the stored one as well.
    async fn check(&self, conversation: &Conversation) -> Vec<Message> {
        let history = conversation.history().await.unwrap();
        assert_valid(&history);
        // A dropped run saves its history in the background.
        let mut looks = 0..10_000;
        while self.store.load(conversation.id()).await.unwrap().unwrap_or_default().messages != history {
            assert!(looks.next().is_some(), "the store does not have {history:?}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        history
    }
}

#[tokio::test]
async fn a_run_stopped_at_any_point_leaves_a_valid_history_and_nothing_else() {
    let scene = Scene::new(ScriptedModel::from_fn(three_calls), |agent| agent).await;
    for way in [Way::Dropped, Way::ByToken] {
        let seen = scene.stop_at_every_point(way, async |c| c.say("Work!"), &RunEnding::Answered).await;
        assert!(seen.lengths.len() >= 4 && seen.in_calls > 0, "it was stopped in many places: {seen:?}");
    }
}

#[tokio::test]
async fn a_run_stopped_while_it_waits_for_approval_leaves_nothing_behind() {
    let slow = confirm::from_fn(|_| async {
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        Decision::Run
    });
    let scene = Scene::new(ScriptedModel::from_fn(deleting), |agent| agent.confirm(slow)).await;
    for way in [Way::Dropped, Way::ByToken] {
        let before = scene.gauge.steps();
        let seen = scene.stop_at_every_point(way, async |c| c.say("Delete!"), &RunEnding::Answered).await;
        assert!(seen.lengths.len() >= 4 && seen.in_calls > 0, "it was stopped in many places: {seen:?}");
        assert!(scene.gauge.steps() > before, "approved calls have run");
    }
}

#[tokio::test]
async fn a_decision_stopped_at_any_point_leaves_nothing_behind() {
    let deferred = Deferred::new(SealingKey::random().unwrap());
    let scene = Scene::new(ScriptedModel::from_fn(deleting), |agent| agent.deferred(deferred)).await;
    let edited = Decision::Edit(json!({"name": "c"}));
    for decision in [Decision::Run, edited, Decision::refuse("no"), Decision::Abort] {
        let decide = async |conversation: &Conversation| {
            assert_eq!(conversation.say("Delete!").await.ending, RunEnding::Waiting(2));
            let waiting = conversation.pending_calls().await.unwrap();
            conversation.decide(&waiting[0].0.token, decision.clone())
        };
        for way in [Way::Dropped, Way::ByToken] {
            scene.stop_at_every_point(way, decide, &RunEnding::Waiting(2)).await;
        }
    }
}

/// With several threads, a call may end at the moment in which its run is dropped.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_call_ends_once_and_no_event_follows_the_end() {
    let (tools, gauge) = tools();
    let agent = Agent::builder(Hesitant(ScriptedModel::from_fn(three_calls)), tools).build();
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
        let updates: Vec<AgentUpdate> = std::iter::from_fn(|| events.try_next()).collect();
        let (mut open, mut is_over) = (BTreeSet::new(), false);
        for update in &updates {
            let AgentUpdate::Event { event, .. } = update else { panic!("{updates:?}") };
            assert!(!is_over, "{updates:?}");
            match event {
                AgentEvent::CallStarted { id, .. } => assert!(open.insert(id.to_string()), "{updates:?}"),
                AgentEvent::CallProgress { id, .. } => assert!(open.contains(&**id), "{updates:?}"),
                AgentEvent::CallFinished(ended) => assert!(open.remove(&ended.id), "{updates:?}"),
                AgentEvent::Ended(_) => is_over = true,
                _ => {}
            }
        }
        assert!(open.is_empty(), "{updates:?}");
        assert_valid(&conversation.history().await.unwrap());
    }
}

/// A naive implementation of the loop.
async fn naive(tools: &Dispatcher, history: &Mutex<Vec<Message>>) {
    let calls: Vec<ModelCall> = (1..4)
        .map(|steps| ModelCall::new(format!("{steps}"), "work.steps", json!({"steps": 20}).to_string()))
        .collect();
    tokio::task::yield_now().await;
    history.lock().unwrap().push(Message::Assistant(AssistantMessage::new("", calls.clone())));
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

/// The control: the flaws that the tests above look for occur in a naive loop.
#[tokio::test]
async fn a_naive_loop_leaves_calls_without_results_and_tools_running() {
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
async fn a_cancellation_token_stops_the_model_and_the_tools() {
    let (tools, gauge) = tools();
    let calls = Reply::text("Now.").and_call("work.endless", json!({})).and_call("work.steps", json!({"steps": 1}));
    let agent = Agent::builder(ScriptedModel::new([calls]), tools).build();
    let conversation = agent.conversation("c");
    let token = CancellationToken::new();
    let run = tokio::spawn(conversation.say("Go").cancel(token.clone()).into_future());
    until("a tool runs", || gauge.running() == 1 && gauge.steps() == 1).await;
    token.cancel();
    let outcome = run.await.unwrap();
    assert_eq!((outcome.ending, outcome.text.as_str()), (RunEnding::Cancelled, "Now."));
    assert_eq!(gauge.running(), 0);
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::Cancelled), None]);
    let cancelled = conversation.say("Go").cancel(token).await;
    assert_eq!(cancelled.ending, RunEnding::Cancelled);
}
