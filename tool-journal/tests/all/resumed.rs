//! A call that waits for consent is resumed after a restart, once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use serde_json::json;
use tool_journal::SqliteJournal;
use tool_runtime::confirm::{Deferred, TokenError};
use tool_runtime::{Dispatcher, ErrorKind, ToolCall, tool};

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Pay someone.
#[tool(name = "bank.pay", sensitive)]
async fn pay(to: String, amount: f64) -> String {
    RUNS.fetch_add(1, Ordering::SeqCst);
    format!("paid {amount} to {to}")
}

struct Application {
    tools: Dispatcher,
    deferred: std::sync::Arc<Deferred>,
    journal: SqliteJournal,
}

async fn start(file: &std::path::Path) -> Application {
    let journal = SqliteJournal::open(file).await.unwrap();
    let deferred = std::sync::Arc::new(Deferred::new([7; 32]).store(journal.clone()));
    let tools = Dispatcher::builder().journal(journal.clone()).confirm(deferred.clone()).build().unwrap();
    Application { tools, deferred, journal }
}

#[tokio::test]
async fn consent_can_come_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.db");
    let call = || ToolCall::new("bank.pay", json!({"to": "Ada", "amount": 0.1})).id("call_1").conversation("chat");

    let before = start(&file).await;
    let pending = before.tools.call(call()).await;
    assert_eq!(pending.error.as_ref().unwrap().kind, ErrorKind::Pending);
    let token = pending.metadata.get("token").unwrap().as_str().unwrap().to_owned();
    before.journal.close().await;
    drop(before.tools);

    let after = start(&file).await;
    let approved = after.deferred.redeem(&token, SystemTime::now()).await.unwrap();
    let result = after.tools.approve(approved.question).await;
    assert_eq!(result.output, "paid 0.1 to Ada");
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
    // A token works once, and the call has its answer.
    let replayed = after.deferred.redeem(&token, SystemTime::now()).await;
    assert!(matches!(replayed, Err(TokenError::Invalid)), "{replayed:?}");
    let again = after.tools.call(call()).await;
    assert_eq!((again.output.as_str(), again.metadata.get("replayed")), ("paid 0.1 to Ada", Some(&json!(true))));
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
}
