//! A pending call is resumed after a restart, exactly once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use serde_json::json;
use tool_journal::SqliteJournal;
use tool_runtime::confirm::{Deferred, TokenError};
use tool_runtime::journal::{EntryQuery, Journal};
use tool_runtime::{Context, Dispatcher, ErrorKind, ToolCall, tool};

use crate::support::Folder;

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Pay someone.
#[tool(name = "bank.pay", sensitive)]
async fn pay(to: String, amount: f64, #[arg(secret)] pin: String, #[inject] context: &Context) -> String {
    assert_eq!(pin, "4711-the-pin");
    RUNS.fetch_add(1, Ordering::SeqCst);
    format!("paid {amount} to {to}, as {} asked", context.chat().unwrap_or("nobody"))
}

struct Application {
    tools: Dispatcher,
    deferred: Arc<Deferred>,
    journal: SqliteJournal,
}

async fn start(folder: &Folder) -> Application {
    let journal = folder.open().await;
    let deferred = Arc::new(Deferred::new([7; 32]).store(journal.clone()));
    let tools = Dispatcher::builder().journal(journal.clone()).confirm(deferred.clone()).build().unwrap();
    Application { tools, deferred, journal }
}

#[tokio::test]
async fn a_call_can_be_approved_after_a_restart() {
    let folder = Folder::new();
    let call = || {
        let arguments = json!({"to": "Ada-the-payee", "amount": 0.1, "pin": "4711-the-pin"});
        ToolCall::new("bank.pay", arguments).id("call_1").conversation("chat").channel("telegram", "42")
    };
    let holds = |needle: &str| {
        let files = folder.names().into_iter().flat_map(|name| std::fs::read(folder.file(&name)).unwrap());
        files.collect::<Vec<_>>().windows(needle.len()).any(|window| window == needle.as_bytes())
    };

    let before = start(&folder).await;
    let pending = before.tools.call(call()).await;
    assert_eq!(pending.error.as_ref().unwrap().kind, ErrorKind::Pending);
    let token = pending.metadata.get("token").unwrap().as_str().unwrap().to_owned();
    before.journal.close().await;
    drop(before.tools);
    assert!(holds("Ada-the-payee"), "the control: that it waits is on record, without its secret");
    assert!(!holds("4711-the-pin") && !holds(&token));

    let after = start(&folder).await;
    let approve = |question| after.tools.approve(question);
    let result = after.deferred.resume(&token, SystemTime::now(), approve).await.unwrap();
    assert_eq!(result.output, "paid 0.1 to Ada-the-payee, as 42 asked");
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
    // A token works once, and the call has its result.
    let replayed = after.deferred.resume(&token, SystemTime::now(), approve).await;
    assert_eq!(replayed, Err(TokenError::Invalid));
    let again = after.tools.call(call()).await;
    assert_eq!((again.output, again.metadata.get("replayed")), (result.output, Some(&json!(true))));
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
    let decisions = after
        .journal
        .entries(EntryQuery::newest(10))
        .await
        .unwrap()
        .into_iter()
        .map(|entry| entry.decision.map(|decision| decision.to_string()));
    assert_eq!(decisions.flatten().collect::<Vec<_>>(), ["confirmed", "pending"]);
    assert!(!holds("4711-the-pin"));
}
