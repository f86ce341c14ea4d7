//! Attacks, each with a control: the same request without the attack, which must succeed.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Builder as RequestBuilder;
use axum::http::{HeaderValue, Request, StatusCode, header};
use futures_util::stream;
use serde_json::json;
use tool_http::{Api, Guard, SecurityHeaders, Token};
use tool_runtime::limits::Limit;
use tool_runtime::{Dispatcher, ToolCall};

use crate::support::{
    LOCAL, REMOTE, SECRET, get, guarded, json, list, mounted, outcome, post, request, request_from, router, said, send,
    serve, token, tools,
};

#[tokio::test]
async fn without_a_token_only_this_machine_is_served() {
    let router = router();
    for (from, host, expected) in [
        (LOCAL, "localhost:3000", "ok"),
        (LOCAL, "LOCALHOST", "ok"),
        (LOCAL, "console.localhost", "ok"),
        (LOCAL, "127.0.0.1:3000", "ok"),
        (LOCAL, "127.9.9.9", "ok"),
        (LOCAL, "[::1]:3000", "ok"),
        (REMOTE, "localhost:3000", "not_local"),
        (REMOTE, "203.0.113.1", "host"),
        // A host name that an attacker rebound to this machine.
        (LOCAL, "evil.example", "host"),
        (LOCAL, "evil.example:3000", "host"),
        (LOCAL, "localhost.evil.example", "host"),
        (LOCAL, "evil-localhost", "host"),
        (LOCAL, "203.0.113.1", "host"),
        (LOCAL, "0.0.0.0:3000", "host"),
        (LOCAL, "evil@localhost", "host"),
    ] {
        assert_eq!(outcome(&router, list(from, host)).await, expected, "{host} from {from:?}");
    }
    for proxied in ["x-forwarded-for", "forwarded", "via", "x-real-ip"] {
        let request = list(LOCAL, "localhost").header(proxied, "203.0.113.7");
        assert_eq!(outcome(&router, request).await, "not_local", "{proxied}");
    }
    let unknown = Request::builder().uri("/api/tools").header("host", "localhost");
    assert_eq!(outcome(&router, unknown).await, "peer_unknown");
    let twice = list(LOCAL, "localhost").header("host", "evil.example");
    assert_eq!(outcome(&router, twice).await, "host");
    let elsewhere = list(LOCAL, "localhost").uri("http://evil.example/api/tools");
    assert_eq!(outcome(&router, elsewhere).await, "host", "a path that names another host than the header");
    let hostless = Request::builder().uri("/api/tools");
    assert_eq!(outcome(&router, hostless).await, "host");
}

#[tokio::test]
async fn with_a_token_other_machines_are_served() {
    let router = guarded(Guard::new().token(token()).host("tools.example.org").unwrap());
    let named = || list(REMOTE, "tools.example.org");
    let shown = |request: RequestBuilder, value: &str| request.header("authorization", value);
    assert_eq!(outcome(&router, named()).await, "token_missing");
    for wrong in [
        "Bearer correct-horse-batterz",
        "Bearer ",
        "Bearer",
        "Basic correct-horse-battery",
        "Bearer correct-horse-battery-staple",
        "Bearer correct-horse",
    ] {
        let outcome = outcome(&router, shown(named(), wrong)).await;
        assert!(outcome.starts_with("token_"), "{wrong}: {outcome}");
    }
    for right in [format!("Bearer {SECRET}"), format!("bearer {SECRET}")] {
        assert_eq!(outcome(&router, shown(named(), &right)).await, "ok");
    }
    let right = format!("Bearer {SECRET}");
    // On this machine too, and never for a foreign host name.
    assert_eq!(outcome(&router, list(LOCAL, "localhost")).await, "token_missing");
    assert_eq!(
        outcome(&router, shown(list(REMOTE, "203.0.113.1"), &right)).await,
        "ok",
        "an address cannot be rebound"
    );
    assert_eq!(outcome(&router, shown(list(REMOTE, "evil.example"), &right)).await, "host");

    let answer = send(&router, named().body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status, answer.header("www-authenticate")), (StatusCode::UNAUTHORIZED, "Bearer"));
    assert!(!answer.text.contains(SECRET));
}

