//! The dispatcher of the console and its injected values.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;
use tool_journal::SqliteJournal;
use tool_mcp::{PluginArguments, RemoteServers};
use tool_nats::{NatsConnection, RemoteTools};
use tool_runtime::confirm::{Deferred, PolicyArguments};
use tool_runtime::inject::InjectError;
use tool_runtime::manifest::ManifestError;
use tool_runtime::output::{DirectorySpillStore, Spill};
use tool_runtime::{BuildError, Dispatcher, Manifest, RegistryChanges};

use crate::background::{Failures, attempt};
use crate::built_ins::BuiltIns;
use crate::internet::Targets;
use crate::machine::Machine;
use crate::plugins::{self, PluginError};
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
    /// The built-in tools.
    pub built_ins: BuiltIns,
    /// The calls that need approval.
    pub policy: PolicyArguments,
    /// The MCP servers with more tools.
    pub plugins: PluginArguments,
    /// The journal of calls.
    pub journal: SqliteJournal,
    /// The store of spilled outputs.
    pub outputs: DirectorySpillStore,
    /// The pending calls.
    pub deferred: Deferred,
    /// The connection to workers with more tools.
    pub nats: Option<NatsConnection>,
}

/// The tools of the console, of workers and of MCP servers, registered while the extension `ai_chat` is enabled.
///
/// The manifest of all of the console's tools, the built-in ones included, is then written to the data directory, and the
/// dispatcher loads it. Users and other programs can read the file.
#[derive(Clone, Debug)]
pub struct Tools {
    dispatcher: Dispatcher,
    /// The tools of the console itself.
    own: Arc<Manifest>,
    /// The built-in tools that cannot succeed.
    unusable: Vec<&'static str>,
    /// The path of the manifest.
    path: PathBuf,
    policy: PolicyArguments,
    plugins: PluginArguments,
    nats: Option<NatsConnection>,
    /// The registered tools, if they are enabled.
    offered: Arc<Mutex<Option<RegisteredTools>>>,
}

#[derive(Debug)]
struct RegisteredTools {
    /// Keeps the tools of workers registered.
    remote: Option<RemoteTools>,
    /// Keeps the tools of MCP servers registered. `None` if the command line names none.
    servers: Result<Option<RemoteServers>, Arc<PluginError>>,
}

impl Tools {
    /// Binds every tool. None is registered before [`apply`](Self::apply).
    ///
    /// # Errors
    /// If a value that a tool needs is missing.
    pub fn new(parts: ToolParts, path: PathBuf) -> Result<Self, BuildError> {
        let ToolParts { machine, settings, store, targets, failures, journal, outputs, deferred, nats, .. } = parts;
        let ToolParts { built_ins, policy, plugins, .. } = parts;
        let (ping_host, unusable) = (targets.clone(), built_ins.unusable());
        let builder = Dispatcher::builder().manifest(tool_runtime::manifest!());
        let dispatcher = policy
            .apply(built_ins.register(builder))
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
        let tools = Self { dispatcher, own, unusable, path, policy, plugins, nats, offered: Arc::default() };
        tools.clear()?;
        Ok(tools)
    }

    /// Returns the dispatcher.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Returns the calls that need approval.
    #[must_use]
    pub fn policy(&self) -> &PolicyArguments {
        &self.policy
    }

    /// Returns `true` if a built-in tool cannot succeed with the environment of the console.
    #[must_use]
    pub fn is_unusable(&self, tool: &str) -> bool {
        self.unusable.contains(&tool) || self.own.get(tool).is_none()
    }

    /// Returns the MCP servers, if the command line names any and the tools are registered.
    ///
    /// # Errors
    /// If their configuration is invalid. The other tools are registered nevertheless.
    pub async fn servers(&self) -> Result<Option<RemoteServers>, Arc<PluginError>> {
        match &*self.offered.lock().await {
            Some(offered) => offered.servers.clone(),
            None => Ok(None),
        }
    }

    /// Reads the configuration of the MCP servers again. Not cancel safe.
    pub async fn reload_servers(&self) {
        match self.servers().await {
            Ok(Some(servers)) => {
                servers.reload().await;
            }
            Ok(None) => {}
            Err(_) => {
                let mut offered = self.offered.lock().await;
                if let Some(offered) = offered.as_mut().filter(|offered| offered.servers.is_err()) {
                    offered.servers = self.connect_servers().await;
                }
            }
        }
    }

