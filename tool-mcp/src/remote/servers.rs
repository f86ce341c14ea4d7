//! The servers of an application.

#![expect(deprecated, reason = "sampling and roots are deprecated, and still asked for")]

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{CreateMessageResult, ElicitResult, Root};
use tool_runtime::Registry;

use super::config::ServerConfig;
use super::file::{self, ConfigError};
use super::plugins;
use super::requests::{Elicitation, Handlers, Sampling};
use super::server::{Server, Shared};
use super::status::ServerStatus;
use super::tool::plain;
use crate::pins::{PinError, Pins};

/// The servers of an application, whose tools are in its registry: as long as this lives, they are connected, listened to
/// and connected again. Cheap to clone; when the last clone is dropped, the servers are ended and their tools gone.
///
/// ```no_run
/// use tool_mcp::{ServerConfig, Servers};
/// use tool_runtime::{Dispatcher, Terminal, ToolCall};
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
/// unless its server is trusted. A tool whose server is away stays, and says so when it is called.
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

/// Where servers come from.
#[derive(Default)]
struct Sources {
    code: Vec<ServerConfig>,
    /// Files, with what they said when they last made sense.
    files: Vec<(PathBuf, Vec<ServerConfig>)>,
    folders: Vec<PathBuf>,
    adjustments: Vec<(String, Adjust)>,
}

type Adjust = Box<dyn Fn(ServerConfig) -> ServerConfig + Send + Sync>;

/// What is to be connected. See [`Servers`].
#[derive(Default)]
#[must_use = "servers are connected by `connect`"]
pub struct ServersBuilder {
    sources: Sources,
    handlers: Handlers,
    pins: Option<Pins>,
    strict: bool,
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

impl ServersBuilder {
    /// One more server.
    pub fn server(mut self, config: ServerConfig) -> Self {
        self.sources.code.push(config);
        self
    }

    /// The servers of a file, `{"mcpServers": {"name": {"command": "..", "args": [], "env": {}}}}` or with `url` and
    /// `headers`, as other clients have it. `${NAME}` and `${NAME:-default}` stand for variables of the environment, and
    /// `"disabled": true` leaves a server out.
    ///
    /// # Errors
    /// When the file cannot be read or is not understood; the error has the file and the key.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let path = path.into();
        let servers = file::read(&path)?;
        self.sources.files.push((path, servers));
        Ok(self)
    }

    /// The servers of a folder: each program in it, by its name without the extension, and those of each file that ends
    /// in `.json` and is as [`config_file`](Self::config_file) takes it. One that makes no sense is a problem, and skipped.
    pub fn plugins(mut self, folder: impl Into<PathBuf>) -> Self {
        self.sources.folders.push(folder.into());
        self
    }

    /// As [`plugins`](Self::plugins), with the folder that `TOOL_PLUGINS_DIR` names, if it names one.
    pub fn plugins_from_env(self) -> Self {
        match std::env::var_os(plugins::VARIABLE).filter(|folder| !folder.is_empty()) {
            Some(folder) => self.plugins(folder),
            None => self,
        }
    }

    /// Says more of a server that a file or a folder names, such as that it is trusted.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), tool_mcp::ConfigError> {
    /// let servers = tool_mcp::Servers::builder()
    ///     .config_file("mcp.json")?
    ///     .configure("files", |files| files.trust_read_only_hints());
    /// # Ok(())
    /// # }
    /// ```
    pub fn configure(
        mut self,
        server: impl Into<String>,
        adjust: impl Fn(ServerConfig) -> ServerConfig + Send + Sync + 'static,
    ) -> Self {
        self.sources.adjustments.push((server.into(), Box::new(adjust)));
        self
    }

    /// Pins the tools in a lock file. What a server says of its tools when it is first connected is written there; a tool
    /// that is described otherwise later, or is new, is not offered until it is [approved](Servers::approve).
    ///
    /// # Errors
    /// When there is a file and it cannot be read.
    pub fn pins(mut self, lock_file: impl Into<PathBuf>) -> Result<Self, PinError> {
        self.pins = Some(Pins::open(&lock_file.into())?);
        Ok(self)
    }

    /// Answers servers that have a question for a person. Without this they are told that nobody can be asked.
    pub fn on_elicitation<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(Elicitation) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ElicitResult> + Send + 'static,
    {
        self.handlers.elicitation = Some(Arc::new(move |request| Box::pin(handler(request))));
        self
    }

    /// Answers servers that want a text from a language model. Without this they are refused.
    pub fn on_sampling<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(Sampling) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, String>> + Send + 'static,
    {
        self.handlers.sampling = Some(Arc::new(move |request| Box::pin(handler(request))));
        self
    }

    /// The folders, as `file://` URLs, that servers are told to work in.
    pub fn roots<T: Into<String>>(mut self, roots: impl IntoIterator<Item = T>) -> Self {
        self.handlers.roots.extend(roots.into_iter().map(Root::new));
        self
    }

