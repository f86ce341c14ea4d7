//! The router, and what it is told.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use http::StatusCode;
use http::request::Parts;
use tool_runtime::confirm::Deferred;
use tool_runtime::journal::Journal;
use tool_runtime::{CancellationToken, Dispatcher};

use crate::body::BodyLimits;
use crate::feed::Feed;
use crate::given::Giver;
use crate::idempotency::Keys;
use crate::{Guard, Problem, SecurityHeaders, Token, routes};

type Conversation = Arc<dyn Fn(&Parts, Option<&str>) -> Result<Option<String>, Problem> + Send + Sync>;

/// A router over a dispatcher, for any axum application to mount. Its options can be given in any order.
///
/// ```
/// use axum::Router;
/// use axum::http::StatusCode;
/// use tool_http::{Api, Problem, Token};
/// use tool_runtime::Dispatcher;
/// use tool_runtime::confirm::{Deferred, SealingKey};
///
/// struct User(String);
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let waiting = Deferred::new(SealingKey::random()?);
/// let tools = Dispatcher::builder().per_call::<User>().build()?;
/// let api = Api::new(tools)
///     .token(Token::random()?)
///     .pending(waiting)
///     .with(|request| match request.headers.get("x-user").and_then(|name| name.to_str().ok()) {
///         Some(name) => Ok(User(name.to_owned())),
///         None => Err(Problem::new(StatusCode::FORBIDDEN, "no_user", "Say who you are, in `X-User`.")),
///     });
/// let app: Router = Router::new().nest("/api", api.into_router());
/// # let _ = app;
/// # Ok(())
/// # }
/// ```
#[must_use = "it serves nothing until it is a router"]
pub struct Api {
    shared: Shared,
    guard: Guard,
    tokens: Vec<Token>,
    kept_events: usize,
}

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) tools: Dispatcher,
    pub(crate) pending: Option<Deferred>,
    pub(crate) journal: Option<Arc<dyn Journal>>,
    pub(crate) givers: Vec<Giver>,
    conversation: Option<Conversation>,
    pub(crate) body: BodyLimits,
    pub(crate) longest: Duration,
    pub(crate) until: CancellationToken,
    pub(crate) asks_token: bool,
    pub(crate) feed: Arc<Feed>,
    pub(crate) keys: Keys,
}

impl Api {
    /// A router over these tools, which may be a [selection](Dispatcher::select). It serves this machine only, until it
    /// is given a [token](Self::token) or another [guard](Self::guard).
    pub fn new(tools: Dispatcher) -> Self {
        let shared = Shared {
            feed: Feed::new(tools.clone(), 0),
            tools,
            pending: None,
            journal: None,
            givers: Vec::new(),
            conversation: None,
            body: BodyLimits { bytes: 1 << 20, time: Duration::from_secs(10) },
            longest: Duration::from_secs(10 * 60),
            until: CancellationToken::new(),
            asks_token: false,
            keys: Keys::default(),
        };
        Self { shared, guard: Guard::new(), tokens: Vec::new(), kept_events: 1_024 }
    }

    /// Serves whoever shows this token; see [`Guard::token`]. It is asked for by whatever [guard](Self::guard) is given,
    /// before or after it.
    pub fn token(mut self, token: Token) -> Self {
        self.tokens.push(token);
        self
    }

    /// Serves whom this guard lets in, in place of a [`Guard::new`].
    pub fn guard(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }

    /// Has calls that need consent wait here, whomever the dispatcher asks otherwise, and serves `/pending`, where they
    /// are answered. Whoever may call through this router may then agree to what was called: a router for a model's own
    /// use has none.
    pub fn pending(mut self, deferred: Deferred) -> Self {
        self.shared.pending = Some(deferred);
        self
    }