#[tokio::test]
async fn a_session_needs_no_token() {
    let known = |parts: &axum::http::request::Parts| parts.headers.get("cookie").is_some_and(|cookie| cookie == "id=7");
    let router = guarded(Guard::new().token(token()).session(known));
    let cookie = |value: &str| list(REMOTE, "203.0.113.1").header("cookie", value);
    assert_eq!(outcome(&router, cookie("id=7")).await, "ok");
    assert_eq!(outcome(&router, cookie("id=8")).await, "token_missing");
    // Without a token a session has no effect: only this machine is served.
    assert_eq!(outcome(&guarded(Guard::new().session(known)), cookie("id=7")).await, "host");
}

#[tokio::test]
async fn accepts_a_token_in_a_cookie_and_can_trust_loopback() {
    let router = guarded(Guard::new().token(token()).token_cookie("session").trust_loopback());
    let cookie = |value: &str| list(REMOTE, "203.0.113.1").header("cookie", value);
    assert_eq!(outcome(&router, cookie(&format!("a=b; session={SECRET}"))).await, "ok");
    assert_eq!(outcome(&router, cookie(&format!("sessions={SECRET}"))).await, "token_missing");
    assert_eq!(outcome(&router, cookie("session=x")).await, "token_wrong");
    assert_eq!(outcome(&router, list(LOCAL, "localhost")).await, "ok");
    assert_eq!(outcome(&router, list(REMOTE, "localhost")).await, "token_missing");
    assert_eq!(outcome(&router, list(LOCAL, "localhost").header("x-forwarded-for", "1.2.3.4")).await, "token_missing");
}

#[tokio::test]
async fn refuses_pages_of_other_sites() {
    let router = router();
    let call = |headers: &[(&str, &str)]| {
        let request = headers
            .iter()
            .fold(request("POST", "/api/tools/desk.add"), |request, (name, value)| request.header(*name, *value));
        json(request, &json!({"a": 1, "b": 2}))
    };
    for (headers, expected) in [
        (&[][..], "ok"),
        (&[("origin", "http://localhost:3000")], "ok"),
        (&[("origin", "http://localhost:3000"), ("sec-fetch-site", "same-origin")], "ok"),
        (&[("sec-fetch-site", "none")], "ok"),
        (&[("origin", "https://evil.example")], "origin"),
        (&[("origin", "null")], "origin"),
        (&[("origin", "http://localhost:4000")], "origin"),
        (&[("origin", "http://localhost")], "origin"),
        (&[("origin", "http://localhost:3000.evil.example")], "origin"),
        (&[("sec-fetch-site", "cross-site")], "origin"),
        (&[("sec-fetch-site", "same-site")], "origin"),
        (&[("origin", "http://localhost:3000"), ("sec-fetch-site", "cross-site")], "origin"),
    ] {
        assert_eq!(said(&router, call(headers)).await, expected, "{headers:?}");
    }
    // A link from another site is allowed, an image or a script is not.
    let read = |mode: &str, dest: &str| {
        list(LOCAL, "localhost")
            .header("sec-fetch-site", "cross-site")
            .header("sec-fetch-mode", mode)
            .header("sec-fetch-dest", dest)
    };
    assert_eq!(outcome(&router, read("navigate", "document")).await, "ok");
    assert_eq!(outcome(&router, read("no-cors", "script")).await, "origin");
    assert_eq!(outcome(&router, read("navigate", "iframe")).await, "origin");
}

