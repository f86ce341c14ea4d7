use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tool_http::Api;
use tool_runtime::confirm::{Deferred, SealingKey};
use tool_runtime::journal::{Journal, JournalError, MemoryJournal};
use tool_runtime::{Builder, Dispatcher, ErrorKind, HandlerError, Policy, ToolError, ToolResult, tool, tool_class};

use crate::support::{Answer, Stream, get, json, mounted, post, request, send};

/// A bank whose payments are counted.
#[derive(Clone)]
struct Bank {
    payments: Arc<AtomicU32>,
    /// Released when a slow payment may finish.
    cleared: Arc<Semaphore>,
}

impl Bank {
    fn new() -> Self {
        Self { payments: Arc::default(), cleared: Arc::new(Semaphore::new(0)) }
    }

    fn count(&self) -> u32 {
        self.payments.load(Ordering::SeqCst)
    }
}

#[tool_class(manual, prefix = "bank")]
impl Bank {
    /// Pay.
    pub fn pay(&self, to: &str, #[arg(default = 1)] amount: u32) -> String {
        format!("payment {}: {amount} to {to}", self.payments.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// Pay the same amount to another payee.
    pub fn donate(&self, to: &str, amount: u32) -> String {
        self.pay(to, amount)
    }

    /// Pay, and wait until it is cleared.
    pub async fn slow(&self, to: &str) -> String {
        let paid = self.pay(to, 1);
        self.cleared.acquire().await.expect("it is not closed").forget();
        paid
    }

    /// Pay, and fail.
    pub fn fail(&self, to: &str) -> Result<String, HandlerError> {
        Err(HandlerError::failed(self.pay(to, 1)))
    }

    /// Pay, and report that the bank is busy.
    pub fn busy(&self) -> ToolResult {
        ToolResult::failure(ToolError::new(ErrorKind::Unavailable, self.pay("nobody", 1)))
    }

    /// Pay after approval, and wait until it is cleared.
    #[tool(sensitive)]
    pub async fn wire(&self, to: &str) -> String {
        self.slow(to).await
    }
}

struct Fixture {
    bank: Bank,
    router: Router,
}

impl Fixture {
    fn new() -> Self {
        Self::with(|tools| tools.journal(MemoryJournal::new()))
    }

    fn with(build: impl FnOnce(Builder) -> Builder) -> Self {
        let bank = Bank::new();
        let tools = Dispatcher::builder().manifest(tool_runtime::Manifest::default()).also(bank.clone());
        let tools = build(tools.policy(Policy::ConfirmSensitive)).build().unwrap();
        let router = mounted(Api::new(tools).pending(Deferred::new(SealingKey::random().unwrap())));
        Self { bank, router }
    }

    async fn call(&self, tool: &str, key: &str, arguments: &Value) -> Answer {
        send(&self.router, keyed(tool, key, arguments)).await
    }

    /// Makes a call, waits until it has paid, and disconnects.
    async fn call_and_leave(&self, request: Request<Body>) {
        let before = self.bank.count();
        let router = self.router.clone();
        let client = tokio::spawn(async move { send(&router, request).await });
        self.until_paid(before + 1).await;
        client.abort();
        assert!(client.await.unwrap_err().is_cancelled());
    }

    async fn until_paid(&self, payments: u32) {
        while self.bank.count() < payments {
            tokio::task::yield_now().await;
        }
    }

    async fn waiting(&self) -> Vec<Value> {
        send(&self.router, get("/api/pending?conversation=c")).await.json()["pending"].as_array().unwrap().clone()
    }
}

fn keyed(tool: &str, key: &str, arguments: &Value) -> Request<Body> {
    let (tool, query) = tool.split_once('?').unwrap_or((tool, ""));
    let request = request("POST", &format!("/api/tools/bank.{tool}?conversation=c&{query}"));
    json(request.header("idempotency-key", key), arguments)
}

#[tokio::test]
async fn a_call_completes_without_its_client_and_is_replayed() {
    let fixture = Fixture::new();
    let to = json!({"to": "a"});
    for (key, accept) in [("json", "application/json"), ("events", "text/event-stream")] {
        let mut request = keyed("slow", key, &to);
        request.headers_mut().insert("accept", accept.parse().unwrap());
        fixture.call_and_leave(request).await;

        let again = fixture.call("slow", key, &to).await;
        assert_eq!(again.problem(), (409, "in_progress".into()), "{accept}");
        assert_eq!(again.header("retry-after"), "1");
        let other = fixture.call("pay", key, &to).await;
        assert_eq!(other.problem(), (409, "in_progress".into()), "{accept}");

        let paid = fixture.bank.count();
        fixture.bank.cleared.add_permits(1);
        let answer = loop {
            let answer = fixture.call("slow", key, &to).await;
            if answer.status != StatusCode::CONFLICT {
                break answer;
            }
            tokio::task::yield_now().await;
        };
        let document = answer.json();
        assert_eq!((answer.status, &document["metadata"]["replayed"]), (StatusCode::OK, &json!(true)), "{answer:?}");
        assert_eq!(document["output"], format!("payment {paid}: 1 to a"));
        assert_eq!(fixture.bank.count(), paid, "it ran once");
    }
    // The control: without a key the result could not be requested again, so the call is stopped.
    let without = post("/api/tools/bank.slow?conversation=c", &to);
    fixture.call_and_leave(without).await;
    fixture.bank.cleared.add_permits(1);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fixture.bank.cleared.available_permits(), 1, "no handler waited for it");
}

/// The client must check instead of retrying, which would return the same result forever.
#[tokio::test]
async fn a_stopped_call_does_not_invite_a_retry() {
    let fixture = Fixture::new();
    let to = json!({"to": "a"});
    let first = fixture.call("slow?timeout_ms=5", "1", &to).await;
    assert_eq!(first.problem(), (504, "timed_out".into()));
    for _ in 0..2 {
        let again = fixture.call("slow?timeout_ms=60000", "1", &to).await;
        assert_eq!(again.problem(), (409, "outcome_unknown".into()));
        let document = again.json();
        assert_eq!((again.header("retry-after"), &document["metadata"]["replayed"]), ("", &json!(true)));
        assert!(document["detail"].as_str().unwrap().contains("may have taken effect"), "{document}");
    }
    let mut streamed = keyed("slow", "1", &to);
    streamed.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let events = Stream::open(&fixture.router, streamed).await.all().await;
    assert_eq!((events[0].name.as_str(), &events[0].data["error"]["kind"]), ("result", &json!("outcome_unknown")));
    assert_eq!(fixture.bank.count(), 1);

    // A failure of the tool itself is replayed unchanged.
    for _ in 0..2 {
        assert_eq!(fixture.call("fail", "2", &to).await.problem(), (422, "failed".into()));
    }
    // So is a temporary failure, without its `Retry-After`.
    assert_eq!(fixture.call("busy", "3", &json!({})).await.problem(), (503, "unavailable".into()));
    assert_eq!(fixture.call("busy", "3", &json!({})).await.problem(), (409, "unavailable".into()));
    assert_eq!(fixture.bank.count(), 3);
}

#[tokio::test]
async fn a_call_that_did_not_start_in_time_can_be_repeated() {
    let fixture = Fixture::with(|tools| tools.journal(MemoryJournal::new()).concurrency(1, 8));
    let to = json!({"to": "a"});
    fixture.call_and_leave(keyed("slow", "1", &to)).await;
    assert_eq!(fixture.call("pay?timeout_ms=5", "2", &to).await.problem(), (504, "timed_out".into()));
    assert_eq!(fixture.bank.count(), 1, "it waited for its turn");
    fixture.bank.cleared.add_permits(1);
    let answer = fixture.call("pay", "2", &to).await.json();
    assert_eq!((&answer["output"], answer["metadata"].get("replayed")), (&json!("payment 2: 1 to a"), None));
}

#[tokio::test]
async fn a_key_belongs_to_one_call() {
    let fixture = Fixture::new();
    let pay = async |tool: &str, arguments: Value| fixture.call(tool, "1", &arguments).await;
    assert_eq!(pay("pay", json!({"to": "a", "amount": 1})).await.json()["output"], "payment 1: 1 to a");
    for (tool, arguments) in [
        ("pay", json!({"to": "b", "amount": 1})),
        ("pay", json!({"to": "a", "amount": 2})),
        ("donate", json!({"to": "a", "amount": 1})),
    ] {
        let (status, kind) = pay(tool, arguments.clone()).await.problem();
        assert_eq!((status, kind.as_str()), (422, "idempotency_key"), "{tool} {arguments}");
    }
    assert_eq!(pay("pay", json!({"to": 1})).await.problem(), (422, "invalid_arguments".into()));
    assert_eq!(fixture.bank.count(), 1);
    // The control: the same call written differently, and another key.
    let again = pay("pay", json!({"amount": 1, "to": "a"})).await.json();
    assert_eq!((&again["output"], &again["metadata"]["replayed"]), (&json!("payment 1: 1 to a"), &json!(true)));
    assert_eq!(fixture.call("pay", "2", &json!({"to": "b"})).await.json()["output"], "payment 2: 1 to b");
    // A key is free until a call has run with it.
    assert_eq!(fixture.call("pay", "3", &json!({"to": 1})).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(fixture.call("pay", "3", &json!({"to": "c"})).await.status, StatusCode::OK);
    // A dry run leaves nothing to replay.
    assert_eq!(fixture.call("pay?dry_run=true", "4", &json!({"to": "d"})).await.status, StatusCode::OK);
    assert_eq!(fixture.call("pay", "4", &json!({"to": "e"})).await.status, StatusCode::OK);
    assert_eq!(fixture.bank.count(), 4);
}

#[tokio::test]
async fn rejects_a_key_without_a_journal() {
    let fixture = Fixture::with(|tools| tools);
    let (to, path) = (json!({"to": "a"}), "/api/tools/bank.pay?conversation=c");
    let refused = fixture.call("pay", "1", &to).await;
    assert_eq!(refused.problem(), (400, "idempotency_key".into()));
    assert!(refused.json()["detail"].as_str().unwrap().contains("no journal"), "{refused:?}");
    assert_eq!(fixture.bank.count(), 0);
    assert_eq!(send(&fixture.router, post(path, &to)).await.status, StatusCode::OK, "the control");

    let fixture = Fixture::with(|tools| tools.journal(Unreadable));
    assert_eq!(fixture.call("pay", "1", &to).await.problem(), (503, "journal".into()));
    assert_eq!(fixture.bank.count(), 0);
}

/// A journal whose reads fail.
struct Unreadable;

type Answered<'a, T> = tool_runtime::journal::BoxFuture<'a, Result<T, JournalError>>;

fn unreadable<'a, T: Send + 'a>() -> Answered<'a, T> {
    let error = JournalError::new(tool_runtime::journal::JournalErrorKind::Unavailable, "the disk is gone");
    Box::pin(async { Err(error) })
}

impl Journal for Unreadable {
    fn begin<'a>(
        &'a self,
        _: &'a tool_runtime::journal::StartedCall,
    ) -> Answered<'a, tool_runtime::journal::CallStatus> {
        unreadable()
    }

    fn state_of<'a>(&'a self, _: &'a str, _: &'a str) -> Answered<'a, Option<tool_runtime::journal::EntryState>> {
        unreadable()
    }

    fn finish<'a>(
        &'a self,
        _: &'a tool_runtime::journal::CallKey,
        _: &'a tool_runtime::journal::FinishedCall,
    ) -> Answered<'a, ()> {
        unreadable()
    }

    fn note<'a>(
        &'a self,
        _: &'a tool_runtime::journal::StartedCall,
        _: &'a tool_runtime::journal::JournalDecision,
    ) -> Answered<'a, ()> {
        unreadable()
    }

    fn entries(&self, _: tool_runtime::journal::EntryQuery) -> Answered<'_, Vec<tool_runtime::journal::JournalEntry>> {
        unreadable()
    }
}

