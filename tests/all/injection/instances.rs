//! Instances: shared, behind a lock, trait objects, and those built inside a call.

use std::sync::Arc;

use serde_json::json;
use tool_runtime::inject::InjectError;
use tool_runtime::{Dispatcher, ErrorKind, Manifest, ToolCall, tool_class};
use tool_tests::backends::Transaction;

use super::tools;

#[derive(Default)]
struct TaskState(Vec<String>);

#[tool_class(manual)]
impl TaskState {
    /// A constructor without parameters is for the application.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task.
    pub async fn add_task(&mut self, title: String) -> usize {
        let before = self.0.len();
        tokio::task::yield_now().await;
        self.0.push(title);
        assert_eq!(self.0.len(), before + 1, "another call has changed the list");
        self.0.len()
    }

    /// Counts the tasks.
    pub fn tasks(&self) -> usize {
        self.0.len()
    }
}

#[tokio::test]
async fn an_exclusive_service_keeps_its_state_and_serves_one_call_at_a_time() {
    // The tools are written into a manifest by a dispatcher without one. It skips what other tests bind.
    let all = Dispatcher::builder().lenient().service_mut(TaskState::new()).build().unwrap().manifest();
    let own = all.iter().filter(|(name, _)| name.starts_with("task_state."));
    let own: Manifest = own.map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
    let unlisted = Dispatcher::builder().manifest(Manifest::default()).service_mut(TaskState::new()).build();
    let error = unlisted.expect_err("the tools have no entries").to_string();
    assert!(error.ends_with("write them into the manifest with `tool-gen write --with all::TaskState`"), "{error}");
    let tools = Dispatcher::builder().manifest(own).service_mut(TaskState::new()).build().unwrap();
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let tools = tools.clone();
        let call = async move { tools.call(ToolCall::new("task_state.add_task", json!({"title": "x"}))).await };
        running.spawn(call);
    }
    while let Some(result) = running.join_next().await {
        let result = result.unwrap();
        assert!(result.success, "{}", result.output);
    }
    assert_eq!(tools.call(ToolCall::new("task_state.tasks", json!({}))).await.output, "50");
}

/// Without an injected parameter, an instance per call would silently lose its state.
#[derive(Default)]
struct Forgetful(std::sync::atomic::AtomicUsize);

#[tool_class]
impl Forgetful {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn add(&self) -> usize {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1
    }
}

#[tokio::test]
async fn a_constructor_without_parameters_is_not_called_for_each_call() {
    let error = tools("::Forgetful::").build().unwrap_err().to_string();
    assert!(error.contains("`forgetful.add`: there is no `Forgetful` to call it on; add `.service(..)`"), "{error}");
    let tools = tools("::Forgetful::").service(Forgetful::new()).build().unwrap();
    for count in ["1", "2"] {
        assert_eq!(tools.call(ToolCall::new("forgetful.add", json!({}))).await.output, count);
    }
}

#[tool_class]
trait Weather: Send + Sync {
    /// Tells the weather.
    fn weather(&self) -> String;
}

struct Sunny;

impl Weather for Sunny {
    fn weather(&self) -> String {
        "sunny".to_owned()
    }
}

#[tokio::test]
async fn a_trait_needs_an_implementation() {
    let error = tools("::Weather::").service(Sunny).build().unwrap_err().to_string();
    assert!(error.contains("add `.service(Arc::new(..) as Arc<dyn Weather>)`"), "{error}");
    let tools = tools("::Weather::").service(Arc::new(Sunny) as Arc<dyn Weather>).build().unwrap();
    assert_eq!(tools.call(ToolCall::new("weather.weather", json!({}))).await.output, "sunny");
}

#[tokio::test]
async fn an_instance_that_cannot_be_built_inside_a_call_is_reported() {
    let transaction = || Transaction { statements: vec!["a".to_owned(), "b".to_owned()] };
    let provide = move |_| async move { Ok::<_, InjectError>(transaction()) };
    let builder = tool_runtime::Dispatcher::builder().manifest(crate::fixtures::only("ledger.entries"));
    let tools = builder.provide("transaction", provide).build().unwrap();
    let result = tools.call(ToolCall::new("ledger.entries", json!({}))).await;
    assert_eq!(result.error.map(|error| error.kind), Some(ErrorKind::Injection));
    assert_eq!(result.output, "`ledger.entries` did not run: it is unavailable right now. Try again later.");
}

#[test]
fn missing_values_of_a_borrowing_class_are_reported() {
    let builder = tool_runtime::Dispatcher::builder().manifest(crate::fixtures::only("ledger.entries"));
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("`transaction` of type `Transaction`: nothing of type `Transaction`"), "{error}");
}

mod elsewhere {
    /// Another type of the same short name.
    pub struct Transaction;
}

#[test]
fn types_with_the_same_short_name_are_distinguished_by_path() {
    let builder = tool_runtime::Dispatcher::builder().manifest(crate::fixtures::only("ledger.entries"));
    let error = builder.value("other", elsewhere::Transaction).build().unwrap_err().to_string();
    assert!(error.contains("nothing of type `tool_tests::backends::Transaction` is provided"), "{error}");
    assert!(error.contains("elsewhere::Transaction` is another type"), "{error}");
}

#[test]
fn a_value_of_the_right_name_and_another_type_is_named_by_its_path() {
    let builder = Dispatcher::builder().manifest(crate::fixtures::only("ledger.entries"));
    let error = builder.value("transaction", elsewhere::Transaction).build().unwrap_err().to_string();
    assert!(error.contains("elsewhere::Transaction`; provide a `tool_tests::backends::Transaction`"), "{error}");
}