    /// Serves what is on record, at `/journal`: the journal that the dispatcher writes, shared by an `Arc`.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.shared.journal = Some(Arc::new(journal));
        self
    }

    /// Makes a value for each call from its request, such as the user who makes it, as
    /// [`Call::with`](tool_runtime::Call::with) takes it; or refuses the request. Several add several values.
    pub fn with<T: Send + 'static>(
        mut self,
        make: impl Fn(&Parts) -> Result<T, Problem> + Send + Sync + 'static,
    ) -> Self {
        self.shared.givers.push(Giver::new(make));
        self
    }

    /// As [`with`](Self::with), for a value that has to be fetched.
    ///
    /// ```
    /// # use tool_http::{Api, Problem};
    /// # struct Account;
    /// # async fn account(_: Option<&axum::http::HeaderValue>) -> Result<Account, Problem> { Ok(Account) }
    /// # fn show(tools: tool_runtime::Dispatcher) {
    /// let api = Api::new(tools).with_async(|request| async move { account(request.headers.get("cookie")).await });
    /// # let _ = api;
    /// # }
    /// ```
    pub fn with_async<T, F>(mut self, make: impl Fn(Parts) -> F + Send + Sync + 'static) -> Self
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        self.shared.givers.push(Giver::new_async(make));
        self
    }

    /// Says which conversation a request is about, by the one that it names, if any; or refuses it. It decides for
    /// calls, for what waits, for the journal and for events: an application of many users keeps them apart by this. Where
    /// it says none, what waits, the journal and events are those of all. The token of a call that waits speaks for itself.
    ///
    /// ```
    /// # use axum::http::StatusCode;
    /// # use tool_http::{Api, Problem};
    /// # fn user(_: &axum::http::request::Parts) -> &str { "ada" }
    /// # fn show(tools: tool_runtime::Dispatcher) {
    /// let api = Api::new(tools).conversation(|request, named| match named {
    ///     Some(named) => Ok(Some(format!("{}/{named}", user(request)))),
    ///     None => Err(Problem::new(StatusCode::BAD_REQUEST, "conversation", "Say which one: `?conversation=..`.")),
    /// });
    /// # let _ = api;
    /// # }
    /// ```
    pub fn conversation(
        mut self,
        decide: impl Fn(&Parts, Option<&str>) -> Result<Option<String>, Problem> + Send + Sync + 'static,
    ) -> Self {
        self.shared.conversation = Some(Arc::new(decide));
        self
    }

    /// How many bytes a request may bring; 1 MiB unless set.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.shared.body.bytes = bytes;
        self
    }

    /// How long a request may take to bring them; ten seconds unless set.
    pub fn body_timeout(mut self, time: Duration) -> Self {
        self.shared.body.time = time;
        self
    }

    /// How long a call may take at most, whatever is asked for; ten minutes unless set. Its tool and the dispatcher may
    /// say less.
    pub fn longest_call(mut self, time: Duration) -> Self {
        self.shared.longest = time;
        self
    }

    /// How many events are kept for clients that are behind or come back; 1,024 unless set.
    pub fn keep_events(mut self, events: usize) -> Self {
        self.kept_events = events;
        self
    }

    /// Ends the streams of events when this is cancelled: a server that shuts down waits for its connections.
    pub fn until(mut self, stopped: CancellationToken) -> Self {
        self.shared.until = stopped;
        self
    }

    /// The router. Mount it with [`Router::nest`], and serve with `into_make_service_with_connect_info::<SocketAddr>()`.
    pub fn into_router<S: Clone + Send + Sync + 'static>(self) -> Router<S> {
        let Self { mut shared, guard, tokens, kept_events } = self;
        let guard = tokens.into_iter().fold(guard, Guard::token);
        shared.feed = Feed::new(shared.tools.clone(), kept_events);
        shared.asks_token = guard.asks_token();
        let mut router = Router::new()
            .route("/health", get(routes::health::show))
            .route("/openapi.json", get(routes::openapi::show))
            .route("/tools", get(routes::tools::list))
            .route("/tools/{name}", get(routes::tools::show).post(routes::call::call))
            .route("/tools/{name}/preview", post(routes::call::preview))
            .route("/dialects", get(routes::dialects::list))
            .route("/dialects/{name}", get(routes::dialects::show))
            .route("/events", get(routes::events::stream));
        if shared.pending.is_some() {
            router = router
                .route("/pending", get(routes::pending::list))
                .route("/pending/approve", post(routes::pending::approve))
                .route("/pending/refuse", post(routes::pending::refuse))
                .route("/pending/abort", post(routes::pending::abort));
        }
        if shared.journal.is_some() {
            router = router.route("/journal", get(routes::journal::list));
        }
        router
            .fallback(async || Problem::new(StatusCode::NOT_FOUND, "path", "Nothing is here: see `openapi.json`."))
            .method_not_allowed_fallback(async || {
                let detail = "This path takes another method: see `openapi.json`.";
                Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", detail)
            })
            .with_state(Arc::new(shared))
            .layer(guard)
            .layer(SecurityHeaders::api())
    }
}

impl Shared {
    /// The conversation that a request is about.
    pub(crate) fn conversation(&self, parts: &Parts, named: Option<&str>) -> Result<Option<String>, Problem> {
        if let Some(named) = named {
            check_id("conversation", named)?;
        }
        match &self.conversation {
            Some(decide) => decide(parts, named),
            None => Ok(named.map(str::to_owned)),
        }
    }
}

/// Ids end up in records and logs: they are short, and every character of them shows.
pub(crate) fn check_id(kind: &'static str, id: &str) -> Result<(), Problem> {
    if (1..=256).contains(&id.len()) && !id.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Problem::bad_request(kind, format!("`{kind}` has 1 to 256 characters, none of them a control character.")))
}
