//! The calls of one turn.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use serde_json::json;
use tool_runtime::confirm::Decision;
use tool_runtime::{Dispatcher, ErrorKind, Manifest, ToolCall, tool};

use super::{Log, answering, builder, kind};

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
async fn the_calls_of_a_turn_run_side_by_side_but_for_those_that_are_sequential() {
    let log = Log::default();
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(name, _)| name.starts_with("pipeline.")).map(|(n, t)| (n.to_owned(), t.clone())).collect();
    let tools = Dispatcher::builder()
        .manifest(ours)
        .value("counter", Arc::new(AtomicUsize::new(0)))
        .value("log", log.clone())
        .build()
        .unwrap();
    let names = ["beside", "beside", "beside", "alone", "beside", "beside"];
    let results = tools.call_all(names.map(|name| ToolCall::new(format!("pipeline.{name}"), json!({})))).await;
    // Each says how many there were when it left.
    let outputs: Vec<u32> = results.iter().map(|result| result.output.parse().unwrap()).collect();
    assert_eq!(outputs[3], 1, "{outputs:?}");
    assert_eq!(outputs[..3].iter().max(), Some(&3), "{outputs:?}");
    let order = log.0.lock().unwrap().clone();
    assert_eq!(order, ["beside", "beside", "beside", "alone", "beside", "beside"]);
    let results = tools
        .call_all(names[..3].iter().map(|name| ToolCall::new(format!("pipeline.{name}"), json!({}))))
        .concurrency(std::num::NonZeroUsize::MIN)
        .each(|call| call.timeout(Duration::from_secs(1)))
        .await;
    assert!(results.iter().all(|result| result.output == "1"), "{results:?}");
}

#[tokio::test]
async fn an_abort_stops_the_rest_of_the_turn() {
    let tools = builder().confirm(answering(Decision::Abort)).build().unwrap();
    let calls = [
        ToolCall::new("pipeline.erase", json!({"host": "aborted"})),
        ToolCall::new("pipeline.alone", json!({})),
        ToolCall::new("pipeline.count", json!({"by": 1})),
    ];
    let results = tools.call_all(calls).concurrency(std::num::NonZeroUsize::MIN).await;
    assert!(results.iter().all(|result| kind(result) == ErrorKind::Aborted), "{results:?}");
}
