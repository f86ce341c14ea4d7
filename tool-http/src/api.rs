//! The router and its options.

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
use crate::call_values::ValueFactory;
use crate::feed::Feed;
use crate::idempotency::ActiveKeys;
use crate::{Guard, Problem, SecurityHeaders, Token, routes};

type ConversationResolver = Arc<dyn Fn(&Parts, Option<&str>) -> Result<String, Problem> + Send + Sync>;

/// Builder of a router over a dispatcher, for any axum application to mount. Options can be set in any order.
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
/// let tools = Dispatcher::builder().allow_empty().per_call::<User>().build()?;
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
#[must_use = "call `into_router` to get a router"]
pub struct Api {
    shared: ApiState,
    guard: Guard,
    tokens: Vec<Token>,
    kept_events: usize,
}

/// State shared by all requests.
#[derive(Clone)]
pub(crate) struct ApiState {
    pub(crate) tools: Dispatcher,
    pub(crate) pending: Option<Deferred>,
    pub(crate) journal: Option<Arc<dyn Journal>>,
    pub(crate) call_values: Vec<ValueFactory>,
    conversation: Option<ConversationResolver>,
    pub(crate) body: BodyLimits,
    pub(crate) max_timeout: Duration,
    pub(crate) until: CancellationToken,
    pub(crate) needs_token: bool,
    pub(crate) feed: Arc<Feed>,
    pub(crate) keys: ActiveKeys,
}

impl Api {
    /// Creates an API over these tools, which may be a [selection](Dispatcher::select). It serves requests from this
    /// machine only, unless a [token](Self::token) or another [guard](Self::guard) is set.
    pub fn new(tools: Dispatcher) -> Self {
        let shared = ApiState {
            feed: Feed::new(tools.clone(), 0),
            tools,
            pending: None,
            journal: None,
            call_values: Vec::new(),
            conversation: None,
            body: BodyLimits { bytes: 1 << 20, time: Duration::from_secs(10) },
            max_timeout: Duration::from_secs(10 * 60),
            until: CancellationToken::new(),
            needs_token: false,
            keys: ActiveKeys::default(),
        };
        Self { shared, guard: Guard::new(), tokens: Vec::new(), kept_events: 1_024 }
    }

    /// Serves requests that carry this token; see [`Guard::token`]. The token is added to the [guard](Self::guard),
    /// whether that is set before or after it.
    pub fn token(mut self, token: Token) -> Self {
        self.tokens.push(token);
        self
    }

    /// Sets the guard that decides which requests are served. The default is [`Guard::new`].
    pub fn guard(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }

    /// Holds calls that need approval in `deferred`, which overrides the dispatcher's confirmer, and serves `/pending`,
    /// where users approve or refuse them.
    ///
    /// Every client that may call tools through this router may then approve calls, and the response to a call that
    /// waits has its token. Do not set it for a router that a model uses directly. With several users, set
    /// [`conversation`](Self::conversation) too: each user then sees and decides only their own calls.
    pub fn pending(mut self, deferred: Deferred) -> Self {
        self.shared.pending = Some(deferred);
        self
    }

