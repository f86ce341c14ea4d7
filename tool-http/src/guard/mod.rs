//! The [`Guard`], which decides which requests are served.

mod host;
mod layer;
mod origin;
mod peer;
mod token;

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use http::request::Parts;
use http::uri::Authority;
use http::{HeaderValue, StatusCode, header};
use tool_net::RequestSource;
use tool_runtime::limits::{Limit, Limiter};

pub use self::layer::GuardService;
pub use self::origin::InvalidName;
pub use self::token::{Token, WeakToken};

use self::host::Host;
use self::origin::Origin;
use self::peer::Peer;
use self::token::TokenHash;
use crate::Problem;

type SessionCheck = Arc<dyn Fn(&Parts) -> bool + Send + Sync>;
type RequestCheck = Arc<dyn Fn(&Parts) -> Pin<Box<dyn Future<Output = Result<(), Problem>> + Send>> + Send + Sync>;

/// A tower layer that decides which requests are served. Every [router](crate::Api) has one.
///
/// By default only this machine is served: a request must come from a loopback address, for a loopback name, and not
/// through a proxy. With a [token](Self::token) or a [check](Self::check), requests from other machines are served too,
/// if their host is an address, a loopback name, or an [allowed name](Self::host). Requests from pages of other sites
/// are always refused unless their [origin](Self::origin) is allowed, and each peer is subject to a
/// [rate limit](Self::rate).
///
/// The guard needs the peer address: serve with `into_make_service_with_connect_info::<SocketAddr>()`.
///
/// ```
/// use axum::{Router, routing::get};
/// use tool_http::{Guard, Token};
/// use tool_runtime::limits::Limit;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = Guard::new().token(Token::random()?).host("tools.example.org")?.rate(Limit::per_second(20));
/// let tools = tool_runtime::Dispatcher::builder().allow_empty().build()?;
/// // One guard for the whole application: the nested router does not check a request twice.
/// let app: Router = Router::new()
///     .route("/", get(|| async { "hello" }))
///     .nest("/api", tool_http::Api::new(tools).guard(guard.clone()).into_router())
///     .layer(guard);
/// # let _ = app;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a guard does nothing until it is added as a layer"]
pub struct Guard {
    rules: Arc<GuardRules>,
}

#[derive(Clone)]
struct GuardRules {
    tokens: Vec<TokenHash>,
    cookie: Option<String>,
    session: Option<SessionCheck>,
    trusts_loopback: bool,
    checks: Vec<RequestCheck>,
    names: Vec<String>,
    origins: Vec<Origin>,
    limiter: Option<Arc<Limiter>>,
}

impl Guard {
    /// Creates a guard that serves this machine only, with a rate limit per peer of 100 requests a second and bursts of
    /// 1,000.
    pub fn new() -> Self {
        let rules = GuardRules {
            tokens: Vec::new(),
            cookie: None,
            session: None,
            trusts_loopback: false,
            checks: Vec::new(),
            names: Vec::new(),
            origins: Vec::new(),
            limiter: None,
        };
        Self { rules: Arc::new(rules) }.rate(Limit::per(1_000, std::time::Duration::from_secs(10)))
    }

    /// Returns the rules for changing. They are copied if a clone shares them: guards with the same `Arc` are equal.
    fn rules(&mut self) -> &mut GuardRules {
        Arc::make_mut(&mut self.rules)
    }

    /// Requires this token, as `Authorization: Bearer ..`, of every request, including those from this machine. Requests
    /// from other machines are served. If several tokens are set, each is accepted, so tokens can be rotated.
    pub fn token(mut self, token: Token) -> Self {
        self.rules().tokens.push(token.hash());
        self
    }

    /// Also accepts the token in this cookie, for pages, since a browser's `EventSource` cannot send headers. Set the
    /// cookie `HttpOnly` and `SameSite=Strict`. A second call replaces the name.
    pub fn token_cookie(mut self, name: impl Into<String>) -> Self {
        self.rules().cookie = Some(name.into());
        self
    }

