use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tool_mcp::{RemoteServers, ServerConfig, ServerState};
use tool_runtime::Dispatcher;

use crate::hosted::{JSON, accept, begin, host, respond, result};
use crate::scripted::{call, dispatcher, text, tool, until};

/// rmcp's probe times out after 10 seconds.
const PAST_THE_PROBE: Duration = Duration::from_secs(11);
/// The connect timeout is 30 seconds.
const PAST_THE_TIMEOUT: Duration = Duration::from_secs(31);

const DISCOVERED: &str = r#""result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sh","version":"2"}}}"#;
const REFUSED: &str = r#""error":{"code":-32601,"message":"unknown"}"#;

/// A server that reads nothing until a file `go` exists, with custom responses to some methods. An empty one means no
/// response.
fn program(answers: &[(&str, &str)]) -> String {
    let known = crate::plugins::program("hello");
    let cases: String = answers
        .iter()
        .map(|(method, answer)| {
            let answer = if answer.is_empty() { "continue".to_owned() } else { format!("answer='{answer}'") };
            format!("*'{method}'*) {answer} ;;\n")
        })
        .collect();
    let slow = "echo >> starts\necho 'downloading' >&2\nuntil [ -e go ]; do sleep 0.02; done\nwhile";
    known.replacen("while", slow, 1).replacen(" in\n", &format!(" in\n{cases}"), 1)
}

fn starts(directory: &Path) -> usize {
    std::fs::read_to_string(directory.join("starts")).unwrap_or_default().lines().count()
}

/// Advances the client's clock; no time passes for the program.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    tokio::time::resume();
}

/// Connects a program that is ready only after the given times.
async fn connect(directory: &Path, program: &str, times: &[Duration]) -> (Dispatcher, RemoteServers) {
    let tools = dispatcher();
    let config = ServerConfig::command("p", "/bin/sh").args(["-c", program]).current_dir(directory).trust();
    let connecting = RemoteServers::builder().server(config);
    let registry = tools.registry();
    let connecting = tokio::spawn(async move { connecting.connect(&registry).await });
    until(|| starts(directory) == 1).await;
    for time in times {
        pass(*time).await;
    }
    if times.contains(&PAST_THE_TIMEOUT) {
        let servers = connecting.await.unwrap().unwrap();
        let status = &servers.status()[0];
        assert_eq!(status.state, ServerState::Starting);
        until(|| servers.problems().join("").ends_with("downloading")).await;
        assert!(servers.problems()[0].contains("`p`: still starting"), "{:?}", servers.problems());
        tokio::time::pause();
        let asked = tokio::time::Instant::now();
        servers.reload().await;
        assert!(asked.elapsed().is_zero(), "a reload does not wait for a program that is starting");
        tokio::time::resume();
        std::fs::write(directory.join("go"), "").unwrap();
        until(|| servers.status()[0].state == ServerState::Connected).await;
        return (tools, servers);
    }
    std::fs::write(directory.join("go"), "").unwrap();
    let servers = connecting.await.unwrap().unwrap();
    (tools, servers)
}

/// The response to the probe arrives after `initialize` was sent.
#[tokio::test]
async fn connects_a_program_that_starts_slowly() {
    for (answers, protocol) in [
        (&[][..], "2025-11-25"),
        (&[("server/discover", "")], "2025-11-25"),
        (&[("server/discover", DISCOVERED)], "2025-11-25"),
        (&[("server/discover", DISCOVERED), ("\"initialize\"", REFUSED)], "2026-07-28"),
    ] {
        for times in [&[PAST_THE_PROBE][..], &[PAST_THE_PROBE, PAST_THE_TIMEOUT, PAST_THE_TIMEOUT]] {
            let directory = tempfile::tempdir().unwrap();
            let (tools, servers) = connect(directory.path(), &program(answers), times).await;
            let status = &servers.status()[0];
            assert_eq!((&status.state, status.protocol.as_deref()), (&ServerState::Connected, Some(protocol)));
            assert_eq!((status.problems.len(), starts(directory.path())), (0, 1), "{answers:?}: {status:?}");
            assert_eq!(call(&tools, "mcp_p_say").await.output, "hello");
            servers.close().await;
        }
    }
}

/// A reload does not wait for it meanwhile.
#[tokio::test]
async fn restarts_a_program_that_never_responds() {
    let directory = tempfile::tempdir().unwrap();
    let tools = dispatcher();
    let config = ServerConfig::command("p", "/bin/sh").args(["-c", &program(&[])]).current_dir(directory.path());
    let config = config.connect_timeout(Duration::from_millis(50));
    let servers = RemoteServers::builder().server(config.clone()).connect(&tools.registry()).await.unwrap();
    servers.reload().await;
    until(|| starts(directory.path()) == 2).await;
    servers.close().await;
    let strict = RemoteServers::builder().server(config).strict().connect(&tools.registry()).await;
    assert!(strict.is_err_and(|error| error.to_string().contains("still starting")));
}

/// The server delays its response to the probe.
#[tokio::test]
async fn connects_an_http_server_that_starts_slowly() {
    let (asked, is_up) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let (seen, waits) = (asked.clone(), is_up.clone());
    let answer = move |message: String| {
        let message: Value = serde_json::from_str(&message).unwrap();
        let (seen, waits) = (seen.clone(), waits.clone());
        async move {
            seen.fetch_add(1, Ordering::SeqCst);
            drop(waits.acquire().await);
            match message["method"].as_str() {
                Some("server/discover") => {
                    let error = json!({"code": -32601, "message": "unknown"});
                    respond(200, JSON, json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string())
                }
                Some("initialize") => begin(&message, "s"),
                Some("tools/list") => result(&message, json!({"tools": [tool("say", "")]})),
                Some("tools/call") => result(&message, text("hello")),
                _ => accept(),
            }
        }
    };
    let config = host(post(answer)).await.trust();
    let tools = dispatcher();
    let registry = tools.registry();
    let connecting = tokio::spawn(async move { RemoteServers::builder().server(config).connect(&registry).await });
    until(|| asked.load(Ordering::SeqCst) == 1).await;
    pass(PAST_THE_PROBE).await;
    is_up.add_permits(100);
    let servers = connecting.await.unwrap().unwrap();
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    assert_eq!(call(&tools, "mcp_h_say").await.output, "hello");
    servers.close().await;
}
