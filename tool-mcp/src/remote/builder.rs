//! Builder of the remote servers.

#![expect(deprecated, reason = "sampling and roots are deprecated in MCP, but servers still use them")]

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{CreateMessageResult, ElicitResult, Root};
use tool_runtime::Registry;

use super::config_file::{self, ConfigFileError};
use super::plugins;
use super::requests::{ElicitationRequest, RequestHandlers, SamplingRequest};
use super::server::ServersShared;
use super::server_config::ServerConfig;
use super::servers::{ConnectError, RemoteServers};
use super::sources::ConfigSources;
use crate::pins::{PinError, Pins};

/// Builder of [`RemoteServers`].
#[derive(Default)]
#[must_use = "call `connect` to connect the servers"]
pub struct RemoteServersBuilder {
    sources: ConfigSources,
    handlers: RequestHandlers,
    pins: Option<Pins>,
    strict: bool,
}

impl RemoteServersBuilder {
    /// Adds a server.
    pub fn server(mut self, config: ServerConfig) -> Self {
        self.sources.code.push(config);
        self
    }

    /// Adds the servers of a configuration file in the format that MCP clients share:
    /// `{"mcpServers": {"name": {"command": "..", "args": [], "env": {}}}}`, or `url` and `headers` instead of `command`.
    /// `${NAME}` and `${NAME:-default}` are replaced by environment variables. `"disabled": true` skips a server.
    ///
    /// With the feature `auth`, `"oauth": {}` beside a `url` lets a user log in with a browser when the server requires
    /// it. The login URL is written to the standard error, or passed to `on_login`. Optional keys are `clientId`,
    /// `clientSecret` (as `${NAME}` only), `issuer`, `scopes` and `callbackPort`; see `OAuth::issuer` and
    /// `OAuth::in_browser_at`. For other kinds of login use [`configure`](Self::configure). Without the feature, `"oauth"`
    /// is a [problem](RemoteServers::problems) of its server.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is invalid. The error names the file and the key.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Result<Self, ConfigFileError> {
        let path = path.into();
        let servers = config_file::read(&path)?;
        self.sources.files.push((path, servers));
        Ok(self)
    }

    /// Adds the servers of a directory: each executable, named without its extension, and those of each `.json` file in
    /// the format of [`config_file`](Self::config_file). An invalid file is skipped and reported as a problem; so is a
    /// missing directory, until it exists.
    pub fn plugins(mut self, directory: impl Into<PathBuf>) -> Self {
        self.sources.directories.push(directory.into());
        self
    }

    /// Same as [`plugins`](Self::plugins), with the directory in `TOOL_PLUGINS_DIR`, if it is set.
    pub fn plugins_from_env(self) -> Self {
        match plugins::from_env() {
            Some(directory) => self.plugins(directory),
            None => self,
        }
    }

    /// Adjusts the configuration of a server from a file or directory, for example to trust it. The function runs at every
    /// [reload](RemoteServers::reload), so create stateful values, such as an `OAuth`, outside and clone them inside.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), tool_mcp::ConfigFileError> {
    /// let servers = tool_mcp::RemoteServers::builder()
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

    /// Sets how users learn where to log in to servers from files and directories with `"oauth"`. The function receives the
    /// server's name and the URL to open in a browser on this machine. By default both are written to the standard error.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), tool_mcp::ConfigFileError> {
    /// # fn notify(text: String) {}
    /// let servers = tool_mcp::RemoteServers::builder()
    ///     .config_file("mcp.json")?
    ///     .on_login(|server, url| notify(format!("Log in to {server}: {url}")));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The URL comes from an unverified server: display it and let the user decide whether to open it. It is valid for one
    /// login, within the [login timeout](crate::OAuth::login_timeout). For servers that the application configures itself,
    /// see [`OAuth::in_browser`](crate::OAuth::in_browser).
    #[cfg(feature = "auth")]
    pub fn on_login(mut self, show: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.sources.show_login = Some(Arc::new(show));
        self
    }

    /// Pins the tools in a lock file. The definitions are written there when a server is first connected. A tool that
    /// changes later, or is new, is held until it is [approved](RemoteServers::approve). Several applications may share
    /// the file; an approval in one applies to the others from their next listing on.
    ///
    /// # Errors
    /// Returns an error if the file exists and cannot be read.
    pub fn pins(mut self, lock_file: impl Into<PathBuf>) -> Result<Self, PinError> {
        self.pins = Some(Pins::open(&lock_file.into())?);
        Ok(self)
    }

    /// Sets the handler of elicitation requests, by which servers ask the user. By default the capability is not declared,
    /// and servers refuse calls that need a user's approval.
    ///
    /// ```
    /// use tool_mcp::rmcp::model::{ElicitResult, ElicitationAction};
    ///
    /// # async fn agrees(server: &str, request: &impl std::fmt::Debug) -> bool { true }
    /// let servers = tool_mcp::RemoteServers::builder().on_elicitation(|elicitation| async move {
    ///     match agrees(&elicitation.server, &elicitation.request).await {
    ///         true => ElicitResult::new(ElicitationAction::Accept),
    ///         false => ElicitResult::new(ElicitationAction::Decline),
    ///     }
    /// });
    /// # drop(servers);
    /// ```
    pub fn on_elicitation<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(ElicitationRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ElicitResult> + Send + 'static,
    {
        self.handlers.elicitation = Some(Arc::new(move |request| Box::pin(handler(request))));
        self
    }

    /// Sets the handler of sampling requests, by which servers use the application's model. By default they are refused.
    pub fn on_sampling<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(SamplingRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, String>> + Send + 'static,
    {
        self.handlers.sampling = Some(Arc::new(move |request| Box::pin(handler(request))));
        self
    }

    /// Sets the roots that servers may request: directories to work in, as `file://` URLs.
    pub fn roots<T: Into<String>>(mut self, roots: impl IntoIterator<Item = T>) -> Self {
        self.handlers.roots.extend(roots.into_iter().map(Root::new));
        self
    }

    /// Makes [`connect`](Self::connect) fail on any problem, including a server that cannot be reached.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Connects to all servers concurrently and registers their tools. Returns after the first attempt of each; failed
    /// connections are retried in the background.
    ///
    /// # Errors
    /// Returns an error if the configuration is contradictory, or, with [`strict`](Self::strict), on any problem.
    pub async fn connect(self, registry: &Registry) -> Result<RemoteServers, ConnectError> {
        let Self { mut sources, handlers, pins, strict } = self;
        let shared = ServersShared {
            registry: registry.clone(),
            names: Arc::default(),
            pins: pins.map(Arc::new),
            handlers: Arc::new(handlers),
        };
        let gathered = sources.gather();
        let mut contradictions = gathered.contradictions;
        contradictions.extend(sources.unused_adjustments(&gathered.servers));
        if !contradictions.is_empty() {
            return Err(ConnectError::new(contradictions));
        }
        let servers = RemoteServers::new(shared, sources);
        servers.apply(gathered.servers, gathered.problems).await;
        let problems = servers.problems();
        if strict && !problems.is_empty() {
            servers.close().await;
            return Err(ConnectError::new(problems));
        }
        Ok(servers)
    }
}

impl fmt::Debug for RemoteServersBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteServersBuilder").field("code", &self.sources.code).finish_non_exhaustive()
    }
}
