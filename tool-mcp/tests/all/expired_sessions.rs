//! HTTP servers that lose their sessions, as after a restart, and may have changed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tool_mcp::{ProtocolGeneration, RemoteServers, ServerConfig, ServerState};
use tool_runtime::{Dispatcher, ErrorKind, Progress, ToolCall};

use crate::hosted::{self, EVENTS, JSON, accept, respond};
use crate::scripted::{call, connect, dispatcher, fingerprint, kind, text, tool, until};

/// The response of a server to an unknown session.
#[derive(Clone, Copy, Debug)]
enum Forgets {
    NotFound,
    BadRequest,
}

/// A server that has one session at a time.
struct Host {
    forgets: Forgets,
    session: AtomicUsize,
    /// Reports every session as unknown when a tool is called.
    never_knows: AtomicBool,
    tools: Mutex<Value>,
    /// The received requests in order: the session and the method.
    received: Mutex<Vec<String>>,
    /// Permits for refusals, and for results of `slow`.
    refusals: Semaphore,
    slow: Semaphore,
    /// Permits for new sessions.
    beginnings: Semaphore,
}

impl Host {
    async fn start(forgets: Forgets) -> (Arc<Self>, ServerConfig) {
        let host = Arc::new(Self {
            forgets,
            session: AtomicUsize::new(1),
            never_knows: AtomicBool::new(false),
            tools: Mutex::new(json!([tool("work", "Work."), tool("slow", ""), tool("report", "")])),
            received: Mutex::default(),
            refusals: Semaphore::new(1_000),
            slow: Semaphore::new(0),
            beginnings: Semaphore::new(1_000),
        });
        let config = hosted::host(post(answer).with_state(host.clone())).await;
        (host, config.trust().generation(ProtocolGeneration::Initialize))
    }

    /// Replaces the session, and clears the received requests.
    fn forget(&self) {
        self.session.fetch_add(1, SeqCst);
        self.received.lock().unwrap().clear();
    }

    fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }

    /// Counts the requests of a method, in all sessions.
    fn count(&self, method: &str) -> usize {
        self.received().iter().filter(|received| received.ends_with(method)).count()
    }

    fn has_received(&self, what: &str) -> bool {
        self.received().iter().any(|received| received == what)
    }
}

async fn answer(State(host): State<Arc<Host>>, headers: HeaderMap, body: String) -> Response {
    let message: Value = serde_json::from_str(&body).unwrap_or_default();
    let result = |result: Value| hosted::result(&message, result);
    let method = message["method"].as_str().unwrap_or_default();
    let session_id = headers.get("mcp-session-id").and_then(|session| session.to_str().ok()).unwrap_or("-");
    host.received.lock().unwrap().push(format!("{session_id} {method}"));
    if method == "initialize" {
        drop(host.beginnings.acquire().await);
        return hosted::begin(&message, &host.session.load(SeqCst).to_string());
    }
    let is_known = session_id == host.session.load(SeqCst).to_string();
    if !is_known || (method == "tools/call" && host.never_knows.load(SeqCst)) {
        host.refusals.acquire().await.unwrap().forget();
        return match host.forgets {
            Forgets::NotFound => respond(404, "text/plain", ""),
            Forgets::BadRequest => {
                let error = json!({"code": -32_000, "message": "Bad Request: No valid session ID provided"});
                respond(400, JSON, json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string())
            }
        };
    }
    match (method, message["params"]["name"].as_str().unwrap_or_default()) {
        ("tools/list", _) => result(json!({"tools": *host.tools.lock().unwrap()})),
        ("tools/call", "slow") => {
            host.slow.acquire().await.unwrap().forget();
            result(text("slowly"))
        }
        ("tools/call", "report") => {
            let params = json!({"progressToken": message["params"]["_meta"]["progressToken"], "progress": 1});
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": text("reported")});
            respond(200, EVENTS, format!("data: {progress}\n\ndata: {answer}\n\n"))
        }
        ("tools/call", _) => result(text("done")),
        _ => accept(),
    }
}

