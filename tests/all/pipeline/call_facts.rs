//! Facts about a call that its handler can inject.

use std::time::Duration;

use serde_json::json;
use tool_runtime::inject::Deadline;
use tool_runtime::{CancellationToken, Context, Dispatcher, ErrorKind, Manifest, ToolCall, tool};

use super::{Log, builder, kind};

/// Return the facts about the call.
#[tool(name = "pipeline.facts")]
async fn facts(
    #[inject] context: &Context,
    #[inject] deadline: Deadline,
    #[inject] token: CancellationToken,
) -> String {
    assert!(!token.is_cancelled());
    let left = deadline.remaining().is_some_and(|left| left > Duration::from_secs(3));
    format!("{:?} {:?} {:?} {left}", context.conversation(), context.call_id(), context.chat())
}

#[tokio::test]
async fn a_handler_can_inject_the_facts_of_its_call() {
    let tools = builder().build().unwrap();
    let call = ToolCall::new("pipeline.facts", json!({})).id("7").conversation("c").channel("telegram", "42");
    let result = tools.call(call).timeout(Duration::from_secs(5)).await;
    assert_eq!(result.output, r#"Some("c") Some("7") Some("42") true"#);
}

#[tokio::test]
async fn a_handler_is_notified_of_cancellation() {
    let log = Log::default();
    let ours = Manifest::linked();
    let ours: Manifest =
        ours.iter().filter(|(name, _)| *name == "pipeline.listen").map(|(n, t)| (n.to_owned(), t.clone())).collect();
    let tools = Dispatcher::builder().manifest(ours).value("log", log.clone()).build().unwrap();
    let result = tools.call(ToolCall::new("pipeline.listen", json!({}))).timeout(Duration::from_millis(20)).await;
    assert_eq!(kind(&result), ErrorKind::TimedOut);
    for _ in 0..100 {
        if log.0.lock().unwrap().contains(&"stopped") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the handler was not notified");
}
