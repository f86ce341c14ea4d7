//! The task that keeps a remote server connected and its tools listed.

use std::convert::identity;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout};
use tool_runtime::{CancellationToken, Registry};

use super::backoff::Backoff;
use super::connection::{ServerConnection, error_chain};
use super::endpoint::Endpoint;
use super::failure::rate_limit_delay;
use super::link::{LinkState, ServerLink};
use super::names::NameOwners;
use super::registered_tools::RegisteredTools;
use super::requests::{RequestHandlers, ServerRequests};
use super::server_config::ServerConfig;
use super::status::{ServerState, ServerStatus};
use super::subscription::subscribe;
use super::transport::StderrTail;
use crate::pins::{ApproveError, HoldReason, Pins};
use tokio::sync::{mpsc, oneshot};

/// The shortest time between two listings, however often the server reports changes.
const LIST_INTERVAL: Duration = Duration::from_secs(1);

/// A program that takes more than this many connect timeouts to start is restarted.
const MAX_START_TIMEOUTS: u32 = 10;

/// The state that all servers of an application share.
pub(super) struct ServersShared {
    pub(super) registry: Registry,
    pub(super) names: Arc<NameOwners>,
    pub(super) pins: Option<Arc<Pins>>,
    pub(super) handlers: Arc<RequestHandlers>,
}

/// A handle to a remote server and its task. Dropping it closes the server.
pub(super) struct ServerHandle {
    pub(super) config: Arc<ServerConfig>,
    link: Arc<ServerLink>,
    tools: Arc<Mutex<RegisteredTools>>,
    stderr: Arc<StderrTail>,
    /// Requests a listing, or an immediate connection attempt, with a channel that signals completion.
    refreshes: mpsc::Sender<oneshot::Sender<()>>,
    stop: CancellationToken,
    task: Option<tokio::task::JoinHandle<()>>,
}

impl ServerHandle {
    /// Starts the task of a server. The receiver is signalled after the first connection attempt.
    pub(super) fn start(config: ServerConfig, shared: &ServersShared) -> (Self, oneshot::Receiver<()>) {
        let config = Arc::new(config);
        let name: Arc<str> = config.name.as_str().into();
        let link = Arc::new(ServerLink::new(name.clone()));
        let (registry, names) = (shared.registry.clone(), shared.names.clone());
        let tools = RegisteredTools::new(config.clone(), link.clone(), registry, names, shared.pins.clone());
        let tools = Arc::new(Mutex::new(tools));
        let stderr = Arc::<StderrTail>::default();
        let stop = CancellationToken::new();
        let (refreshes, refresh_requests) = mpsc::channel(8);
        let (tried, first) = oneshot::channel();
        let task = ServerTask {
            requests: ServerRequests::new(name, shared.handlers.clone()),
            config: config.clone(),
            link: link.clone(),
            tools: tools.clone(),
            stderr: stderr.clone(),
            stop: stop.clone(),
            refresh_requests,
            waiting: vec![tried],
            listed: None,
        };
        let task = Some(tokio::spawn(task.run()));
        (Self { config, link, tools, stderr, refreshes, stop, task }, first)
    }