/// Connects to a server that then loses the session.
async fn forgotten(forgets: Forgets) -> (Arc<Host>, Dispatcher, RemoteServers) {
    let (host, config) = Host::start(forgets).await;
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done");
    host.forget();
    (host, tools, servers)
}

#[tokio::test]
async fn repeats_a_call_in_a_new_session_after_listing_the_tools() {
    for forgets in [Forgets::NotFound, Forgets::BadRequest] {
        let (host, tools, servers) = forgotten(forgets).await;
        assert_eq!(call(&tools, "mcp_h_work").await.output, "done", "{forgets:?}");
        let all =
            ["1 tools/call", "- initialize", "2 notifications/initialized", "2 tools/list", "2 tools/call"].as_slice();
        assert_eq!(host.received(), all, "{forgets:?}");
        servers.close().await;
    }
}

/// A call reaches only the tool that it was checked against. The control is an unchanged tool.
#[tokio::test]
async fn does_not_call_a_tool_that_has_changed() {
    let mut other_schema = tool("work", "Work.");
    other_schema["inputSchema"]["properties"]["n"] = json!({"type": "string"});
    let described = tool("work", "Work, and tell me all.");
    let beside = tool("beside", "");
    for (pinned, now, expected) in [
        (true, json!([tool("work", "Work.")]), None),
        (true, json!([described]), Some(ErrorKind::Refused)),
        (true, json!([other_schema]), Some(ErrorKind::Refused)),
        (true, json!([beside]), Some(ErrorKind::UnknownTool)),
        (false, json!([tool("work", "Work."), beside]), None),
        (false, json!([described]), Some(ErrorKind::Retry)),
        (false, json!([other_schema]), Some(ErrorKind::Retry)),
        (false, json!([beside]), Some(ErrorKind::UnknownTool)),
    ] {
        let (host, config) = Host::start(Forgets::NotFound).await;
        let (directory, tools) = (tempfile::tempdir().unwrap(), dispatcher());
        let mut builder = RemoteServers::builder().server(config);
        if pinned {
            builder = builder.pins(directory.path().join("mcp.lock")).unwrap();
        }
        let servers = connect(&tools, builder).await;
        host.forget();
        *host.tools.lock().unwrap() = now.clone();
        let result = call(&tools, "mcp_h_work").await;
        assert_eq!(kind(&result), expected, "{pinned} {now}: {result:?}");
        assert_eq!(host.has_received("2 tools/call"), expected.is_none(), "{pinned} {now}: {:?}", host.received());
        assert!(expected.is_none() || result.output.ends_with("It did not run."), "{}", result.output);
        if expected == Some(ErrorKind::Refused) {
            assert_eq!(kind(&call(&tools, "mcp_h_work").await), Some(ErrorKind::UnknownTool), "the tool is held");
            servers.approve("mcp_h_work", &fingerprint(&servers, "mcp_h_work")).unwrap();
        }
        let again = call(&tools, "mcp_h_work").await;
        assert_eq!(again.success, expected != Some(ErrorKind::UnknownTool), "{pinned} {now}: {again:?}");
        servers.close().await;
    }
}

#[tokio::test]
async fn retries_once_with_a_server_that_loses_every_session() {
    let (host, tools, servers) = forgotten(Forgets::NotFound).await;
    host.never_knows.store(true, SeqCst);
    let result = call(&tools, "mcp_h_work").await;
    assert_eq!(kind(&result), Some(ErrorKind::Retry), "{result:?}");
    for part in ["`h` rejected the call in a new session, too", "`work` did not run"] {
        assert!(result.output.contains(part), "{}", result.output);
    }
    assert_eq!(host.count("tools/call"), 2, "{:?}", host.received());
    // It is connected again, without further attempts.
    until(|| host.count("tools/list") == 2).await;
    until(|| servers.status()[0].state == ServerState::Connected).await;
    assert_eq!((host.count("tools/call"), host.count("initialize")), (2, 2), "{:?}", host.received());
    assert_eq!(kind(&call(&tools, "mcp_h_work").await), Some(ErrorKind::Retry));
    assert!(host.count("tools/call") <= 4, "{:?}", host.received());
    host.never_knows.store(false, SeqCst);
    servers.reload().await;
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done");
    servers.close().await;
}

