//! The calls of one turn.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tool_runtime::confirm::{self, Decision};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, Manifest, RuntimeTool, ToolCall, tool};

use super::{Log, always, builder, builder_with, kind};

/// Wait, alone.
#[tool(name = "pipeline.alone", sequential)]
async fn alone(#[inject] log: &Log) -> usize {
    log.enter("alone");
    tokio::time::sleep(Duration::from_millis(20)).await;
    log.leave("alone")
}

/// Wait beside others.
#[tool(name = "pipeline.beside")]
async fn beside(#[inject] log: &Log) -> usize {
    log.enter("beside");
    tokio::time::sleep(Duration::from_millis(20)).await;
    log.leave("beside")
}

#[tokio::test]
async fn calls_of_a_turn_run_concurrently_unless_sequential() {
    let log = Log::default();
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(name, _)| name.starts_with("pipeline.")).map(|(n, t)| (n.to_owned(), t.clone())).collect();
    let tools = Dispatcher::builder()
        .manifest(ours)
        .value("counter", Arc::new(AtomicUsize::new(0)))
        .value("log", log.clone())
        .value("answer", Arc::new(Notify::new()))
        .build()
        .unwrap();
    let names = ["beside", "beside", "beside", "alone", "beside", "beside"];
    let results = tools.call_all(names.map(|name| ToolCall::new(format!("pipeline.{name}"), json!({})))).await;
    // Each returns how many were running when it ended.
    let outputs: Vec<u32> = results.iter().map(|result| result.output.parse().unwrap()).collect();
    assert_eq!(outputs[3], 1, "{outputs:?}");
    assert_eq!(outputs[..3].iter().max(), Some(&3), "{outputs:?}");
    let order = log.0.lock().unwrap().clone();
    assert_eq!(order, ["beside", "beside", "beside", "alone", "beside", "beside"]);
    let results = tools
        .call_all(names[..3].iter().map(|name| ToolCall::new(format!("pipeline.{name}"), json!({}))))
        .concurrency(NonZeroUsize::MIN)
        .each(|call| call.timeout(Duration::from_secs(1)))
        .await;
    assert!(results.iter().all(|result| result.output == "1"), "{results:?}");
}

#[tokio::test]
async fn an_abort_stops_the_rest_of_the_turn() {
    let tools = builder().confirm(always(Decision::Abort)).build().unwrap();
    let calls = [
        ToolCall::new("pipeline.listen", json!({})),
        ToolCall::new("pipeline.erase", json!({"host": "aborted"})),
        ToolCall::new("pipeline.alone", json!({})),
        ToolCall::new("pipeline.count", json!({"by": 1})),
    ];
    // The first call waits until it is cancelled, and those behind it for a permit.
    let results = tools.call_all(calls).concurrency(NonZeroUsize::MIN).await;
    let kinds: Vec<ErrorKind> = results.iter().map(kind).collect();
    assert_eq!(kinds, [ErrorKind::Cancelled, ErrorKind::Aborted, ErrorKind::Aborted, ErrorKind::Aborted]);
}

/// A confirmer that waits for `answer`.
fn asking_until(answer: &Arc<Notify>) -> impl tool_runtime::confirm::Confirm {
    let answer = answer.clone();
    confirm::from_fn(move |_| {
        let answer = answer.clone();
        async move {
            answer.notified().await;
            Decision::Run
        }
    })
}

/// Let the confirmer decide now.
#[tool(name = "pipeline.tell")]
async fn tell(#[inject] answer: &Arc<Notify>) {
    answer.notify_one();
}

/// Erase alone.
#[tool(name = "pipeline.erase_alone", sensitive, sequential)]
async fn erase_alone() -> &'static str {
    "erased alone"
}

