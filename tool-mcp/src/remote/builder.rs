//! What is to be connected.

#![expect(deprecated, reason = "sampling and roots are deprecated, and still asked for")]

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{CreateMessageResult, ElicitResult, Root};
use tool_runtime::Registry;

use super::config::ServerConfig;
use super::file::{self, ConfigError};
use super::plugins;
use super::requests::{Elicitation, Handlers, Sampling};
use super::server::Shared;
use super::servers::{ConnectError, Servers};
use super::sources::Sources;
use crate::pins::{PinError, Pins};

/// What is to be connected. See [`Servers`].
#[derive(Default)]
#[must_use = "servers are connected by `connect`"]
pub struct ServersBuilder {
    sources: Sources,
    handlers: Handlers,
    pins: Option<Pins>,
    strict: bool,
}

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
    /// With the feature `auth`, `"oauth": {}` beside a `url` has somebody log in with a browser when the server asks for
    /// it: the address to open is written to the standard error, or given to `on_login`. `clientId`, `clientSecret` (as
    /// `${NAME}` only), `issuer`, `scopes` and `callbackPort` say more, where the server wants to know it; see
    /// `OAuth::issuer` and `OAuth::in_browser_at`. For another way to log in there is [`configure`](Self::configure).
    /// Without the feature, `"oauth"` is a [problem](Servers::problems) of its server.
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
    /// in `.json` and is as [`config_file`](Self::config_file) takes it. One that makes no sense is a problem, and skipped;
    /// so is a folder that is not there, until it is.
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

    /// Says more of a server that a file or a folder names, such as that it is trusted. The function runs at every
    /// [reload](Servers::reload): what has a state, as an `OAuth` does, is made before it and cloned in it.
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

    /// Shows people where they log in to the servers of files and folders that say `"oauth"`: the function is given the
    /// server's name and the address to open in a browser of this machine. Without this, both are written to the
    /// standard error.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), tool_mcp::ConfigError> {
    /// # fn notify(text: String) {}
    /// let servers = tool_mcp::Servers::builder()
    ///     .config_file("mcp.json")?
    ///     .on_login(|server, url| notify(format!("{server} wants you to log in: {url}")));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The address names a server that nobody has checked: show it as it is, and let somebody open it who wants to. It
    /// is good for one login, and for as long as [patience](crate::OAuth::patience) lasts. A server that the application
    /// names itself has a function of its own; see [`OAuth::in_browser`](crate::OAuth::in_browser).
    #[cfg(feature = "auth")]
    pub fn on_login(mut self, show: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.sources.show_login = Some(Arc::new(show));
        self
    }

    /// Pins the tools in a lock file. What a server says of its tools when it is first connected is written there; a tool
    /// that is described otherwise later, or is new, is not offered until it is [approved](Servers::approve).
    /// Several applications may share the file; what is approved in one is known to the others when they list next.
    ///
    /// # Errors
    /// When there is a file and it cannot be read.
    pub fn pins(mut self, lock_file: impl Into<PathBuf>) -> Result<Self, PinError> {
        self.pins = Some(Pins::open(&lock_file.into())?);
        Ok(self)
    }

    /// Answers servers that have a question for a person. Without this they are told that nobody can be asked, and refuse
    /// what needs consent.
    ///
    /// ```
    /// use tool_mcp::rmcp::model::{ElicitResult, ElicitationAction};
    ///
    /// # async fn agreed(server: &str, request: &impl std::fmt::Debug) -> bool { true }
    /// let servers = tool_mcp::Servers::builder().on_elicitation(|question| async move {
    ///     match agreed(&question.server, &question.request).await {
    ///         true => ElicitResult::new(ElicitationAction::Accept),
    ///         false => ElicitResult::new(ElicitationAction::Decline),
    ///     }
    /// });
    /// # drop(servers);
    /// ```
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
            return Err(ConnectError::new(wrong));
        }
        let servers = Servers::new(shared, sources);
        servers.bring_to(gathered.servers, gathered.problems).await;
        let problems = servers.problems();
        if strict && !problems.is_empty() {
            servers.close().await;
            return Err(ConnectError::new(problems));
        }
        Ok(servers)
    }
}

impl fmt::Debug for ServersBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServersBuilder").field("code", &self.sources.code).finish_non_exhaustive()
    }
}
