//! The dispatcher: what the tools need, where it comes from, and when they are offered.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;
use tool_builtins::files::Files;
use tool_journal::SqliteJournal;
use tool_nats::{NatsConnection, RemoteTools};
use tool_runtime::confirm::Deferred;
use tool_runtime::inject::InjectError;
use tool_runtime::manifest::ManifestError;
use tool_runtime::output::{DirectorySpillStore, Spill};
use tool_runtime::{BuildError, Dispatcher, Manifest};

use crate::background::{Failures, attempt};
use crate::internet::Targets;
use crate::machine::Machine;
use crate::settings::{Extension, Settings, SettingsFile};
use crate::store::{MetricPointRepository, Session, Store};

/// Results longer than this, in characters, are shortened, and can be read on.
const LONG: usize = 24_000;

/// What the tools are made of.
pub struct Parts {
    /// What is monitored.
    pub machine: Machine,
    /// What is switched on.
    pub settings: SettingsFile,
    /// What is kept.
    pub store: Store,
    /// What may be reached.
    pub targets: Targets,
    /// Failures of background jobs.
    pub failures: Failures,
    /// The files of the workspace.
    pub files: Files,
    /// The record of calls.
    pub journal: SqliteJournal,
    /// Where outputs are kept that are too long for a model.
    pub outputs: DirectorySpillStore,
    /// Where calls wait for a person.
    pub deferred: Deferred,
    /// Where workers are that have more tools.
    pub nats: Option<NatsConnection>,
}

/// The tools of the console and those of workers, offered only while the extension `ai_chat` is enabled.
///
/// Then the manifest that the build script has read from the source is written to a file of the data folder, and the
/// dispatcher loads it: the file is what a model is offered, for people and other programs to read.
#[derive(Clone, Debug)]
pub struct Tools {
    dispatcher: Dispatcher,
    manifest: PathBuf,
    nats: Option<NatsConnection>,
    /// What is offered, if anything is.
    offered: Arc<Mutex<Option<Offered>>>,
}

#[derive(Debug)]
struct Offered {
    /// The tools of workers, as long as this is kept.
    remote: Option<RemoteTools>,
}

impl Tools {
    /// Binds every tool. None is offered before [`apply`](Self::apply).
    ///
    /// # Errors
    /// When a tool lacks what it needs.
    pub fn new(parts: Parts, manifest: PathBuf) -> Result<Self, BuildError> {
        let Parts { machine, settings, store, targets, failures, files, journal, outputs, deferred, nats } = parts;
        let ping_host = targets.clone();
        let dispatcher = Dispatcher::builder()
            .manifest(tool_runtime::manifest!())
            .service(files.allow_delete(true))
            .value("machine", machine)
            .value("settings", settings)
            .value("targets", targets)
            .value("failures", failures)
            .provide("ping_host", move |_| {
                let ping_host = ping_host.ping_host();
                async move { Ok::<_, InjectError>(ping_host) }
            })
            .provide("session", move |_| {
                let session = store.session();
                async move { Ok::<_, InjectError>(session) }
            })
            .finish("session", |session: Session, outcome| async move { session.end(outcome.is_success()).await })
            .provide("repository", |scope| async move {
                Ok::<_, InjectError>(MetricPointRepository::new(scope.get("session").await?))
            })
            .confirm(deferred)
            .journal(journal)
            .spill(Spill::over(LONG).store(outputs))
            .build()?;
        dispatcher.registry().clear();
        Ok(Self { dispatcher, manifest, nats, offered: Arc::default() })
    }

    /// What calls them.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Offers the tools or takes them back, as the settings say. It must not be dropped before it is done.
    ///
    /// # Errors
    /// When the manifest cannot be written or read, or workers cannot be asked. Nothing is offered then.
    pub async fn apply(&self, settings: &Settings) -> Result<(), ToolsError> {
        let mut offered = self.offered.lock().await;
        match (settings.has(Extension::AiChat), offered.take()) {
            (true, None) => *offered = Some(self.mount().await?),
            (false, Some(old)) => self.unmount(old).await,
            (_, same) => *offered = same,
        }
        Ok(())
    }

    /// Applies the settings now and whenever they change, until it is dropped or the settings are.
    pub async fn follow(self, settings: SettingsFile) {
        let mut settings = settings.follow();
        loop {
            let now = settings.borrow_and_update().clone();
            if let Err(error) = attempt(self.apply(&now)).await {
                tracing::error!("the tools stay as they are: {error}");
            }
            if settings.changed().await.is_err() {
                return;
            }
        }
    }

    /// The console's own tools come first: what a worker calls the same does not take their place.
    async fn mount(&self) -> Result<Offered, ToolsError> {
        Manifest::try_from(tool_runtime::manifest!())?.save(&self.manifest)?;
        self.dispatcher.reload(Manifest::load(&self.manifest))?;
        let Some(connection) = &self.nats else { return Ok(Offered { remote: None }) };
        match tool_nats::discover(connection.clone(), self.dispatcher.registry()).await {
            Ok(remote) => Ok(Offered { remote: Some(remote) }),
            Err(error) => {
                self.unmount(Offered { remote: None }).await;
                Err(error.into())
            }
        }
    }

    async fn unmount(&self, offered: Offered) {
        // Nothing can be called from now on, also while the workers are left.
        self.dispatcher.registry().clear();
        if let Some(remote) = offered.remote {
            remote.leave().await;
        }
        remove(&self.manifest);
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!("{} is left behind: {error}", path.display());
    }
}

/// Why the tools stay as they are.
#[derive(Debug)]
pub enum ToolsError {
    /// The manifest cannot be written.
    Manifest(ManifestError),
    /// The manifest does not fit the program.
    Build(BuildError),
    /// Workers cannot be asked for their tools.
    Workers(tool_nats::NatsError),
}

impl std::fmt::Display for ToolsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Manifest(error) => error.fmt(f),
            Self::Build(error) => error.fmt(f),
            Self::Workers(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ToolsError {}

impl From<ManifestError> for ToolsError {
    fn from(error: ManifestError) -> Self {
        Self::Manifest(error)
    }
}

impl From<BuildError> for ToolsError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<tool_nats::NatsError> for ToolsError {
    fn from(error: tool_nats::NatsError) -> Self {
        Self::Workers(error)
    }
}