    /// Requires no token of requests that the application authenticates itself, such as by a session cookie, which then
    /// need not contain the token. [Checks](Self::check) still apply. A second call replaces the function.
    ///
    /// ```
    /// use tool_http::{Guard, Token};
    ///
    /// # fn is_logged_in(_: &axum::http::HeaderValue) -> bool { false }
    /// let known = |request: &axum::http::request::Parts| request.headers.get("cookie").is_some_and(is_logged_in);
    /// let guard = Guard::new().token(Token::random()?).session(known);
    /// # let _ = guard;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn session(mut self, is_known: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        self.rules().session = Some(Arc::new(is_known));
        self
    }

    /// Requires no token of requests from this machine for a loopback name. [Checks](Self::check) still apply.
    ///
    /// Do not use it behind a proxy on this machine that neither passes on `Host` nor adds forwarding headers: all its
    /// traffic would be taken for local requests.
    pub fn trust_loopback(mut self) -> Self {
        self.rules().trusts_loopback = true;
        self
    }

    /// Adds a check of the application's own, such as of a signature. Requests from other machines are served if they
    /// pass. A token, if set, is required as well. All checks must pass; they run after the token check, in the order in
    /// which they were added, until one fails.
    ///
    /// ```
    /// use axum::http::StatusCode;
    /// use tool_http::{Guard, Problem};
    ///
    /// # async fn is_paid(_: Option<&axum::http::HeaderValue>) -> bool { true }
    /// let guard = Guard::new()
    ///     .check(|request| match request.headers.get("x-customer") {
    ///         Some(_) => Ok(()),
    ///         None => Err(Problem::new(StatusCode::UNAUTHORIZED, "customer", "Say who you are, in `X-Customer`.")),
    ///     })
    ///     .check_async(|request| async move {
    ///         let unpaid = || Problem::new(StatusCode::PAYMENT_REQUIRED, "unpaid", "Pay the last bill first.");
    ///         is_paid(request.headers.get("x-customer")).await.then_some(()).ok_or_else(unpaid)
    ///     });
    /// # let _ = guard;
    /// ```
    pub fn check(mut self, check: impl Fn(&Parts) -> Result<(), Problem> + Send + Sync + 'static) -> Self {
        self.rules().checks.push(Arc::new(move |parts| Box::pin(ready(check(parts)))));
        self
    }

    /// Async version of [`check`](Self::check). Both can be mixed.
    pub fn check_async<F>(mut self, check: impl Fn(Parts) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Problem>> + Send + 'static,
    {
        self.rules().checks.push(Arc::new(move |parts| Box::pin(check(parts.clone()))));
        self
    }

    /// Adds a host name of this server, without a port, such as `tools.example.org`. Requests for other names are
    /// refused to prevent DNS rebinding. Has an effect only with a token or a check: without them only loopback names
    /// are served.
    ///
    /// # Errors
    /// If `name` is not a valid host name.
    pub fn host(mut self, name: &str) -> Result<Self, InvalidName> {
        let parsed = name.parse::<Authority>().ok().and_then(|authority| Host::parse(&authority));
        match parsed.filter(|host| host.port.is_none()) {
            Some(host) => self.rules().names.push(host.name().to_owned()),
            None => {
                return Err(InvalidName(format!(
                    "`{name}` is not a host name: expected `tools.example.org`, without a port"
                )));
            }
        }
        Ok(self)
    }

    /// Allows requests from pages of another site, such as `https://app.example.org`, including cookies (CORS with
    /// credentials). Tokens and checks still apply. Can be called several times.
    ///
    /// # Errors
    /// If `origin` is not a valid origin.
    pub fn origin(mut self, origin: &str) -> Result<Self, InvalidName> {
        let origin = Origin::parse(origin)?;
        self.rules().origins.push(origin);
        Ok(self)
    }

    /// Replaces the rate limit per peer. An IPv6 peer is a /64 network. Requests count before the token is checked, so
    /// guessing tokens is limited too. Behind a proxy all requests have the proxy as their peer: limit them in the proxy.
    pub fn rate(mut self, limit: Limit) -> Self {
        self.rules().limiter = Some(Arc::new(Limiter::new().conversation(limit)));
        self
    }

    /// Removes the rate limit, which also limits guessing tokens. Use it if a proxy limits requests.
    pub fn without_rate_limit(mut self) -> Self {
        self.rules().limiter = None;
        self
    }

    /// Returns `true` if requests need a token.
    pub(crate) fn needs_token(&self) -> bool {
        !self.rules.tokens.is_empty()
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl GuardRules {
    async fn admit(&self, parts: &Parts) -> Result<(), Problem> {
        let (peer, host) = (Peer::from_request(parts), Host::from_request(parts)?);
        self.admit_host(&host)?;
        self.admit_rate(peer)?;
        origin::check(parts, &host, &self.origins)?;
        let is_local = host.is_loopback() && RequestSource::new(peer.0, &parts.headers) == RequestSource::Loopback;
        if self.is_local_only() {
            return if is_local { Ok(()) } else { Err(not_local(peer)) };
        }
        let is_known = self.session.as_ref().is_some_and(|is_known| is_known(parts));
        let is_trusted = is_known || (is_local && self.trusts_loopback);
        if !is_trusted && !self.tokens.is_empty() {
            self.admit_token(parts)?;
        }
        for check in &self.checks {
            check(parts).await?;
        }
        Ok(())
    }

    /// Returns `true` if there is neither a token nor a check.
    fn is_local_only(&self) -> bool {
        self.tokens.is_empty() && self.checks.is_empty()
    }

    fn admit_host(&self, host: &Host) -> Result<(), Problem> {
        let is_address = !self.is_local_only() && host.address().is_some();
        if is_address || host.is_loopback() || self.names.iter().any(|name| name == host.name()) {
            return Ok(());
        }
        let name = host.name();
        let detail = format!(
            "`{name}` is not a known name of this server: use `localhost`, or allow it with `Guard::host(\"{name}\")`."
        );
        Err(Problem::new(StatusCode::FORBIDDEN, "host", detail))
    }

    fn admit_rate(&self, peer: Peer) -> Result<(), Problem> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.admit("", Some(&peer.rate_key())).map_err(|exceeded| {
            let detail = match exceeded.retry_after {
                Some(_) => "Too many requests: retry after the time in `Retry-After`.",
                None => "Too many requests: the limit does not refill.",
            };
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate", detail).with_retry_after(exceeded.retry_after)
        })
    }

    fn admit_token(&self, parts: &Parts) -> Result<(), Problem> {
        let (kind, challenge, detail) = match token::from_request(parts, self.cookie.as_deref()) {
            Some(sent) if TokenHash::is_any_of(sent, &self.tokens) => return Ok(()),
            Some(_) => ("token_wrong", "Bearer error=\"invalid_token\"", "The token is invalid."),
            None => ("token_missing", "Bearer", "Send the token of this server as `Authorization: Bearer <token>`."),
        };
        let problem = Problem::new(StatusCode::UNAUTHORIZED, kind, detail);
        Err(problem.header(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge)))
    }
}

fn not_local(peer: Peer) -> Problem {
    let (kind, detail) = match peer.0 {
        None => (
            "peer_unknown",
            "Without a token only this machine is served, and the peer address is unknown: serve with \
             `into_make_service_with_connect_info::<SocketAddr>()`, or set a token with `Guard::token`.",
        ),
        Some(_) => ("not_local", "Without a token only this machine is served: set one with `Guard::token`."),
    };
    Problem::new(StatusCode::FORBIDDEN, kind, detail)
}
