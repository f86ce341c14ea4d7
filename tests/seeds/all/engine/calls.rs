//! The steps of a call: lookup, validation, approval, dry run, execution, result.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seed_tests::injected::Database;
use serde_json::json;
use tool_agent::{Agent, Reply, ScriptedModel};
use tool_runtime::confirm::{self, Confirm, Decision};
use tool_runtime::{Dispatcher, ErrorKind, Policy};

use crate::support::{builder, call, kind, linked, output};

/// Returns a confirmer that counts its questions.
fn counting(decision: Decision) -> (impl Confirm, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let confirm = confirm::from_fn(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        let decision = decision.clone();
        async { decision }
    });
    (confirm, asked)
}

/// Returns how often a policy asks about a tool that is not sensitive and about one that is.
async fn questions(policy: Policy) -> [usize; 2] {
    let (confirm, asked) = counting(Decision::Run);
    let tools = builder(&Database::default()).policy(policy).confirm(confirm).build().unwrap();
    let mut questions = [0, 0];
    for (tool, questions) in ["uptime", "system.restart"].into_iter().zip(&mut questions) {
        asked.store(0, Ordering::Relaxed);
        output(&tools, tool, json!({})).await;
        *questions = asked.load(Ordering::Relaxed);
    }
    questions
}

/// Requirement 132
#[tokio::test]
async fn a_call_of_an_unknown_tool_is_a_failed_result() {
    let result = call(&linked(), "ecko", json!({})).await;
    assert_eq!(kind(&result), ErrorKind::UnknownTool);
    assert!(result.output.contains("`ecko`") && result.output.contains("`echo`"), "{}", result.output);
}

/// Requirement 133
#[tokio::test]
async fn a_call_with_invalid_arguments_is_a_failed_result() {
    let result = call(&linked(), "echo", json!({"message": {}, "times": 99})).await;
    assert_eq!(kind(&result), ErrorKind::InvalidArguments);
    assert!(result.output.contains("message") && result.output.contains("times"), "{}", result.output);
}

/// Requirement 134
#[tokio::test]
async fn the_policy_decides_whether_the_user_is_asked() {
    assert_eq!(questions(Policy::ConfirmSensitive).await, [0, 1]);
    assert_eq!(questions(Policy::ConfirmAll).await, [1, 1]);
}

/// Requirement 137
#[tokio::test]
async fn a_call_that_the_user_cancels_is_a_failed_result() {
    let (confirm, asked) = counting(Decision::Refuse(None));
    let tools = builder(&Database::default()).confirm(confirm).build().unwrap();
    assert_eq!(kind(&call(&tools, "system.restart", json!({})).await), ErrorKind::Refused);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

/// Requirement 138
#[tokio::test]
async fn a_dry_run_describes_the_call_and_runs_nothing() {
    let database = Database::default();
    let tools = builder(&database).dry_run(true).build().unwrap();
    let described = output(&tools, "points.write", json!({"point": 7})).await;
    assert!(described.contains("points.write") && described.contains('7'), "{described}");
    assert_eq!((database.opened(), database.points().len()), (0, 0));
}

/// Requirement 140
#[tokio::test]
async fn a_call_runs_its_handler_with_the_validated_arguments() {
    assert_eq!(output(&linked(), "echo", json!({"message": "hi", "times": "3"})).await, "hi hi hi");
}

/// Requirement 141
#[tokio::test]
async fn a_panic_does_not_leave_the_dispatcher() {
    let tools = linked();
    assert_eq!(kind(&call(&tools, "faults.fail", json!({"how": "panic"})).await), ErrorKind::Panicked);
    assert_eq!(output(&tools, "uptime", json!({})).await, "60", "the dispatcher continues");
}

/// Requirement 143
#[tokio::test]
async fn every_call_returns_a_result_with_success_output_and_error() {
    let tools = linked();
    let done = call(&tools, "uptime", json!({})).await;
    assert_eq!((done.success, done.output.as_str(), done.error), (true, "60", None));
    let failed = call(&tools, "faults.fail", json!({"how": "itself"})).await;
    assert_eq!((failed.success, failed.output.as_str()), (false, "failed by itself"));
    assert_eq!(failed.error.unwrap().kind, ErrorKind::Failed);
}

/// Requirement 144
#[tokio::test]
async fn errors_do_not_end_the_loop() {
    let wrong = Reply::call("gone", json!({})).and_call("faults.fail", json!({"how": "panic"}));
    let model = ScriptedModel::new([wrong, Reply::text("Both failed.")]).allow_unknown_tools();
    let agent = Agent::builder(model, linked()).build();
    let outcome = agent.conversation("c").say("Try.").await;
    assert_eq!((outcome.answer(), outcome.failed_calls.len()), (Some("Both failed."), 2));
}

/// Requirement 145
#[tokio::test]
async fn yolo_never_asks() {
    assert_eq!(questions(Policy::Yolo).await, [0, 0]);
}

/// Requirement 146
#[tokio::test]
async fn confirm_all_always_asks() {
    assert_eq!(questions(Policy::ConfirmAll).await, [1, 1]);
}

/// Requirement 147
#[tokio::test]
async fn confirm_sensitive_asks_about_sensitive_tools() {
    assert_eq!(questions(Policy::ConfirmSensitive).await, [0, 1]);
    let without: Dispatcher = linked();
    assert_eq!(kind(&call(&without, "system.restart", json!({})).await), ErrorKind::Refused, "it is the default");
}
