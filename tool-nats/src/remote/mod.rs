//! Tools of workers, as local ones.

mod call;
mod catalogue;
mod census;
mod follow;
mod inbox;
mod probes;
mod queued;
mod tool;

use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tool_runtime::{Registry, ToolDefinition};

use self::follow::Follower;
use self::inbox::Inbox;
use self::tool::Caller;
use crate::{Connection, Error, Queue, Space};

/// Fills a registry with the tools of all workers, and follows them as they come, go and change.
///
/// What is given back is awaited; it can first be told more, such as [`Discover::space`]. A remote tool is an entry like
/// any other: its arguments are checked, somebody is asked and the call is recorded here, before anything is sent.
///
/// ```no_run
/// use tool_nats::{connect, discover};
/// use tool_runtime::{Dispatcher, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let connection = connect("nats://127.0.0.1:4222").await?;
/// let tools = Dispatcher::builder().build()?;
/// let remote = discover(connection, tools.registry()).await?;
///
/// let result = tools.call(ToolCall::from_text("metrics.newest", r#"{"host": "web-1"}"#)).await;
/// println!("{}", result.output);
/// for conflict in remote.conflicts() {
///     eprintln!("{conflict}");
/// }
/// # Ok(())
/// # }
/// ```
pub fn discover(connection: impl Into<Connection>, registry: Registry) -> Discover {
    Discover {
        connection: connection.into(),
        registry,
        space: Space::default(),
        every: Duration::from_secs(10),
        patience: Duration::from_secs(4),
        repeat: false,
        queue: None,
        deliver: Arc::new(|_, _| Delivery::Direct),
    }
}

/// How a call gets to its worker. A call can say it itself, `tools.call(..).with(Delivery::Queued)`; what a tool does
/// otherwise is for [`Discover::deliver`] to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// By request and reply: fast, and what a worker holds that dies is lost; the call says so.
    #[default]
    Direct,
    /// Through the work queue: the call is kept until a worker has done it. It waits for the result, and if it has to
    /// stop waiting the job goes on; its id is in the result's metadata under `job`.
    Queued,
    /// As [`Queued`](Self::Queued), without waiting: the result says that it was submitted, with its id under `job`.
    Submitted,
}

/// How calls of a tool get to their worker.
type Deliver = Arc<dyn Fn(&str, &ToolDefinition) -> Delivery + Send + Sync>;

/// What a discovery is told before it starts; see [`discover`].
#[must_use = "nothing is discovered until this is awaited"]
pub struct Discover {
    connection: Connection,
    registry: Registry,
    space: Space,
    every: Duration,
    patience: Duration,
    repeat: bool,
    queue: Option<Queue>,
    deliver: Deliver,
}

impl Discover {
    /// Looks in another space.
    pub fn space(mut self, space: Space) -> Self {
        self.space = space;
        self
    }

    /// How often all workers are counted, ten seconds unless set. Those that come, change or leave properly say so
    /// at once; this finds those that died.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// How long a worker that has a call may be silent, four seconds unless set. One that works says so every second; of
    /// one that does not, the outcome is unknown.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends calls that were lost again, where their tool is idempotent or read-only: at least once, instead of at
    /// most once. The call's id stays the same, so that a worker whose journal knows the call answers it from there.
    pub fn repeat_idempotent(mut self) -> Self {
        self.repeat = true;
        self
    }

    /// The queue for calls that must not be lost.
    pub fn queue(mut self, queue: Queue) -> Self {
        self.queue = Some(queue);
        self
    }

    /// How calls of a tool get to their worker, unless a call says it itself.
    pub fn deliver(mut self, deliver: impl Fn(&str, &ToolDefinition) -> Delivery + Send + Sync + 'static) -> Self {
        self.deliver = Arc::new(deliver);
        self
    }

    async fn start(self) -> Result<Remote, Error> {
        let inbox = Inbox::open(&self.connection, self.space.clone(), self.patience).await?;
        let caller = Arc::new(Caller {
            client: self.connection.client().clone(),
            space: self.space,
            inbox: Arc::new(inbox),
            queue: self.queue,
            stop_patience: Duration::from_secs(1).min(self.patience),
            repeat: self.repeat,
            deliver: self.deliver,
            nudge: Notify::new(),
        });
        let found = Arc::new(Mutex::new(Found::default()));
        let (refreshes, asked) = mpsc::channel(1);
        let stop = CancellationToken::new();
        let follower = Follower::start(caller, self.registry.clone(), found.clone(), self.every).await?;
        let follower = tokio::spawn(follower.follow(asked, stop.clone()));
        let remote = Remote { found, refreshes, following: stop.drop_guard(), follower };
        remote.refresh().await;
        Ok(remote)
    }
}

impl IntoFuture for Discover {
    type Output = Result<Remote, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

/// Tools of workers that are followed. Dropped, it takes them out of the registry soon; [`leave`](Self::leave) waits for
/// that.
pub struct Remote {
    found: Arc<Mutex<Found>>,
    refreshes: mpsc::Sender<oneshot::Sender<()>>,
    following: DropGuard,
    follower: JoinHandle<()>,
}

/// What is known of workers.
#[derive(Default)]
struct Found {
    workers: Vec<Seen>,
    conflicts: Vec<Conflict>,
}

impl Remote {
    /// Counts the workers now, and waits until the registry has their tools.
    pub async fn refresh(&self) {
        let (done, is_done) = oneshot::channel();
        if self.refreshes.send(done).await.is_ok() {
            // The follower ends only when this is dropped.
            let _ = is_done.await;
        }
    }

    /// Takes the tools out of the registry, and waits until they are: whoever discovers into the same registry after
    /// that has nothing taken away.
    pub async fn leave(self) {
        drop(self.following);
        // One that has panicked follows nobody either.
        let _ = self.follower.await;
    }

    /// The workers, by their ids.
    #[must_use]
    pub fn workers(&self) -> Vec<Seen> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).workers.clone()
    }

    /// The tools about which workers disagree, by name.
    #[must_use]
    pub fn conflicts(&self) -> Vec<Conflict> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).conflicts.clone()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("workers", &self.workers().len()).finish_non_exhaustive()
    }
}

/// A worker that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// Its id.
    pub id: String,
    /// The version it was given.
    pub version: String,
    /// The SHA-256 of its manifest.
    pub manifest: String,
}

/// A name under which different tools are offered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The name.
    pub tool: String,
    /// The version of the worker whose definition is used; nothing if it is a tool of this program.
    pub used: Option<String>,
    /// What is not used: the versions of the workers that have another definition.
    pub passed_over: Vec<String>,
    /// Why.
    pub reason: &'static str,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.used.as_deref().map_or("this program".to_owned(), |version| format!("version {version}"));
        write!(
            f,
            "`{}` is defined in different ways: that of {used} is used, not that of {}, because {}",
            self.tool,
            self.passed_over.join(", "),
            self.reason
        )
    }
}
