//! Responses over the length limit, which must not be buffered.

use serde_json::{Value, json};
use tool_mcp::{RemoteServers, ServerConfig};
use tool_runtime::ErrorKind;

use crate::scripted::{Peer, beside_good, call, connect, dispatcher, good, good_answers, kind, server, tool};

const CHUNK: &[u8; 1 << 16] = &[b'x'; 1 << 16];

/// A server whose responses to calls have this many bytes.
fn huge(bytes: usize) -> ServerConfig {
    server("s", move |mut peer: Peer| async move {
        while let Some(call) = peer.call(&json!([tool("work", "")])).await {
            peer.raw(b"{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"").await;
            for _ in 0..bytes / CHUNK.len() {
                peer.raw(CHUNK).await;
            }
            peer.raw(format!("\"}}]}},\"id\":{}}}\n", call["id"]).as_bytes()).await;
        }
    })
    .trust()
}

/// The same over HTTP, as JSON and as an event stream.
async fn huge_http(bytes: usize) -> ServerConfig {
    use axum::body::Body;
    use axum::response::Response;

    struct Chunks(usize, Option<Vec<u8>>);
    impl futures_core::Stream for Chunks {
        type Item = std::io::Result<Vec<u8>>;
        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Self::Item>> {
            let first = self.1.take();
            let more = first.or_else(|| self.0.checked_sub(1).map(|_| CHUNK.to_vec()));
            self.0 = self.0.saturating_sub(1);
            std::task::Poll::Ready(more.map(Ok))
        }
    }
    let answer = move |body: String| async move {
        let message: Value = serde_json::from_str(&body).unwrap_or_default();
        let id = &message["id"];
        let json = |result: Value| {
            (200, "application/json", Body::from(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()))
        };
        let start =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"");
        let chunks = |start: String| Body::from_stream(Chunks(bytes / CHUNK.len(), Some(start.into_bytes())));
        let (status, kind, body) = match message["method"].as_str() {
            Some("initialize") => json(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
            })),
            Some("tools/list") => json(json!({"tools": [tool("json", ""), tool("events", "")]})),
            Some("tools/call") if message["params"]["name"] == "json" => (200, "application/json", chunks(start)),
            Some("tools/call") => (200, "text/event-stream", chunks(format!("data: {start}"))),
            Some("server/discover") => (400, "text/plain", Body::empty()),
            _ => (202, "text/plain", Body::empty()),
        };
        Response::builder().status(status).header("content-type", kind).body(body).unwrap()
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(
        async move { axum::serve(listener, axum::Router::new().route("/mcp", axum::routing::post(answer))).await },
    );
    ServerConfig::http("h", format!("http://{address}/mcp")).trust()
}

#[tokio::test(flavor = "multi_thread")]
async fn fails_a_call_whose_response_exceeds_the_limit() {
    let tools = dispatcher();
    let builder = RemoteServers::builder().server(huge(64 << 20)).server(huge_http(64 << 20).await).server(good());
    let servers = connect(&tools, builder).await;
    for name in ["mcp_s_work", "mcp_h_json", "mcp_h_events"] {
        let result = call(&tools, name).await;
        assert_eq!(kind(&result), Some(ErrorKind::Failed), "{name}: {result:?}");
        assert!(result.output.contains("exceeds the limit of 16777216 bytes"), "{name}: {}", result.output);
        good_answers(&tools).await;
    }
    servers.close().await;
}

/// The control is the same server with the default limit.
#[tokio::test(flavor = "multi_thread")]
async fn applies_a_configured_message_limit() {
    let tools = dispatcher();
    for (config, is_too_long) in [(huge(1 << 20).max_message(1 << 18), true), (huge(1 << 20), false)] {
        let servers = beside_good(&tools, config).await;
        let result = call(&tools, "mcp_s_work").await;
        assert_eq!(result.output.contains("exceeds the limit of 262144 bytes"), is_too_long);
        assert_eq!(result.success, !is_too_long);
        servers.close().await;
    }
}

/// Returns the peak memory of this process, in MiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

/// Measures the memory for a response in its own process, with the adapter or with a reader that buffers whole lines.
#[tokio::test]
#[ignore = "run by `does_not_buffer_a_gigabyte` in its own process"]
async fn measured() {
    let before = peak();
    match std::env::var("MCP_MEASURE").as_deref() {
        Ok("adapter") => {
            let tools = dispatcher();
            let servers = beside_good(&tools, huge(1 << 30)).await;
            assert!(call(&tools, "mcp_s_work").await.output.contains("exceeds the limit"));
            good_answers(&tools).await;
            servers.close().await;
        }
        Ok("http") => {
            let tools = dispatcher();
            let servers = connect(&tools, RemoteServers::builder().server(huge_http(1 << 30).await)).await;
            for name in ["mcp_h_json", "mcp_h_events"] {
                assert!(call(&tools, name).await.output.contains("exceeds the limit"));
            }
            servers.close().await;
        }
        _ => {
            use tokio::io::AsyncBufReadExt;
            let (ours, theirs) = tokio::io::duplex(64 << 10);
            tokio::spawn(async move {
                let mut theirs = theirs;
                for _ in 0..(256 << 20) / CHUNK.len() {
                    tokio::io::AsyncWriteExt::write_all(&mut theirs, CHUNK).await.unwrap();
                }
            });
            let mut line = Vec::new();
            tokio::io::BufReader::new(ours).read_until(b'\n', &mut line).await.unwrap();
            assert_eq!(line.len(), 256 << 20);
        }
    }
    println!("grew by {} MiB", peak() - before);
}

#[cfg(target_os = "linux")]
#[test]
fn does_not_buffer_a_gigabyte() {
    let grown = |how: &str| -> usize {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "huge::measured", "--ignored", "--nocapture"]).env("MCP_MEASURE", how);
        let output = command.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{how}: {stdout}{}", String::from_utf8_lossy(&output.stderr));
        let grown = stdout.split("grew by ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        println!("{how}: {grown} MiB");
        grown.parse().unwrap()
    };
    assert!(grown("adapter") < 64);
    assert!(grown("http") < 96);
    // The control: a quarter of the length, with a buffered line.
    assert!(grown("naive") >= 256);
}
