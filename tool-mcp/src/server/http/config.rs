//! Who may come, and with how much.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;
use rmcp::transport::StreamableHttpServerConfig;
use tool_runtime::CancellationToken;

use super::check::{Check, Denied, WeakToken, bearer};
use super::head::Hosts;

/// The largest body that is read unless another limit is set.
const BODY: usize = 4 * 1024 * 1024;

/// How many sessions there are at once unless another limit is set.
const SESSIONS: usize = 10_000;

/// The names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// How a [`Server`](crate::Server) is reached over HTTP.
///
/// Unless told otherwise only by this machine: a request must come from it, and through no proxy; it must name a loopback
/// host, and a browser's must come from a page of one. The last two keep a page of the web, whose name has come to mean
/// `127.0.0.1`, from calling tools behind the user's back; none keeps out a program on this machine, for which there is
/// [`bearer`](Self::bearer).
///
/// ```
/// use tool_mcp::HttpConfig;
///
/// let public = HttpConfig::new()
///     .host("tools.example.com")
///     .origin("https://app.example.com:443")
///     .bearer("a-secret-that-nobody-guesses")?
///     .max_body(1024 * 1024);
/// # drop(public);
/// # Ok::<(), tool_mcp::WeakToken>(())
/// ```
#[derive(Clone)]
#[must_use = "it says how a server is reached"]
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
    /// For clients on this machine.
    pub fn new() -> Self {
        Self {
            hosts: LOOPBACK.map(str::to_owned).into(),
            origins: LOOPBACK.map(|host| format!("http://{host}:*")).into(),
            any_host: false,
            max_body: BODY,
            max_sessions: SESSIONS,
            check: None,
            stop: CancellationToken::new(),
        }
    }

    /// Also answers requests for this host, `example.com` or `example.com:8080`: the name by which clients reach the
    /// server. Then it answers other machines, too: give it a [token](Self::bearer), or put it behind something that asks
    /// for one.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Answers requests for any host, and a browser's from any page. For a server behind something that checks them.
    pub fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Also answers pages of this origin, `https://app.example.com:443`, with its port or `:*`.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// The largest body that is read, in bytes. 4 MB unless set.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// How many sessions of clients of the 2025 generation, and requests of others, there may be at once. 10,000 unless
    /// set; a session that nobody uses ends after five minutes.
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions;
        self
    }

    /// Answers only requests that bring this token, as `Authorization: Bearer`. What else [checks](Self::check) them must
    /// let them through as well.
    ///
    /// # Errors
    /// When the token has fewer than 16 characters, or one that no header can carry: one that was forgotten in an
    /// environment is no token.
    pub fn bearer(self, token: impl AsRef<str>) -> Result<Self, WeakToken> {
        Ok(self.check(bearer(token.as_ref())?))
    }

    /// Answers only requests that this function lets through. What it puts into their extensions handlers find in
    /// [`Client::http`](crate::Client::http); a [`Principal`](crate::Principal) says who is calling. A check that has to wait for
    /// something is a layer of the [router](crate::Server::http). Of several checks, each must let a request through; they
    /// are asked in the order in which they were given.
    pub fn check(mut self, check: impl Fn(&mut Parts) -> Result<(), Denied> + Send + Sync + 'static) -> Self {
        let all: Arc<Check> = match self.check.take() {
            None => Arc::new(check),
            Some(before) => Arc::new(move |parts: &mut Parts| before(parts).and_then(|()| check(parts))),
        };
        self.check = Some(all);
        self
    }

    /// Ends the server when this token is cancelled.
    pub fn stop(mut self, token: CancellationToken) -> Self {
        self.stop = token;
        self
    }

    /// Whether nothing says who else may ask.
    pub(super) fn is_local_only(&self) -> bool {
        self.check.is_none() && !self.any_host && self.hosts.len() == LOOPBACK.len()
    }

    /// By which names the server is reached.
    pub(super) fn hosts(&self) -> Hosts {
        if self.any_host { Hosts::any() } else { Hosts::named(&self.hosts) }
    }

    /// The same, for the SDK. Answers of one message are JSON, and cost no stream.
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
