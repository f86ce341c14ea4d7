//! Streams, progress, and errors with a retry hint.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_runtime::{ErrorKind, Progress, ToolCall, ToolResult};
use tool_tests::{hints, options};

use super::{ValidCall, good, wait};
use crate::fixtures;

/// Fixtures that always fail.
pub const ALWAYS: [&str; 1] = ["streams.unfinished"];

pub fn calls() -> Vec<ValidCall> {
    vec![
        good("hints.number", json!({"text": "7"}), hints::number("7").expect("a number").to_string()),
        good("hints.aliased", json!({"text": "7"}), wait(hints::aliased("7".to_owned())).expect("a number")),
        good("hints.blocking", json!({"broken": false}), "ok"),
        good("hints.plain", json!({"text": "7"}), hints::plain("7").expect("a number").to_string()),
        good("streams.numbers", json!({"until": 3}), "[0,1,2]"),
        good("streams.numbers", json!({"until": 0}), "[]"),
        good("streams.opened", json!({"count": 2}), r#"[{"place":0},{"place":1}]"#),
        good("streams.written_out", json!({"count": 1}), r#"[{"place":0}]"#),
        good("streams.words", json!({"text": " a  b"}), r#"["a","b"]"#),
        good("streams.failing", json!({}), "[0,1,2]"),
        good("streams.hinting", json!({"hint": false}), "done"),
        good("streams.refusing", json!({"open": true}), "[1,2]"),
        good("streams.followed", json!({"lines": 2}), r#"{"place":2}"#),
        good("streams.reported", json!({"steps": 2}), "2"),
        good("streams.tail.borrowing", json!({}), r#"["a","b"]"#),
        good("previews.write", json!({"path": "a", "text": "b"}), "1"),
        good("previews.execute", json!({}), format!(" None {}", options::Session("session").0)),
        good("previews.run", json!({"command": "ls"}), "ls"),
        good("previews.panicking", json!({}), "ok"),
        good("previews.slow", json!({}), "ok"),
        good("previews.function", json!({"text": "a"}), "a 42"),
        good("previews.fallible", json!({"amount": -1}), "-1"),
    ]
}

#[track_caller]
fn failed(name: &str, arguments: Value) -> (ErrorKind, String) {
    let result = fixtures::call(name, &arguments.to_string());
    let error = result.error.expect("a failure has an error");
    assert_eq!(result.output, error.message, "the model reads the error");
    (error.kind, error.message)
}

#[test]
fn a_handler_decides_whether_its_error_is_retryable() {
    assert_eq!(failed("hints.number", json!({"text": ""})), (ErrorKind::Retry, "give digits".to_owned()));
    assert_eq!(failed("hints.aliased", json!({"text": ""})), (ErrorKind::Retry, "give digits".to_owned()));
    assert_eq!(
        failed("hints.number", json!({"text": "never"})),
        (ErrorKind::Fatal, "there is no such number".to_owned())
    );
    let plain = (ErrorKind::Failed, "invalid digit found in string".to_owned());
    assert_eq!(failed("hints.number", json!({"text": "x"})), plain);
    assert_eq!(failed("hints.plain", json!({"text": "x"})), plain);
    assert_eq!(failed("hints.blocking", json!({"broken": true})), (ErrorKind::Failed, "it broke".to_owned()));
}

#[test]
fn the_first_error_ends_a_stream() {
    assert_eq!(failed("streams.failing", json!({"fail_at": 1})), (ErrorKind::Failed, "no 1".to_owned()));
    assert_eq!(failed("streams.hinting", json!({"hint": true})), (ErrorKind::Retry, "without `hint`".to_owned()));
    assert_eq!(failed("streams.refusing", json!({"open": false})), (ErrorKind::Fatal, "it is closed".to_owned()));
}

#[test]
fn a_stream_without_a_final_result_fails() {
    let message = "the tool's stream ended without a result".to_owned();
    assert_eq!(failed("streams.unfinished", json!({})), (ErrorKind::Failed, message));
}

/// Makes a call and collects the progress of its handler.
fn heard(name: &str, arguments: &Value) -> (ToolResult, Vec<Value>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let listener = reports.clone();
    let progress = Progress::to(move |report| listener.lock().expect("no panic").push(report));
    let call = ToolCall::from_text(name, arguments.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let result = runtime.block_on(fixtures::tools().call(call).with(progress));
    let reports = std::mem::take(&mut *reports.lock().expect("no panic"));
    (result, reports)
}

#[test]
fn a_listener_receives_every_item_when_it_is_produced() {
    for (name, arguments, reports) in [
        ("streams.numbers", json!({"until": 3}), json!([0, 1, 2])),
        ("streams.words", json!({"text": "a b"}), json!(["a", "b"])),
        ("streams.followed", json!({"lines": 2}), json!(["line 0", "line 1"])),
        ("streams.failing", json!({"fail_at": 2}), json!([0, 1])),
        ("streams.reported", json!({"steps": 2}), json!([{"step": 0}, {"step": 1}])),
        ("streams.tail.borrowing", json!({}), json!(["first", "a", "b"])),
        ("streams.refusing", json!({"open": false}), json!([])),
    ] {
        assert_eq!(Value::from(heard(name, &arguments).1), reports, "{name}");
    }
}

#[test]
fn a_panicking_listener_fails_the_call() {
    let progress = Progress::to(|_| panic!("deaf"));
    let call = ToolCall::from_text("streams.numbers", r#"{"until": 1}"#);
    let result = wait(async { fixtures::tools().call(call).with(progress).await });
    assert_eq!(result.error.expect("a failure").kind, ErrorKind::Panicked);
}