#[tokio::test]
async fn refuses_html_forms() {
    let router = router();
    let form = |kind: &str| {
        let request = request("POST", "/api/tools/desk.add").header("content-type", kind);
        // A `text/plain` form can send JSON text.
        request.body(Body::from(r#"{"a": 1, "b": 2}"#)).unwrap()
    };
    for kind in ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"] {
        assert_eq!(said(&router, form(kind)).await, "csrf", "{kind}");
    }
    assert_eq!(said(&router, form("application/json")).await, "ok");
    // An authenticated request still needs the content type JSON.
    let mut other = form("text/plain");
    other.headers_mut().insert("x-requested-with", HeaderValue::from_static("test"));
    assert_eq!(said(&router, other).await, "content_type");
    let mut packed = form("application/json");
    packed.headers_mut().insert("content-encoding", HeaderValue::from_static("gzip"));
    assert_eq!(said(&router, packed).await, "content_type");
}

#[tokio::test]
async fn an_allowed_origin_gets_cors_headers() {
    let router = guarded(Guard::new().origin("https://app.example.org").unwrap());
    let from = |origin: &str| {
        let request =
            request("POST", "/api/tools/desk.add").header("origin", origin).header("sec-fetch-site", "cross-site");
        json(request, &json!({"a": 1, "b": 2}))
    };
    let answer = send(&router, from("https://app.example.org")).await;
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (StatusCode::OK, "https://app.example.org")
    );
    let refused = send(&router, from("https://evil.example")).await;
    assert_eq!((refused.problem().1.as_str(), refused.header("access-control-allow-origin")), ("origin", ""));
    let preflight = |origin: &str| {
        let request = request("OPTIONS", "/api/tools/desk.add").header("origin", origin);
        request.header("access-control-request-method", "POST").body(Body::empty()).unwrap()
    };
    let allowed = send(&router, preflight("https://app.example.org")).await;
    assert!(
        allowed.status.is_success() && allowed.header("access-control-allow-headers").contains("content-type"),
        "{allowed:?}"
    );
    let evil = send(&router, preflight("https://evil.example")).await;
    assert_eq!(evil.header("access-control-allow-origin"), "");
    for wrong in ["app.example.org", "https://", "https://app.example.org/", "https://a@b", "ftp://x", "*", "null"] {
        assert!(Guard::new().origin(wrong).is_err(), "{wrong}");
    }
    for wrong in ["https://tools.example.org", "tools.example.org:3000", "", "a b", "*"] {
        assert!(Guard::new().host(wrong).is_err(), "{wrong}");
    }
}

/// Control: a handler without a guard serves every one of these requests.
#[tokio::test]
async fn a_naive_router_serves_every_attack() {
    async fn naive(State(tools): State<Dispatcher>, body: String) -> String {
        tools.call(ToolCall::from_text("desk.add", body)).await.output
    }
    let naive: Router = Router::new().route("/api/tools/desk.add", axum::routing::post(naive)).with_state(tools());
    let attacks = [
        (REMOTE, "host", "203.0.113.1"),
        (LOCAL, "host", "evil.example"),
        (LOCAL, "origin", "https://evil.example"),
        (LOCAL, "sec-fetch-site", "cross-site"),
        (LOCAL, "content-type", "text/plain"),
    ];
    let router = router();
    for (from, name, value) in attacks {
        let attack = || {
            let mut request = request_from(from, "POST", "/api/tools/desk.add");
            let headers = request.headers_mut().unwrap();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(header::HeaderName::from_static(name), HeaderValue::from_static(value));
            request.body(Body::from(r#"{"a": 1, "b": 2}"#)).unwrap()
        };
        assert_eq!(send(&naive, attack()).await.text, "3", "{name}: {value}");
        assert_eq!(send(&router, attack()).await.problem().0, 403, "{name}: {value}");
    }
}

#[tokio::test]
async fn rejects_large_bodies_before_reading_them() {
    let router = mounted(Api::new(tools()).max_body(64));
    let fits = post("/api/tools/desk.add", &json!({"a": 1, "b": 2}));
    assert_eq!(said(&router, fits).await, "ok");
    let large = json!({"a": 1, "b": 2, "c": "x".repeat(64)});
    assert_eq!(send(&router, post("/api/tools/desk.add", &large)).await.problem(), (413, "too_large".into()));
    // An endless body without a length.
    let endless = stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(b"                ")));
    let request = request("POST", "/api/tools/desk.add").header("content-type", "application/json");
    let answer = send(&router, request.body(Body::from_stream(endless)).unwrap()).await;
    assert_eq!(answer.problem(), (413, "too_large".into()));
}

