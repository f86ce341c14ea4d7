//! Servers that want to know who calls: somebody is asked to log in when that is needed, and not more often.

/// Somebody who logs in with a browser.
mod browser;
/// What is configured again, and the same or otherwise.
mod reload;
/// Who is told what they should not know.
mod secrets;
/// Calls that wait until somebody has logged in.
mod waiting;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tool_mcp::{OAuth, ServerConfig, ServerState, Servers};
use tool_runtime::ErrorKind;

use crate::scripted::{call, connect, dispatcher, kind, until};

/// A server of MCP, and the one that gives out tokens for it.
#[derive(Default)]
pub struct Guarded {
    url: String,
    /// Where people are sent to log in, if not here.
    elsewhere: Mutex<Option<String>>,
    /// The token that is taken at the moment.
    token: Mutex<String>,
    tokens: AtomicUsize,
    registrations: AtomicUsize,
    logins: AtomicUsize,
    /// What came with requests to let somebody in.
    presented: Mutex<Vec<String>>,
    /// What the token server was sent.
    forms: Mutex<Vec<String>>,
    /// No token is good enough.
    closed: AtomicBool,
    /// The first token is not good enough for calls.
    more_for_calls: AtomicBool,
    /// How often the tool was called.
    calls: AtomicUsize,
    /// What is said of the tool.
    description: Mutex<String>,
}

