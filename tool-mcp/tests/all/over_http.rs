//! HTTP servers that refuse requests or break off.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tool_mcp::{ProtocolGeneration, RemoteServers, ServerConfig, ServerState};
use tool_runtime::{ErrorKind, ToolCall};

use crate::hosted::{self, EVENTS, JSON, accept, respond};
use crate::scripted::{call, connect, dispatcher, kind, text, tool, until};

#[derive(Default)]
struct Host {
    lists: AtomicUsize,
    /// The number of received calls.
    came: AtomicUsize,
    /// The number of resumed streams.
    resumed: AtomicUsize,
    go_on: Notify,
    /// Refuses listings with 429.
    is_busy: AtomicBool,
}

impl Host {
    async fn start() -> (Arc<Self>, ServerConfig) {
        let host = Arc::<Self>::default();
        let config = hosted::host(post(answer).get(resume).with_state(host.clone())).await;
        (host, config.trust())
    }
}

fn error(code: i64, message: &str) -> Response {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    respond(400, JSON, error.to_string())
}

fn too_many(retry_after: u32) -> Response {
    let mut response = respond(429, "text/plain", "");
    response.headers_mut().insert("retry-after", retry_after.into());
    response
}

async fn answer(State(host): State<Arc<Host>>, body: String) -> Response {
    let message: Value = serde_json::from_str(&body).unwrap_or_default();
    let result = |result: Value| hosted::result(&message, result);
    let method = message["method"].as_str().unwrap_or_default();
    if method == "tools/call" {
        host.came.fetch_add(1, SeqCst);
    }
    match (method, message["params"]["name"].as_str().unwrap_or_default()) {
        ("server/discover", _) => respond(400, "text/plain", ""),
        ("initialize", _) => hosted::begin(&message, "1"),
        ("tools/list", _) if host.is_busy.load(SeqCst) => {
            host.lists.fetch_add(1, SeqCst);
            too_many(1)
        }
        ("tools/list", _) => {
            host.lists.fetch_add(1, SeqCst);
            let names = [
                "refuse", "missing", "lacking", "accept", "nothing", "slow", "break", "gateway", "page", "gone",
                "busy", "work",
            ];
            result(json!({"tools": names.map(|name| tool(name, ""))}))
        }
        ("tools/call", "refuse") => error(-32_602, "the moon is full"),
        ("tools/call", name @ ("missing" | "lacking")) => {
            let id = if name == "missing" { message["id"].clone() } else { message["id"].to_string().into() };
            let error = json!({"code": -32_004, "message": "there is no such page"});
            respond(404, JSON, json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
        }
        ("tools/call", "accept") => accept(),
        ("tools/call", "nothing") => respond(204, "text/plain", ""),
        ("tools/call", "slow") => {
            host.go_on.notified().await;
            result(text("slowly"))
        }
        ("tools/call", "break") => respond(200, EVENTS, "id: 7\nretry: 0\ndata: \n\n"),
        ("tools/call", "gateway") => respond(502, "text/plain", "no answer"),
        ("tools/call", "page") => respond(200, "text/html", "<p>"),
        ("tools/call", "gone") => respond(410, "text/plain", ""),
        ("tools/call", "busy") => too_many(5),
        ("tools/call", _) => result(text("done")),
        _ => accept(),
    }
}

/// Every resumed stream ends at once.
async fn resume(State(host): State<Arc<Host>>, headers: HeaderMap) -> Response {
    if !headers.contains_key("last-event-id") {
        return respond(405, "text/plain", "");
    }
    host.resumed.fetch_add(1, SeqCst);
    respond(200, EVENTS, "retry: 0\ndata: \n\n")
}

#[tokio::test]
async fn reports_a_refusal_without_affecting_other_calls() {
    let tools = dispatcher();
    let (host, config) = Host::start().await;
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    let refused = async {
        until(|| host.came.load(SeqCst) == 1).await;
        let refused = call(&tools, "mcp_h_refuse").await;
        host.go_on.notify_one();
        refused
    };
    let (slow, refused) = tokio::join!(call(&tools, "mcp_h_slow"), refused);
    assert_eq!(kind(&refused), Some(ErrorKind::Failed), "{refused:?}");
    assert!(refused.output.contains("refused the call: the moon is full (code -32602)"), "{}", refused.output);
    assert_eq!(slow.output, "slowly", "{slow:?}");
    assert_eq!(host.came.load(SeqCst), 2, "each call was sent once");
    servers.close().await;
}

#[tokio::test]
async fn reports_the_retry_delay_to_models_and_programs() {
    let tools = dispatcher();
    let (host, config) = Host::start().await;
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    let listed = host.lists.load(SeqCst);
    let busy = call(&tools, "mcp_h_busy").await;
    assert!(busy.output.contains("rate limiting requests; retry after 5 s"), "{}", busy.output);
    let error = busy.error.unwrap();
    assert_eq!((error.kind, error.retry_after()), (ErrorKind::Retry, Some(Duration::from_secs(5))));

    // This causes no further request, and a rate-limited listing does not end the connection.
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done");
    assert_eq!(host.lists.load(SeqCst), listed);
    host.is_busy.store(true, SeqCst);
    servers.reload().await;
    assert_eq!(servers.status()[0].state, ServerState::Connected);
    assert!(servers.problems().join("").contains("rate limited"), "{:?}", servers.problems());
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done");
    host.is_busy.store(false, SeqCst);
    until(|| servers.problems().is_empty()).await;
    servers.close().await;
}

/// A 404 may concern the subject of a call instead of the session: the call has run.
#[tokio::test]
async fn does_not_repeat_a_call_that_got_not_found() {
    let tools = dispatcher();
    let (host, config) = Host::start().await;
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    let listed = host.lists.load(SeqCst);
    for (name, came) in [("missing", 1), ("lacking", 2)] {
        let result = call(&tools, &format!("mcp_h_{name}")).await;
        assert_eq!(kind(&result), Some(ErrorKind::Failed), "{result:?}");
        assert!(result.output.contains("there is no such page (code -32004)"), "{}", result.output);
        assert_eq!(host.came.load(SeqCst), came);
    }
    until(|| host.lists.load(SeqCst) > listed).await;
    servers.close().await;
}

#[tokio::test]
async fn gives_up_on_a_stream_that_always_ends() {
    let tools = dispatcher();
    let (host, config) = Host::start().await;
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    let listed = host.lists.load(SeqCst);
    let result = call(&tools, "mcp_h_break").await;
    assert_eq!(kind(&result), Some(ErrorKind::OutcomeUnknown), "{result:?}");
    assert!(result.output.contains("`h` was lost while `break` was running"), "{}", result.output);
    assert_eq!(host.resumed.load(SeqCst), 3);
    until(|| host.lists.load(SeqCst) > listed).await;
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done", "other calls still work");
    servers.close().await;
}

/// A call whose response was lost may have run.
#[tokio::test]
async fn reports_an_unknown_outcome_unless_the_outcome_is_certain() {
    let tools = dispatcher();
    let (_host, config) = Host::start().await;
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    for (name, expected, message) in [
        ("gateway", ErrorKind::OutcomeUnknown, "The server `h` failed with HTTP status 502 while"),
        ("page", ErrorKind::OutcomeUnknown, "The server `h` sent a response that is not MCP while"),
        ("accept", ErrorKind::OutcomeUnknown, "The server `h` did not respond while"),
        ("nothing", ErrorKind::OutcomeUnknown, "The server `h` did not respond while"),
        ("gone", ErrorKind::Failed, "The server `h` failed with HTTP status 410."),
    ] {
        let called = ToolCall::from_text(format!("mcp_h_{name}"), "{}");
        let result = tools.call(called).timeout(Duration::from_secs(20)).await;
        assert_eq!(kind(&result), Some(expected), "{name}: {result:?}");
        assert!(result.output.starts_with(message), "{name}: {}", result.output);
    }
    servers.close().await;
}

/// Requests of the server are lost before its stream is open. This server delays opening it.
#[tokio::test]
async fn sends_no_call_before_the_server_stream_is_open() {
    let open = Arc::new(AtomicBool::new(false));
    let (opens, is_open) = (open.clone(), open);
    let listen = move || async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        opens.store(true, SeqCst);
        respond(405, "text/plain", "")
    };
    let answer = move |body: String| async move {
        let message: Value = serde_json::from_str(&body).unwrap_or_default();
        let name = if is_open.load(SeqCst) { "heard" } else { "unheard" };
        match message["method"].as_str() {
            Some("initialize") => hosted::begin(&message, "1"),
            Some("tools/list") => hosted::result(&message, json!({"tools": [tool(name, "")]})),
            _ => accept(),
        }
    };
    let config = hosted::host(post(answer).get(listen)).await.generation(ProtocolGeneration::Initialize);
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(tools.registry().names().join(" "), "mcp_h_heard");
    servers.close().await;
}

