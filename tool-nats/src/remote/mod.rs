//! Remote tools: tools of workers in a local registry.

mod catalogue;
mod direct_call;
mod inbox;
mod presence;
mod probes;
mod queued_call;
mod sync;
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

use self::inbox::ReplyInbox;
use self::sync::RegistrySync;
use self::tool::RemoteCaller;
use crate::{NatsConnection, NatsError, Space, WorkQueue};

/// Registers the tools of all workers, and keeps the registry in sync as workers join, leave and change.
///
/// Configure and await the returned builder. A remote tool is registered like any other: arguments are validated,
/// approval is asked for and the call is recorded locally, before anything is sent.
///
/// ```no_run
/// use tool_nats::{connect, discover};
/// use tool_runtime::{Dispatcher, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let connection = connect("nats://127.0.0.1:4222").await?;
/// let tools = Dispatcher::builder().allow_empty().build()?;
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
pub fn discover(connection: impl Into<NatsConnection>, registry: Registry) -> DiscoveryBuilder {
    DiscoveryBuilder {
        connection: connection.into(),
        registry,
        space: Space::default(),
        ping_interval: Duration::from_secs(10),
        heartbeat_timeout: Duration::from_secs(4),
        repeat: false,
        queue: None,
        deliver: Arc::new(|_, _| DeliveryMode::Direct),
    }
}

/// The way a call reaches its worker. Set for one call with `tools.call(..).with(DeliveryMode::Queued)`, or for tools
/// with [`DiscoveryBuilder::deliver`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeliveryMode {
    /// By request and reply: fast. If the worker dies, the outcome is unknown.
    #[default]
    Direct,
    /// Through the work queue: the call is kept until a worker has done it. Waits for the result; if the wait ends
    /// early, the job continues. The job's id is in the result's metadata under `job`.
    Queued,
    /// Like [`Queued`](Self::Queued), without waiting: the result confirms the submission and has the id under `job`.
    Submitted,
}

/// The delivery of each tool.
type DeliveryFn = Arc<dyn Fn(&str, &ToolDefinition) -> DeliveryMode + Send + Sync>;

/// A builder for a discovery; see [`discover`].
#[must_use = "nothing is discovered until awaited"]
pub struct DiscoveryBuilder {
    connection: NatsConnection,
    registry: Registry,
    space: Space,
    ping_interval: Duration,
    heartbeat_timeout: Duration,
    repeat: bool,
    queue: Option<WorkQueue>,
    deliver: DeliveryFn,
}

impl DiscoveryBuilder {
    /// Sets the space.
    pub fn space(mut self, space: Space) -> Self {
        self.space = space;
        self
    }

    /// Sets how often all workers are pinged. Defaults to ten seconds. Workers announce when they join, change or
    /// leave; pings detect those that died.
    pub fn ping_interval(mut self, interval: Duration) -> Self {
        self.ping_interval = interval;
        self
    }

    /// Sets how long a worker with a call may be silent before the outcome is unknown. Defaults to four seconds. A
    /// running call sends a heartbeat every second.
    pub fn heartbeat_timeout(mut self, timeout: Duration) -> Self {
        self.heartbeat_timeout = timeout;
        self
    }

    /// Sends lost calls again if their tool is idempotent or read-only: at-least-once instead of at-most-once. The
    /// call's id stays the same, so that a worker whose journal has the call replays its result.
    pub fn retry_idempotent(mut self) -> Self {
        self.repeat = true;
        self
    }

    /// Sets the work queue.
    pub fn queue(mut self, queue: WorkQueue) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Sets the delivery of each tool, unless a call sets its own.
    pub fn deliver(mut self, deliver: impl Fn(&str, &ToolDefinition) -> DeliveryMode + Send + Sync + 'static) -> Self {
        self.deliver = Arc::new(deliver);
        self
    }

    async fn start(self) -> Result<RemoteTools, NatsError> {
        let inbox = ReplyInbox::open(&self.connection, self.space.clone(), self.heartbeat_timeout).await?;
        let caller = Arc::new(RemoteCaller {
            client: self.connection.client().clone(),
            space: self.space,
            inbox: Arc::new(inbox),
            queue: self.queue,
            cancel_timeout: Duration::from_secs(1).min(self.heartbeat_timeout),
            repeat: self.repeat,
            deliver: self.deliver,
            ping_soon: Notify::new(),
        });
        let state = Arc::new(Mutex::new(DiscoveryState::default()));
        let (refreshes, requests) = mpsc::channel(1);
        let stop = CancellationToken::new();
        let sync = RegistrySync::start(caller, self.registry.clone(), state.clone(), self.ping_interval).await?;
        let task = tokio::spawn(sync.run(requests, stop.clone()));
        let remote = RemoteTools { state, refreshes, stop: stop.drop_guard(), task };
        remote.refresh().await;
        Ok(remote)
    }
}

impl IntoFuture for DiscoveryBuilder {
    type Output = Result<RemoteTools, NatsError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

/// The remote tools in a registry. Dropping it removes them in the background; [`leave`](Self::leave) waits for that.
pub struct RemoteTools {
    state: Arc<Mutex<DiscoveryState>>,
    refreshes: mpsc::Sender<oneshot::Sender<()>>,
    stop: DropGuard,
    task: JoinHandle<()>,
}

/// The state of the discovery.
#[derive(Default)]
struct DiscoveryState {
    workers: Vec<WorkerInfo>,
    conflicts: Vec<ToolConflict>,
}

impl RemoteTools {
    /// Pings the workers now, and waits until the registry has their tools.
    pub async fn refresh(&self) {
        let (done, is_done) = oneshot::channel();
        if self.refreshes.send(done).await.is_ok() {
            // The task ends only when this is dropped.
            let _ = is_done.await;
        }
    }

    /// Removes the tools from the registry and waits for that, so that a later discovery into the same registry is not
    /// affected.
    pub async fn leave(self) {
        drop(self.stop);
        // A task that panicked has stopped, too.
        let _ = self.task.await;
    }

    /// Returns the workers, by id.
    #[must_use]
    pub fn workers(&self) -> Vec<WorkerInfo> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).workers.clone()
    }

    /// Returns the tools that workers define differently, by name.
    #[must_use]
    pub fn conflicts(&self) -> Vec<ToolConflict> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).conflicts.clone()
    }
}

impl fmt::Debug for RemoteTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteTools").field("workers", &self.workers().len()).finish_non_exhaustive()
    }
}

/// A live worker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerInfo {
    /// The id.
    pub id: String,
    /// The version of its tools.
    pub version: String,
    /// The SHA-256 of its manifest.
    pub manifest: String,
}

/// A tool with several definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolConflict {
    /// The name.
    pub tool: String,
    /// The version of the definition in use, or `None` if it is a local tool.
    pub used: Option<String>,
    /// The versions of the other definitions.
    pub ignored: Vec<String>,
    /// The reason for the choice.
    pub reason: &'static str,
}

impl fmt::Display for ToolConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.used.as_deref().map_or("the local tool".to_owned(), |version| format!("version {version}"));
        write!(
            f,
            "`{}` has several definitions: {used} is used instead of {}, because {}",
            self.tool,
            self.ignored.join(", "),
            self.reason
        )
    }
}
