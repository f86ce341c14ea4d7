//! Servers that mean no good. Each time there is a clear result, and the server beside it is not affected.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use serde_json::{Value, json};
use tool_mcp::{ServerConfig, ServerState, Servers};
use tool_runtime::{ErrorKind, ToolCall};

use crate::scripted::{
    Peer, beside_good, call, connect, dispatcher, good, good_answers, kind, server, text, tool, until,
};

#[tokio::test]
async fn lists_without_end_are_cut() {
    for tools_a_page in [1, 0] {
        let tools = dispatcher();
        let endless = server("s", move |mut peer: Peer| async move {
            let mut page = 0;
            while let Some(message) = peer.request().await {
                page += 1;
                let listed: Vec<Value> = (0..tools_a_page).map(|_| tool(&format!("t{page}"), "")).collect();
                peer.answer(&message, json!({"tools": listed, "nextCursor": format!("{page}")})).await;
            }
        });
        let servers = beside_good(&tools, endless.max_tools(50)).await;
        let status = &servers.status()[1];
        assert_eq!((&status.state, status.tools.len()), (&ServerState::Connected, 50 * tools_a_page), "{status:?}");
        assert!(status.problems[0].contains("more than 50 tools"), "{status:?}");
        good_answers(&tools).await;
        servers.close().await;
    }
}

#[tokio::test]
async fn a_server_that_never_answers_holds_up_nobody_for_long() {
    let tools = dispatcher();
    let silent = server("s", |mut peer: Peer| async move { while peer.next().await.is_some() {} });
    let servers = beside_good(&tools, silent.connect_timeout(Duration::from_millis(200))).await;
    let state = &servers.status()[1].state;
    assert!(matches!(state, ServerState::Away(why) if why.contains("not ready within 200ms")), "{state:?}");
    good_answers(&tools).await;
    servers.close().await;
}

#[tokio::test]
async fn of_two_tools_of_one_name_the_first_is_offered() {
    let tools = dispatcher();
    let twins = server("s", |mut peer: Peer| async move {
        while let Some(call) =
            peer.call(&json!([tool("a", "first"), tool("a", "second"), tool("b.c", ""), tool("b/c", "")])).await
        {
            peer.answer(&call, text(call["params"]["name"].as_str().unwrap())).await;
        }
    });
    let servers = beside_good(&tools, twins.trust()).await;
    assert_eq!(tools.registry().get("mcp_s_a").unwrap().description, "first");
    assert_eq!(call(&tools, "mcp_s_b_c").await.output, "b.c", "by its own name");
    let problems = &servers.status()[1].problems;
    assert!(problems.len() == 2 && problems[1].contains("`b.c` and `b/c`"), "{problems:?}");
    good_answers(&tools).await;
    servers.close().await;
}