    /// Registers or removes the tools according to the settings. Not cancel safe.
    ///
    /// # Errors
    /// If the manifest cannot be written or loaded, or the workers do not respond. Then no tools are registered.
    pub async fn apply(&self, settings: &Settings) -> Result<(), ToolsError> {
        let mut offered = self.offered.lock().await;
        match (settings.has(Extension::AiChat), offered.take()) {
            (true, None) => *offered = Some(self.mount(settings).await?),
            (true, Some(same)) => {
                *offered = Some(same);
                self.offer_built_ins(settings)?;
            }
            (false, Some(old)) => self.unmount(old).await?,
            (false, None) => {}
        }
        Ok(())
    }

    /// Closes the MCP servers.
    pub async fn close(&self) {
        if let Ok(Some(servers)) = self.servers().await {
            servers.close().await;
        }
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
    async fn mount(&self, settings: &Settings) -> Result<RegisteredTools, ToolsError> {
        self.own.save(&self.path)?;
        self.dispatcher.reload(Manifest::load(&self.path))?;
        let mut offered = RegisteredTools { remote: None, servers: Ok(None) };
        match self.connect(settings, &mut offered).await {
            Ok(()) => Ok(offered),
            Err(error) => {
                self.unmount(offered).await?;
                Err(error)
            }
        }
    }

    async fn connect(&self, settings: &Settings, offered: &mut RegisteredTools) -> Result<(), ToolsError> {
        self.offer_built_ins(settings)?;
        let registry = self.dispatcher.registry();
        if let Some(connection) = &self.nats {
            offered.remote = Some(tool_nats::discover(connection.clone(), registry.clone()).await?);
        }
        offered.servers = self.connect_servers().await;
        Ok(())
    }

    async fn connect_servers(&self) -> Result<Option<RemoteServers>, Arc<PluginError>> {
        let servers = plugins::connect(&self.plugins, &self.dispatcher.registry()).await;
        servers.map_err(|error| {
            tracing::warn!(%error, "no MCP server is connected");
            Arc::new(error)
        })
    }

    /// Enables the built-in tools of enabled extensions and disables the others, and writes the manifest accordingly.
    fn offer_built_ins(&self, settings: &Settings) -> Result<(), ToolsError> {
        let (mut changes, mut own) = (RegistryChanges::new(), (*self.own).clone());
        for (extension, tool) in self.switched() {
            let is_offered = settings.has(extension) && !self.is_unusable(tool);
            changes = if is_offered { changes.enable(tool) } else { changes.disable(tool) };
            if !is_offered {
                own.remove(tool);
            }
        }
        self.dispatcher.registry().apply(changes)?;
        own.save(&self.path)?;
        Ok(())
    }

    /// Returns the built-in tools that are offered only with an extension.
    fn switched(&self) -> impl Iterator<Item = (Extension, &'static str)> {
        let tools = Extension::ALL
            .into_iter()
            .flat_map(|extension| extension.tools().iter().map(move |tool| (extension, *tool)));
        // Commands exist on Linux only.
        tools.filter(|(_, tool)| self.own.get(tool).is_some())
    }

    /// Removes the tools. Those of an extension stay disabled, so that loading a manifest does not offer them.
    fn clear(&self) -> Result<(), BuildError> {
        let registry = self.dispatcher.registry();
        let is_switched = |name: &str| self.switched().any(|(_, tool)| tool == name);
        let mut changes = self.switched().fold(RegistryChanges::new(), |changes, (_, tool)| changes.disable(tool));
        for name in registry.names().iter().filter(|name| !is_switched(name)) {
            changes = changes.remove(&**name);
        }
        registry.apply(changes)
    }

    async fn unmount(&self, offered: RegisteredTools) -> Result<(), ToolsError> {
        // Remove the tools first, so that no call starts while the workers and servers disconnect.
        self.clear()?;
        if let Some(remote) = offered.remote {
            remote.leave().await;
        }
        if let Ok(Some(servers)) = offered.servers {
            servers.close().await;
        }
        remove(&self.path);
        Ok(())
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
