//! `Dispatcher::validate`. The fixtures compare its errors with those of every rejected call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_runtime::confirm::{self, Decision};
use tool_runtime::journal::MemoryJournal;
use tool_runtime::{Dispatcher, ErrorKind, Manifest, Policy, Selection, tool_class};

use crate::fixtures::{call_on, repairing, tools};

#[derive(Clone, Default)]
struct Bell(Arc<AtomicUsize>);

#[tool_class(manual, prefix = "validated", sensitive)]
impl Bell {
    /// Ring the bell.
    pub fn ring(&self, #[arg(max = 3)] times: usize) -> usize {
        self.0.fetch_add(times, Ordering::SeqCst)
    }

    /// Ring the bell later.
    pub async fn ring_later(&self, times: usize) -> usize {
        self.0.fetch_add(times, Ordering::SeqCst)
    }
}

#[test]
fn nothing_runs_and_nobody_is_asked() {
    let (bell, asked) = (Bell::default(), Arc::new(AtomicUsize::new(0)));
    let asks = asked.clone();
    let confirm = confirm::from_fn(move |_| {
        asks.fetch_add(1, Ordering::SeqCst);
        async { Decision::Run }
    });
    let journal = MemoryJournal::new();
    let builder = Dispatcher::builder().manifest(Manifest::default()).also(bell.clone()).journal(journal);
    let tools = builder.policy(Policy::ConfirmAll).confirm(confirm).build().unwrap();
    // No runtime is needed either.
    assert_eq!(tools.validate("validated.ring", json!({"times": 2})), Ok(Vec::new()));
    assert_eq!(tools.validate("validated.ring_later", json!({"times": 2})), Ok(Vec::new()));
    assert_eq!(tools.validate("validated.ring", json!({"times": 4})).unwrap_err().arguments[0].path, "times");
    assert_eq!((bell.0.load(Ordering::SeqCst), asked.load(Ordering::SeqCst)), (0, 0));
    assert!(call_on(&tools, "validated.ring", r#"{"times": 2}"#).success);
    assert_eq!((bell.0.load(Ordering::SeqCst), asked.load(Ordering::SeqCst)), (2, 1), "the control");
}

#[test]
fn the_repairs_of_a_call_are_returned() {
    let repairs = repairing().validate("add", r#"{"a": "5", "b": 2}"#).unwrap();
    assert_eq!(repairs.iter().map(ToString::to_string).collect::<Vec<_>>(), [r#"`a`: "5" → 5 (was in quotes)"#]);
    let repairs = repairing().validate("cp", json!({"file_path": "a"})).unwrap();
    let repairs: Vec<String> = repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        repairs,
        ["cp → aliases.copy (is another name for it)", "`from`: file_path → from (is another name for it)"]
    );
    let error = tools().validate("add", r#"{"a": "5", "b": 2}"#).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArguments, "repair is off");
}

#[test]
fn only_the_tools_of_a_selection_are_known() {
    let error = tools().validate("ad", "{}").unwrap_err();
    assert_eq!(error.kind, ErrorKind::UnknownTool);
    let selected = tools().select(Selection::new().names(["add"]).rename("add", "sum")).unwrap();
    assert!(selected.validate("sum", json!({"a": 1, "b": 2})).is_ok());
    let error = selected.validate("sum", json!({"a": 1})).unwrap_err();
    assert!(error.message.contains("`sum`"), "{error}");
    assert_eq!(selected.validate("add", json!({"a": 1, "b": 2})).unwrap_err().kind, ErrorKind::UnknownTool);
}
