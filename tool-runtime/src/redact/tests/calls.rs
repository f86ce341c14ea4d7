//! Secrets of calls are shown nowhere.

use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::confirm::{Decision, Question, from_fn};
use crate::events::Update;
use crate::journal::{EntryQuery, Journal, MemoryJournal};
use crate::testing::LogRecorder;
use crate::{Builder, Dispatcher, Manifest, RuntimeTool, ToolCall, ToolResult};

#[derive(Deserialize, JsonSchema)]
struct Account {
    #[expect(dead_code)]
    user: String,
    #[schemars(extend("writeOnly" = true))]
    key: String,
}

#[derive(Deserialize, JsonSchema)]
struct Login {
    #[serde(alias = "acct")]
    account: Option<Account>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    login: Login,
    #[serde(default)]
    #[expect(dead_code)]
    accounts: Vec<Account>,
}

/// Returns the length of the key.
fn tools() -> Builder {
    let login = RuntimeTool::new("login", "", |arguments: Arguments| async move {
        arguments.login.account.map_or_else(|| "no key".to_owned(), |account| format!("{} letters", account.key.len()))
    });
    Dispatcher::builder().manifest(Manifest::default()).tool(login.sensitive())
}

fn call(arguments: Value) -> ToolCall<'static> {
    ToolCall::new("login", arguments).conversation("c").id("1")
}

/// A call with another name for a field: the handler gets the secret through serde's `alias`.
fn aliased() -> ToolCall<'static> {
    call(json!({"login": {"acct": {"user": "bob", "key": "SECRET"}}}))
}

/// A call with a key that serde ignores.
fn misspelt() -> ToolCall<'static> {
    call(json!({"login": {"account": {"user": "ada", "key": "SECRET"}, "accont": {"user": "bob", "key": "SECRET"}}}))
}

/// Calls that are refused for values of the wrong shape.
fn refused() -> impl Iterator<Item = ToolCall<'static>> {
    let account = json!({"user": "bob", "key": "SECRET"});
    let wrong = [
        json!({"login": {}, "accounts": account, "bogus": 1}),
        json!({"login": {}, "accounts": [["bob", "SECRET"]]}),
        json!({"login": {}, "accounts": [[account]]}),
        json!({"login": {"account": ["bob", "SECRET"]}, "bogus": 1}),
        json!({"login": ["bob", "SECRET"]}),
        json!({"login": account.to_string(), "bogus": 1}),
        json!([account]),
    ];
    wrong.into_iter().map(call)
}

fn agreeing() -> impl crate::confirm::Confirm {
    from_fn(|_: Question| async { Decision::Run })
}

#[track_caller]
fn assert_hidden(what: &str, text: &str) {
    assert!(!text.contains("SECRET"), "{what}: {text}");
}

#[tokio::test]
async fn not_in_the_journal() {
    let journal = Arc::new(MemoryJournal::new());
    let tools = tools().confirm(agreeing()).journal(journal.clone()).build().unwrap();
    assert_eq!(tools.call(aliased()).await.output, "6 letters");
    assert_eq!(tools.call(misspelt().id("2")).await.output, "6 letters");
    for wrong in refused() {
        assert!(!tools.call(wrong.id("3")).await.success);
    }
    let entries = format!("{:?}", journal.entries(EntryQuery::newest(100)).await.unwrap());
    assert!(entries.contains("acct") && entries.contains("ada"), "the control: {entries}");
    assert_hidden("the journal", &entries);
}

#[tokio::test]
async fn not_in_events_nor_in_results() {
    let tools = tools().confirm(agreeing()).build().unwrap();
    let mut subscriber = tools.events().subscribe();
    for call in [aliased(), misspelt()].into_iter().chain(refused()) {
        assert_hidden("a result", &tools.call(call).await.output);
    }
    let mut seen = String::new();
    while let Some(Update::Event(event)) = subscriber.try_next() {
        seen += &format!("{:?}", event.kind);
    }
    assert!(seen.contains("acct") && seen.contains("ada"), "the control: {seen}");
    assert_hidden("the events", &seen);
}

#[tokio::test]
async fn not_in_a_dry_run() {
    let tools = tools().dry_run(true).build().unwrap();
    for call in [aliased(), misspelt()] {
        let ToolResult { output, .. } = tools.call(call).await;
        assert!(output.contains("would run"), "the control: {output}");
        assert_hidden("the dry run", &output);
    }
}

#[tokio::test]
async fn not_in_traced_arguments() {
    let log = LogRecorder::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let tools = tools().confirm(agreeing()).trace_arguments().build().unwrap();
    tools.call(aliased()).await;
    tools.call(misspelt()).await;
    let seen = log.text();
    assert!(seen.contains("acct") && seen.contains("ada"), "the control: {seen}");
    assert_hidden("the span", &seen);
}

/// A question has no secrets, and the edited arguments get them back.
#[tokio::test]
async fn not_in_a_question_but_in_the_edited_call() {
    let seen = Arc::new(Mutex::new(String::new()));
    let recorded = seen.clone();
    let editing = from_fn(move |question: Question| {
        let text = question.to_edit();
        *recorded.lock().unwrap() += &format!("{}\n{text}\n{question:?}\n", question.shown());
        let edited = question.edited(&text.replace("ada", "eve"));
        async { edited.map_or(Decision::Abort, Decision::Edit) }
    });
    let tools = tools().confirm(editing).build().unwrap();
    assert_eq!(tools.call(aliased()).await.output, "6 letters");
    assert_eq!(tools.call(misspelt()).await.output, "6 letters");
    let seen = seen.lock().unwrap();
    assert!(seen.contains("acct") && seen.contains("ada"), "the control: {seen}");
    assert_hidden("the question", &seen);
}
