//! A dispatcher's tools, for callers on other machines.

mod news;
mod pace;
mod presence;
mod reading;
mod request;
mod running;
mod serving;
mod statistics;

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

pub(crate) use self::request::Confirmed;
use self::running::Running;
use self::serving::Serving;
pub(crate) use self::serving::Tool;
use crate::queue::Choice;
use crate::{Connection, Error, Queue, Space};

/// How long the last answers of a worker that leaves may take to be sent, and how long a connection to come back.
const SEND_PATIENCE: Duration = Duration::from_secs(5);

/// How often a worker that leaves looks whether there is a connection.
const LOOK: Duration = Duration::from_millis(500);

/// Serves the tools of a dispatcher to whoever [discovers](crate::discover()) them.
///
/// What is given back is awaited; it can first be told more, such as [`Serve::version`]. Workers that have the same tool
/// share its calls; each call goes through the dispatcher like any other. Whatever the dispatcher's registry adds,
/// changes or removes later is followed.
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
pub fn serve(connection: impl Into<Connection>, dispatcher: Dispatcher) -> Serve {
    Serve {
        connection: connection.into(),
        dispatcher,
        space: Space::default(),
        version: "0.0.0".to_owned(),
        description: String::new(),
        trusts_consent: true,
        queue: None,
        queued: Arc::new(|_, _| true),
        queue_places: 16,
    }
}

/// What a worker is told before it starts; see [`serve`].
#[must_use = "nothing is served until this is awaited"]
pub struct Serve {
    connection: Connection,
    dispatcher: Dispatcher,
    space: Space,
    version: String,
    description: String,
    trusts_consent: bool,
    queue: Option<Queue>,
    queued: Choice,
    queue_places: usize,
}

impl Serve {
    /// Serves in another space.
    pub fn space(mut self, space: Space) -> Self {
        self.space = space;
        self
    }

    /// The version of its tools, `0.0.0` unless set. Where workers define a tool differently, the newer version goes
    /// first.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// What NATS's own tools say of the worker.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Whether a caller's word is enough that somebody has agreed to a call, as it is unless switched off: whoever may
    /// send calls at all is trusted to have asked. Otherwise whom this dispatcher asks is asked here, once more.
    pub fn trust_consent(mut self, trust: bool) -> Self {
        self.trusts_consent = trust;
        self
    }

    /// Takes calls from the work queue as well.
    pub fn queue(mut self, queue: Queue) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Which tools are taken from the queue; all unless set. Each has a consumer on the server. A function that panics has
    /// said no.
    pub fn queued(mut self, queued: impl Fn(&str, &ToolDefinition) -> bool + Send + Sync + 'static) -> Self {
        // The worker asks whenever its tools change, and goes on serving the others.
        self.queued = Arc::new(move |tool, definition| {
            catch_unwind(AssertUnwindSafe(|| queued(tool, definition))).unwrap_or_else(|_| {
                tracing::error!(tool, "not taken from the queue: the function given to `Serve::queued` panicked");
                false
            })
        });
        self
    }

    /// How many calls of a tool from the queue run at a time, 16 unless set: so many of each.
    pub fn queue_places(mut self, places: usize) -> Self {
        self.queue_places = places.max(1);
        self
    }

    async fn start(self) -> Result<Worker, Error> {
        if Version::parse(&self.version).is_err() {
            return Err(Error::Version(self.version));
        }
        let id = self.connection.client().new_inbox().rsplit('.').next().unwrap_or_default().to_owned();
        let shared = Arc::new(Shared {
            id,
            client: self.connection.client().clone(),
            dispatcher: self.dispatcher,
            space: self.space,
            version: self.version,
            description: self.description,
            trusts_consent: self.trusts_consent,
            running: Running::default(),
            calls: TaskTracker::new(),
            work: TaskTracker::new(),
        });
        let stop = CancellationToken::new();
        let mut serving = Serving::start(shared.clone(), &self.connection).await?;
        if let Some(queue) = self.queue {
            serving.take_from(queue, self.queued, self.queue_places);
        }
        serving.update().await?;
        serving.check().await?;
        serving.announce().await;
        let serving = tokio::spawn(serving.serve(stop.clone()));
        Ok(Worker { shared, stop, serving: Some(serving) })
    }
}

impl IntoFuture for Serve {
    type Output = Result<Worker, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

/// What all parts of a worker share.
pub(crate) struct Shared {
    pub(crate) id: String,
    pub(crate) client: Client,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) space: Space,
    version: String,
    description: String,
    pub(crate) trusts_consent: bool,
    pub(crate) running: Running,
    /// The calls that are not answered yet, so that they can be waited for.
    pub(crate) calls: TaskTracker,
    /// What of them is worth waiting for also while there is nobody to answer: what runs, and the results of jobs.
    pub(crate) work: TaskTracker,
}

impl Shared {
    /// Ends once nothing runs any more and there is no connection: what waits to be sent may wait for ever.
    async fn is_cut_off(&self) {
        self.work.close();
        loop {
            self.work.wait().await;
            match timeout(SEND_PATIENCE, self.connected()).await {
                Ok(()) => sleep(LOOK).await,
                Err(_) if self.work.is_empty() => return,
                Err(_) => {}
            }
        }
    }

    async fn connected(&self) {
        while self.client.connection_state() != State::Connected {
            sleep(LOOK).await;
        }
    }
}

/// A worker that serves. Dropped, it takes no more calls, and those that run go on in the background; [`drain`] waits
/// for them.
///
/// [`drain`]: Self::drain
pub struct Worker {
    shared: Arc<Shared>,
    stop: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl Worker {
    /// The id by which it is known, in [`Remote::workers`](crate::Remote::workers) and to NATS's own tools.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Takes no more calls, finishes those that it has, and says that it is gone. Where there is no connection, it waits
    /// for what runs and then some seconds for somebody to tell.
    pub async fn drain(mut self) {
        self.stop.cancel();
        let serving = self.serving.take();
        let left = async {
            if let Some(serving) = serving {
                // A panic there was logged where it happened.
                let _ = serving.await;
            }
            self.shared.calls.close();
            self.shared.calls.wait().await;
            matches!(timeout(SEND_PATIENCE, self.shared.client.flush()).await, Ok(Ok(())))
        };
        let is_sent = tokio::select! {
            is_sent = left => is_sent,
            () = self.shared.is_cut_off() => false,
        };
        if !is_sent {
            tracing::warn!("the last answers of a worker could not be sent");
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