fn json_of(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

impl Guarded {
    pub async fn start() -> Arc<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let guarded = Arc::new(Self { url, ..Self::default() });
        let routes = Router::new()
            .route("/mcp", post(Self::mcp))
            .route("/.well-known/oauth-protected-resource/mcp", get(Self::resource))
            .route("/.well-known/oauth-authorization-server", get(Self::metadata))
            .route("/register", post(Self::register))
            .route("/token", post(Self::give))
            .with_state(guarded.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        guarded
    }

    async fn resource(State(this): State<Arc<Self>>) -> Response {
        let server = this.elsewhere.lock().unwrap().clone().unwrap_or_else(|| this.url.clone());
        json_of(&json!({"resource": format!("{}/mcp", this.url), "authorization_servers": [server]}))
    }

    async fn metadata(State(this): State<Arc<Self>>) -> Response {
        let at = |path: &str| format!("{}/{path}", this.url);
        json_of(&json!({
            "issuer": this.url, "authorization_endpoint": at("authorize"), "token_endpoint": at("token"),
            "registration_endpoint": at("register"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }))
    }

    async fn register(State(this): State<Arc<Self>>) -> Response {
        this.registrations.fetch_add(1, Ordering::SeqCst);
        json_of(&json!({"client_id": "us", "redirect_uris": ["http://127.0.0.1:1/back"]}))
    }

    async fn give(State(this): State<Arc<Self>>, body: Bytes) -> Response {
        this.forms.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
        let token = format!("token-{}", this.tokens.fetch_add(1, Ordering::SeqCst));
        this.token.lock().unwrap().clone_from(&token);
        json_of(&json!({
            "access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "again",
            "id_token": "wh0-it-is",
        }))
    }

    async fn mcp(State(this): State<Arc<Self>>, headers: HeaderMap, body: Bytes) -> Response {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        this.presented.lock().unwrap().push(given.to_owned());
        let wanted = format!("Bearer {}", this.token.lock().unwrap());
        if given != wanted || this.closed.load(Ordering::SeqCst) {
            let challenge = format!(
                r#"Bearer resource_metadata="{}/.well-known/oauth-protected-resource/mcp", scope="read""#,
                this.url
            );
            return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
        }
        let request: Value = serde_json::from_slice(&body).unwrap();
        let is_call = request["method"] == "tools/call";
        if is_call && given == "Bearer token-0" && this.more_for_calls.load(Ordering::SeqCst) {
            let challenge = r#"Bearer error="insufficient_scope", scope="call""#;
            return (StatusCode::FORBIDDEN, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
        }
        this.calls.fetch_add(usize::from(is_call), Ordering::SeqCst);
        let description = this.description.lock().unwrap().clone();
        let tool = json!({"name": "a", "description": description, "inputSchema": {"type": "object"}});
        let answer = |result: Value| json_of(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
        match request["method"].as_str() {
            Some("server/discover") => StatusCode::BAD_REQUEST.into_response(),
            Some("initialize") => answer(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "guarded", "version": "1"},
            })),
            Some("tools/list") => answer(json!({"tools": [tool]})),
            Some("tools/call") => answer(json!({"content": [{"type": "text", "text": "in"}]})),
            _ => StatusCode::ACCEPTED.into_response(),
        }
    }

    /// Somebody who logs in, after a while.
    fn person(self: &Arc<Self>, after: Duration) -> OAuth {
        self.person_who(move || tokio::time::sleep(after))
    }

    /// Somebody who does something else before they log in.
    fn person_who<W>(self: &Arc<Self>, waits: impl Fn() -> W + Send + Sync + 'static) -> OAuth
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let this = self.clone();
        OAuth::new("http://127.0.0.1:1/back", move |url| {
            this.logins.fetch_add(1, Ordering::SeqCst);
            let waiting = waits();
            async move {
                waiting.await;
                let url = url::Url::parse(&url).map_err(|error| error.to_string())?;
                let state = url.query_pairs().find(|(name, _)| name == "state").ok_or("no state")?;
                Ok::<_, String>(format!("http://127.0.0.1:1/back?code=c0de&state={}", state.1))
            }
        })
    }

    pub fn config(&self, oauth: OAuth) -> ServerConfig {
        ServerConfig::http("s", format!("{}/mcp", self.url)).trust().oauth(oauth)
    }

    /// The codes that were traded for tokens.
    pub fn codes(&self) -> Vec<String> {
        let forms = self.forms.lock().unwrap();
        let code = |form: &String| {
            let mut pairs = url::form_urlencoded::parse(form.as_bytes());
            pairs.find(|(name, _)| name == "code").map(|(_, code)| code.into_owned())
        };
        forms.iter().filter_map(code).collect()
    }

    fn registrations(&self) -> usize {
        self.registrations.load(Ordering::SeqCst)
    }

    fn logins(&self) -> usize {
        self.logins.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn one_login_is_enough_and_a_lost_token_is_renewed() {
    let guarded = Guarded::start().await;
    let tools = dispatcher();
    // Whoever logs in takes longer than a connection may.
    let config = guarded.config(guarded.person(Duration::from_secs(5)));
    let servers = connect(&tools, Servers::builder().server(config.connect_timeout(Duration::from_secs(2)))).await;
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    assert_eq!((guarded.logins(), guarded.registrations()), (1, 1));
    {
        let forms = guarded.forms.lock().unwrap();
        assert!(forms[0].contains("code=c0de") && forms[0].contains("code_verifier="), "{forms:?}");
        assert!(forms[0].contains("resource=http"), "the token is for this server alone: {forms:?}");
    }
    "revoked".clone_into(&mut guarded.token.lock().unwrap());
    let calls = futures(&tools, 5).await;
    assert_eq!(calls, ["in"; 5], "none of them is lost");
    assert_eq!(guarded.logins(), 1, "nobody is asked while the token can be renewed");
    assert!(guarded.forms.lock().unwrap()[1].contains("grant_type=refresh_token"));
    servers.close().await;
}

/// Calls at the same time.
async fn futures(tools: &tool_runtime::Dispatcher, count: usize) -> Vec<String> {
    let calls: Vec<_> = (0..count)
        .map(|_| {
            let tools = tools.clone();
            tokio::spawn(async move { call(&tools, "mcp_s_a").await.output.to_string() })
        })
        .collect();
    let mut outputs = Vec::new();
    for call in calls {
        outputs.push(call.await.unwrap());
    }
    outputs
}

#[tokio::test]
async fn who_does_not_log_in_is_not_asked_again_and_again() {
    let guarded = Guarded::start().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let oauth = OAuth::new("http://127.0.0.1:1/back", move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, String>("http://127.0.0.1:1/back?error=access_denied&error_description=Not+today".to_owned()) }
    });
    let tools = dispatcher();
    let servers = connect(&tools, Servers::builder().server(guarded.config(oauth))).await;
    let away = |servers: &Servers| match &servers.status()[0].state {
        ServerState::Away(why) => why.clone(),
        state => format!("{state:?}"),
    };
    until(|| away(&servers).contains("Not today (access_denied)")).await;
    // Long enough for it to be tried again in the background.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    servers.reload().await;
    assert_eq!(asked.load(Ordering::SeqCst), 2, "whoever says to try again is asked again");
    servers.close().await;
}

#[tokio::test]
async fn a_login_that_does_not_help_is_a_clear_refusal() {
    let guarded = Guarded::start().await;
    let tools = dispatcher();
    let config = guarded.config(guarded.person(Duration::ZERO));
    let servers = connect(&tools, Servers::builder().server(config)).await;
    guarded.closed.store(true, Ordering::SeqCst);
    let refused = call(&tools, "mcp_s_a").await;
    assert_eq!(kind(&refused), Some(ErrorKind::Fatal), "{refused:?}");
    assert!(refused.error.as_ref().unwrap().message.contains("does not let us in"), "{refused:?}");
    let logins = guarded.logins();
    assert!((2..=3).contains(&logins), "{logins}");
    for _ in 0..3 {
        assert_eq!(kind(&call(&tools, "mcp_s_a").await), Some(ErrorKind::Fatal));
    }
    assert_eq!(guarded.logins(), logins, "nobody is asked for what did not help");
    servers.close().await;
}

#[tokio::test]
async fn an_application_logs_in_as_itself() {
    let guarded = Guarded::start().await;
    let tools = dispatcher();
    let config = guarded.config(OAuth::client_credentials("notes", "s3cret"));
    assert!(!format!("{config:?}").contains("s3cret"), "{config:?}");
    let servers = connect(&tools, Servers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    let forms = guarded.forms.lock().unwrap().clone();
    assert!(forms[0].contains("grant_type=client_credentials") && forms[0].contains("client_id=notes"), "{forms:?}");
    servers.close().await;
}

#[tokio::test]
async fn a_plain_token_is_sent_as_it_is() {
    let guarded = Guarded::start().await;
    "given".clone_into(&mut guarded.token.lock().unwrap());
    let url = format!("{}/mcp", guarded.url);
    let (tools, others) = (dispatcher(), dispatcher());
    let config = ServerConfig::http("s", &url).trust().bearer("given");
    assert!(!format!("{config:?}").contains("given"), "{config:?}");
    let servers = connect(&tools, Servers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_s_a").await.output, "in");
    let without = connect(&others, Servers::builder().server(ServerConfig::http("s", &url))).await;
    assert_ne!(without.status()[0].state, ServerState::Connected, "without it nobody is let in");
    servers.close().await;
    without.close().await;
}
