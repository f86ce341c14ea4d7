//! Borrowed and moved values.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tool_runtime::{Builder, CallOutcome, ErrorKind, Scope, ToolCall, tool, tool_class};

use super::{CurrentUser, Session, Transaction, lines, tools};

/// Lends a transaction for writing, beside a user and a fixed text.
#[tool(name = "ledger.write")]
async fn ledger_write(
    text: String,
    #[inject] transaction: &mut Transaction,
    #[inject] user: &CurrentUser,
    #[inject] ledger_name: &str,
) -> String {
    transaction.written.push(text);
    tokio::task::yield_now().await;
    format!("{} wrote to {ledger_name}: {:?}", user.0, transaction.written)
}

fn ledger(ends: &Arc<Mutex<Vec<String>>>, fail_commit: bool) -> Builder {
    let ends = ends.clone();
    tools("::ledger_write")
        .provide("transaction", |_| async { Ok::<_, String>(Transaction { written: Vec::new() }) })
        .finish("transaction", move |transaction: Transaction, outcome: CallOutcome| {
            let ends = ends.clone();
            async move {
                ends.lock().unwrap().push(format!("{outcome:?} {:?}", transaction.written));
                if fail_commit { Err("disk full") } else { Ok(()) }
            }
        })
        .per_call::<CurrentUser>()
        .value("ledger_name", String::from("main"))
}

#[tokio::test]
async fn a_mutably_borrowed_value_is_returned_and_finished() {
    let ends = Arc::default();
    let tools = ledger(&ends, false).build().unwrap();
    let call = ToolCall::new("ledger.write", json!({"text": "a"}));
    let result = tools.call(call.clone()).with(CurrentUser("ada")).await;
    assert_eq!(result.output, r#"ada wrote to main: ["a"]"#);
    assert_eq!(lines(&ends), [r#"Success ["a"]"#]);

    let result = tools.call(call).await;
    assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::Injection);
    assert_eq!(result.output, "`ledger.write` did not run: no `CurrentUser` came with the call.");
    assert_eq!(lines(&ends), ["Failed []"]);
}

#[tokio::test]
async fn a_failed_commit_fails_the_call() {
    let ends = Arc::default();
    let tools = ledger(&ends, true).build().unwrap();
    let result = tools.call(ToolCall::new("ledger.write", json!({"text": "a"}))).with(CurrentUser("ada")).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::Finish);
    assert!(result.output.contains("its changes could not be saved"), "{}", result.output);
}

#[tokio::test]
async fn a_value_without_clone_is_moved_to_its_only_consumer() {
    let make = |_: Scope| async { Ok::<_, String>(Transaction { written: vec!["x".into()] }) };
    let tools = tools("::moved_out").provide("transaction", make).build().unwrap();
    assert_eq!(tools.call(ToolCall::from_text("moved.out", "")).await.output, "1");
    assert_eq!(tools.call(ToolCall::from_text("moved.out", "{}")).await.output, "1");
}

/// Borrows one value in `new`, in the method, and twice there.
struct Lender {
    id: usize,
}

#[tool_class(prefix = "lender")]
impl Lender {
    pub fn new(session: &Session) -> Self {
        Self { id: session.id }
    }

    pub async fn twice(&self, session: &Session, #[inject] other: &Session) -> usize {
        tokio::task::yield_now().await;
        self.id + session.id + other.id
    }
}

#[tokio::test]
async fn a_value_can_be_borrowed_several_times_and_is_finished_once() {
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = ends.clone();
    let tools = tools("::Lender::")
        .provide("session", |_| async { Ok::<_, String>(Session { id: 2, log: Arc::default() }) })
        .finish("session", move |_: Session, outcome| {
            log.lock().unwrap().push(format!("{outcome:?}"));
            async {}
        })
        .build()
        .unwrap();
    assert_eq!(tools.call(ToolCall::new("lender.twice", json!({}))).await.output, "6");
    assert_eq!(lines(&ends), ["Success"]);
}

/// Counts the words that a function of the application accepts.
#[tool(name = "injection.accepted", generics(accepts = fn(&str) -> bool))]
fn accepted(words: Vec<String>, #[inject] mut accepts: impl FnMut(&str) -> bool + Send + Sync) -> usize {
    words.iter().filter(|word| accepts(word)).count()
}

#[tokio::test]
async fn a_function_is_injected_in_place_of_a_closure() {
    fn is_long(word: &str) -> bool {
        word.len() > 3
    }
    let tools = tools("::accepted").value("accepts", is_long as fn(&str) -> bool).build().unwrap();
    let call = ToolCall::new("injection.accepted", json!({"words": ["one", "three", "four"]}));
    assert_eq!(tools.call(call).await.output, "2");
}
