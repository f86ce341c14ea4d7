//! The servers of an application.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::builder::ServersBuilder;
use super::config::ServerConfig;
use super::server::{Server, Shared};
use super::sources::Sources;
use super::status::ServerStatus;
use crate::pins::ApproveError;

/// The servers of an application, whose tools are in its registry: as long as this lives, they are connected, listened to
/// and connected again. Cheap to clone; when the last clone is dropped, the servers are ended and their tools gone.
///
/// ```no_run
/// use tool_mcp::{ServerConfig, Servers};
/// use tool_runtime::confirm::Terminal;
/// use tool_runtime::{Dispatcher, ToolCall};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().confirm(Terminal::default()).build()?;
/// let servers = Servers::builder()
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
/// A tool is called `mcp_{server}_{tool}`, and nothing can tell it from one of the application's own: its arguments are
/// checked and mended before they are sent, somebody is asked, the call is recorded, limited, stopped. It is `sensitive`
/// unless its server is trusted. A tool whose server is away stays, and says so when it is called. A call reaches only the
/// tool that it was checked against: if the server lists another one under that name before it is sent, it does not
/// run. An answer that is not what the tool's output schema says is a failure that tells what is wrong, and what was
/// answered: the tool has run.
///
/// A server that cannot be reached, or whose tools cannot be registered, is a problem in its [status](Self::status), and
/// the others are not held up by it.
#[derive(Clone)]
pub struct Servers {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Shared,
    state: tokio::sync::Mutex<Sources>,
    running: std::sync::Mutex<Running>,
}

#[derive(Default)]
struct Running {
    servers: BTreeMap<String, Server>,
    /// What is wrong beside the servers themselves.
    problems: Vec<String>,
}

/// What a [reload](Servers::reload) has changed, by the names of servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// What has come.
    pub started: Vec<String>,
    /// What is configured otherwise than before, and was started again.
    pub restarted: Vec<String>,
    /// What has gone.
    pub stopped: Vec<String>,
    /// What is wrong with the files, the folders and all servers.
    pub problems: Vec<String>,
}

/// Why servers were not connected: everything that is wrong.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectError {
    problems: Vec<String>,
}

impl ConnectError {
    pub(super) fn new(problems: Vec<String>) -> Self {
        Self { problems }
    }

    /// Each problem by itself.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        write!(f, "the servers were not connected, {count} problem{}:", if count == 1 { "" } else { "s" })?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
    }
}

/// As [`Display`](fmt::Display): `main` shows an error it returns by its `Debug`.
impl fmt::Debug for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConnectError {}

impl Servers {
    /// Says what is to be connected.
    pub fn builder() -> ServersBuilder {
        ServersBuilder::default()
    }

    pub(super) fn new(shared: Shared, sources: Sources) -> Self {
        let (state, running) = (tokio::sync::Mutex::new(sources), std::sync::Mutex::default());
        Self { inner: Arc::new(Inner { shared, state, running }) }
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Running> {
        self.inner.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How each server is, sorted by name.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        self.running().servers.values().map(Server::status).collect()
    }

    /// Everything that is wrong at the moment, with the server it concerns.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.running().problems.clone();
        for server in self.status() {
            problems.extend(server.problems.iter().map(|problem| format!("the server `{}`: {problem}", server.name)));
        }
        problems
    }

    /// Offers a tool that was held back, by its name here, and pins it as somebody saw it: the
    /// [fingerprint](crate::ToolStatus::fingerprint) says what that was.
    ///
    /// ```no_run
    /// # fn look(servers: &tool_mcp::Servers) -> Result<(), tool_mcp::ApproveError> {
    /// for tool in servers.status().iter().flat_map(|server| &server.tools) {
    ///     if let Some(held) = &tool.held {
    ///         println!("{} is not offered: {held}", tool.name);
    ///         // Once somebody has agreed to what stands there:
    ///         servers.approve(&tool.name, &tool.fingerprint)?;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such tool, when it is not what was seen, and when the lock file cannot be written.
    pub fn approve(&self, tool: &str, fingerprint: &str) -> Result<(), ApproveError> {
        for server in self.running().servers.values() {
            match server.approve(tool, fingerprint) {
                Err(ApproveError::Unknown) => {}
                approved => return approved,
            }
        }
        Err(ApproveError::Unknown)
    }

    /// Reads the files and folders again: starts what has come, ends what has gone, starts again what is configured
    /// otherwise. The others list their tools again, and those that are away are tried now.
    ///
    /// It goes on to its end if nobody waits for it any more.
    pub async fn reload(&self) -> Reloaded {
        let servers = self.clone();
        let reloading = async move {
            let mut sources = servers.inner.state.lock().await;
            let gathered = sources.gather();
            let mut problems = gathered.problems;
            problems.extend(gathered.contradictions);
            servers.bring_to(gathered.servers, problems).await
        };
        // Between what is ended and what is started there are none.
        tokio::spawn(reloading).await.unwrap_or_default()
    }

    /// Ends all servers and takes their tools out; waits until that is done.
    pub async fn close(&self) {
        let _reloading = self.inner.state.lock().await;
        let servers = std::mem::take(&mut self.running().servers);
        close_all(servers.into_values()).await;
    }

    /// Starts and ends servers until they are as wanted.
    pub(super) async fn bring_to(&self, mut wanted: BTreeMap<String, ServerConfig>, problems: Vec<String>) -> Reloaded {
        let mut changed = Reloaded::default();
        let (mut ended, mut kept) = (Vec::new(), Vec::new());
        {
            let mut running = self.running();
            running.problems = problems;
            for (name, server) in std::mem::take(&mut running.servers) {
                match wanted.get(&name) {
                    Some(config) if *config == *server.config => {
                        wanted.remove(&name);
                        // Side by side: one that does not answer holds up nobody.
                        kept.push(tokio::spawn(server.refresh()));
                        running.servers.insert(name, server);
                    }
                    Some(_) => {
                        changed.restarted.push(name);
                        ended.push(server);
                    }
                    None => {
                        changed.stopped.push(name);
                        ended.push(server);
                    }
                }
            }
        }
        // Names are free again only when those who had them are gone.
        close_all(ended).await;
        let mut tried = Vec::new();
        {
            let mut running = self.running();
            for (name, config) in wanted {
                let (server, first) = Server::start(config, &self.inner.shared);
                if !changed.restarted.contains(&name) {
                    changed.started.push(name.clone());
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
        changed.problems = self.problems();
        changed
    }
}

/// Ends servers side by side.
async fn close_all(servers: impl IntoIterator<Item = Server>) {
    let closing: Vec<_> = servers.into_iter().map(|server| tokio::spawn(server.close())).collect();
    for closed in closing {
        drop(closed.await);
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").field("status", &self.status()).finish_non_exhaustive()
    }
}
