//! Hostile servers. Each test expects a clear result and an unaffected second server.

use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::post;
use serde_json::{Value, json};
use tool_mcp::{RemoteServers, ServerConfig, ServerState};
use tool_runtime::{ErrorKind, ToolCall};

use crate::scripted::{Peer, beside_good, call, connect, dispatcher, good_answers, kind, server, text, tool, until};

#[tokio::test]
async fn truncates_an_endless_list() {
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
async fn a_silent_server_delays_others_only_briefly() {
    let tools = dispatcher();
    let silent = server("s", |mut peer: Peer| async move { while peer.next().await.is_some() {} });
    let servers = beside_good(&tools, silent.connect_timeout(Duration::from_millis(200))).await;
    let state = &servers.status()[1].state;
    assert!(matches!(state, ServerState::Unavailable(why) if why.contains("not ready within 200ms")), "{state:?}");
    good_answers(&tools).await;
    servers.close().await;
}

#[tokio::test]
async fn registers_the_first_of_two_tools_with_the_same_name() {
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
    assert_eq!(call(&tools, "mcp_s_b_c").await.output, "b.c", "called by the server's name");
    let problems = &servers.status()[1].problems;
    assert!(problems.len() == 2 && problems[1].contains("`b.c` and `b/c`"), "{problems:?}");
    good_answers(&tools).await;
    servers.close().await;
}

#[tokio::test]
async fn drops_only_the_tools_with_invalid_schemas() {
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
    for (name, why) in [("far", ""), ("circle", ""), ("wide", "over the limit"), ("no_object", "")] {
        assert!(
            problems.contains(&format!("`mcp_s_{name}`")) || problems.contains(&format!("`{name}`")),
            "{name}: {problems}"
        );
        assert!(problems.contains(why), "{name}: {problems}");
    }
    assert_eq!(tools.call(ToolCall::from_text("mcp_s_fine", r#"{"a": "x"}"#)).await.output, "ran");
    // Every registered tool returns a result without a panic.
    for name in tools.registry().names() {
        let result =
            tools.call(ToolCall::from_text(name.to_string(), r#"{"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}"#)).await;
        assert!(!result.output.is_empty() && kind(&result) != Some(ErrorKind::Panicked), "{name}: {result:?}");
    }
    good_answers(&tools).await;
    servers.close().await;
}

#[tokio::test]
async fn ignores_noise_and_unsolicited_responses() {
    let tools = dispatcher();
    let noisy = server("s", |mut peer: Peer| async move {
        peer.raw(b"Welcome to my server!\n\xff\xfe\n[1,2]\n42\n{\"jsonrpc\":\"2.0\"}\n\n").await;
        while let Some(call) = peer.call(&json!([tool("work", "")])).await {
            if call["method"] != "tools/call" {
                continue;
            }
            for id in [json!(99_999), json!("x"), Value::Null] {
                peer.send(json!({"jsonrpc": "2.0", "id": id, "result": text("for another request")})).await;
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
async fn turns_invalid_responses_into_failures() {
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
        (1, "invalid response"),
        (2, "not a tool result"),
        (3, "not a tool result"),
        (4, "[hologram]"),
        (5, "refused the call: no such tool (code -32602)"),
        (6, "invalid response"),
        (7, "without a message"),
    ] {
        let result = tools.call(ToolCall::new("mcp_s_work", json!({"n": n}))).timeout(Duration::from_secs(20)).await;
        assert!(result.output.contains(part), "{n}: {result:?}");
    }
    good_answers(&tools).await;
    servers.close().await;
}

/// Endless elicitations are declined, and endless change notifications are throttled. Time is paused, so the test does not
/// depend on the speed of the machine.
#[tokio::test(start_paused = true)]
async fn withstands_floods_of_requests_and_notifications() {
    let tools = dispatcher();
    let flood = server("s", |mut peer: Peer| async move {
        let (mut lists, mut declined, mut pings, mut call) = (0, 0, 0, Value::Null);
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
                    call = message;
                }
                _ if message["result"]["action"] == "decline" => declined += 1,
                _ => pings += 1,
            }
            // Without throttling there would be many listings by the time all pings were sent.
            if declined == 500 && pings < 200 {
                peer.send(json!({"jsonrpc": "2.0", "id": format!("p{pings}"), "method": "ping"})).await;
            } else if pings == 200 {
                peer.answer(&call, text(format!("{declined} declined, listed {}", lists < 5))).await;
            }
        }
    });
    let servers = beside_good(&tools, flood.trust()).await;
    assert_eq!(call(&tools, "mcp_s_work").await.output, "500 declined, listed true");
    good_answers(&tools).await;
    servers.close().await;
}

/// Closing must not wait for pending writes.
#[tokio::test]
async fn closes_a_server_that_does_not_read() {
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
    assert!(closing.await.is_ok(), "closing hangs");
    assert!(tools.registry().is_empty());
}

/// A response body that never ends and has no data.
struct Silence(Arc<()>);

impl futures_core::Stream for Silence {
    type Item = std::io::Result<Vec<u8>>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Pending
    }
}

/// Otherwise each attempt would leak a connection. One server never responds, the other never completes its response.
#[tokio::test]
async fn drops_the_connections_to_a_silent_server_on_close() {
    for begins in [false, true] {
        let waiting = Arc::new(Mutex::new(Vec::<Weak<()>>::new()));
        let recorded = waiting.clone();
        let answer = move || {
            let silence = Silence(Arc::default());
            recorded.lock().unwrap().push(Arc::downgrade(&silence.0));
            async move {
                if !begins {
                    // Holds the request, and its counter, forever.
                    let _silence = silence;
                    return std::future::pending().await;
                }
                let response = Response::builder().header("content-type", "text/event-stream");
                response.body(Body::from_stream(silence)).unwrap()
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/mcp", post(answer))).await });
        let config = ServerConfig::http("h", url).connect_timeout(Duration::from_millis(100));
        let servers = connect(&dispatcher(), RemoteServers::builder().server(config)).await;
        servers.close().await;
        assert!(!waiting.lock().unwrap().is_empty(), "the server was contacted");
        until(|| waiting.lock().unwrap().iter().all(|silence| silence.strong_count() == 0)).await;
    }
}
