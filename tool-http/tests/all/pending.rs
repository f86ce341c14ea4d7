use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tool_http::Api;
use tool_runtime::confirm::{
    Deferred, MemoryPendingStore, PendingStore, PendingStoreError, PendingStoreFuture, SealedCall, SealingKey,
};
use tool_runtime::journal::{EntryQuery, Journal, MemoryJournal};
use tool_runtime::limits::{Limit, Limiter};

use crate::support::{Desk, Stream, builder, get, json, mounted, post, request, send};

struct Fixture {
    desk: Desk,
    journal: Arc<MemoryJournal>,
    router: Router,
}

impl Fixture {
    fn new() -> Self {
        Self::over(Deferred::new(SealingKey::random().unwrap()))
    }

    fn over(waiting: Deferred) -> Self {
        let (desk, journal) = (Desk::default(), Arc::new(MemoryJournal::new()));
        // The dispatcher itself has no confirmer.
        let tools = builder(&desk).journal(journal.clone()).limit(Limiter::new().tool("desk.add", Limit::total(0)));
        let router = mounted(Api::new(tools.build().unwrap()).pending(waiting));
        Self { desk, journal, router }
    }

    /// Returns the token of a pending call.
    async fn purge(&self, host: &str) -> String {
        let body = json!({"host": host, "password": "hunter2"});
        let answer = send(&self.router, post("/api/tools/desk.purge?conversation=c", &body)).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED);
        assert_eq!(answer.json()["error"]["kind"], "pending");
        answer.json()["metadata"]["token"].as_str().unwrap().to_owned()
    }

    async fn waiting(&self) -> Vec<Value> {
        send(&self.router, get("/api/pending?conversation=c")).await.json()["pending"].as_array().unwrap().clone()
    }

    async fn decide(&self, what: &str, body: Value) -> crate::support::Answer {
        send(&self.router, post(&format!("/api/pending/{what}"), &body)).await
    }

    fn purges(&self) -> u32 {
        self.desk.purges.load(Ordering::SeqCst)
    }

    async fn decisions(&self) -> Vec<String> {
        let entries = self.journal.entries(EntryQuery::newest(20)).await.unwrap();
        entries.into_iter().filter_map(|entry| Some(entry.decision?.to_string())).collect()
    }
}

#[tokio::test]
async fn a_pending_call_hides_secrets_and_runs_once() {
    let fixture = Fixture::new();
    let token = fixture.purge("web-1").await;
    assert_eq!(fixture.purges(), 0);
    let waiting = fixture.waiting().await;
    assert_eq!(waiting[0]["token"], token.as_str());
    assert_eq!(waiting[0]["arguments"], json!({"host": "web-1", "password": "***"}));
    assert_eq!(waiting[0]["preview"], json!({"command": "purge web-1"}));
    assert_eq!((&waiting[0]["tool"], &waiting[0]["destructive"]), (&json!("desk.purge"), &json!(true)));
    assert!(!waiting[0].to_string().contains("hunter2"));

    let answer = fixture.decide("approve", json!({"token": token})).await;
    assert_eq!(
        (answer.status, &answer.json()["output"]),
        (StatusCode::OK, &json!("web-1 is empty, as the password allows"))
    );
    assert_eq!(fixture.decide("approve", json!({"token": token})).await.problem(), (404, "token".into()));
    assert_eq!((fixture.purges(), fixture.waiting().await.len()), (1, 0));
}

