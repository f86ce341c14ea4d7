//! The fast path and rmcp give the same responses.

use super::*;

/// Returns `true` if a 2026-07-28 call completes on the fast path.
async fn is_fast(front: &HttpFrontend<ToolsOnly>, request: &TestRequest) -> bool {
    let sent = request.request(true);
    if CallHead::parse(&sent, &front.hosts, front.max_body) != Some(CallHead::Stateless) {
        return false;
    }
    let (parts, _) = sent.into_parts();
    match tools_call(request.body.as_bytes()) {
        Some(call) => front.call(&call, &parts).await.is_some(),
        None => false,
    }
}

#[tokio::test]
async fn handles_2026_calls_as_rmcp_does() {
    let front = serve(&HttpConfig::new().max_body(10_000));
    let echo = || TestRequest::modern("echo", json!({"n": 1}));
    let fast = [
        echo(),
        echo().with_json("/id", json!("seven")),
        echo().with("host", "127.0.0.1"),
        echo().with("host", "[::1]:8080"),
        echo().with("content-type", "application/json; charset=utf-8"),
        TestRequest::modern("echo", json!({"n": "one"})),
        TestRequest::modern("echo", json!({"n": 1, "more": [null]})),
        TestRequest::modern("fail", json!({})),
        TestRequest::modern("fail", Value::Null),
        TestRequest::modern("echo", Value::Null),
        TestRequest::modern("whole", json!({})),
    ];
    let slow = [
        TestRequest::modern("delete", json!({})),
        TestRequest::modern("client", json!({})),
        TestRequest::modern("headers", json!({"n": 1})),
        TestRequest::modern("headers", json!({"n": 1})).with("mcp-param-n", "1"),
        TestRequest::modern("headers", json!({"n": 1})).with("mcp-param-n", "2"),
        TestRequest::modern("nowhere", json!({})),
        echo().with("host", "evil.example"),
        echo().with("host", "localhost.evil.example"),
        echo().with("host", "localhost:80:90"),
        echo().without("host"),
        echo().with("origin", "http://evil.example"),
        echo().with("origin", "http://localhost:3000"),
        echo().with("accept", "application/json"),
        echo().without("accept"),
        echo().with("content-type", "text/plain"),
        echo().with("mcp-protocol-version", "2025-11-25"),
        echo().with("mcp-protocol-version", "2099-01-01"),
        echo().without("mcp-protocol-version"),
        echo().with("mcp-method", "tools/list"),
        echo().twice("mcp-method"),
        echo().without("mcp-method"),
        echo().with("mcp-name", "fail"),
        echo().with("mcp-name", "=?base64?ZWNobw==?="),
        echo().twice("mcp-name"),
        echo().without("mcp-name"),
        echo().with("mcp-session-id", "nobody"),
        echo().with_json("/jsonrpc", json!("1.0")),
        echo().with_json("/method", json!("tools/list")),
        echo().with_json("/params/name", json!(7)),
        echo().with_json("/params/arguments", json!([1])),
        echo().with_json("/params/requestState", json!("forged")),
        echo().with_json("/params/_meta", json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"})),
        echo().with_json("/params/_meta", json!({})),
        echo().with_json("/params/_meta/padding", json!("x".repeat(20_000))),
        TestRequest { method: "PUT", ..echo() },
        TestRequest { body: "no json".to_owned(), ..echo() },
        TestRequest { body: r#"["2.0",7,"tools/call",[null,"echo",{"n":1}]]"#.to_owned(), ..echo() },
        echo().with_json("/method", json!({"tools/call": null})),
        TestRequest { body: String::new(), ..echo() },
    ];
    for (request, expected) in
        fast.iter().map(|request| (request, true)).chain(slow.iter().map(|request| (request, false)))
    {
        assert_eq!(is_fast(&front, request).await, expected, "{request:?}");
        let ours = content(handle(State(front.clone()), request.request(true)).await).await;
        let theirs = content(handle(State(front.clone()), request.request(false)).await).await;
        assert_eq!(ours, theirs, "{request:?}");
    }
}

#[tokio::test]
async fn handles_session_calls_as_rmcp_does() {
    let front = serve(&HttpConfig::new());
    let session = begin(&front).await;
    let call = |tool: &str, arguments: Value| TestRequest::in_session(&session, tool, arguments);
    for (request, fast) in [
        (call("echo", json!({"n": 1})), true),
        (call("echo", json!({"n": "one"})), true),
        (call("fail", json!({})), true),
        (call("client", json!({})), true),
        (call("delete", json!({})), true),
        (call("nowhere", json!({})), true),
        (call("echo", json!({"n": 1})).with("mcp-session-id", "nobody"), true),
        (call("echo", json!({"n": 1})).with_json("/params/arguments", json!("text")), true),
        (call("echo", json!({"n": 1})).with("host", "evil.example"), false),
        (call("echo", json!({"n": 1})).without("mcp-session-id"), false),
        (call("echo", json!({"n": 1})).with("mcp-protocol-version", "1999-01-01"), false),
    ] {
        let head = CallHead::parse(&request.request(true), &front.hosts, front.max_body);
        assert_eq!(head == Some(CallHead::InSession), fast, "{request:?}");
        let ours = content(handle(State(front.clone()), request.request(true)).await).await;
        let theirs = content(handle(State(front.clone()), request.request(false)).await).await;
        assert_eq!(ours, theirs, "{request:?}");
    }
}

/// All permits are taken; then one is free.
#[tokio::test]
async fn refuses_calls_over_the_limit_as_rmcp_does() {
    let front = serve(&HttpConfig::new().max_sessions(1));
    let request = TestRequest::modern("echo", json!({"n": 1}));
    let permit = front.permits.clone().try_acquire_owned().unwrap();
    assert!(!is_fast(&front, &request).await);
    let refused = content(handle(State(front.clone()), request.request(true)).await).await;
    assert_eq!(refused, content(handle(State(front.clone()), request.request(false)).await).await);
    assert_eq!(refused.0, 500);
    drop(permit);
    assert!(is_fast(&front, &request).await);
}

#[tokio::test]
async fn accepts_the_hosts_that_rmcp_accepts() {
    let any = serve(&HttpConfig::new().any_host());
    let named = serve(&HttpConfig::new().host("tools.example:8080").host("api.example").host("::2"));
    for (front, host, fast) in [
        (&any, "any.example:1", true),
        (&any, "no host", false),
        (&named, "tools.example:8080", true),
        (&named, "tools.example:8081", false),
        (&named, "tools.example", false),
        (&named, "api.example:1", true),
        (&named, "api.example:", false),
        (&named, "api.example:99999", false),
        (&named, "api.example.evil", false),
        (&named, "user@api.example", false),
        (&named, "[::2]", false),
    ] {
        let request = TestRequest::modern("echo", json!({"n": 1})).with("host", host);
        assert_eq!(is_fast(front, &request).await, fast, "{host}");
        let ours = content(handle(State(front.clone()), request.request(true)).await).await;
        let theirs = content(handle(State(front.clone()), request.request(false)).await).await;
        assert_eq!(ours, theirs, "{host}");
    }
}
