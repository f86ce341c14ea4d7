//! One server: connected, listed, listened to, and connected again.

use std::convert::identity;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tool_runtime::{CancellationToken, Registry};

use super::backoff::Backoff;
use super::config::ServerConfig;
use super::connection::{Connection, chain};
use super::failure::asked_too_often;
use super::link::{Link, State};
use super::names::Names;
use super::offer::Offer;
use super::reached::Reached;
use super::requests::{Handlers, Requests};
use super::status::{ServerState, ServerStatus};
use super::subscription::subscribe;
use super::transport::LastWords;
use crate::pins::{ApproveError, Held, Pins};

/// How often a server is listed at most, however often it says that its list has changed.
const LIST_PAUSE: Duration = Duration::from_secs(1);

/// How many connect timeouts a program may take to start before it is started again.
const LONGEST_START: u32 = 10;

/// What all servers of an application share.
pub(super) struct Shared {
    pub(super) registry: Registry,
    pub(super) names: Arc<Names>,
    pub(super) pins: Option<Arc<Pins>>,
    pub(super) handlers: Arc<Handlers>,
}

/// A server that is looked after by a task. It is closed when this is dropped.
pub(super) struct Server {
    pub(super) config: Arc<ServerConfig>,
    link: Arc<Link>,
    offer: Arc<Mutex<Offer>>,
    last_words: Arc<LastWords>,
    /// Asks for a list, or to be tried now; told when that is done.
    asks: mpsc::Sender<oneshot::Sender<()>>,
    stop: CancellationToken,
    task: Option<tokio::task::JoinHandle<()>>,
}

impl Server {
    /// Starts looking after a server. The receiver is told when it was tried for the first time.
    pub(super) fn start(config: ServerConfig, shared: &Shared) -> (Self, oneshot::Receiver<()>) {
        let config = Arc::new(config);
        let name: Arc<str> = config.name.as_str().into();
        let link = Arc::new(Link::new(name.clone()));
        let (registry, names) = (shared.registry.clone(), shared.names.clone());
        let offer = Offer::new(config.clone(), link.clone(), registry, names, shared.pins.clone());
        let offer = Arc::new(Mutex::new(offer));
        let last_words = Arc::<LastWords>::default();
        let stop = CancellationToken::new();
        let (asks, asked) = mpsc::channel(8);
        let (tried, first) = oneshot::channel();
        let keeper = Keeper {
            requests: Requests::new(name, shared.handlers.clone()),
            config: config.clone(),
            link: link.clone(),
            offer: offer.clone(),
            last_words: last_words.clone(),
            stop: stop.clone(),
            asked,
            waiting: vec![tried],
            listed: None,
        };
        let task = Some(tokio::spawn(keeper.run()));
        (Self { config, link, offer, last_words, asks, stop, task }, first)
    }

