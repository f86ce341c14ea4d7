//! The dispatcher of the console and its injected values.

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

/// Maximum length of a result in characters. Longer ones are spilled.
const LONG: usize = 24_000;

/// The values that the tools use.
pub struct ToolParts {
    /// The monitored machine.
    pub machine: Machine,
    /// The settings.
    pub settings: SettingsFile,
    /// The database.
    pub store: Store,
    /// The network targets.
    pub targets: Targets,
    /// Failures of background jobs.
    pub failures: Failures,
    /// The files of the workspace.
    pub files: Files,
    /// The journal of calls.
    pub journal: SqliteJournal,
    /// The store of spilled outputs.
    pub outputs: DirectorySpillStore,
    /// The pending calls.
    pub deferred: Deferred,
    /// The connection to workers with more tools.
    pub nats: Option<NatsConnection>,
}

/// The tools of the console and of workers, registered while the extension `ai_chat` is enabled.
///
/// The manifest of all of the console's tools, the built-in ones included, is then written to the data directory, and the
/// dispatcher loads it. Users and other programs can read the file.
#[derive(Clone, Debug)]
pub struct Tools {
    dispatcher: Dispatcher,
    /// The tools that the console offers by itself.
    own: Arc<Manifest>,
    /// The path of the manifest.
    path: PathBuf,
    nats: Option<NatsConnection>,
    /// The registered tools, if they are enabled.
    offered: Arc<Mutex<Option<RegisteredTools>>>,
}

#[derive(Debug)]
struct RegisteredTools {
    /// Keeps the tools of workers registered.
    remote: Option<RemoteTools>,
}

impl Tools {
    /// Binds every tool. None is registered before [`apply`](Self::apply).
    ///
    /// # Errors
    /// If a value that a tool needs is missing.
    pub fn new(parts: ToolParts, path: PathBuf) -> Result<Self, BuildError> {
        let ToolParts { machine, settings, store, targets, failures, files, journal, outputs, deferred, nats } = parts;
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
        let own = Arc::new(dispatcher.manifest());
        dispatcher.registry().clear();
        Ok(Self { dispatcher, own, path, nats, offered: Arc::default() })
    }

    /// Returns the dispatcher.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Registers or removes the tools according to the settings. Not cancel safe.
    ///
    /// # Errors
    /// If the manifest cannot be written or loaded, or the workers do not respond. Then no tools are registered.
    pub async fn apply(&self, settings: &Settings) -> Result<(), ToolsError> {
        let mut offered = self.offered.lock().await;
        match (settings.has(Extension::AiChat), offered.take()) {
            (true, None) => *offered = Some(self.mount().await?),
            (false, Some(old)) => self.unmount(old).await,
            (_, same) => *offered = same,
        }
        Ok(())
    }

    /// Applies the settings now and after each change, until the future or the settings are dropped.
    pub async fn follow(self, settings: SettingsFile) {
        let mut settings = settings.follow();
        loop {
            let now = settings.borrow_and_update().clone();
            if let Err(error) = attempt(self.apply(&now)).await {
                tracing::error!("failed to apply the settings to the tools: {error}");
            }
            if settings.changed().await.is_err() {
                return;
            }
        }
    }

    /// Registers the console's own tools first, which take precedence over workers' tools with the same name.
    async fn mount(&self) -> Result<RegisteredTools, ToolsError> {
        self.own.save(&self.path)?;
        self.dispatcher.reload(Manifest::load(&self.path))?;
        let Some(connection) = &self.nats else { return Ok(RegisteredTools { remote: None }) };
        match tool_nats::discover(connection.clone(), self.dispatcher.registry()).await {
            Ok(remote) => Ok(RegisteredTools { remote: Some(remote) }),
            Err(error) => {
                self.unmount(RegisteredTools { remote: None }).await;
                Err(error.into())
            }
        }
    }

    async fn unmount(&self, offered: RegisteredTools) {
        // Remove the tools first, so that no call starts while the workers disconnect.
        self.dispatcher.registry().clear();
        if let Some(remote) = offered.remote {
            remote.leave().await;
        }
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!("failed to remove {}: {error}", path.display());
    }
}

/// Error of registering the tools.
#[derive(Debug)]
pub enum ToolsError {
    /// The manifest cannot be written.
    Manifest(ManifestError),
    /// The manifest does not match the program.
    Build(BuildError),
    /// The workers' tools cannot be listed.
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
