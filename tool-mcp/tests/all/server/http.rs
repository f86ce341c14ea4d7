use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tool_mcp::{AccessDenied, HttpConfig, McpClient, McpServer, Principal};
use tool_runtime::{CancellationToken, Dispatcher, RuntimeTool, Scope};

/// A server on a loopback address, stopped when dropped.
struct RunningServer {
    address: SocketAddr,
    stop: CancellationToken,
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn serve(config: HttpConfig) -> RunningServer {
    let who = RuntimeTool::scoped("who", "Who is calling.", |(): (), scope: Scope| async move {
        let client = scope.value::<McpClient>().await.map_err(|error| error.to_string())?;
        let principal = client.http().and_then(|parts| parts.extensions.get::<Principal>());
        Ok::<_, String>(principal.map_or("nobody", |principal| &principal.0).to_owned())
    });
    let tools = Dispatcher::builder().allow_empty().per_call::<McpClient>().build().unwrap();
    tools.registry().clear();
    tools.registry().register(who).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    tokio::spawn(McpServer::new(tools).listen_on(listener, config.stop(stop.clone())));
    RunningServer { address, stop }
}

/// Returns the status and the body of a response.
async fn post(server: &RunningServer, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let own = ("host", server.address.to_string());
    let host = headers.iter().find(|(name, _)| *name == "host").map_or(own.1.as_str(), |(_, host)| host);
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: who\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers.iter().filter(|(name, _)| *name != "host") {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(format!("{request}\r\n{body}").as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8_lossy(&response).into_owned();
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, response)
}

fn who() -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "who", "arguments": {}, "_meta": meta}})
}

async fn status(server: &RunningServer, headers: &[(&str, &str)]) -> u16 {
    post(server, headers, &who().to_string()).await.0
}

/// DNS rebinding is refused by host or by origin. The control is a server that checks neither.
#[tokio::test]
async fn refuses_dns_rebinding() {
    let (careful, careless) = (serve(HttpConfig::new()).await, serve(HttpConfig::new().any_host()).await);
    let attacks: [&[(&str, &str)]; 4] = [
        &[("host", "evil.example")],
        &[("host", "evil.example"), ("Origin", "http://evil.example")],
        &[("Origin", "http://evil.example")],
        &[("Origin", "null")],
    ];
    for headers in attacks {
        assert_eq!(status(&careful, headers).await, 403, "{headers:?}");
        assert_eq!(status(&careless, headers).await, 200, "{headers:?}: accepted without the check");
    }
    let port = careful.address.port();
    for origin in [format!("http://localhost:{port}"), "http://127.0.0.1:9".to_owned()] {
        assert_eq!(status(&careful, &[("Origin", &origin)]).await, 200, "{origin}");
    }
    assert_eq!(status(&careful, &[]).await, 200);
}

#[tokio::test]
async fn accepts_configured_hosts_and_origins() {
    let server = serve(HttpConfig::new().host("tools.example").origin("https://app.example:443")).await;
    assert_eq!(status(&server, &[("host", "tools.example"), ("Origin", "https://app.example")]).await, 200);
    assert_eq!(status(&server, &[("host", "tools.example.evil.example")]).await, 403);
    let page = [("host", "tools.example"), ("Origin", "http://app.example")];
    let (status, response) = post(&server, &page, &who().to_string()).await;
    assert_eq!(status, 403);
    let why = "does not accept requests for `tools.example` from origin `http://app.example`";
    assert!(response.contains(why) && response.contains("`HttpConfig::origin`"), "{response}");
}

/// For example from an empty environment variable.
#[test]
fn rejects_a_weak_token() {
    for weak in ["", "secret", "fifteen-letters", "sixteen letters and spaces", "sechzehn-Zeichen-\u{fc}"] {
        assert!(HttpConfig::new().bearer(weak).is_err(), "{weak}");
    }
    assert!(HttpConfig::new().bearer("sixteen-letters.").is_ok());
}

