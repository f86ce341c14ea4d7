//! Lost connections and unavailable servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tool_mcp::{RemoteServers, ServerConfig, ServerState};
use tool_runtime::ErrorKind;

use crate::log::Log;
use crate::scripted::{
    Peer, beside_good, call, connect, dispatcher, good, good_answers, kind, server, text, tool, until,
};

/// Running calls have a clear result, the tools stay registered, and the next connection serves them.
#[tokio::test]
async fn reconnects_after_a_lost_connection() {
    let tools = dispatcher();
    let dying = server("s", |mut peer: Peer| async move {
        let call = peer.call(&json!([tool("work", "")])).await;
        if let Some(call) = call.filter(|_| peer.connection > 0) {
            peer.answer(&call, text("alive")).await;
            while peer.next().await.is_some() {}
        }
    });
    let servers = beside_good(&tools, dying.trust()).await;
    let lost = call(&tools, "mcp_s_work").await;
    assert_eq!(kind(&lost), Some(ErrorKind::OutcomeUnknown), "{lost:?}");
    assert!(lost.output.contains("`s` was lost while `work` was running"), "{}", lost.output);
    good_answers(&tools).await;
    until(|| servers.status().iter().all(|server| server.state == ServerState::Connected)).await;
    assert_eq!(call(&tools, "mcp_s_work").await.output, "alive");
    servers.close().await;
    assert!(tools.registry().is_empty());
}

/// A panic in the application's connect function must not end the server's task.
#[tokio::test(start_paused = true)]
async fn retries_after_a_panic_while_connecting() {
    let tools = dispatcher();
    let panicking = server("s", |mut peer: Peer| {
        assert!(peer.connection > 2, "no network yet");
        async move {
            while let Some(call) = peer.call(&json!([tool("work", "")])).await {
                peer.answer(&call, text("alive")).await;
            }
        }
    });
    let servers = beside_good(&tools, panicking.trust()).await;
    let state = || servers.status().into_iter().find(|server| server.name == "s").unwrap().state;
    until(|| matches!(state(), ServerState::Unavailable(why) if why.contains("panicked: no network yet"))).await;
    good_answers(&tools).await;
    until(|| state() == ServerState::Connected).await;
    assert_eq!(call(&tools, "mcp_s_work").await.output, "alive");
    servers.close().await;
}