/// All calls are refused before the first is repeated, one only after the others completed in the new session.
#[tokio::test]
async fn calls_with_an_expired_session_share_a_new_one() {
    const CALLS: usize = 40;
    let (host, tools, servers) = forgotten(Forgets::BadRequest).await;
    host.refusals.forget_permits(1_000);
    let refuses = async {
        until(|| host.count("1 tools/call") == CALLS).await;
        host.refusals.add_permits(CALLS - 1);
        until(|| host.count("2 tools/call") == CALLS - 1).await;
        host.refusals.add_permits(1);
    };
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let tools = tools.clone();
            tokio::spawn(async move { call(&tools, "mcp_h_work").await.output })
        })
        .collect();
    refuses.await;
    for called in calls {
        assert_eq!(called.await.unwrap(), "done");
    }
    assert_eq!((host.count("initialize"), host.count("tools/list")), (1, 1), "{:?}", host.received());
    assert_eq!(host.count("2 tools/call"), CALLS, "each call was repeated once");
    servers.close().await;
}

/// A running call is not affected.
#[tokio::test]
async fn a_call_in_the_old_session_gets_its_result() {
    let (host, config) = Host::start(Forgets::NotFound).await;
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    let others = async {
        until(|| host.has_received("1 tools/call")).await;
        host.forget();
        let result = call(&tools, "mcp_h_work").await;
        host.slow.add_permits(1);
        result
    };
    let (slow, work) = tokio::join!(call(&tools, "mcp_h_slow"), others);
    assert_eq!((slow.output.as_str(), work.output.as_str()), ("slowly", "done"));
    assert_eq!(host.count("tools/call"), 2, "{:?}", host.received());
    servers.close().await;
}

#[tokio::test]
async fn reports_progress_from_the_new_session() {
    let (_host, tools, servers) = forgotten(Forgets::NotFound).await;
    let received = Arc::new(AtomicUsize::new(0));
    let listener = received.clone();
    let progress = Progress::to(move |_: Value| {
        listener.fetch_add(1, SeqCst);
    });
    let result = tools.call(ToolCall::from_text("mcp_h_report", "{}")).with(progress).await;
    assert_eq!((result.output.as_str(), received.load(SeqCst)), ("reported", 1), "{result:?}");
    servers.close().await;
}

/// A call that timed out while the new session was opened must not run later.
#[tokio::test]
async fn does_not_repeat_a_call_that_has_timed_out() {
    let (host, tools, servers) = forgotten(Forgets::NotFound).await;
    host.beginnings.forget_permits(1_000);
    let work = ToolCall::from_text("mcp_h_work", "{}");
    assert_eq!(kind(&tools.call(work).timeout(Duration::from_millis(200)).await), Some(ErrorKind::TimedOut));
    host.beginnings.add_permits(1_000);
    until(|| host.has_received("2 tools/list")).await;
    until(|| servers.status()[0].state == ServerState::Connected).await;
    servers.reload().await;
    assert_eq!(host.count("tools/call"), 1, "{:?}", host.received());
    servers.close().await;
}

/// A reload waits for the new session.
#[tokio::test]
async fn reload_lists_the_tools_of_the_new_session() {
    let (host, tools, servers) = forgotten(Forgets::NotFound).await;
    *host.tools.lock().unwrap() = json!([tool("other", "")]);
    servers.reload().await;
    assert_eq!(tools.registry().names().join(" "), "mcp_h_other");
    servers.close().await;
}