    /// Makes every problem an error of [`connect`](Self::connect), a server that cannot be reached included.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Connects to all servers, side by side, and puts their tools into the registry. It comes back when each was tried
    /// once; one that failed is tried again from then on.
    ///
    /// # Errors
    /// When the configuration contradicts itself; and with [`strict`](Self::strict), when anything else is wrong.
    pub async fn connect(self, registry: &Registry) -> Result<Servers, ConnectError> {
        let Self { mut sources, handlers, pins, strict } = self;
        let shared = Shared {
            registry: registry.clone(),
            names: Arc::default(),
            pins: pins.map(Arc::new),
            handlers: Arc::new(handlers),
        };
        let gathered = sources.gather();
        let mut wrong = gathered.contradictions;
        wrong.extend(sources.adjusted_in_vain(&gathered.servers));
        if !wrong.is_empty() {
            return Err(ConnectError { problems: wrong });
        }
        let (state, running) = (tokio::sync::Mutex::new(sources), std::sync::Mutex::default());
        let servers = Servers { inner: Arc::new(Inner { shared, state, running }) };
        servers.bring_to(gathered.servers, gathered.problems).await;
        let problems = servers.problems();
        if strict && !problems.is_empty() {
            servers.close().await;
            return Err(ConnectError { problems });
        }
        Ok(servers)
    }
}

/// What all sources say together.
struct Gathered {
    servers: BTreeMap<String, ServerConfig>,
    /// What the application itself has wrong.
    contradictions: Vec<String>,
    /// What is wrong with what was found, and was skipped.
    problems: Vec<String>,
}

impl Sources {
    fn gather(&mut self) -> Gathered {
        let mut gathered = Gathered { servers: BTreeMap::new(), contradictions: Vec::new(), problems: Vec::new() };
        let mut origins = BTreeMap::<String, (String, String)>::new();
        let mut take = |config: ServerConfig, origin: &str, wrong: &mut Vec<String>| {
            if config.name.is_empty() {
                return wrong.push(format!("a server of {origin} has no name"));
            }
            // `a.b` and `a_b` would give their tools the same names.
            match origins.get(&plain(&config.name)) {
                Some((name, other)) => {
                    wrong.push(format!(
                        "two servers are called `{name}` and `{}`: one of {other}, one of {origin}",
                        config.name
                    ));
                }
                None => {
                    origins.insert(plain(&config.name), (config.name.clone(), origin.to_owned()));
                    gathered.servers.insert(config.name.clone(), config);
                }
            }
        };
        for config in &self.code {
            take(config.clone(), "the application", &mut gathered.contradictions);
        }
        for (path, known) in &mut self.files {
            match file::read(path) {
                Ok(servers) => *known = servers,
                Err(error) => gathered.problems.push(format!("{error}; its servers stay as they were")),
            }
            let origin = path.display().to_string();
            known.iter().for_each(|config| take(config.clone(), &origin, &mut gathered.contradictions));
        }
        for folder in &self.folders {
            let (servers, problems) = plugins::scan(folder);
            gathered.problems.extend(problems);
            let origin = format!("the plugins in {}", folder.display());
            servers.into_iter().for_each(|config| take(config, &origin, &mut gathered.problems));
        }
        for (name, adjust) in &self.adjustments {
            if let Some(config) = gathered.servers.get_mut(name) {
                *config = adjust(config.clone());
                config.name.clone_from(name);
            }
        }
        gathered
    }

    fn adjusted_in_vain(&self, servers: &BTreeMap<String, ServerConfig>) -> Vec<String> {
        // A plugin may come later.
        let unknown =
            self.adjustments.iter().filter(|(name, _)| self.folders.is_empty() && !servers.contains_key(name));
        unknown.map(|(name, _)| format!("`configure` names the server `{name}`, and there is none")).collect()
    }
}

impl Servers {
    /// Says what is to be connected.
    pub fn builder() -> ServersBuilder {
        ServersBuilder::default()
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

    /// Offers a tool that was held back, by its name here, and pins it as it is now. Whether there is such a tool.
    ///
    /// # Errors
    /// When the lock file cannot be written.
    pub fn approve(&self, tool: &str) -> Result<bool, PinError> {
        for server in self.running().servers.values() {
            if server.approve(tool)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the files and folders again: starts what has come, ends what has gone, starts again what is configured
    /// otherwise. The others list their tools again, and those that are away are tried now.
    pub async fn reload(&self) -> Reloaded {
        let mut sources = self.inner.state.lock().await;
        let gathered = sources.gather();
        let mut problems = gathered.problems;
        problems.extend(gathered.contradictions);
        self.bring_to(gathered.servers, problems).await
    }

    /// Ends all servers and takes their tools out; waits until that is done.
    pub async fn close(&self) {
        let _reloading = self.inner.state.lock().await;
        let servers = std::mem::take(&mut self.running().servers);
        close_all(servers.into_values()).await;
    }

    /// Starts and ends servers until they are as wanted.
    async fn bring_to(&self, mut wanted: BTreeMap<String, ServerConfig>, problems: Vec<String>) -> Reloaded {
        let mut changed = Reloaded::default();
        let (mut ended, mut kept) = (Vec::new(), Vec::new());
        {
            let mut running = self.running();
            running.problems = problems;
            for (name, server) in std::mem::take(&mut running.servers) {
                match wanted.get(&name) {
                    Some(config) if *config == *server.config => {
                        wanted.remove(&name);
                        kept.push(server.refresh());
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
            refreshed.await;
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

impl fmt::Debug for ServersBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServersBuilder").field("code", &self.sources.code).finish_non_exhaustive()
    }
}