    /// Serves the entries of a journal at `/journal`. Pass the journal that the dispatcher writes, in an `Arc`.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.shared.journal = Some(Arc::new(journal));
        self
    }

    /// Derives a value for [`Call::with`](tool_runtime::Call::with) from each request, such as the user who makes the
    /// call, or rejects the request. Can be called several times, once per value.
    pub fn with<T: Send + 'static>(
        mut self,
        make: impl Fn(&Parts) -> Result<T, Problem> + Send + Sync + 'static,
    ) -> Self {
        self.shared.call_values.push(ValueFactory::new(make));
        self
    }

    /// Async version of [`with`](Self::with).
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
        self.shared.call_values.push(ValueFactory::new_async(make));
        self
    }

    /// Sets a function that maps a request, and the conversation that it names, to the conversation to use, or rejects
    /// the request.
    ///
    /// It applies to calls, pending calls, the journal and events. Applications with several users keep them apart with
    /// it: a request lists, approves, refuses and aborts only pending calls of its own conversation. A token of another
    /// conversation is not found (404), and stays valid.
    ///
    /// Without this function, clients choose their conversation. A request that names none then sees pending calls,
    /// journal and events of all conversations, and may decide about every call whose token it has.
    ///
    /// ```
    /// # use tool_http::{Api, Problem};
    /// # fn user(_: &axum::http::request::Parts) -> &str { "ada" }
    /// # fn show(tools: tool_runtime::Dispatcher) {
    /// let api = Api::new(tools)
    ///     .conversation(|request, named| Ok(format!("{}/{}", user(request), named.unwrap_or("main"))));
    /// # let _ = api;
    /// # }
    /// ```
    pub fn conversation(
        mut self,
        decide: impl Fn(&Parts, Option<&str>) -> Result<String, Problem> + Send + Sync + 'static,
    ) -> Self {
        self.shared.conversation = Some(Arc::new(decide));
        self
    }

    /// Sets the maximum size of a request body in bytes. The default is 1 MiB.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.shared.body.bytes = bytes;
        self
    }

    /// Sets the time within which a request body must arrive. The default is ten seconds.
    pub fn body_timeout(mut self, time: Duration) -> Self {
        self.shared.body.time = time;
        self
    }

    /// Sets the upper bound of a call's timeout. The default is ten minutes. The request, the tool and the dispatcher
    /// can set a shorter timeout.
    pub fn max_timeout(mut self, time: Duration) -> Self {
        self.shared.max_timeout = time;
        self
    }

    /// Sets the number of events kept for clients that read slowly or reconnect. The default is 1,024.
    pub fn keep_events(mut self, events: usize) -> Self {
        self.kept_events = events;
        self
    }

    /// Ends all event streams when `stopped` is cancelled. Without it, a graceful shutdown waits for their connections.
    pub fn until(mut self, stopped: CancellationToken) -> Self {
        self.shared.until = stopped;
        self
    }

    /// Builds the router. Mount it with [`Router::nest`], and serve with
    /// `into_make_service_with_connect_info::<SocketAddr>()`.
    pub fn into_router<S: Clone + Send + Sync + 'static>(self) -> Router<S> {
        let Self { mut shared, guard, tokens, kept_events } = self;
        let guard = tokens.into_iter().fold(guard, Guard::token);
        shared.feed = Feed::new(shared.tools.clone(), kept_events);
        shared.needs_token = guard.needs_token();
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
            .fallback(async || Problem::new(StatusCode::NOT_FOUND, "path", "No such path; see `openapi.json`."))
            .method_not_allowed_fallback(async || {
                let detail = "This path does not support this method; see `openapi.json`.";
                Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", detail)
            })
            .with_state(Arc::new(shared))
            .layer(guard)
            .layer(SecurityHeaders::api())
    }
}

impl ApiState {
    /// Returns the conversation of a request, given the one that it names. `None` if it names none and the application
    /// does not choose one: such a request is not restricted to a conversation.
    pub(crate) fn conversation(&self, parts: &Parts, named: Option<&str>) -> Result<Option<String>, Problem> {
        if let Some(named) = named {
            check_id("conversation", named)?;
        }
        match &self.conversation {
            Some(decide) => decide(parts, named).map(Some),
            None => Ok(named.map(str::to_owned)),
        }
    }
}

/// Rejects ids that are too long or have control characters, because ids are written to the journal and to logs.
pub(crate) fn check_id(kind: &'static str, id: &str) -> Result<(), Problem> {
    if (1..=256).contains(&id.len()) && !id.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Problem::bad_request(kind, format!("`{kind}` must have 1 to 256 characters and no control characters.")))
}