#[tokio::test]
async fn arguments_can_be_edited_around_a_secret() {
    let fixture = Fixture::new();
    let token = fixture.purge("web-1").await;
    let edit = fixture.waiting().await[0]["edit"].as_str().unwrap().to_owned();
    // After an invalid edit the call stays pending.
    for (wrong, kind) in [
        ("{", "invalid_arguments"),
        (r#"{"host": 1, "host": 2}"#, "invalid_arguments"),
        (r#"{"hots": 1}"#, "invalid_arguments"),
    ] {
        let answer = fixture.decide("approve", json!({"token": token, "edited": wrong})).await;
        assert_eq!(answer.problem(), (422, kind.into()), "{wrong}");
    }
    assert_eq!(fixture.purges(), 0);
    let edited = edit.replace("web-1", "web-2");
    let answer = fixture.decide("approve", json!({"token": token, "edited": edited})).await;
    assert_eq!(answer.json()["output"], "web-2 is empty, as the password allows");
    assert_eq!(fixture.decisions().await[0], "edited");
}

#[tokio::test]
async fn a_refusal_is_returned_and_recorded() {
    let fixture = Fixture::new();
    let token = fixture.purge("web-1").await;
    let answer = fixture.decide("refuse", json!({"token": token, "reason": "not on a Friday"})).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.json()["output"], "`desk.purge` was refused: not on a Friday.");
    assert_eq!(fixture.decide("approve", json!({"token": token})).await.problem(), (404, "token".into()));
    assert_eq!((fixture.purges(), fixture.decisions().await[0].as_str()), (0, "refused"));
}

#[tokio::test]
async fn an_abort_refuses_all_pending_calls_of_the_conversation() {
    let fixture = Fixture::new();
    let tokens = [fixture.purge("web-1").await, fixture.purge("web-2").await];
    let elsewhere = json!({"host": "web-3"});
    let elsewhere = send(&fixture.router, post("/api/tools/desk.purge?conversation=other", &elsewhere)).await.json();
    let answer = fixture.decide("abort", json!({"token": tokens[0]})).await;
    assert_eq!(answer.json()["error"]["kind"], "aborted");
    for token in &tokens {
        assert_eq!(fixture.decide("approve", json!({"token": token})).await.problem(), (404, "token".into()));
    }
    assert_eq!(fixture.decisions().await[..2], ["aborted", "aborted"]);
    // The control: another conversation continues.
    let answer = fixture.decide("approve", json!({"token": elsewhere["metadata"]["token"]})).await;
    assert_eq!((answer.status, fixture.purges()), (StatusCode::OK, 1));
}

/// Stores pending calls, but fails to list them.
#[derive(Default)]
struct Unlisted(MemoryPendingStore);

impl PendingStore for Unlisted {
    fn put(&self, call: SealedCall) -> PendingStoreFuture<'_, ()> {
        self.0.put(call)
    }

    fn get<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        self.0.get(id)
    }

    fn take<'a>(&'a self, id: &'a str) -> PendingStoreFuture<'a, Option<SealedCall>> {
        self.0.take(id)
    }

    fn list<'a>(&'a self, _: &'a str) -> PendingStoreFuture<'a, Vec<SealedCall>> {
        Box::pin(async { Err(PendingStoreError::new("out of order")) })
    }
}

#[tokio::test]
async fn an_abort_succeeds_even_if_other_pending_calls_cannot_be_listed() {
    let fixture = Fixture::over(Deferred::new(SealingKey::random().unwrap()).store(Unlisted::default()));
    let tokens = [fixture.purge("web-1").await, fixture.purge("web-2").await];
    let answer = fixture.decide("abort", json!({"token": tokens[0]})).await;
    assert_eq!((answer.status, &answer.json()["error"]["kind"]), (StatusCode::OK, &json!("aborted")));
    assert_eq!(fixture.decisions().await[0], "aborted");
    // The control: the other call is still pending.
    let answer = fixture.decide("approve", json!({"token": tokens[1]})).await;
    assert_eq!((answer.status, fixture.purges()), (StatusCode::OK, 1));
}

#[tokio::test]
async fn lists_pending_calls_of_all_conversations() {
    let fixture = Fixture::new();
    fixture.purge("web-1").await;
    for query in ["?conversation=other", ""] {
        let body = json!({"host": "web-2"});
        assert_eq!(send(&fixture.router, post(&format!("/api/tools/desk.purge{query}"), &body)).await.status, 202);
    }
    let conversations = async |router: &Router| {
        let pending = send(router, get("/api/pending")).await.json()["pending"].clone();
        let mut found: Vec<Value> =
            pending.as_array().unwrap().iter().map(|call| call["conversation"].clone()).collect();
        found.sort_by_key(Value::to_string);
        found
    };
    assert_eq!(conversations(&fixture.router).await, [json!("c"), json!("other"), json!(null)]);

    // The control: a caller restricted to a conversation sees its calls.
    let waiting = Deferred::new(SealingKey::random().unwrap());
    let api = Api::new(builder(&fixture.desk).build().unwrap()).pending(waiting.clone());
    let kept_apart = mounted(api.conversation(|_, named| Ok(named.unwrap_or("mine").to_owned())));
    for query in ["", "?conversation=theirs"] {
        send(&kept_apart, post(&format!("/api/tools/desk.purge{query}"), &json!({"host": "web-1"}))).await;
    }
    assert_eq!(conversations(&kept_apart).await, [json!("mine")]);
}

