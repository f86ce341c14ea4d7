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
use tool_net::RequestSource;
use tool_runtime::limits::{Limit, Limiter};

pub use self::layer::Guarded;
pub use self::origin::InvalidName;
pub use self::token::{Token, WeakToken};

use self::host::Host;
use self::origin::Origin;
use self::peer::Peer;
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
/// use tool_runtime::limits::Limit;
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
    checks: Vec<Check>,
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
            checks: Vec::new(),
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
    /// `SameSite=Strict`. There is one such cookie, that of the last call.
    pub fn token_cookie(mut self, name: impl Into<String>) -> Self {
        self.rules().cookie = Some(name.into());
        self
    }

    /// Asks no token of requests that the application knows otherwise: such as by the cookie of somebody who has shown it
    /// before, which then need not hold the token itself. [Checks](Self::check) are asked all the same. There is one such
    /// function, that of the last call.
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

    /// Asks no token of requests that come from this machine, for a loopback name; [checks](Self::check) are asked all the
    /// same. A proxy on this machine that says neither the name it was asked for nor that it forwards would have its whole
    /// traffic pass for such.
    pub fn trust_loopback(mut self) -> Self {
        self.rules().trusts_loopback = true;
        self
    }

    /// Serves those requests that pass a check of the application's own, such as of a signature, from anywhere. With a
    /// token as well, both must hold. Of several checks, each must let a request through; they are asked in the order in
    /// which they were given, after the token, until one refuses.
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

    /// As [`check`](Self::check), for one that has to ask somewhere. Both can be mixed.
    pub fn check_async<F>(mut self, check: impl Fn(Parts) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), Problem>> + Send + 'static,
    {
        self.rules().checks.push(Arc::new(move |parts| Box::pin(check(parts.clone()))));
        self
    }

    /// A name of this server, without a port, such as `tools.example.org`. Requests for a name that was not given are
    /// refused: whoever owns that name could have led a browser here. Several can be given. It is of use with a token or a
    /// check; without, loopback names alone are served.
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

    /// Lets the pages of another site ask, such as `https://app.example.org`, in the name of whoever looks at them: their
    /// browser is told that it may send cookies. Tokens and checks are asked for as of anybody. Several can be given.
    ///
    /// # Errors
    /// When it is no origin.
    pub fn origin(mut self, origin: &str) -> Result<Self, InvalidName> {
        let origin = Origin::read(origin)?;
        self.rules().origins.push(origin);
        Ok(self)
    }

    /// How many requests of one peer are served, in place of the rate so far; in IPv6 a peer is a network (/64). They are
    /// counted before the token is asked for, so that guesses count. Behind a proxy all have one peer, which is the proxy:
    /// limit them there.
    pub fn rate(mut self, limit: Limit) -> Self {
        self.rules().limiter = Some(Arc::new(Limiter::new().conversation(limit)));
        self
    }

    /// Serves as many requests as come, guesses of a token among them: for a server that is limited by what stands before
    /// it.
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

    /// Whether nothing says who else may ask.
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
