//! Workers: the tools of a dispatcher for callers on other machines.

mod cancellable;
mod draining;
mod heartbeat;
mod pace;
mod request;
mod service;
mod subscriptions;

use std::fmt;
use std::future::IntoFuture;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use semver::Version;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tool_runtime::{Dispatcher, ToolDefinition};

use self::cancellable::CancellableCalls;
pub(crate) use self::request::ApprovedByCaller;
pub(crate) use self::subscriptions::ServedTool;
use self::subscriptions::WorkerSubscriptions;
use crate::queue::ToolFilter;
use crate::{NatsConnection, NatsError, Space, WorkQueue};

/// The time that a worker waits at shutdown for its last replies to be sent, and for a lost connection.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval at which a worker checks the connection at shutdown.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Serves the tools of a dispatcher to callers that [discover](crate::discover()) them.
///
/// Configure and await the returned builder. Workers with the same tool share its calls, and each call goes through the
/// dispatcher like any other. Later changes of the dispatcher's registry are published.
///
/// ```no_run
/// use tool_nats::{connect, serve};
/// use tool_runtime::{Dispatcher, tool};
///
/// /// Add two numbers.
/// #[tool(name = "math.add")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let connection = connect("nats://127.0.0.1:4222").await?;
/// let worker = serve(connection, Dispatcher::builder().build()?).version("1.4.0").await?;
/// # let stop = async {};
/// stop.await;
/// worker.drain().await;
/// # Ok(())
/// # }
/// ```
pub fn serve(connection: impl Into<NatsConnection>, dispatcher: Dispatcher) -> WorkerBuilder {
    WorkerBuilder {
        connection: connection.into(),
        dispatcher,
        space: Space::default(),
        version: "0.0.0".to_owned(),
        description: String::new(),
        trusts_approvals: true,
        queue: None,
        queued: Arc::new(|_, _| true),
        queue_concurrency: 16,
    }
}

/// A builder for a worker; see [`serve`].
#[must_use = "nothing is served until awaited"]
pub struct WorkerBuilder {
    connection: NatsConnection,
    dispatcher: Dispatcher,
    space: Space,
    version: String,
    description: String,
    trusts_approvals: bool,
    queue: Option<WorkQueue>,
    queued: ToolFilter,
    queue_concurrency: usize,
}

impl WorkerBuilder {
    /// Sets the space.
    pub fn space(mut self, space: Space) -> Self {
        self.space = space;
        self
    }

    /// Sets the version of the tools. Defaults to `0.0.0`. If workers define a tool differently, the newer version
    /// wins.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the description that NATS's own tools show.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets whether approvals of callers are trusted. Defaults to `true`: everyone who is permitted to send calls is
    /// trusted to have asked for approval. Otherwise this dispatcher's confirmer is asked as well.
    pub fn trust_approvals(mut self, trust: bool) -> Self {
        self.trusts_approvals = trust;
        self
    }

    /// Takes jobs from this work queue as well.
    pub fn queue(mut self, queue: WorkQueue) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Sets which tools are taken from the queue. Defaults to all. Each has a consumer on the server. A panic in the
    /// function counts as `false`.
    pub fn queued(mut self, queued: impl Fn(&str, &ToolDefinition) -> bool + Send + Sync + 'static) -> Self {
        // Called whenever the tools change, in a task that must go on serving the other tools.
        self.queued = Arc::new(move |tool, definition| {
            catch_unwind(AssertUnwindSafe(|| queued(tool, definition))).unwrap_or_else(|_| {
                tracing::error!(
                    tool,
                    "not taken from the queue: the function passed to `WorkerBuilder::queued` panicked"
                );
                false
            })
        });
        self
    }

    /// Sets how many jobs of each tool run at a time. Defaults to 16.
    pub fn queue_concurrency(mut self, places: usize) -> Self {
        self.queue_concurrency = places.max(1);
        self
    }

    async fn start(self) -> Result<Worker, NatsError> {
        if Version::parse(&self.version).is_err() {
            return Err(NatsError::Version(self.version));
        }
        let id = self.connection.client().new_inbox().rsplit('.').next().unwrap_or_default().to_owned();
        let shared = Arc::new(WorkerShared {
            id,
            client: self.connection.client().clone(),
            dispatcher: self.dispatcher,
            space: self.space,
            version: self.version,
            description: self.description,
            trusts_approvals: self.trusts_approvals,
            running: CancellableCalls::default(),
            calls: TaskTracker::new(),
            work: TaskTracker::new(),
        });
        let stop = CancellationToken::new();
        let mut subscriptions = WorkerSubscriptions::start(shared.clone(), &self.connection).await?;
        if let Some(queue) = self.queue {
            subscriptions.consume(queue, self.queued, self.queue_concurrency);
        }
        subscriptions.update().await?;
        subscriptions.check().await?;
        subscriptions.announce().await;
        let task = tokio::spawn(subscriptions.serve(stop.clone()));
        Ok(Worker { shared, stop, task: Some(task) })
    }
}

impl IntoFuture for WorkerBuilder {
    type Output = Result<Worker, NatsError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

/// The state that all parts of a worker share.
pub(crate) struct WorkerShared {
    pub(crate) id: String,
    pub(crate) client: Client,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) space: Space,
    version: String,
    description: String,
    pub(crate) trusts_approvals: bool,
    pub(crate) running: CancellableCalls,
    /// All unanswered calls, to wait for at shutdown.
    pub(crate) calls: TaskTracker,
    /// The part of the calls that is worth waiting for even without a connection: running handlers and results of jobs.
    pub(crate) work: TaskTracker,
}

impl WorkerShared {
    /// Completes when nothing runs any more and the connection is lost, so that replies might wait forever.
    async fn disconnected(&self) {
        self.work.close();
        loop {
            self.work.wait().await;
            match timeout(SEND_TIMEOUT, self.connected()).await {
                Ok(()) => sleep(CONNECTION_CHECK_INTERVAL).await,
                Err(_) if self.work.is_empty() => return,
                Err(_) => {}
            }
        }
    }

    async fn connected(&self) {
        while self.client.connection_state() != State::Connected {
            sleep(CONNECTION_CHECK_INTERVAL).await;
        }
    }
}

/// A running worker. Dropping it stops accepting calls, while running ones continue in the background; [`drain`] waits
/// for them.
///
/// [`drain`]: Self::drain
pub struct Worker {
    shared: Arc<WorkerShared>,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Worker {
    /// Returns the id, as in [`RemoteTools::workers`](crate::RemoteTools::workers) and NATS's own tools.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Stops accepting calls, finishes running ones, and announces that the worker is gone. Without a connection, it
    /// waits for running calls and then a few seconds for the connection.
    pub async fn drain(mut self) {
        self.stop.cancel();
        let task = self.task.take();
        let left = async {
            if let Some(task) = task {
                // A panic was logged by the panic hook.
                let _ = task.await;
            }
            self.shared.calls.close();
            self.shared.calls.wait().await;
            matches!(timeout(SEND_TIMEOUT, self.shared.client.flush()).await, Ok(Ok(())))
        };
        let is_sent = tokio::select! {
            is_sent = left => is_sent,
            () = self.shared.disconnected() => false,
        };
        if !is_sent {
            tracing::warn!("the last replies of a worker could not be sent");
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("id", &self.shared.id).finish_non_exhaustive()
    }
}
