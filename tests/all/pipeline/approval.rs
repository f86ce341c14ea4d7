//! Policies, confirmers and their decisions.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_runtime::confirm::{self, Decision, PendingApproval, PolicyVerdict, Question};
use tool_runtime::{ErrorKind, Policy, ToolCall};

use super::{always, builder, erase_on, erased, kind};

#[tokio::test]
async fn without_a_confirmer_sensitive_tools_are_refused() {
    let tools = builder().build().unwrap();
    let result = erase_on(&tools, "nobody").await;
    assert_eq!(kind(&result), ErrorKind::Refused);
    assert!(result.output.contains("nobody to ask"), "{}", result.output);
    assert_eq!(erased("nobody"), 0);
    // Tools that are not sensitive run.
    assert!(tools.call(ToolCall::new("pipeline.count", json!({"by": 2}))).await.success);
    let bold = builder().policy(Policy::Yolo).build().unwrap();
    assert!(erase_on(&bold, "yolo").await.success);
}

#[tokio::test]
async fn each_decision_has_its_effect() {
    for (decision, host, expected, runs) in [
        (Decision::Run, "d-run", None, 1),
        (Decision::Refuse(Some("not today".into())), "d-refuse", Some(ErrorKind::Refused), 0),
        (Decision::Abort, "d-abort", Some(ErrorKind::Aborted), 0),
    ] {
        let tools = builder().confirm(always(decision)).build().unwrap();
        let result = erase_on(&tools, host).await;
        assert_eq!(result.error.as_ref().map(|error| error.kind), expected, "{result:?}");
        assert_eq!(erased(host), runs, "{host}");
    }
    let tools = builder().confirm(always(Decision::Edit(json!({"host": "d-edited"})))).build().unwrap();
    let result = erase_on(&tools, "d-original").await;
    assert_eq!(result.output, "erased d-edited");
    assert_eq!((erased("d-original"), erased("d-edited")), (0, 1));
    let tools = builder().confirm(always(Decision::Edit(json!({"hots": 1})))).build().unwrap();
    let result = erase_on(&tools, "d-wrong").await;
    assert_eq!(kind(&result), ErrorKind::InvalidArguments);
    assert!(result.output.starts_with("The edited arguments are invalid."), "{}", result.output);
}

#[tokio::test]
async fn a_call_can_override_the_confirmer() {
    let tools = builder().confirm(always(Decision::Abort)).build().unwrap();
    let call = || ToolCall::new("pipeline.erase", json!({"host": "brought"}));
    let result = tools.call(call()).confirm(always(Decision::Run)).await;
    assert_eq!(result.output, "erased brought");
    // The next call uses the dispatcher's confirmer again.
    assert_eq!(kind(&tools.call(call()).await), ErrorKind::Aborted);
    assert_eq!(erased("brought"), 1);
}

#[tokio::test]
async fn questions_show_the_repaired_arguments_that_run() {
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let seen = asked.clone();
    let confirm = confirm::from_fn(move |question: Question| {
        seen.lock().unwrap().push(question.arguments.clone());
        async { Decision::Run }
    });
    let tools = builder().policy(Policy::ConfirmAll).confirm(confirm).build().unwrap();
    let result = tools.call(ToolCall::from_text("pipeline.count", r#"{"by": "3"}"#)).await;
    assert_eq!(result.output, "3");
    assert_eq!(*asked.lock().unwrap(), [json!({"by": 3})]);
    assert_eq!(result.metadata.get("repairs").unwrap()[0]["path"], "by");
    // Invalid arguments are never asked about.
    let result = tools.call(ToolCall::from_text("pipeline.count", r#"{"by": "three"}"#)).await;
    assert_eq!(kind(&result), ErrorKind::InvalidArguments);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_policy_can_inspect_the_arguments() {
    let policy = Policy::custom(|_, _, arguments| match arguments["by"].as_u64() {
        Some(0..10) => PolicyVerdict::Run,
        Some(10..100) => PolicyVerdict::Ask,
        _ => PolicyVerdict::Refuse("that is too much".into()),
    });
    let tools = builder().policy(policy).confirm(always(Decision::Refuse(None))).build().unwrap();
    let count = async |by: u32| tools.call(ToolCall::new("pipeline.count", json!({"by": by}))).await;
    assert!(count(5).await.success);
    assert!(count(50).await.output.contains("was refused"));
    assert!(count(500).await.output.contains("too much"));
}

#[tokio::test]
async fn a_call_can_wait_for_approval() {
    let questions: Arc<Mutex<Vec<Question>>> = Arc::default();
    let kept = questions.clone();
    let confirm = confirm::from_fn(move |question: Question| {
        kept.lock().unwrap().push(question);
        async {
            Decision::Pending(PendingApproval::new("token-1", std::time::SystemTime::now() + Duration::from_secs(60)))
        }
    });
    let tools = builder().confirm(confirm).build().unwrap();
    let call = ToolCall::new("pipeline.erase", json!({"host": "later"})).id("call_1").conversation("chat");
    let calls = [call, ToolCall::new("pipeline.count", json!({"by": 1}))];
    let results = tools.call_all(calls).await;
    assert_eq!(kind(&results[0]), ErrorKind::Pending);
    assert_eq!(results[0].metadata.get("token"), Some(&json!("token-1")));
    assert!(results[1].success, "other calls continue");
    assert_eq!(erased("later"), 0);

    let question = questions.lock().unwrap().pop().unwrap();
    assert_eq!((question.call_id.as_deref(), question.conversation.as_deref()), (Some("call_1"), Some("chat")));
    // An approval of another definition does not count.
    let mut other = question.clone();
    let mut definition = tool_runtime::ToolDefinition::clone(&other.definition);
    definition.description = "Look at a host.".into();
    other.definition = Arc::new(definition);
    assert_eq!(kind(&tools.approve(other).await), ErrorKind::Refused);
    assert_eq!(erased("later"), 0);
    assert_eq!(tools.approve(question.clone()).await.output, "erased later");
    assert_eq!(tools.approve_with(question, json!({"host": "edited later"})).await.output, "erased edited later");
}

#[tokio::test]
async fn arguments_that_cannot_be_shown_do_not_run() {
    let policy = Policy::custom(|_, _, arguments| match arguments["host"].as_str() {
        Some(_) => PolicyVerdict::Refuse("no hosts".into()),
        None => PolicyVerdict::Run,
    });
    let tools = builder().policy(policy).allow_unknown_arguments().build().unwrap();
    for odd in [r#"{"host": "odd", "z": 1e999}"#, r#"{"host": "odd", "z": "\ud800"}"#, r#"{"host": "odd"}"#] {
        assert!(!tools.call(ToolCall::from_text("pipeline.erase", odd)).await.success, "{odd}");
    }
    assert_eq!(erased("odd"), 0);
}

#[tokio::test]
async fn an_approval_does_not_override_a_refusal_by_the_policy() {
    let policy = Policy::custom(|_, _, arguments| match arguments["host"].as_str() {
        Some("production") => PolicyVerdict::Refuse("not there".into()),
        _ => PolicyVerdict::Ask,
    });
    let edit = always(Decision::Edit(json!({"host": "production"})));
    let tools = builder().policy(policy).confirm(edit).build().unwrap();
    let result = erase_on(&tools, "staging").await;
    assert_eq!((kind(&result), erased("production")), (ErrorKind::Refused, 0));
}
