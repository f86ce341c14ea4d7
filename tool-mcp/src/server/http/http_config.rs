//! Configuration of the HTTP server.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;
use rmcp::transport::StreamableHttpServerConfig;
use tool_runtime::CancellationToken;

use super::check::{AccessDenied, Check, WeakBearerToken, bearer};
use super::fast_path::AllowedHosts;

/// The default of `max_body`.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// The default of `max_sessions`.
const MAX_SESSIONS: usize = 10_000;

/// The loopback hosts.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Configuration of an [`McpServer`](crate::McpServer) over HTTP.
///
/// By default only local clients are served: the peer must be a loopback address, without a proxy in between, the `Host`
/// must be a loopback name, and so must the `Origin` of a browser's request. The last two prevent DNS rebinding, where a
/// web page resolves its own name to `127.0.0.1` to call tools. Other programs on the same machine are not kept out; use
/// [`bearer`](Self::bearer) against those.
///
/// ```
/// use tool_mcp::HttpConfig;
///
/// let public = HttpConfig::new()
///     .host("tools.example.com")
///     .origin("https://app.example.com:443")
///     .bearer("a-long-random-secret")?
///     .max_body(1024 * 1024);
/// # drop(public);
/// # Ok::<(), tool_mcp::WeakBearerToken>(())
/// ```
#[derive(Clone)]
#[must_use = "a configuration does nothing until it is passed to a server"]
pub struct HttpConfig {
    hosts: Vec<String>,
    origins: Vec<String>,
    any_host: bool,
    pub(super) max_body: usize,
    pub(super) max_sessions: usize,
    pub(super) check: Option<Arc<Check>>,
    pub(super) stop: CancellationToken,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl HttpConfig {
    /// Creates a configuration for local clients.
    pub fn new() -> Self {
        Self {
            hosts: LOOPBACK.map(str::to_owned).into(),
            origins: LOOPBACK.map(|host| format!("http://{host}:*")).into(),
            any_host: false,
            max_body: MAX_BODY,
            max_sessions: MAX_SESSIONS,
            check: None,
            stop: CancellationToken::new(),
        }
    }

    /// Accepts requests for this host, `example.com` or `example.com:8080`. This also opens the server to other machines:
    /// set a [token](Self::bearer), or run it behind a proxy that authenticates.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Accepts any host and any origin, for a server behind a proxy that checks them.
    pub fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Accepts browser requests of this origin, `https://app.example.com:443`, with a port or `:*`.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets the largest accepted body, in bytes. Defaults to 4 MiB.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sets the limit of concurrent sessions (2025 clients) and requests (2026 clients) together. Defaults to 10,000. An
    /// idle session ends after five minutes.
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions;
        self
    }

    /// Requires this token, as `Authorization: Bearer`, in addition to other [checks](Self::check).
    ///
    /// # Errors
    /// Returns an error if the token has fewer than 16 characters, such as one from an empty environment variable, or
    /// characters that a header cannot carry.
    pub fn bearer(self, token: impl AsRef<str>) -> Result<Self, WeakBearerToken> {
        Ok(self.check(bearer(token.as_ref())?))
    }

    /// Adds a check that every request must pass. Checks run in the order in which they were added.
    ///
    /// A check may insert extensions, such as the [`Principal`](crate::Principal); handlers read them from
    /// [`McpClient::http`](crate::McpClient::http). For an asynchronous check add a layer to the
    /// [router](crate::McpServer::http).
    pub fn check(mut self, check: impl Fn(&mut Parts) -> Result<(), AccessDenied> + Send + Sync + 'static) -> Self {
        let all: Arc<Check> = match self.check.take() {
            None => Arc::new(check),
            Some(before) => Arc::new(move |parts: &mut Parts| before(parts).and_then(|()| check(parts))),
        };
        self.check = Some(all);
        self
    }

    /// Stops the server when this token is cancelled.
    pub fn stop(mut self, token: CancellationToken) -> Self {
        self.stop = token;
        self
    }

    /// Returns `true` if only local clients are served.
    pub(super) fn is_local_only(&self) -> bool {
        self.check.is_none() && !self.any_host && self.hosts.len() == LOOPBACK.len()
    }

    /// Returns the accepted hosts.
    pub(super) fn hosts(&self) -> AllowedHosts {
        if self.any_host { AllowedHosts::any() } else { AllowedHosts::new(&self.hosts) }
    }

    /// Converts to rmcp's configuration. A response of one message is plain JSON, without an event stream.
    pub(super) fn rmcp(&self) -> StreamableHttpServerConfig {
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(self.max_body)
            .with_cancellation_token(self.stop.clone());
        if self.any_host {
            return config.disable_allowed_hosts().disable_allowed_origins();
        }
        config.with_allowed_hosts(&self.hosts).with_allowed_origins(&self.origins).enforce_origin_validation()
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("HttpConfig");
        shown.field("hosts", &self.hosts).field("origins", &self.origins).field("any_host", &self.any_host);
        shown.field("max_body", &self.max_body).field("checked", &self.check.is_some()).finish_non_exhaustive()
    }
}
