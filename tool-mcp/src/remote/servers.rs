//! The remote servers of an application.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::builder::RemoteServersBuilder;
use super::server::{ServerHandle, ServersShared};
use super::server_config::ServerConfig;
use super::sources::ConfigSources;
use super::status::ServerStatus;
use crate::pins::ApproveError;

/// Remote MCP servers whose tools are registered with an application.
///
/// While this value lives, the servers are kept connected and their tools up to date. It is cheap to clone; dropping the
/// last clone closes the servers and removes their tools.
///
/// ```no_run
/// use tool_mcp::{RemoteServers, ServerConfig};
/// use tool_runtime::confirm::Terminal;
/// use tool_runtime::{Dispatcher, ToolCall};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().confirm(Terminal::default()).build()?;
/// let servers = RemoteServers::builder()
///     .server(ServerConfig::command("files", "mcp-server-filesystem").arg("/srv/files").trust_read_only_hints())
///     .config_file("mcp.json")?
///     .pins("mcp.lock")?
///     .connect(&tools.registry())
///     .await?;
///
/// let call = ToolCall::from_text("mcp_files_read_text_file", r#"{"path": "/srv/files/notes.md"}"#);
/// println!("{}", tools.call(call).await.output);
///
/// for server in servers.status() {
///     println!("{}: {:?}, {} tools", server.name, server.state, server.tools.len());
/// }
/// servers.close().await;
/// # Ok(())
/// # }
/// ```
///
/// A tool is registered as `mcp_{server}_{tool}` and behaves like a local tool: arguments are validated and repaired
/// before they are sent, and policy, journal, limits and cancellation apply. It is `sensitive` unless its server is
/// trusted. The tools of an unavailable server stay registered, and their calls report it. A call is sent only if the
/// server still lists the tool as it was when the call was checked. A result that violates the tool's output schema
/// becomes a failure that includes the violations and the result, because the tool has run.
///
/// A server that cannot be reached, or whose tools cannot be registered, is reported in its [status](Self::status) and
/// does not delay the others.
#[derive(Clone)]
pub struct RemoteServers {
    inner: Arc<ServersInner>,
}

struct ServersInner {
    shared: ServersShared,
    sources: tokio::sync::Mutex<ConfigSources>,
    running: std::sync::Mutex<RunningServers>,
}

#[derive(Default)]
struct RunningServers {
    servers: BTreeMap<String, ServerHandle>,
    /// Problems that belong to no server.
    problems: Vec<String>,
}

/// The changes of a [reload](RemoteServers::reload), by server name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReloadReport {
    /// New servers.
    pub started: Vec<String>,
    /// Servers whose configuration has changed.
    pub restarted: Vec<String>,
    /// Removed servers.
    pub stopped: Vec<String>,
    /// The problems of the files, the directories and all servers.
    pub problems: Vec<String>,
}

/// The error of [`RemoteServersBuilder::connect`]: the list of all problems.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectError {
    problems: Vec<String>,
}

impl ConnectError {
    pub(super) fn new(problems: Vec<String>) -> Self {
        Self { problems }
    }

    /// Returns the problems.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        write!(f, "cannot connect the servers, {count} problem{}:", if count == 1 { "" } else { "s" })?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
    }
}

/// Same as [`Display`](fmt::Display), because `main` prints errors with `Debug`.
impl fmt::Debug for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConnectError {}

impl RemoteServers {
    /// Returns a builder.
    pub fn builder() -> RemoteServersBuilder {
        RemoteServersBuilder::default()
    }

    pub(super) fn new(shared: ServersShared, sources: ConfigSources) -> Self {
        let (sources, running) = (tokio::sync::Mutex::new(sources), std::sync::Mutex::default());
        Self { inner: Arc::new(ServersInner { shared, sources, running }) }
    }

