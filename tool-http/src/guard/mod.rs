//! Who may ask.

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
use tool_runtime::{Limit, Limiter};

pub use self::layer::Guarded;
pub use self::origin::InvalidName;
pub use self::token::{Token, WeakToken};

use self::host::Host;
use self::origin::Origin;
use self::peer::{Peer, is_forwarded};
use self::token::Hashed;
use crate::Problem;

type Session = Arc<dyn Fn(&Parts) -> bool + Send + Sync>;
type Check = Arc<dyn Fn(&Parts) -> Pin<Box<dyn Future<Output = Result<(), Problem>> + Send>> + Send + Sync>;

/// Decides which requests are served. It is a layer for any service; a [router](crate::Api) has one from the start.
///
/// As it is made, it serves this machine only: a request must come from a loopback address, for a loopback name, and
/// through no proxy. With a [token](Self::token) or a [check](Self::check) it serves others too, for an address, a
/// loopback name, or a name that was [given](Self::host). In any case a page of another site gets nothing, unless it
/// was [allowed](Self::origin), and nobody asks more often than the [rate](Self::rate).
///
/// Where from a request comes is known if the server keeps it: serve with
/// `into_make_service_with_connect_info::<SocketAddr>()`.
///
/// ```
/// use axum::{Router, routing::get};
/// use tool_http::{Guard, Token};
/// use tool_runtime::Limit;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = Guard::new().token(Token::random()?).host("tools.example.org")?.rate(Limit::per_second(20));
/// let tools = tool_runtime::Dispatcher::builder().build()?;
/// // One guard for all: the router that is mounted does not ask again.
/// let app: Router = Router::new()
///     .route("/", get(|| async { "hello" }))
///     .nest("/api", tool_http::Api::new(tools).guard(guard.clone()).into_router())
///     .layer(guard);
/// # let _ = app;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a guard does nothing until it is a layer"]
pub struct Guard {
    rules: Arc<Rules>,
}

#[derive(Clone)]
struct Rules {
    tokens: Vec<Hashed>,
    cookie: Option<String>,
    session: Option<Session>,
    trusts_loopback: bool,
    check: Option<Check>,
    names: Vec<String>,
    origins: Vec<Origin>,
    limiter: Option<Arc<Limiter>>,
}

impl Guard {
    /// Serves this machine only, and each peer up to 1,000 requests at once and a hundred a second.
    pub fn new() -> Self {
        let rules = Rules {
            tokens: Vec::new(),
            cookie: None,
            session: None,
            trusts_loopback: false,
            check: None,
            names: Vec::new(),
            origins: Vec::new(),
            limiter: None,
        };
        Self { rules: Arc::new(rules) }.rate(Limit::per(1_000, std::time::Duration::from_secs(10)))
    }

    /// What no other guard shares, so that two that are the same say the same.
    fn rules(&mut self) -> &mut Rules {
        Arc::make_mut(&mut self.rules)
    }

    /// Serves whoever shows this token, as `Authorization: Bearer ..`, from anywhere, and nobody else, not even on this
    /// machine. Of several, one is enough: a new one can be in use before the old one is gone.
    pub fn token(mut self, token: Token) -> Self {
        self.rules().tokens.push(token.hashed());
        self
    }

    /// Takes the token from this cookie too, for pages: a browser's `EventSource` sends no header. Set it `HttpOnly` and
    /// `SameSite=Strict`.
    pub fn token_cookie(mut self, name: impl Into<String>) -> Self {
        self.rules().cookie = Some(name.into());
        self
    }

    /// Asks no token of requests that the application knows otherwise: such as by the cookie of somebody who has shown it
    /// before, which then need not hold the token itself.
    pub fn session(mut self, is_known: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        self.rules().session = Some(Arc::new(is_known));
        self
    }

    /// Asks no token of requests that come from this machine, for a loopback name. A proxy on this machine that says
    /// neither the name it was asked for nor that it forwards would have its whole traffic pass for such.
    pub fn trust_loopback(mut self) -> Self {
        self.rules().trusts_loopback = true;
        self
    }

    /// Serves those requests that pass a check of the application's own, such as a session. With a token as well, both
    /// must hold.
    pub fn check(mut self, check: impl Fn(&Parts) -> Result<(), Problem> + Send + Sync + 'static) -> Self {
        self.rules().check = Some(Arc::new(move |parts| Box::pin(ready(check(parts)))));
        self
    }