    fn tools(&self) -> MutexGuard<'_, RegisteredTools> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists the tools again, or retries the connection, and waits until that is done.
    pub(super) fn refresh(&self) -> impl Future<Output = ()> + 'static {
        #[cfg(feature = "auth")]
        if let Some(access) = self.config.access() {
            access.retry_failed_login();
        }
        let (done, completed) = oneshot::channel();
        let refreshes = self.refreshes.clone();
        async move {
            if refreshes.send(done).await.is_ok() {
                drop(completed.await);
            }
        }
    }

    pub(super) fn approve(&self, tool: &str, fingerprint: &str) -> Result<(), ApproveError> {
        self.tools().approve(tool, fingerprint)
    }

    pub(super) fn status(&self) -> ServerStatus {
        let (tools, mut problems) = {
            let tools = self.tools();
            (tools.status(), tools.problems.clone())
        };
        // An unusable lock file is one problem, not one per tool.
        let held = tools.iter().filter(|tool| tool.held != Some(HoldReason::Unknown));
        let held = held.filter_map(|tool| Some((&tool.name, tool.held.as_ref()?)));
        problems.extend(held.map(|(name, held)| format!("`{name}` is held until it is approved: {held}")));
        let (state, info) = match self.link.state() {
            LinkState::Connecting => (ServerState::Connecting, None),
            LinkState::Starting => (ServerState::Starting, None),
            LinkState::Connected(connection) => (ServerState::Connected, connection.peer.peer_info()),
            LinkState::Unavailable(why) => (ServerState::Unavailable(format!("{why}{}", self.stderr)), None),
            LinkState::Closed => (ServerState::Closed, None),
        };
        match &state {
            ServerState::Unavailable(why) => problems.push(format!("not connected: {why}")),
            ServerState::Starting => {
                let (limit, stderr) = (self.config.connect_timeout, &self.stderr);
                problems.push(format!("still starting: no response within {limit:?}{stderr}"));
            }
            _ => {}
        }
        ServerStatus {
            name: self.config.name.clone(),
            state,
            protocol: info.as_ref().map(|info| info.protocol_version.to_string()),
            implementation: info
                .as_ref()
                .and_then(|info| info.server_info.as_ref())
                .map(|server| format!("{} {}", server.name, server.version)),
            instructions: info.and_then(|info| info.instructions.clone()),
            tools,
            problems,
        }
    }

    /// Closes the connection, removes the tools, and waits until that is done.
    pub(super) async fn close(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            drop(task.await);
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The task of a server.
struct ServerTask {
    config: Arc<ServerConfig>,
    link: Arc<ServerLink>,
    tools: Arc<Mutex<RegisteredTools>>,
    stderr: Arc<StderrTail>,
    requests: ServerRequests,
    stop: CancellationToken,
    refresh_requests: mpsc::Receiver<oneshot::Sender<()>>,
    /// Signalled after the next listing or failed attempt.
    waiting: Vec<oneshot::Sender<()>>,
    /// The time of the last listing.
    listed: Option<Instant>,
}

impl ServerTask {
    async fn run(mut self) {
        let stop = self.stop.clone();
        let mut backoff = Backoff::default();
        loop {
            self.link.set(LinkState::Connecting);
            let connected = tokio::select! {
                () = stop.cancelled() => break,
                connected = catch_panic(self.connect()) => connected.and_then(identity),
            };
            let why = match connected {
                Ok(connection) => {
                    let since = Instant::now();
                    self.link.set(LinkState::Connected(connection.clone()));
                    self.signal_waiting();
                    let why = catch_panic(self.keep_listed(&connection)).await.unwrap_or_else(identity);
                    if stop.is_cancelled() {
                        connection.close().await;
                        break;
                    }
                    backoff.lost(since.elapsed(), connection.is_session_expired());
                    if matches!(self.config.endpoint, Endpoint::Command(_)) {
                        // Two instances of a program may conflict, so the old one ends before the next is started.
                        self.link.set(LinkState::Connecting);
                        connection.close().await;
                    }
                    why
                }
                Err(why) => {
                    backoff.failed();
                    why
                }
            };
            let pause = backoff.pause();
            tracing::warn!(server = self.config.name, ?pause, "not connected: {why}{}", self.stderr);
            if !pause.is_zero() {
                self.link.set(LinkState::Unavailable(why.into()));
                self.signal_waiting();
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = sleep(pause) => {}
                Some(done) = self.refresh_requests.recv() => self.waiting.push(done),
            }
        }
        self.tools().clear();
        self.link.set(LinkState::Closed);
    }

    /// Signals all waiting callers.
    fn signal_waiting(&mut self) {
        for done in self.waiting.drain(..) {
            let _gone = done.send(());
        }
    }

    fn tools(&self) -> MutexGuard<'_, RegisteredTools> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects and registers the tools. The error is the reason for users.
    async fn connect(&mut self) -> Result<Arc<ServerConnection>, String> {
        let (config, requests) = (self.config.clone(), self.requests.clone());
        let (stderr, stop) = (self.stderr.clone(), self.stop.clone());
        let limit = config.connect_timeout;
        let is_program = matches!(config.endpoint, Endpoint::Command(_));
        let has_responded = AtomicBool::new(false);
        let connecting = async {
            let opened = ServerConnection::open(&config, &requests, &stderr, &stop).await;
            let connection = Arc::new(opened.map_err(|error| error.to_string())?);
            has_responded.store(true, Ordering::Relaxed);
            subscribe(&connection).await;
            let (tools, dropped) = connection.list(config.limits).await.map_err(|error| list_error(&error))?;
            Ok::<_, String>((connection, tools, dropped))
        };
        let mut connecting = pin!(connecting);
        let mut timeouts = 0;
        let mut is_starting = false;
        let (connection, tools, dropped) = loop {
            timeouts += 1;
            let mut attempt = pin!(timeout(limit, &mut connecting));
            let connected = loop {
                let has_responded = has_responded.load(Ordering::Relaxed);
                tokio::select! {
                    connected = &mut attempt => break connected,
                    // Callers do not wait for a program that is starting.
                    Some(done) = self.refresh_requests.recv(), if is_starting && !has_responded => drop(done.send(())),
                }
            };
            match connected {
                Ok(connected) => break connected?,
                Err(_) if self.is_login_pending() => {}
                Err(_) if is_program && timeouts < MAX_START_TIMEOUTS && !has_responded.load(Ordering::Relaxed) => {
                    tracing::warn!(server = config.name, "still starting{stderr}");
                    self.link.set(LinkState::Starting);
                    is_starting = true;
                    self.waiting.extend(std::iter::from_fn(|| self.refresh_requests.try_recv().ok()));
                    self.signal_waiting();
                }
                Err(_) => return Err(format!("it was not ready within {:?}", limit.saturating_mul(timeouts))),
            }
        };
        self.tools().update(tools, dropped);
        self.listed = Some(Instant::now());
        Ok(connection)
    }

    /// Returns `true` while a user logs in. The connect timeout does not apply to that.
    #[cfg(feature = "auth")]
    fn is_login_pending(&self) -> bool {
        self.config.access().is_some_and(|access| access.was_login_pending())
    }

    #[cfg(not(feature = "auth"))]
    fn is_login_pending(&self) -> bool {
        false
    }

    /// Keeps the tools up to date until the connection is lost, and returns the reason.
    async fn keep_listed(&mut self, connection: &ServerConnection) -> String {
        let stop = self.stop.clone();
        let mut due = None;
        loop {
            // Refresh requests are served at once; the server's notifications are throttled.
            while self.waiting.is_empty() {
                let earliest = self.listed.map_or_else(Instant::now, |listed| listed + LIST_INTERVAL);
                tokio::select! {
                    () = stop.cancelled() => return String::new(),
                    why = connection.closed() => return why.to_owned(),
                    () = connection.monitor.tools_changed.notified() => due = due.or(Some(earliest)),
                    () = self.link.relist_requested() => due = due.or(Some(earliest)),
                    () = until(due) => break,
                    Some(done) = self.refresh_requests.recv() => self.waiting.push(done),
                };
            }
            let listed = tokio::select! {
                () = stop.cancelled() => return String::new(),
                why = connection.closed() => return why.to_owned(),
                listed = timeout(self.config.connect_timeout, connection.list(self.config.limits)) => listed,
            };
            let now = Instant::now();
            due = match listed {
                Ok(Ok((tools, dropped))) => {
                    self.tools().update(tools, dropped);
                    None
                }
                Ok(Err(error)) => match rate_limit_delay(&error) {
                    Some(wait) => {
                        self.tools().keep_unchanged("listing its tools was rate limited, and is retried later");
                        Some(now + wait)
                    }
                    None => return list_error(&error),
                },
                // A sequential server cannot list while a call runs. The connection and the call are kept.
                Err(_) if connection.monitor.is_calling() => {
                    self.tools().keep_unchanged("it does not list its tools while a call runs; listing is retried");
                    Some(now + LIST_INTERVAL)
                }
                Err(_) => return "it no longer lists its tools".to_owned(),
            };
            self.listed = Some(now);
            self.signal_waiting();
        }
    }
}

/// Runs code that may call the application's functions, and turns a panic into an error, after which the connection is
/// retried.
async fn catch_panic<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let mut work = pin!(work);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            Poll::Ready(Err(format!("connecting panicked: {}", text.unwrap_or("without a message"))))
        }
    })
    .await
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn list_error(error: &rmcp::ServiceError) -> String {
    format!("cannot list its tools: {}", error_chain(error))
}