/// Two users, as an application with a login keeps them apart.
#[tokio::test]
async fn a_user_neither_sees_nor_decides_the_calls_of_another() {
    let (desk, waiting) = (Desk::default(), Deferred::new(SealingKey::random().unwrap()));
    let api = Api::new(builder(&desk).build().unwrap()).pending(waiting).conversation(|request, named| {
        let user = request.headers["x-user"].to_str().unwrap();
        Ok(format!("{user}/{}", named.unwrap_or("main")))
    });
    let router = mounted(api);
    let ask = async |user: &str, path: &str, body: Value| {
        send(&router, json(request("POST", &format!("/api{path}")).header("x-user", user), &body)).await
    };
    let listed = async |user: &str| {
        let ask = request("GET", "/api/pending").header("x-user", user).body(axum::body::Body::empty()).unwrap();
        send(&router, ask).await.json()["pending"].as_array().unwrap().len()
    };
    let mut tokens = Vec::new();
    for host in ["web-1", "web-2"] {
        let answer = ask("ada", "/tools/desk.purge", json!({"host": host})).await;
        tokens.push(json!({"token": answer.json()["metadata"]["token"]}));
    }
    assert_eq!((listed("bob").await, listed("ada").await), (0, 2));
    for decision in ["approve", "refuse", "abort"] {
        for query in ["", "?conversation=main", "?conversation=ada/main"] {
            let answer = ask("bob", &format!("/pending/{decision}{query}"), tokens[0].clone()).await;
            assert_eq!(answer.problem(), (404, "token".into()), "{decision}{query}");
        }
    }
    assert_eq!((desk.purges.load(Ordering::SeqCst), listed("ada").await), (0, 2));
    // The control: the tokens are valid for their own user.
    assert_eq!(ask("ada", "/pending/approve", tokens[0].clone()).await.status, StatusCode::OK);
    assert_eq!(ask("ada", "/pending/refuse", tokens[1].clone()).await.status, StatusCode::OK);
    assert_eq!((desk.purges.load(Ordering::SeqCst), listed("ada").await), (1, 0));
}

#[tokio::test]
async fn rejects_invalid_requests_without_effect() {
    let fixture = Fixture::new();
    let token = fixture.purge("web-1").await;
    for (what, body, expected) in [
        ("approve", json!({}), (400, "body")),
        ("approve", json!({"token": token, "edit": "{}"}), (400, "body")),
        ("approve", json!({"token": "x".repeat(64)}), (404, "token")),
        ("approve", json!({"token": ""}), (404, "token")),
        ("refuse", json!({"token": token, "why": "x"}), (400, "body")),
        ("abort", json!([token]), (400, "body")),
        ("approve?dry_run=true", json!({"token": token}), (400, "query")),
        ("refuse?reason=x", json!({"token": token}), (400, "query")),
        ("abort?reason=x", json!({"token": token}), (400, "query")),
        ("abort?conversation=other", json!({"token": token}), (404, "token")),
    ] {
        let (status, kind) = fixture.decide(what, body.clone()).await.problem();
        assert_eq!((status, kind.as_str()), expected, "{what} {body}");
    }
    assert_eq!((fixture.waiting().await.len(), fixture.purges()), (1, 0));
}

#[tokio::test]
async fn an_approved_call_streams_its_progress() {
    let fixture = Fixture::new();
    let token = fixture.purge("web-1").await;
    let ask = |token: &str| {
        let request = request("POST", "/api/pending/approve").header("accept", "text/event-stream");
        json(request, &json!({"token": token}))
    };
    let events = Stream::open(&fixture.router, ask(&token)).await.all().await;
    assert_eq!((events[0].name.as_str(), &events[0].data["success"]), ("result", &json!(true)));
    // A token that was used is found out before the stream starts.
    assert_eq!(send(&fixture.router, ask(&token)).await.problem(), (404, "token".into()));
}
