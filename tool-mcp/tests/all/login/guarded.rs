//! An MCP server that requires tokens, with its own authorization server.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tool_mcp::{OAuth, ServerConfig};
use url::Url;

use super::value;

/// An MCP server and its authorization server.
#[derive(Default)]
pub struct Guarded {
    pub url: String,
    /// Another authorization server to name in the metadata.
    pub elsewhere: Mutex<Option<String>>,
    /// Another authorization server to name in challenges.
    pub refusals_to: Mutex<Option<String>>,
    /// The number of the currently valid token.
    pub token: Mutex<String>,
    pub tokens: AtomicUsize,
    pub registrations: AtomicUsize,
    pub logins: AtomicUsize,
    /// The login URLs that were shown.
    pub shown: Mutex<Vec<Url>>,
    pub refusals: AtomicUsize,
    /// A token that allows only listing the tools.
    pub narrow: Mutex<String>,
    /// The issuer to claim in the metadata.
    pub poses_as: Mutex<String>,
    /// The lifetime of tokens in seconds. Defaults to an hour.
    pub lifetime: Mutex<Option<u64>>,
    /// Metadata requests fail.
    pub silent: AtomicBool,
    /// The error for client registrations.
    pub refuses_clients: Mutex<Option<String>>,
    /// The received `Authorization` headers.
    pub presented: Mutex<Vec<String>>,
    /// The received token requests.
    pub forms: Mutex<Vec<String>>,
    /// Rejects all tokens.
    pub closed: AtomicBool,
    /// The number of tool calls.
    pub calls: AtomicUsize,
    /// The description of the tool.
    pub description: Mutex<String>,
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
            .route("/elsewhere", get(Self::named_in_refusals))
            .route("/.well-known/oauth-authorization-server", get(Self::metadata))
            .route("/.well-known/of-another", get(Self::metadata_of_another))
            .route("/register", post(Self::register))
            .route("/token", post(Self::give))
            .with_state(guarded.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        guarded
    }

    async fn resource(State(this): State<Arc<Self>>) -> Response {
        this.sent_to(&this.elsewhere)
    }

    async fn named_in_refusals(State(this): State<Arc<Self>>) -> Response {
        this.sent_to(&this.refusals_to)
    }

    fn sent_to(&self, server: &Mutex<Option<String>>) -> Response {
        if self.silent.load(Ordering::SeqCst) {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        let server = server.lock().unwrap().clone().unwrap_or_else(|| self.url.clone());
        json_of(&json!({"resource": format!("{}/mcp", self.url), "authorization_servers": [server]}))
    }

    async fn metadata(State(this): State<Arc<Self>>) -> Response {
        this.metadata_as(&this.url)
    }

    /// Claims another issuer.
    async fn metadata_of_another(State(this): State<Arc<Self>>) -> Response {
        let name = this.poses_as.lock().unwrap().clone();
        this.metadata_as(&name)
    }

    fn metadata_as(&self, issuer: &str) -> Response {
        let at = |path: &str| format!("{}/{path}", self.url);
        json_of(&json!({
            "issuer": issuer, "authorization_endpoint": at("authorize"), "token_endpoint": at("token"),
            "registration_endpoint": at("register"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }))
    }

    async fn register(State(this): State<Arc<Self>>) -> Response {
        this.registrations.fetch_add(1, Ordering::SeqCst);
        if let Some(why) = this.refuses_clients.lock().unwrap().clone() {
            return (StatusCode::FORBIDDEN, why).into_response();
        }
        json_of(&json!({"client_id": "us", "redirect_uris": ["http://127.0.0.1:1/back"]}))
    }

    async fn give(State(this): State<Arc<Self>>, body: Bytes) -> Response {
        this.forms.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
        let token = format!("token-{}", this.tokens.fetch_add(1, Ordering::SeqCst));
        this.token.lock().unwrap().clone_from(&token);
        let lifetime = this.lifetime.lock().unwrap().unwrap_or(3600);
        json_of(&json!({
            "access_token": token, "token_type": "Bearer", "expires_in": lifetime, "refresh_token": "again",
            "id_token": "wh0-it-is",
        }))
    }

    async fn mcp(State(this): State<Arc<Self>>, headers: HeaderMap, body: Bytes) -> Response {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        this.presented.lock().unwrap().push(given.to_owned());
        let wanted = format!("Bearer {}", this.token.lock().unwrap());
        if given != wanted || this.closed.load(Ordering::SeqCst) {
            return (StatusCode::UNAUTHORIZED, this.challenge(r#"scope="read""#)).into_response();
        }
        let request: Value = serde_json::from_slice(&body).unwrap();
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
            Some("tools/call") if given == format!("Bearer {}", this.narrow.lock().unwrap()) => {
                let more = this.challenge(r#"error="insufficient_scope", scope="write""#);
                (StatusCode::FORBIDDEN, more).into_response()
            }
            Some("tools/call") => {
                this.calls.fetch_add(1, Ordering::SeqCst);
                answer(json!({"content": [{"type": "text", "text": "in"}]}))
            }
            _ => StatusCode::ACCEPTED.into_response(),
        }
    }

    /// Returns a challenge, with a different nonce each time.
    fn challenge(&self, more: &str) -> [(HeaderName, String); 1] {
        let named = self.refusals_to.lock().unwrap().is_some();
        let path = if named { "elsewhere" } else { ".well-known/oauth-protected-resource/mcp" };
        let nonce = self.refusals.fetch_add(1, Ordering::SeqCst);
        let challenge = format!(r#"Bearer resource_metadata="{}/{path}", {more}, nonce="{nonce}""#, self.url);
        [(header::WWW_AUTHENTICATE, challenge)]
    }

    /// A user who logs in after a delay.
    pub fn user(self: &Arc<Self>, after: Duration) -> OAuth {
        self.redirected_user(move |state| async move {
            tokio::time::sleep(after).await;
            format!("code=c0de&state={state}")
        })
    }

    /// A user who refuses to log in.
    pub fn refusing_user(self: &Arc<Self>) -> OAuth {
        self.redirected_user(|state| async move { format!("error=access_denied&state={state}") })
    }

    /// A user who is redirected with a query.
    pub fn redirected_user<Fut: Future<Output = String> + Send + 'static>(
        self: &Arc<Self>,
        query: impl Fn(String) -> Fut + Send + Sync + 'static,
    ) -> OAuth {
        let this = self.clone();
        OAuth::new("http://127.0.0.1:1/back", move |url| {
            let url = Url::parse(&url).unwrap();
            let query = query(value(&url, "state"));
            this.logins.fetch_add(1, Ordering::SeqCst);
            this.shown.lock().unwrap().push(url);
            async move { Ok::<_, String>(format!("http://127.0.0.1:1/back?{}", query.await)) }
        })
    }

    pub fn config(&self, oauth: OAuth) -> ServerConfig {
        ServerConfig::http("s", format!("{}/mcp", self.url)).trust().oauth(oauth)
    }

    /// The codes that were exchanged for tokens.
    pub fn codes(&self) -> Vec<String> {
        let forms = self.forms.lock().unwrap();
        let code = |form: &String| {
            let mut pairs = url::form_urlencoded::parse(form.as_bytes());
            pairs.find(|(name, _)| name == "code").map(|(_, code)| code.into_owned())
        };
        forms.iter().filter_map(code).collect()
    }

    pub fn registrations(&self) -> usize {
        self.registrations.load(Ordering::SeqCst)
    }

    pub fn logins(&self) -> usize {
        self.logins.load(Ordering::SeqCst)
    }
}