#[tokio::test]
async fn schemas_that_make_no_sense_cost_only_their_tools() {
    let mut deep = json!({"type": "string"});
    for _ in 0..40 {
        deep = json!({"type": "object", "properties": {"in": deep}});
    }
    let wide: serde_json::Map<String, Value> =
        (0..20_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let nested: Value = (0..12).fold(json!({}), |inner, n| json!({"anyOf": [inner, inner], "title": format!("{n}")}));
    let schemas = json!({
        "fine": {"type": "object", "properties": {"a": {"type": "string"}}},
        "bad_type": {"type": "object", "properties": {"a": {"type": "strnig"}}},
        "no_object": {"type": "array"},
        "far": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        "circle": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}},
        "recursive": {"type": "object", "properties": {"a": {"$ref": "#"}}},
        "lookahead": {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)(a+)+$"}}},
        "deep": deep,
        "wide": {"type": "object", "properties": wide},
        "nested": {"type": "object", "properties": {"a": nested}},
        "odd": {"type": "object", "properties": {"a": 3}, "required": "a"},
    });
    let listed: Vec<Value> = schemas
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, schema)| json!({"name": name, "inputSchema": schema}))
        .collect();
    let listed = Value::Array(listed);
    let odd = server("s", move |mut peer: Peer| {
        let listed = listed.clone();
        async move {
            while let Some(call) = peer.call(&listed).await {
                peer.answer(&call, text("ran")).await;
            }
        }
    });
    let tools = dispatcher();
    let servers = beside_good(&tools, odd.trust()).await;
    let problems = servers.status()[1].problems.join("\n");
    for (name, why) in [("far", ""), ("circle", ""), ("wide", "are allowed"), ("no_object", "")] {
        assert!(
            problems.contains(&format!("`mcp_s_{name}`")) || problems.contains(&format!("`{name}`")),
            "{name}: {problems}"
        );
        assert!(problems.contains(why), "{name}: {problems}");
    }
    assert_eq!(tools.call(ToolCall::from_text("mcp_s_fine", r#"{"a": "x"}"#)).await.output, "ran");
    // Whatever is offered answers, and none takes the program down.
    for name in tools.registry().names() {
        let result =
            tools.call(ToolCall::from_text(name.to_string(), r#"{"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}"#)).await;
        assert!(!result.output.is_empty() && kind(&result) != Some(ErrorKind::Panicked), "{name}: {result:?}");
    }
    good_answers(&tools).await;
    servers.close().await;
}

#[tokio::test]
async fn noise_and_answers_to_nothing_are_left_out() {
    let tools = dispatcher();
    let noisy = server("s", |mut peer: Peer| async move {
        peer.raw(b"Welcome to my server!\n\xff\xfe\n[1,2]\n42\n{\"jsonrpc\":\"2.0\"}\n\n").await;
        while let Some(call) = peer.call(&json!([tool("work", "")])).await {
            if call["method"] != "tools/call" {
                continue;
            }
            for id in [json!(99_999), json!("x"), Value::Null] {
                peer.send(json!({"jsonrpc": "2.0", "id": id, "result": text("for somebody else")})).await;
                peer.send(json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "x"}})).await;
            }
            peer.raw(b"noise\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/of/mine\"}\n").await;
            peer.answer(&call, text("mine")).await;
            peer.answer(&call, text("mine again")).await;
        }
    });
    let servers = beside_good(&tools, noisy.trust()).await;
    for _ in 0..3 {
        assert_eq!(call(&tools, "mcp_s_work").await.output, "mine");
    }
    good_answers(&tools).await;
    servers.close().await;
}

#[tokio::test]
async fn answers_that_are_none_are_failures() {
    let tools = dispatcher();
    let odd = server("s", |mut peer: Peer| async move {
        while let Some(call) = peer.call(&json!([tool("work", "")])).await {
            let id = &call["id"];
            match call["params"]["arguments"]["n"].as_i64() {
                Some(1) => peer.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\n").as_bytes()).await,
                Some(2) => peer.answer(&call, json!({"content": 3})).await,
                Some(3) => peer.answer(&call, json!([])).await,
                Some(4) => peer.answer(&call, json!({"content": [{"type": "hologram"}]})).await,
                Some(5) => peer.refuse(&call, -32602, "no such tool").await,
                Some(6) => peer.send(json!({"jsonrpc": "2.0", "id": id})).await,
                _ => peer.answer(&call, json!({"content": [], "isError": true})).await,
            }
        }
    });
    let servers = beside_good(&tools, odd.trust()).await;
    for (n, part) in [
        (1, "cannot be read"),
        (2, "no result of a tool"),
        (3, "no result of a tool"),
        (4, "[hologram]"),
        (5, "refused the call: no such tool (code -32602)"),
        (6, "cannot be read"),
        (7, "did not say why"),
    ] {
        let result = tools.call(ToolCall::new("mcp_s_work", json!({"n": n}))).timeout(Duration::from_secs(20)).await;
        assert!(result.output.contains(part), "{n}: {result:?}");
    }
    good_answers(&tools).await;
    servers.close().await;
}

/// Questions without end are declined; a change that is told without end is listed now and then.
#[tokio::test]
async fn floods_do_not_drown_anybody() {
    let tools = dispatcher();
    let flood = server("s", |mut peer: Peer| async move {
        let (mut lists, mut declined) = (0, 0);
        while let Some(message) = peer.request().await {
            match message["method"].as_str() {
                Some("tools/list") => {
                    lists += 1;
                    peer.answer(&message, json!({"tools": [tool("work", "")]})).await;
                    for _ in 0..100 {
                        peer.send(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
                    }
                }
                Some("tools/call") => {
                    for id in 0..500 {
                        let params = json!({"mode": "form", "message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
                        peer.send(json!({"jsonrpc": "2.0", "id": format!("q{id}"), "method": "elicitation/create", "params": params})).await;
                    }
                    while declined < 500 {
                        let Some(answer) = peer.next().await else { return };
                        declined += usize::from(answer["result"]["action"] == "decline");
                    }
                    peer.answer(&message, text(format!("{declined} declined, listed {}", lists < 5))).await;
                }
                _ => {}
            }
        }
    });
    let servers = beside_good(&tools, flood.trust()).await;
    assert_eq!(call(&tools, "mcp_s_work").await.output, "500 declined, listed true");
    good_answers(&tools).await;
    servers.close().await;
}

/// A server that does not read is ended all the same, with what was not written yet.
#[tokio::test]
async fn who_reads_nothing_can_be_closed() {
    let tools = dispatcher();
    let deaf = server("s", |mut peer: Peer| async move {
        let list = peer.request().await.unwrap_or_default();
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        peer.answer(&list, json!({"tools": [{"name": "work", "inputSchema": schema}]})).await;
        std::future::pending::<()>().await;
    });
    let servers = beside_good(&tools, deaf.trust()).await;
    let long = ToolCall::new("mcp_s_work", json!({"text": "x".repeat(1 << 20)}));
    let late = tools.call(long).timeout(Duration::from_millis(100)).await;
    assert_eq!(kind(&late), Some(ErrorKind::TimedOut), "{late:?}");
    good_answers(&tools).await;
    let closing = tokio::time::timeout(Duration::from_secs(30), servers.close());
    assert!(closing.await.is_ok(), "it hangs");
    assert!(tools.registry().is_empty());
}

/// Each try would cost a connection.
#[tokio::test]
async fn who_never_answers_is_not_waited_for_when_nobody_does() {
    /// Counts the requests that are held.
    struct Held(Arc<AtomicUsize>);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }
    for events in [false, true] {
        let (came, held) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counted = (came.clone(), held.clone());
        let silent = move || {
            let (came, held) = counted.clone();
            async move {
                came.fetch_add(1, SeqCst);
                held.fetch_add(1, SeqCst);
                let held = Held(held);
                if events {
                    let body = axum::body::Body::from_stream(Forever(held));
                    return axum::response::Response::builder()
                        .header("content-type", "text/event-stream")
                        .body(body)
                        .unwrap();
                }
                std::future::pending().await
            }
        };
        struct Forever(#[expect(dead_code, reason = "it is held")] Held);
        impl futures_core::Stream for Forever {
            type Item = std::io::Result<Vec<u8>>;
            fn poll_next(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<Self::Item>> {
                std::task::Poll::Pending
            }
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move {
            axum::serve(listener, axum::Router::new().route("/mcp", axum::routing::post(silent))).await
        });
        let tools = dispatcher();
        let config = ServerConfig::http("h", url).connect_timeout(Duration::from_millis(100));
        let servers = connect(&tools, Servers::builder().server(config)).await;
        assert!(
            matches!(&servers.status()[0].state, ServerState::Away(why) if why.contains("not ready within")),
            "{servers:?}"
        );
        assert!(came.load(SeqCst) > 0, "it was asked");
        servers.close().await;
        until(|| held.load(SeqCst) == 0).await;
    }
}

const CHUNK: &[u8; 1 << 16] = &[b'x'; 1 << 16];

/// A server whose answer to a call is this many bytes long.
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

/// The same over HTTP, as JSON and as events.
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
async fn an_answer_that_is_too_long_is_a_failure() {
    let tools = dispatcher();
    let builder = Servers::builder().server(huge(64 << 20)).server(huge_http(64 << 20).await).server(good());
    let servers = connect(&tools, builder).await;
    for name in ["mcp_s_work", "mcp_h_json", "mcp_h_events"] {
        let result = call(&tools, name).await;
        assert_eq!(kind(&result), Some(ErrorKind::Failed), "{name}: {result:?}");
        assert!(result.output.contains("longer than 16777216 bytes"), "{name}: {}", result.output);
        good_answers(&tools).await;
    }
    servers.close().await;
}

/// The highest memory that this process has used, in MiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

/// In a process of its own: how much memory an answer takes, read by the adapter or by somebody who reads whole lines.
#[tokio::test]
#[ignore = "it is run by `a_gigabyte_takes_no_memory`, alone in its process"]
async fn measured() {
    let before = peak();
    match std::env::var("MCP_MEASURE").as_deref() {
        Ok("adapter") => {
            let tools = dispatcher();
            let servers = beside_good(&tools, huge(1 << 30)).await;
            assert!(call(&tools, "mcp_s_work").await.output.contains("longer than"));
            good_answers(&tools).await;
            servers.close().await;
        }
        Ok("http") => {
            let tools = dispatcher();
            let servers = connect(&tools, Servers::builder().server(huge_http(1 << 30).await)).await;
            for name in ["mcp_h_json", "mcp_h_events"] {
                assert!(call(&tools, name).await.output.contains("longer than"));
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
fn a_gigabyte_takes_no_memory() {
    let grown = |how: &str| -> usize {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "hostile::measured", "--ignored", "--nocapture"]).env("MCP_MEASURE", how);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{how}: {said}{}", String::from_utf8_lossy(&output.stderr));
        let grown = said.split("grew by ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        println!("{how}: {grown} MiB");
        grown.parse().unwrap()
    };
    assert!(grown("adapter") < 64);
    assert!(grown("http") < 96);
    // The control: a quarter of the length, read line by line.
    assert!(grown("naive") >= 256);
}