/// rmcp closes a connection only after its handlers have finished. Calls must not wait for that.
#[tokio::test]
async fn does_not_use_a_closed_connection() {
    let (asked, over) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (is_asked, is_over) = (asked.clone(), over.clone());
    let dying = server("s", move |mut peer: Peer| {
        let (is_asked, is_over) = (is_asked.clone(), is_over.clone());
        async move {
            let list = peer.request().await.unwrap_or_default();
            peer.answer(&list, json!({"tools": [tool("work", "")]})).await;
            if peer.connection == 0 {
                let form =
                    json!({"mode": "form", "message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
                peer.send(json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": form})).await;
                is_asked.notified().await;
                drop(peer);
                return is_over.notify_one();
            }
            while let Some(call) = peer.next().await {
                peer.answer(&call, text("alive")).await;
            }
        }
    });
    let tools = dispatcher();
    let builder = RemoteServers::builder().server(dying.trust()).on_elicitation(move |_| {
        asked.notify_one();
        std::future::pending()
    });
    let servers = connect(&tools, builder).await;
    over.notified().await;
    // Everything is in memory and on this thread, so all ready tasks have run after this.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let lost = call(&tools, "mcp_s_work").await;
    assert_eq!(kind(&lost), Some(ErrorKind::Retry), "{lost:?}");
    assert!(lost.output.contains("did not run"), "{}", lost.output);
    until(|| servers.status()[0].state == ServerState::Connected).await;
    assert_eq!(call(&tools, "mcp_s_work").await.output, "alive");
    servers.close().await;
}

/// Two instances of a program may conflict.
#[cfg(unix)]
#[tokio::test]
async fn ends_a_program_before_restarting_it() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let begin = "kill -0 \"$(cat pid)\" && touch both\necho $$ > pid\necho >> starts\n";
    let reads = "while read -r line; do\n";
    let falls_silent = format!("{begin}{reads}case \"$line\" in *tools/call*) exec >&-; sleep 600 ;; esac\n");
    let program = crate::plugins::program("never").replace(reads, &falls_silent);
    let tools = dispatcher();
    let config = ServerConfig::command("p", "/bin/sh").args(["-c", &program]).current_dir(directory.path()).trust();
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(kind(&call(&tools, "mcp_p_say").await), Some(ErrorKind::OutcomeUnknown));
    until(|| std::fs::read_to_string(at("starts")).unwrap().lines().count() == 2).await;
    until(|| servers.status()[0].state == ServerState::Connected).await;
    assert!(!at("both").exists());
    servers.close().await;
}

/// A sequential server cannot list while a call runs. Without a running call, a missing list is an error.
#[tokio::test]
async fn keeps_the_connection_to_a_busy_server() {
    let tools = dispatcher();
    let (go_on, hangs) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let (resume, silent) = (go_on.clone(), hangs.clone());
    let busy = server("s", move |mut peer: Peer| {
        let (resume, silent) = (resume.clone(), silent.clone());
        async move {
            while let Some(message) = peer.request().await {
                match message["method"].as_str() {
                    Some("tools/list") if silent.load(SeqCst) => {}
                    Some("tools/list") => peer.answer(&message, json!({"tools": [tool("work", "")]})).await,
                    Some("tools/call") => {
                        peer.send(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
                        resume.notified().await;
                        peer.answer(&message, text("done")).await;
                    }
                    _ => {}
                }
            }
        }
    });
    let servers = beside_good(&tools, busy.trust().connect_timeout(Duration::from_millis(200))).await;
    let (work, ()) = tokio::join!(call(&tools, "mcp_s_work"), async {
        until(|| servers.problems().join("").contains("while a call runs")).await;
        go_on.notify_one();
    });
    assert_eq!(work.output, "done");
    until(|| servers.problems().is_empty()).await;
    hangs.store(true, SeqCst);
    servers.reload().await;
    assert!(servers.problems().join("").contains("no longer lists its tools"), "{:?}", servers.problems());
    servers.close().await;
}

/// A program's standard error usually has the reason. Users see it, models do not: it may contain anything.
#[cfg(unix)]
#[tokio::test]
async fn shows_the_last_lines_of_standard_error_to_users() {
    let tools = dispatcher();
    let fails = "read discover; echo 'no license' >&2; echo >&2; echo 'see the manual' >&2; exit 3";
    let dies = "{ echo 'out of memory' >&2; kill -9 $$; }";
    let killed = crate::plugins::program("never")
        .replace("while", &format!("[ -e ran ] && {dies}; touch ran\nwhile"))
        .replace("case", &format!("case \"$line\" in *tools/call*) {dies} ;; esac\ncase"));
    let directory = tempfile::tempdir().unwrap();
    let shell = |name: &str, program: &str| {
        ServerConfig::command(name, "/bin/sh").args(["-c", program]).current_dir(directory.path()).trust()
    };
    let builder = RemoteServers::builder().server(shell("fails", fails)).server(shell("killed", &killed));
    let servers = connect(&tools, builder).await;
    let last_lines = "; last lines of its standard error:";
    assert_eq!(
        servers.status()[0].state,
        ServerState::Unavailable(format!(
            "it disconnected during the handshake (exit status 3){last_lines}\n  no license\n  see the manual"
        ))
    );
    assert_eq!(kind(&call(&tools, "mcp_killed_say").await), Some(ErrorKind::OutcomeUnknown));
    let suffix = format!("(signal 9){last_lines}\n  out of memory");
    until(|| matches!(&servers.status()[1].state, ServerState::Unavailable(why) if why.ends_with(&suffix))).await;
    let unavailable = call(&tools, "mcp_killed_say").await.output;
    assert!(unavailable.contains("not connected") && !unavailable.contains("out of memory"), "{unavailable}");
    servers.close().await;
}

/// Even while messages are being sent to it.
#[cfg(unix)]
#[tokio::test]
async fn notices_that_a_program_closed_its_output() {
    let reads = "while read -r line; do\n";
    let falls_silent = format!("{reads}case \"$line\" in *tools/call*) exec >&-; sleep 600 ;; esac\n");
    let program = crate::plugins::program("never").replace(reads, &falls_silent);
    let tools = dispatcher();
    let config = ServerConfig::command("p", "/bin/sh").args(["-c", &program]).trust();
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    let mut first = std::pin::pin!(call(&tools, "mcp_p_say"));
    let mut others = tokio::task::JoinSet::new();
    let answered = loop {
        tokio::select! {
            answered = &mut first => break answered,
            () = tokio::time::sleep(Duration::from_millis(20)) => {
                let tools = tools.clone();
                others.spawn(async move { drop(call(&tools, "mcp_p_say").await) });
                assert!(others.len() < 1_000, "the end is not noticed");
            }
        }
    };
    assert_eq!(kind(&answered), Some(ErrorKind::OutcomeUnknown), "{answered:?}");
    others.abort_all();
    servers.close().await;
}

#[tokio::test]
async fn reports_an_unavailable_server_and_retries() {
    let tools = dispatcher();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gone =
        ServerConfig::http("gone", format!("http://127.0.0.1:{port}/s/a-secret-that-is-in-the-path/mcp?key=secret"));
    let missing = ServerConfig::command("missing", "/no/such/program");
    let builder = RemoteServers::builder().server(gone).server(missing).server(good());
    let servers = connect(&tools, builder).await;
    let status = servers.status();
    let url = format!("http://127.0.0.1:{port}/s/…/mcp");
    let is_redacted = |why: &str| why.contains("Connection refused") && why.contains(&url) && !why.contains("secret");
    assert!(matches!(&status[0].state, ServerState::Unavailable(why) if is_redacted(why)), "{status:?}");
    assert!(matches!(&status[2].state, ServerState::Unavailable(why) if why.contains("cannot start /no/such/program")));
    good_answers(&tools).await;
    servers.close().await;

    // A server that becomes unavailable keeps its tools.
    let once = server("once", |mut peer: Peer| async move {
        if peer.connection == 0 {
            peer.call(&json!([tool("work", "")])).await;
        }
    });
    let servers = beside_good(&tools, once.trust()).await;
    assert_eq!(kind(&call(&tools, "mcp_once_work").await), Some(ErrorKind::OutcomeUnknown));
    until(|| matches!(servers.status()[1].state, ServerState::Unavailable(_))).await;
    let unavailable = call(&tools, "mcp_once_work").await;
    assert_eq!(kind(&unavailable), Some(ErrorKind::Retry), "{unavailable:?}");
    assert!(
        unavailable.output.contains("`once` is not connected") && unavailable.output.contains("did not run"),
        "{}",
        unavailable.output
    );
    servers.close().await;
}

#[tokio::test]
async fn reconnects_to_a_restarted_http_server() {
    let answer = |body: String| async move {
        let message: Value = serde_json::from_str(&body).unwrap_or_default();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [tool("work", "")]}),
            Some("tools/call") => text("done"),
            Some("server/discover") => {
                return (axum::http::StatusCode::BAD_REQUEST, [("content-type", "text/plain")], String::new());
            }
            _ => return (axum::http::StatusCode::ACCEPTED, [("content-type", "text/plain")], String::new()),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        (axum::http::StatusCode::OK, [("content-type", "application/json")], answer)
    };
    let serve = async |port: u16| {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // Without keep-alive, because connections would outlive the stopped server.
        let app = axum::Router::new().route("/mcp", axum::routing::post(answer)).layer(axum::middleware::map_response(
            |mut response: axum::response::Response| async move {
                response.headers_mut().insert("connection", axum::http::HeaderValue::from_static("close"));
                response
            },
        ));
        (port, tokio::spawn(async move { axum::serve(listener, app).await }))
    };
    let (port, running) = serve(0).await;
    let tools = dispatcher();
    let config = ServerConfig::http("h", format!("http://127.0.0.1:{port}/mcp")).trust();
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done", "{servers:?}");
    running.abort();
    drop(running.await);
    // The model reads neither the address nor the cause; the log has both.
    let log = Log::default();
    let recording = log.record();
    let gone = call(&tools, "mcp_h_work").await;
    assert_eq!(kind(&gone), Some(ErrorKind::Retry), "{gone:?}");
    assert_eq!(gone.output, "The server `h` cannot be reached. `work` did not run.");
    let (lines, address) = (log.take(), format!("127.0.0.1:{port}"));
    let has_address = |line: &str| line.contains("WARN") && line.contains(&address);
    assert!(lines.lines().any(|line| has_address(line) && line.contains("Connection refused")), "{lines}");
    until(|| matches!(&servers.status()[0].state, ServerState::Unavailable(why) if why.contains(&address))).await;
    log.take();
    let unavailable = call(&tools, "mcp_h_work").await;
    assert_eq!(
        unavailable.output,
        "The server `h` is not connected. The call did not run; the connection is retried, so try again later."
    );
    let lines = log.take();
    assert!(lines.lines().any(|line| line.contains("a call did not run") && has_address(line)), "{lines}");
    drop(recording);
    let (_, running) = serve(port).await;
    servers.reload().await;
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done");
    servers.close().await;
    running.abort();
}