#[tokio::test]
async fn a_repeated_call_is_pending_once() {
    let fixture = Fixture::new();
    fixture.bank.cleared.add_permits(10);
    let to = json!({"to": "a"});
    let first = fixture.call("wire", "1", &to).await;
    assert_eq!(first.status, StatusCode::ACCEPTED);
    let token = |answer: &Answer| answer.json()["metadata"]["token"].clone();
    let again = fixture.call("wire", "1", &to).await;
    assert_eq!((again.status, token(&again)), (StatusCode::ACCEPTED, token(&first)));
    assert_eq!(fixture.waiting().await.len(), 1);
    let other = fixture.call("wire", "1", &json!({"to": "b"})).await;
    assert_eq!(other.problem(), (422, "idempotency_key".into()));
    assert_eq!(fixture.waiting().await.len(), 1);
    // The control: another key is another call.
    assert_eq!(fixture.call("wire", "2", &to).await.status, StatusCode::ACCEPTED);
    assert_eq!(fixture.waiting().await.len(), 2);

    let approve = || post("/api/pending/approve", &json!({"token": token(&first)}));
    assert_eq!(send(&fixture.router, approve()).await.json()["output"], "payment 1: 1 to a");
    let after = fixture.call("wire", "1", &to).await.json();
    assert_eq!((&after["output"], &after["metadata"]["replayed"]), (&json!("payment 1: 1 to a"), &json!(true)));
    assert_eq!(fixture.bank.count(), 1);
}

/// The token is redeemed, so the call could not be approved again.
#[tokio::test]
async fn an_approved_call_completes_without_its_client() {
    let fixture = Fixture::new();
    let to = json!({"to": "a"});
    let token = fixture.call("wire", "1", &to).await.json()["metadata"]["token"].clone();
    fixture.call_and_leave(post("/api/pending/approve", &json!({"token": token}))).await;
    assert_eq!(fixture.call("wire", "1", &to).await.problem(), (409, "in_progress".into()));
    fixture.bank.cleared.add_permits(1);
    let ended = async {
        loop {
            let answer = fixture.call("wire", "1", &to).await;
            if answer.status == StatusCode::OK {
                return answer.json();
            }
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await.expect("the call was stopped");
    assert_eq!((&ended["output"], fixture.bank.count()), (&json!("payment 1: 1 to a"), 1));
}