/// If an open question held its permit or the barrier of a sequential tool, the call behind could never settle it.
#[tokio::test]
async fn an_open_question_blocks_no_other_call() {
    let answer = Arc::new(Notify::new());
    for first in ["pipeline.erase", "pipeline.erase_alone"] {
        let tools = builder_with(&answer).confirm(asking_until(&answer)).build().unwrap();
        let arguments = if first == "pipeline.erase" { json!({"host": "asked in a turn"}) } else { json!({}) };
        let calls = [ToolCall::new(first, arguments), ToolCall::new("pipeline.tell", json!({}))];
        let turn = tools.call_all(calls).concurrency(NonZeroUsize::MIN);
        let results = tokio::time::timeout(Duration::from_secs(60), turn.into_future()).await.expect("the turn ends");
        assert!(results.iter().all(|result| result.success), "{results:?}");
    }
}

#[test]
fn a_turn_without_a_runtime_still_returns_results() {
    let tools = builder().build().unwrap();
    let calls = [ToolCall::new("pipeline.long", json!({"lines": 1})), ToolCall::new("pipeline.beside", json!({}))];
    let mut turn = std::pin::pin!(tools.call_all(calls).into_future());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(results) = turn.as_mut().poll(&mut context) else { panic!("nothing waits") };
    assert!(results[0].success, "{results:?}");
    assert!(!results[1].success, "the handler sleeps, but there is no timer: {results:?}");
}

#[tokio::test]
async fn a_panic_while_a_call_is_prepared_becomes_its_result() {
    let tools = builder().build().unwrap();
    let calls = [ToolCall::new("pipeline.count", json!({"by": 1}))];
    let results = tools.call_all(calls).each(|_| panic!("no user")).await;
    assert_eq!(kind(&results[0]), ErrorKind::Panicked);
    assert!(!results[0].output.contains("no user"), "{}", results[0].output);
}

/// Both the call's own token and the end of its turn cancel a call.
#[tokio::test]
async fn an_abort_cancels_calls_with_a_token_of_their_own() {
    let tools = builder().confirm(always(Decision::Abort)).build().unwrap();
    let calls = [
        ToolCall::new("pipeline.listen", json!({})),
        ToolCall::new("pipeline.erase", json!({"host": "aborted beside"})),
    ];
    let results = tools.call_all(calls).each(|call| call.cancel(CancellationToken::new())).await;
    assert_eq!((kind(&results[0]), kind(&results[1])), (ErrorKind::Cancelled, ErrorKind::Aborted));
    let token = CancellationToken::new();
    token.cancel();
    let calls = [ToolCall::new("pipeline.listen", json!({}))];
    let results = tools.call_all(calls).each(move |call| call.cancel(token.clone())).await;
    assert_eq!(kind(&results[0]), ErrorKind::Cancelled);
}

/// A tool may change between the check whether it needs approval and the start of its call.
#[tokio::test(start_paused = true)]
async fn a_sequential_tool_that_needs_no_approval_any_more_still_runs_alone() {
    for becomes_harmless in [false, true] {
        let log = Log::default();
        let tool = |name: &'static str| {
            let log = log.clone();
            RuntimeTool::new(name, "", move |(): ()| {
                let log = log.clone();
                async move {
                    log.enter(name);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    log.leave(name).to_string()
                }
            })
        };
        let alone = tool("alone").sequential();
        let tools = Dispatcher::builder()
            .manifest(Manifest::default())
            .tool(tool("beside"))
            .tool(tool("alone").sequential().sensitive());
        let tools = tools.confirm(always(Decision::Run)).build().unwrap();
        let harmless = std::sync::Mutex::new(Some(alone).filter(|_| becomes_harmless));
        let registry = tools.registry();
        let calls = ["beside", "alone"].map(|name| ToolCall::from_text(name, "{}"));
        let turn = tools.call_all(calls).each(move |call| {
            if call.request().name() == "alone"
                && let Some(harmless) = harmless.lock().unwrap().take()
            {
                registry.replace(harmless).unwrap();
            }
            call
        });
        let results = turn.await;
        let outputs: Vec<&str> = results.iter().map(|result| result.output.as_str()).collect();
        // The number of running calls at the end of each.
        assert_eq!(outputs, ["1", "1"], "{becomes_harmless}");
    }
}
