//! How often tools may be called, how many at a time, and how often again.

use std::time::Duration;

use serde_json::json;
use tool_runtime::{ErrorKind, HandlerError, Limit, Limiter, ToolCall, tool};

use super::{builder, kind};

/// Be stuck on a thread.
#[tool(name = "pipeline.stuck", blocking)]
fn stuck() {
    std::thread::sleep(Duration::from_millis(300));
}

/// Never be content.
#[tool(name = "pipeline.again")]
async fn again(host: String) -> Result<String, HandlerError> {
    if host == "one" { Ok(host) } else { Err(HandlerError::retry("Name one host.")) }
}

#[tokio::test]
async fn limits_are_kept() {
    let tools = builder().limit(Limiter::new().tool("pipeline.count", Limit::total(2))).build().unwrap();
    let count = async || tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).await;
    assert!(count().await.success && count().await.success);
    assert_eq!(kind(&count().await), ErrorKind::RateLimited);
}

/// A thread that cannot be stopped counts until it ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_handler_holds_its_place_beyond_its_deadline() {
    let tools = builder().concurrency(1, 0).build().unwrap();
    let stuck = tools.call(ToolCall::new("pipeline.stuck", json!({}))).timeout(Duration::from_millis(30)).await;
    assert_eq!(kind(&stuck), ErrorKind::OutcomeUnknown);
    let count = async || tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).await;
    assert_eq!(kind(&count().await), ErrorKind::Busy);
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if count().await.success {
            return;
        }
    }
    panic!("its place was never given back");
}

#[tokio::test]
async fn trying_again_has_an_end() {
    let tools = builder().retries(2).build().unwrap();
    let again = async |host: &str| {
        let call = ToolCall::new("pipeline.again", json!({"host": host})).conversation("c");
        tools.call(call).await.error.map(|error| error.kind)
    };
    assert_eq!(again("a").await, Some(ErrorKind::Retry));
    assert_eq!(again("b").await, Some(ErrorKind::Retry));
    assert_eq!(again("c").await, Some(ErrorKind::Fatal));
    assert_eq!(again("one").await, None);
    assert_eq!(again("a").await, Some(ErrorKind::Retry));
}

#[tokio::test]
async fn what_does_not_run_does_not_count() {
    let tools = builder().limit(Limiter::new().tool("pipeline.count", Limit::total(1))).build().unwrap();
    let count = || tools.call(ToolCall::new("pipeline.count", json!({"by": 1})));
    assert!(count().dry_run().await.success);
    assert!(!tools.call(ToolCall::new("pipeline.count", json!({"by": "x"}))).await.success);
    assert!(count().await.success);
    assert_eq!(kind(&count().await), ErrorKind::RateLimited);
}