#[tokio::test]
async fn times_out_on_a_stalled_body() {
    let router = mounted(Api::new(tools()).body_timeout(Duration::from_millis(20)));
    let begun = || stream::iter([Ok::<_, Infallible>(Bytes::from_static(br#"{"a": 1, "#))]);
    let ask = |body: Body| {
        request("POST", "/api/tools/desk.add").header("content-type", "application/json").body(body).unwrap()
    };
    use futures_util::StreamExt;
    let stalled = Body::from_stream(begun().chain(stream::pending()));
    assert_eq!(send(&router, ask(stalled)).await.problem(), (408, "too_slow".into()));
    let whole = Body::from_stream(begun().chain(stream::iter([Ok(Bytes::from_static(br#""b": 2}"#))])));
    assert_eq!(said(&router, ask(whole)).await, "ok");
}

#[tokio::test]
async fn a_guard_checks_once_even_if_layered_twice() {
    let rate = Limit::per(2, Duration::from_secs(3_600));
    let guard = Guard::new().rate(rate);
    let shared = guarded(guard.clone()).layer(guard.clone());
    let results = [outcome(&shared, list(LOCAL, "localhost")).await, outcome(&shared, list(LOCAL, "localhost")).await];
    assert_eq!(results, ["ok", "ok"], "each request is counted once");
    // A guard derived from another is a different guard.
    let stricter = guarded(Guard::new().token(token())).layer(Guard::new());
    assert_eq!(outcome(&stricter, list(LOCAL, "localhost")).await, "token_missing");
    let derived = Guard::new();
    let stricter = guarded(derived.clone().token(token())).layer(derived);
    assert_eq!(outcome(&stricter, list(LOCAL, "localhost")).await, "token_missing");
}

#[tokio::test]
async fn every_response_has_the_security_headers() {
    let router = router();
    let evil = list(LOCAL, "evil.example").body(Body::empty()).unwrap();
    for request in [get("/api/tools"), get("/api/nothing"), evil] {
        let answer = send(&router, request).await;
        assert!(answer.header("content-security-policy").starts_with("default-src 'none'"), "{answer:?}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
    }
    let own = axum::routing::get(|| async { [("content-security-policy", "sandbox")] });
    let pages: Router =
        Router::new().route("/own", own).route("/", axum::routing::get(|| async {})).layer(SecurityHeaders::pages());
    assert_eq!(send(&pages, get("/own")).await.header("content-security-policy"), "sandbox");
    let policy = send(&pages, get("/")).await.header("content-security-policy").to_owned();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
}

#[test]
fn rejects_weak_tokens() {
    for weak in ["", "password", "with a space in it", "with;semicolon;in;it", "тайна-тайна-тайна"] {
        assert!(Token::new(weak).is_err(), "{weak}");
    }
    let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
    assert_ne!(one, other);
    assert!(Token::new(one.text()).is_ok());
    assert!(!format!("{one:?}").contains(one.text()));
}

/// Uses a real connection, so that the server sees a real peer.
#[tokio::test]
async fn a_real_connection_from_this_machine_is_served() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let address = serve(router()).await;
    let ask = async |host: String| {
        let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
        let request = format!("GET /api/health HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        answer
    };
    assert!(ask(address.to_string()).await.starts_with("HTTP/1.1 200"));
    assert!(ask("evil.example".to_owned()).await.starts_with("HTTP/1.1 403"));
}
