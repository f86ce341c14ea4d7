//! Shared instances, and instances built per call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_runtime::{Manifest, ToolCall, tool, tool_class};

use super::{Draft, tools};

/// Takes a service of the application in two forms.
#[tool(name = "service.twice")]
fn service_twice(#[inject] one: &Counter, #[inject] other: Arc<Counter>) -> usize {
    one.0.fetch_add(1, Ordering::SeqCst);
    other.0.fetch_add(1, Ordering::SeqCst) + 1
}

#[derive(Default)]
struct Counter(AtomicUsize);

#[tool_class(manual)]
impl Counter {
    /// Counts one up.
    pub fn up(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Counts one up, by `Arc`.
    pub async fn up_arc(self: Arc<Self>) -> usize {
        tokio::task::yield_now().await;
        self.up()
    }
}

#[tokio::test]
async fn a_service_is_shared_by_all_calls_and_can_be_injected() {
    let tools = tools("::service_twice").also(Counter::default()).build().unwrap();
    assert_eq!(tools.call(ToolCall::new("service.twice", json!({}))).await.output, "2");
    assert_eq!(tools.call(ToolCall::new("service.twice", json!({}))).await.output, "4");
    assert_eq!(tools.call(ToolCall::new("counter.up", json!({}))).await.output, "5");
    assert_eq!(tools.call(ToolCall::new("counter.up_arc", json!({}))).await.output, "6");
}

#[tokio::test]
async fn the_application_can_keep_using_its_service() {
    let counter = Arc::new(Counter::default());
    let tools = tools("::service_twice").also(counter.clone()).build().unwrap();
    assert_eq!(tools.call(ToolCall::new("counter.up", json!({}))).await.output, "1");
    assert_eq!(counter.up(), 2);
    assert_eq!(tools.call(ToolCall::new("counter.up_arc", json!({}))).await.output, "3");
    assert_eq!(tools.call(ToolCall::new("service.twice", json!({}))).await.output, "5");
    assert_eq!(counter.0.load(Ordering::SeqCst), 5);
}

#[test]
fn a_service_cannot_be_registered_twice() {
    let counter = Arc::new(Counter::default());
    let twice = tools("::service_twice").also(counter.clone());
    for both in [twice.service(counter), tools("::service_twice").also(Counter(5.into())).service(Counter(6.into()))] {
        let text = both.build().unwrap_err().to_string();
        assert!(text.contains("two services of type") && text.contains("Counter"), "{text}");
    }
}

#[test]
fn a_manual_class_is_available_only_with_its_service() {
    assert!(Manifest::linked().get("counter.up").is_none());
    let with = tools("::service_twice").also(Counter::default()).build().unwrap();
    assert!(with.definition("counter.up").is_some());
}

#[tokio::test]
async fn an_async_fallible_constructor_builds_an_instance_for_each_call() {
    let good = tools("::Draft::").value("opening", String::from("Once")).build().unwrap();
    for _ in 0..2 {
        assert_eq!(good.call(ToolCall::new("draft.append", json!({"word": "upon"}))).await.output, "Once upon");
    }
    assert_eq!(good.call(ToolCall::new("draft.consume", json!({}))).await.output, "1");
    assert_eq!(good.call(ToolCall::new("draft.shared", json!({}))).await.output, "1");

    let bad = tools("::Draft::").value("opening", String::new()).build().unwrap();
    let result = bad.call(ToolCall::new("draft.consume", json!({}))).await;
    assert_eq!(result.output, "`draft.consume` did not run: it is unavailable right now. Try again later.");
}

#[test]
fn a_shared_instance_cannot_be_borrowed_mutably_or_moved() {
    let error = tools("::Draft::").service(Draft { words: Vec::new() }).build().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`draft.append`: it takes `&mut self`, but all calls share the `Draft`"), "{text}");
    assert!(text.contains("`draft.consume`: it takes `self`"), "{text}");
    assert_eq!(error.problems().len(), 2, "{text}");
}