    fn offer(&self) -> MutexGuard<'_, Offer> {
        self.offer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists its tools again, or tries again to connect to it; waits until that is done.
    pub(super) fn refresh(&self) -> impl Future<Output = ()> + 'static {
        #[cfg(feature = "auth")]
        if let Some(access) = self.config.access() {
            access.forgive();
        }
        let (done, told) = oneshot::channel();
        let asks = self.asks.clone();
        async move {
            if asks.send(done).await.is_ok() {
                drop(told.await);
            }
        }
    }

    pub(super) fn approve(&self, tool: &str, fingerprint: &str) -> Result<(), ApproveError> {
        self.offer().approve(tool, fingerprint)
    }

    pub(super) fn status(&self) -> ServerStatus {
        let (tools, mut problems) = {
            let offer = self.offer();
            (offer.status(), offer.problems.clone())
        };
        // That the lock file cannot be used is one problem, and not one of each tool.
        let held = tools.iter().filter(|tool| tool.held != Some(Held::Unknown));
        let held = held.filter_map(|tool| Some((&tool.name, tool.held.as_ref()?)));
        problems.extend(held.map(|(name, held)| format!("`{name}` is not offered until it is approved: {held}")));
        let (state, info) = match self.link.state() {
            State::Connecting => (ServerState::Connecting, None),
            State::Starting => (ServerState::Starting, None),
            State::Connected(connection) => (ServerState::Connected, connection.peer.peer_info()),
            State::Away(why) => (ServerState::Away(format!("{why}{}", self.last_words)), None),
            State::Closed => (ServerState::Closed, None),
        };
        match &state {
            ServerState::Away(why) => problems.push(format!("it is not connected: {why}")),
            ServerState::Starting => {
                let (limit, words) = (self.config.connect_timeout, &self.last_words);
                problems.push(format!("it is still starting: it has answered nothing within {limit:?}{words}"));
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

    /// Ends the connection and takes the tools out; waits until that is done.
    pub(super) async fn close(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            drop(task.await);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The task that looks after a server.
struct Keeper {
    config: Arc<ServerConfig>,
    link: Arc<Link>,
    offer: Arc<Mutex<Offer>>,
    last_words: Arc<LastWords>,
    requests: Requests,
    stop: CancellationToken,
    asked: mpsc::Receiver<oneshot::Sender<()>>,
    /// Who is told when the server was listed, or could not be.
    waiting: Vec<oneshot::Sender<()>>,
    /// When the tools were listed last.
    listed: Option<Instant>,
}

impl Keeper {
    async fn run(mut self) {
        let stop = self.stop.clone();
        let mut backoff = Backoff::default();
        loop {
            self.link.set(State::Connecting);
            let connected = tokio::select! {
                () = stop.cancelled() => break,
                connected = caught(self.connect()) => connected.and_then(identity),
            };
            let why = match connected {
                Ok(connection) => {
                    let since = Instant::now();
                    self.link.set(State::Connected(connection.clone()));
                    self.tell();
                    let why = caught(self.attend(&connection)).await.unwrap_or_else(identity);
                    if stop.is_cancelled() {
                        connection.close().await;
                        break;
                    }
                    backoff.lost(since.elapsed(), connection.is_forgotten());
                    if matches!(self.config.reached, Reached::Command(_)) {
                        // Two of a program may not get along: one ends before the next is started.
                        self.link.set(State::Connecting);
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
            tracing::warn!(server = self.config.name, ?pause, "not connected: {why}{}", self.last_words);
            if !pause.is_zero() {
                self.link.set(State::Away(why.into()));
                self.tell();
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = sleep(pause) => {}
                Some(done) = self.asked.recv() => self.waiting.push(done),
            }
        }
        self.offer().clear();
        self.link.set(State::Closed);
    }

    /// Tells all who wait; some may have gone.
    fn tell(&mut self) {
        for done in self.waiting.drain(..) {
            let _gone = done.send(());
        }
    }

    fn offer(&self) -> MutexGuard<'_, Offer> {
        self.offer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection whose tools are in the registry, or in words why there is none.
    async fn connect(&mut self) -> Result<Arc<Connection>, String> {
        let (config, requests) = (self.config.clone(), self.requests.clone());
        let (last_words, stop) = (self.last_words.clone(), self.stop.clone());
        let limit = config.connect_timeout;
        let is_program = matches!(config.reached, Reached::Command(_));
        let has_answered = AtomicBool::new(false);
        let connecting = async {
            let opened = Connection::open(&config, &requests, &last_words, &stop).await;
            let connection = Arc::new(opened.map_err(|error| error.to_string())?);
            has_answered.store(true, Ordering::Relaxed);
            subscribe(&connection).await;
            let (tools, left_out) = connection.list(config.limits).await.map_err(|error| unlisted(&error))?;
            Ok::<_, String>((connection, tools, left_out))
        };
        let mut connecting = pin!(connecting);
        let mut waited = 0;
        let mut is_starting = false;
        let (connection, tools, left_out) = loop {
            waited += 1;
            let mut trying = pin!(timeout(limit, &mut connecting));
            let connected = loop {
                let has_answered = has_answered.load(Ordering::Relaxed);
                tokio::select! {
                    connected = &mut trying => break connected,
                    // A program that is starting holds nobody up.
                    Some(done) = self.asked.recv(), if is_starting && !has_answered => drop(done.send(())),
                }
            };
            match connected {
                Ok(connected) => break connected?,
                Err(_) if self.asks_somebody() => {}
                Err(_) if is_program && waited < LONGEST_START && !has_answered.load(Ordering::Relaxed) => {
                    tracing::warn!(server = config.name, "still starting{last_words}");
                    self.link.set(State::Starting);
                    is_starting = true;
                    self.waiting.extend(std::iter::from_fn(|| self.asked.try_recv().ok()));
                    self.tell();
                }
                Err(_) => return Err(format!("it was not ready within {:?}", limit.saturating_mul(waited))),
            }
        };
        self.offer().show(tools, left_out);
        self.listed = Some(Instant::now());
        Ok(connection)
    }

    /// Whether it is a person that we wait for: that takes as long as it takes.
    #[cfg(feature = "auth")]
    fn asks_somebody(&self) -> bool {
        self.config.access().is_some_and(|access| access.was_asking())
    }

    #[cfg(not(feature = "auth"))]
    fn asks_somebody(&self) -> bool {
        false
    }

    /// Keeps the list as it is at the server, until the connection is lost; gives back why.
    async fn attend(&mut self, connection: &Connection) -> String {
        let stop = self.stop.clone();
        let mut due = None;
        loop {
            // Somebody who waits is not kept waiting; a server may say what it likes as often as it likes.
            while self.waiting.is_empty() {
                let soon = self.listed.map_or_else(Instant::now, |listed| listed + LIST_PAUSE);
                tokio::select! {
                    () = stop.cancelled() => return String::new(),
                    why = connection.lost() => return why.to_owned(),
                    () = connection.wire.changed.notified() => due = due.or(Some(soon)),
                    () = self.link.doubted() => due = due.or(Some(soon)),
                    () = until(due) => break,
                    Some(done) = self.asked.recv() => self.waiting.push(done),
                };
            }
            let listed = tokio::select! {
                () = stop.cancelled() => return String::new(),
                why = connection.lost() => return why.to_owned(),
                listed = timeout(self.config.connect_timeout, connection.list(self.config.limits)) => listed,
            };
            let now = Instant::now();
            due = match listed {
                Ok(Ok((tools, left_out))) => {
                    self.offer().show(tools, left_out);
                    None
                }
                Ok(Err(error)) => match asked_too_often(&error) {
                    Some(wait) => {
                        self.offer().keep("it is asked too often to list its tools again, and is asked later");
                        Some(now + wait)
                    }
                    None => return unlisted(&error),
                },
                // One that does one thing after the other is well, and a call that runs there is not to be lost.
                Err(_) if connection.wire.is_calling() => {
                    self.offer().keep("it does not list its tools while a call runs, and is asked again");
                    Some(now + LIST_PAUSE)
                }
                Err(_) => return "it does not list its tools any more".to_owned(),
            };
            self.listed = Some(now);
            self.tell();
        }
    }
}

/// Does what may run the application's code, such as a function that connects. A panic there is a reason like any other
/// not to be connected, and the server is tried again.
async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
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

fn unlisted(error: &rmcp::ServiceError) -> String {
    format!("it does not list its tools: {}", chain(error))
}
