//! The short way and rmcp's give the same answers.

use super::*;

/// Whether a call of 2026-07-28 goes the short way to its end.
async fn is_short(front: &Front<Nothing>, asked: &Asked) -> bool {
    let request = asked.request(true);
    if Head::of(&request, &front.hosts, front.max_body) != Some(Head::Of2026) {
        return false;
    }
    let (parts, _) = request.into_parts();
    match tools_call(asked.body.as_bytes()) {
        Some(call) => front.call(&call, &parts).await.is_some(),
        None => false,
    }
}

#[tokio::test]
async fn calls_of_2026_are_answered_as_rmcp_answers_them() {
    let front = serve(&HttpConfig::new().max_body(10_000));
    let echo = || Asked::modern("echo", json!({"n": 1}));
    let short = [
        echo(),
        echo().saying("/id", json!("seven")),
        echo().with("host", "127.0.0.1"),
        echo().with("host", "[::1]:8080"),
        echo().with("content-type", "application/json; charset=utf-8"),
        Asked::modern("echo", json!({"n": "one"})),
        Asked::modern("echo", json!({"n": 1, "more": [null]})),
        Asked::modern("fail", json!({})),
        Asked::modern("fail", Value::Null),
        Asked::modern("echo", Value::Null),
        Asked::modern("whole", json!({})),
    ];
    let long = [
        Asked::modern("delete", json!({})),
        Asked::modern("client", json!({})),
        Asked::modern("headers", json!({"n": 1})),
        Asked::modern("headers", json!({"n": 1})).with("mcp-param-n", "1"),
        Asked::modern("headers", json!({"n": 1})).with("mcp-param-n", "2"),
        Asked::modern("nowhere", json!({})),
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
        echo().saying("/jsonrpc", json!("1.0")),
        echo().saying("/method", json!("tools/list")),
        echo().saying("/params/name", json!(7)),
        echo().saying("/params/arguments", json!([1])),
        echo().saying("/params/requestState", json!("forged")),
        echo().saying("/params/_meta", json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"})),
        echo().saying("/params/_meta", json!({})),
        echo().saying("/params/_meta/padding", json!("x".repeat(20_000))),
        Asked { method: "PUT", ..echo() },
        Asked { body: "no json".to_owned(), ..echo() },
        Asked { body: r#"["2.0",7,"tools/call",[null,"echo",{"n":1}]]"#.to_owned(), ..echo() },
        echo().saying("/method", json!({"tools/call": null})),
        Asked { body: String::new(), ..echo() },
    ];
    for (asked, expected) in short.iter().map(|asked| (asked, true)).chain(long.iter().map(|asked| (asked, false))) {
        assert_eq!(is_short(&front, asked).await, expected, "{asked:?}");
        let ours = said(answer(State(front.clone()), asked.request(true)).await).await;
        let theirs = said(answer(State(front.clone()), asked.request(false)).await).await;
        assert_eq!(ours, theirs, "{asked:?}");
    }
}

#[tokio::test]
async fn calls_in_a_session_are_answered_as_rmcp_answers_them() {
    let front = serve(&HttpConfig::new());
    let session = begin(&front).await;
    let call = |tool: &str, arguments: Value| Asked::in_session(&session, tool, arguments);
    for (asked, short) in [
        (call("echo", json!({"n": 1})), true),
        (call("echo", json!({"n": "one"})), true),
        (call("fail", json!({})), true),
        (call("client", json!({})), true),
        (call("delete", json!({})), true),
        (call("nowhere", json!({})), true),
        (call("echo", json!({"n": 1})).with("mcp-session-id", "nobody"), true),
        (call("echo", json!({"n": 1})).saying("/params/arguments", json!("text")), true),
        (call("echo", json!({"n": 1})).with("host", "evil.example"), false),
        (call("echo", json!({"n": 1})).without("mcp-session-id"), false),
        (call("echo", json!({"n": 1})).with("mcp-protocol-version", "1999-01-01"), false),
    ] {
        let head = Head::of(&asked.request(true), &front.hosts, front.max_body);
        assert_eq!(head == Some(Head::Of2025), short, "{asked:?}");
        let ours = said(answer(State(front.clone()), asked.request(true)).await).await;
        let theirs = said(answer(State(front.clone()), asked.request(false)).await).await;
        assert_eq!(ours, theirs, "{asked:?}");
    }
}

/// All places are taken; then they are not.
#[tokio::test]
async fn a_call_without_a_place_is_answered_as_rmcp_answers_it() {
    let front = serve(&HttpConfig::new().max_sessions(1));
    let asked = Asked::modern("echo", json!({"n": 1}));
    let place = front.places.clone().try_acquire_owned().unwrap();
    assert!(!is_short(&front, &asked).await);
    let refused = said(answer(State(front.clone()), asked.request(true)).await).await;
    assert_eq!(refused, said(answer(State(front.clone()), asked.request(false)).await).await);
    assert_eq!(refused.0, 500);
    drop(place);
    assert!(is_short(&front, &asked).await);
}

#[tokio::test]
async fn hosts_are_those_that_rmcp_would_take() {
    let any = serve(&HttpConfig::new().any_host());
    let named = serve(&HttpConfig::new().host("tools.example:8080").host("api.example").host("::2"));
    for (front, host, short) in [
        (&any, "whoever.example:1", true),
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
        let asked = Asked::modern("echo", json!({"n": 1})).with("host", host);
        assert_eq!(is_short(front, &asked).await, short, "{host}");
        let ours = said(answer(State(front.clone()), asked.request(true)).await).await;
        let theirs = said(answer(State(front.clone()), asked.request(false)).await).await;
        assert_eq!(ours, theirs, "{host}");
    }
}