    fn running(&self) -> std::sync::MutexGuard<'_, RunningServers> {
        self.inner.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the status of each server, sorted by name.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        self.running().servers.values().map(ServerHandle::status).collect()
    }

    /// Returns all current problems, each with its server.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.running().problems.clone();
        for server in self.status() {
            problems.extend(server.problems.iter().map(|problem| format!("the server `{}`: {problem}", server.name)));
        }
        problems
    }

    /// Approves a held tool, by its local name, and pins it. The [fingerprint](crate::ToolStatus::fingerprint) identifies
    /// the definition that the user has seen.
    ///
    /// ```no_run
    /// # fn look(servers: &tool_mcp::RemoteServers) -> Result<(), tool_mcp::ApproveError> {
    /// for tool in servers.status().iter().flat_map(|server| &server.tools) {
    ///     if let Some(held) = &tool.held {
    ///         println!("{} is held: {held}", tool.name);
    ///         // After a user has approved the definition:
    ///         servers.approve(&tool.name, &tool.fingerprint)?;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no such tool, if it has changed, or if the lock file cannot be written.
    pub fn approve(&self, tool: &str, fingerprint: &str) -> Result<(), ApproveError> {
        for server in self.running().servers.values() {
            match server.approve(tool, fingerprint) {
                Err(ApproveError::Unknown) => {}
                approved => return approved,
            }
        }
        Err(ApproveError::Unknown)
    }

    /// Reads the files and directories again. Starts new servers, closes removed ones and restarts those whose
    /// configuration has changed. The others list their tools again, or retry their connection at once.
    ///
    /// The reload completes even if the returned future is dropped.
    pub async fn reload(&self) -> ReloadReport {
        let servers = self.clone();
        let reloading = async move {
            let mut sources = servers.inner.sources.lock().await;
            let gathered = sources.gather();
            let mut problems = gathered.problems;
            problems.extend(gathered.contradictions);
            servers.apply(gathered.servers, problems).await
        };
        // In its own task: dropped halfway, it would leave closed servers without their replacements.
        tokio::spawn(reloading).await.unwrap_or_default()
    }

    /// Closes all servers, removes their tools, and waits until that is done.
    pub async fn close(&self) {
        let _reloading = self.inner.sources.lock().await;
        let servers = std::mem::take(&mut self.running().servers);
        close_all(servers.into_values()).await;
    }

    /// Starts and closes servers to match the configuration.
    pub(super) async fn apply(
        &self,
        mut wanted: BTreeMap<String, ServerConfig>,
        problems: Vec<String>,
    ) -> ReloadReport {
        let mut report = ReloadReport::default();
        let (mut ended, mut kept) = (Vec::new(), Vec::new());
        {
            let mut running = self.running();
            running.problems = problems;
            for (name, server) in std::mem::take(&mut running.servers) {
                match wanted.get(&name) {
                    Some(config) if *config == *server.config => {
                        wanted.remove(&name);
                        // Concurrently, so that a server that does not respond cannot delay the others.
                        kept.push(tokio::spawn(server.refresh()));
                        running.servers.insert(name, server);
                    }
                    Some(_) => {
                        report.restarted.push(name);
                        ended.push(server);
                    }
                    None => {
                        report.stopped.push(name);
                        ended.push(server);
                    }
                }
            }
        }
        // Closing first releases the tool names.
        close_all(ended).await;
        let mut tried = Vec::new();
        {
            let mut running = self.running();
            for (name, config) in wanted {
                let (server, first) = ServerHandle::start(config, &self.inner.shared);
                if !report.restarted.contains(&name) {
                    report.started.push(name.clone());
                }
                running.servers.insert(name, server);
                tried.push(first);
            }
        }
        for first in tried {
            drop(first.await);
        }
        for refreshed in kept {
            drop(refreshed.await);
        }
        report.problems = self.problems();
        report
    }
}

async fn close_all(servers: impl IntoIterator<Item = ServerHandle>) {
    let closing: Vec<_> = servers.into_iter().map(|server| tokio::spawn(server.close())).collect();
    for closed in closing {
        drop(closed.await);
    }
}

impl fmt::Debug for RemoteServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteServers").field("status", &self.status()).finish_non_exhaustive()
    }
}
