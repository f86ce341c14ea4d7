//! Dry runs and previews: what a call would do.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_runtime::confirm::{self, Decision};
use tool_runtime::{Effect, ErrorKind, Question, ToolCall, tool};

use super::{ERASED, builder, erased, kind};

/// Rename a host.
#[tool(name = "pipeline.rename", sensitive, preview = "would_rename")]
fn rename(from: String, to: String) -> String {
    ERASED.lock().unwrap().push(from.clone());
    format!("{from} is {to}")
}

fn would_rename(from: String, to: String) -> Effect {
    Effect::Command(format!("hostnamectl rename {from} {to}"))
}

#[tokio::test]
async fn a_dry_run_runs_nothing_and_asks_nobody() {
    let tools = builder().dry_run(true).build().unwrap();
    let call = ToolCall::new("pipeline.erase", json!({"host": "dry", "password": "hush"}));
    let result = tools.call(call).await;
    assert!(result.success && result.output.contains("would run"), "{}", result.output);
    assert!(!result.output.contains("hush"), "{}", result.output);
    assert_eq!(erased("dry"), 0);
    assert_eq!(kind(&tools.call(ToolCall::new("pipeline.erase", json!({}))).await), ErrorKind::InvalidArguments);
    let tools = builder().build().unwrap();
    assert!(tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).dry_run().await.output.contains("would run"));
    assert_eq!(tools.call(ToolCall::new("pipeline.count", json!({"by": 1}))).await.output, "1");
}

#[tokio::test]
async fn a_preview_is_shown_before_anything_runs() {
    let previews: Arc<Mutex<Vec<Option<Value>>>> = Arc::default();
    let seen = previews.clone();
    let confirm = confirm::from_fn(move |question: Question| {
        seen.lock().unwrap().push(question.preview);
        async { Decision::Refuse(None) }
    });
    let tools = builder().confirm(confirm).build().unwrap();
    let call = || ToolCall::new("pipeline.rename", json!({"from": "previewed", "to": "b"}));
    assert_eq!(kind(&tools.call(call()).await), ErrorKind::Refused);
    let expected = json!({"command": "hostnamectl rename previewed b"});
    assert_eq!(*previews.lock().unwrap(), [Some(expected.clone())]);
    let dry = tools.call(call()).dry_run().await;
    assert_eq!(dry.metadata.get("preview"), Some(&expected));
    assert_eq!(erased("previewed"), 0);
}