/// Events that a test sends at any time.
struct SentEvents(mpsc::UnboundedReceiver<String>);

impl futures_core::Stream for SentEvents {
    type Item = Result<String, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|events| events.map(Ok))
    }
}

/// A server may accept a call and respond over the session's stream. Without a stream the call fails.
#[tokio::test]
async fn accepts_a_response_over_the_session_stream() {
    let (say, events) = mpsc::unbounded_channel();
    let events = Arc::new(Mutex::new(Some(events)));
    let listen = move || async move {
        match events.lock().unwrap().take() {
            Some(events) => respond(200, EVENTS, Body::from_stream(SentEvents(events))),
            None => respond(405, "text/plain", ""),
        }
    };
    let answer = move |body: String| async move {
        let message: Value = serde_json::from_str(&body).unwrap_or_default();
        match message["method"].as_str() {
            Some("initialize") => hosted::begin(&message, "1"),
            Some("tools/list") => hosted::result(&message, json!({"tools": [tool("work", "")]})),
            Some("tools/call") => {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": text("here")});
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    say.send(format!("data: {answer}\n\n"))
                });
                accept()
            }
            _ => accept(),
        }
    };
    let config = hosted::host(post(answer).get(listen)).await.generation(ProtocolGeneration::Initialize);
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(config.trust())).await;
    assert_eq!(call(&tools, "mcp_h_work").await.output, "here");
    servers.close().await;
}