    /// As [`check`](Self::check), for one that has to ask somewhere.
    pub fn check_async<F>(mut self, check: impl Fn(Parts) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Problem>> + Send + 'static,
    {
        self.rules().check = Some(Arc::new(move |parts| Box::pin(check(parts.clone()))));
        self
    }

    /// A name of this server, without a port, such as `tools.example.org`.
    ///
    /// # Errors
    /// When it is no name.
    pub fn host(mut self, name: &str) -> Result<Self, InvalidName> {
        let read = name.parse::<Authority>().ok().and_then(|authority| Host::read(&authority));
        match read.filter(|host| host.port.is_none()) {
            Some(host) => self.rules().names.push(host.name().to_owned()),
            None => return Err(InvalidName(format!("`{name}` is no host: write `tools.example.org`, with no port"))),
        }
        Ok(self)
    }

    /// Lets the pages of another site ask, such as `https://app.example.org`.
    ///
    /// # Errors
    /// When it is no origin.
    pub fn origin(mut self, origin: &str) -> Result<Self, InvalidName> {
        let origin = Origin::read(origin)?;
        self.rules().origins.push(origin);
        Ok(self)
    }

    /// How many requests of one peer are served. Behind a proxy all have one peer, which is the proxy: limit them there.
    pub fn rate(mut self, limit: Limit) -> Self {
        self.rules().limiter = Some(Arc::new(Limiter::new().conversation(limit)));
        self
    }

    /// Serves as many requests as come.
    pub fn any_rate(mut self) -> Self {
        self.rules().limiter = None;
        self
    }

    /// Whether requests have to show a token.
    pub(crate) fn asks_token(&self) -> bool {
        !self.rules.tokens.is_empty()
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl Rules {
    async fn admit(&self, parts: &Parts) -> Result<(), Problem> {
        let (peer, host) = (Peer::of(parts), Host::of(parts)?);
        self.admit_host(&host)?;
        self.admit_rate(peer)?;
        origin::check(parts, &host, &self.origins)?;
        let is_local = peer.is_loopback() && host.is_loopback() && !is_forwarded(parts);
        if self.is_local_only() {
            return if is_local { Ok(()) } else { Err(not_local(peer)) };
        }
        let is_known = self.session.as_ref().is_some_and(|is_known| is_known(parts));
        let is_trusted = is_known || (is_local && self.trusts_loopback);
        if !is_trusted && !self.tokens.is_empty() {
            self.admit_token(parts)?;
        }
        match &self.check {
            None => Ok(()),
            Some(check) => check(parts).await,
        }
    }

    /// Whether nothing says who else may ask.
    fn is_local_only(&self) -> bool {
        self.tokens.is_empty() && self.check.is_none()
    }

    fn admit_host(&self, host: &Host) -> Result<(), Problem> {
        let is_address = !self.is_local_only() && host.address().is_some();
        if is_address || host.is_loopback() || self.names.iter().any(|name| name == host.name()) {
            return Ok(());
        }
        let name = host.name();
        let detail = format!(
            "`{name}` is no name of this server: ask for `localhost`, or name it with `Guard::host(\"{name}\")`."
        );
        Err(Problem::new(StatusCode::FORBIDDEN, "host", detail))
    }

    fn admit_rate(&self, peer: Peer) -> Result<(), Problem> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.admit("", Some(&peer.counted_as())).map_err(|exceeded| {
            let detail = match exceeded.retry_after {
                Some(_) => "Too many requests: come back after the time in `Retry-After`.",
                None => "Too many requests: no more are served.",
            };
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate", detail).with_retry_after(exceeded.retry_after)
        })
    }

    fn admit_token(&self, parts: &Parts) -> Result<(), Problem> {
        let shown = token::shown(parts, self.cookie.as_deref());
        let (kind, challenge, detail) = match shown {
            Some(shown) if Hashed::is_any_of(shown, &self.tokens) => return Ok(()),
            Some(_) => ("token_wrong", "Bearer error=\"invalid_token\"", "This is not the token of this server."),
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
            "Without a token only this machine is served, and where this comes from is not known: serve with \
             `into_make_service_with_connect_info::<SocketAddr>()`, or set a token with `Guard::token`.",
        ),
        Some(_) => ("not_local", "Without a token only this machine is served: set one with `Guard::token`."),
    };
    Problem::new(StatusCode::FORBIDDEN, kind, detail)
}