/// The control is a server without a token.
#[tokio::test]
async fn requires_the_bearer_token() {
    let (closed, open) =
        (serve(HttpConfig::new().bearer("secret-secret-secret").unwrap()).await, serve(HttpConfig::new()).await);
    for wrong in [
        None,
        Some("Bearer secret-secret-secre"),
        Some("Bearer secret-secret-secrets"),
        Some("Basic secret-secret-secret"),
        Some("secret-secret-secret"),
        Some("Bearer"),
    ] {
        let headers: Vec<(&str, &str)> = wrong.map(|wrong| ("Authorization", wrong)).into_iter().collect();
        let (status_of_closed, response) = post(&closed, &headers, &who().to_string()).await;
        assert_eq!(status_of_closed, 401, "{wrong:?}");
        assert!(response.to_ascii_lowercase().contains("www-authenticate: bearer"), "{response}");
        let has_token = wrong.is_some_and(|wrong| wrong.starts_with("Bearer "));
        assert_eq!(response.contains("error=\"invalid_token\""), has_token, "{response}");
        assert_eq!(status(&open, &headers).await, 200, "{wrong:?}");
    }
    assert_eq!(status(&closed, &[("Authorization", "Bearer secret-secret-secret")]).await, 200);
    assert_eq!(
        status(&closed, &[("Authorization", "bearer secret-secret-secret")]).await,
        200,
        "the scheme has no case"
    );
}

#[tokio::test]
async fn a_check_can_set_the_principal() {
    let check = |parts: &mut http::request::Parts| match parts.headers.get("x-user").map(|user| user.to_str()) {
        Some(Ok("eve")) => Err(AccessDenied::Forbidden),
        Some(Ok(user)) => {
            let principal = Principal(user.to_owned());
            parts.extensions.insert(principal);
            Ok(())
        }
        _ => Err(AccessDenied::Unauthorized),
    };
    let server = serve(HttpConfig::new().check(check)).await;
    assert_eq!(status(&server, &[]).await, 401);
    assert_eq!(status(&server, &[("x-user", "eve")]).await, 403);
    let (status, response) = post(&server, &[("x-user", "ada")], &who().to_string()).await;
    assert_eq!(status, 200);
    assert!(response.contains(r#""text":"ada""#), "{response}");
}

/// The control is a server with a higher limit.
#[tokio::test]
async fn limits_the_number_of_sessions() {
    let (few, many) = (serve(HttpConfig::new().max_sessions(2)).await, serve(HttpConfig::new()).await);
    let client = json!({"name": "a client", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    for nth in 1..=4 {
        let begun = [begin(&few, &initialize).await, begin(&many, &initialize).await];
        assert_eq!(begun, [if nth <= 2 { 200 } else { 500 }, 200], "session {nth}");
    }
}

async fn begin(server: &RunningServer, initialize: &str) -> u16 {
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Accept: application/json, text/event-stream\r\n\r\n{initialize}",
        initialize.len()
    );
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    String::from_utf8_lossy(&status[9..]).parse().unwrap()
}

/// The control is a server with a higher limit.
#[tokio::test]
async fn rejects_a_body_over_the_limit() {
    let (small, large) = (serve(HttpConfig::new().max_body(10_000)).await, serve(HttpConfig::new()).await);
    let mut body = who();
    body["params"]["_meta"]["padding"] = "x".repeat(20_000).into();
    assert_eq!(post(&small, &[], &body.to_string()).await.0, 413);
    assert_eq!(post(&large, &[], &body.to_string()).await.0, 200);
    assert_eq!(status(&small, &[]).await, 200);
}

/// In either order. The control is a request that passes both.
#[tokio::test]
async fn a_request_must_pass_every_check() {
    let no_guests = |parts: &mut http::request::Parts| match parts.headers.contains_key("x-guest") {
        true => Err(AccessDenied::Forbidden),
        false => Ok(()),
    };
    let (token, guest) = (("Authorization", "Bearer secret-secret-secret"), ("x-guest", "yes"));
    for config in [
        HttpConfig::new().bearer("secret-secret-secret").unwrap().check(no_guests),
        HttpConfig::new().check(no_guests).bearer("secret-secret-secret").unwrap(),
    ] {
        let server = serve(config).await;
        assert_eq!(status(&server, &[token]).await, 200);
        assert_eq!(status(&server, &[]).await, 401);
        assert_eq!(status(&server, &[token, guest]).await, 403);
    }
}