/// A 2026-07-28 server has no session. A restart is noticed by its subscription, or because the subscription fails.
#[tokio::test]
async fn retries_a_failed_subscription() {
    subscribed_again(|| async { respond(503, "text/plain", "") }).await;
}

#[tokio::test]
async fn retries_an_unacknowledged_subscription() {
    subscribed_again(std::future::pending).await;
}

/// Connects to a server with the given response to the second subscription, and waits for a third.
async fn subscribed_again<F: Future<Output = Response> + Send>(second: impl Fn() -> F + Clone + Send + Sync + 'static) {
    let (listens, lists) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = (listens.clone(), lists.clone());
    let answer = move |body: String| {
        let ((listens, lists), second) = (counted.clone(), second.clone());
        async move {
            let message: Value = serde_json::from_str(&body).unwrap_or_default();
            let result = |mut result: Value| {
                result["resultType"] = "complete".into();
                result["ttlMs"] = 0.into();
                result["cacheScope"] = "private".into();
                hosted::result(&message, result)
            };
            match message["method"].as_str() {
                Some("server/discover") => {
                    let capabilities = json!({"tools": {"listChanged": true}});
                    result(json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities}))
                }
                Some("tools/list") => {
                    lists.fetch_add(1, SeqCst);
                    result(json!({"tools": [tool("work", "")]}))
                }
                Some("subscriptions/listen") if listens.fetch_add(1, SeqCst) != 1 => {
                    let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
                    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
                    let method = "notifications/subscriptions/acknowledged";
                    respond(
                        200,
                        EVENTS,
                        format!("data: {}\n\n", json!({"jsonrpc": "2.0", "method": method, "params": params})),
                    )
                }
                Some("subscriptions/listen") => second().await,
                _ => accept(),
            }
        }
    };
    let config = hosted::host(post(answer)).await;
    let servers = connect(&dispatcher(), RemoteServers::builder().server(config)).await;
    assert_eq!(servers.status()[0].protocol.as_deref(), Some("2026-07-28"), "{servers:?}");
    until(|| listens.load(SeqCst) >= 3).await;
    until(|| lists.load(SeqCst) >= 3).await;
    servers.close().await;
}
