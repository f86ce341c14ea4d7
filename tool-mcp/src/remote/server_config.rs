//! Configuration of a remote server: endpoint, trust and limits.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::endpoint::{CommandEndpoint, Endpoint, HttpEndpoint};

/// Configuration of a remote server: how to reach it, how far to trust it, how much it may send.
///
/// ```no_run
/// use std::time::Duration;
/// use tool_mcp::ServerConfig;
///
/// // A child process, over its standard input and output.
/// let files = ServerConfig::command("files", "mcp-server-filesystem").arg("/srv/files").trust_read_only_hints();
/// // A running server, over HTTP.
/// let wiki = ServerConfig::http("wiki", "https://wiki.example/mcp")
///     .bearer("..")
///     .trust_tool("search")
///     .call_timeout(Duration::from_secs(30));
/// ```
///
/// By default nothing that a server claims about its tools is trusted: every tool is `sensitive`, so calls need approval.
/// [`trust`](Self::trust), [`trust_tool`](Self::trust_tool) and [`trust_read_only_hints`](Self::trust_read_only_hints)
/// change that.
#[derive(Clone, PartialEq)]
#[must_use = "pass it to `RemoteServers::builder().server(..)`"]
pub struct ServerConfig {
    pub(crate) name: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) trust: TrustSettings,
    pub(crate) generation: ProtocolGeneration,
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Option<Duration>,
    pub(crate) limits: ServerLimits,
}

/// The claims of a server that are trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TrustSettings {
    pub all: bool,
    pub tools: BTreeSet<String>,
    pub read_only_hints: bool,
}

/// Limits on what a server may send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ServerLimits {
    /// The longest message, in bytes.
    pub message: usize,
    /// The number of tools.
    pub tools: usize,
    /// The name, description and schemas of one tool together, in bytes.
    pub definition: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self { message: 16 << 20, tools: 1_000, definition: 256 << 10 }
    }
}

/// The generation of the protocol to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolGeneration {
    /// Probes for 2026-07-28 and falls back to 2025-11-25.
    #[default]
    Newest,
    /// 2025-11-25 and earlier, which start with `initialize`.
    Initialize,
    /// 2026-07-28, which starts with `server/discover`.
    Discover,
}

impl ServerConfig {
    fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            name: name.into(),
            endpoint,
            trust: TrustSettings::default(),
            generation: ProtocolGeneration::default(),
            connect_timeout: Duration::from_secs(30),
            call_timeout: None,
            limits: ServerLimits::default(),
        }
    }

    /// Configures a server that is started as a child process, over its standard input and output.
    ///
    /// It inherits only basic environment variables, such as `PATH` and `HOME`; add others with [`env`](Self::env). Its
    /// standard error is logged. When the connection ends, the process and its whole process group are terminated.
    pub fn command(name: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self::new(name, Endpoint::Command(CommandEndpoint { program: program.into(), ..CommandEndpoint::default() }))
    }

    /// Configures a server at a URL, over streamable HTTP.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, Endpoint::Http(HttpEndpoint { url: url.into(), ..HttpEndpoint::default() }))
    }

    /// Configures a server over a pair of streams, such as a socket, with one message per line. The function is called
    /// for every connection.
    ///
    /// ```
    /// # use tool_mcp::ServerConfig;
    /// let local = ServerConfig::streams("local", || async {
    ///     Ok(tokio::net::TcpStream::connect("127.0.0.1:7000").await?.into_split())
    /// });
    /// ```
    pub fn streams<F, Fut, R, W>(name: impl Into<String>, connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = std::io::Result<(R, W)>> + Send + 'static,
        R: tokio::io::AsyncRead + Send + Unpin + 'static,
        W: tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        Self::new(name, Endpoint::Streams(Arc::new(super::transport::streams(connect))))
    }

    /// Adds an argument to the [command](Self::command).
    pub fn arg(self, arg: impl Into<String>) -> Self {
        self.args([arg])
    }

    /// Adds arguments to the [command](Self::command).
    pub fn args<T: Into<String>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        if let Endpoint::Command(command) = &mut self.endpoint {
            command.args.extend(args.into_iter().map(Into::into));
        }
        self
    }

    /// Sets an environment variable of the [command](Self::command).
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Endpoint::Command(command) = &mut self.endpoint {
            command.env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the working directory of the [command](Self::command).
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        if let Endpoint::Command(command) = &mut self.endpoint {
            command.current_dir = Some(directory.into());
        }
        self
    }

    /// Sets a header for all requests to the [URL](Self::http).
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Endpoint::Http(http) = &mut self.endpoint {
            http.headers.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the bearer token for all requests to the [URL](Self::http).
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header("Authorization", format!("Bearer {token}"))
    }

    /// Sets how tokens for the [URL](Self::http) are obtained, if the server requires them.
    #[cfg(feature = "auth")]
    pub fn oauth(mut self, oauth: super::OAuth) -> Self {
        if let Endpoint::Http(http) = &mut self.endpoint {
            http.set_oauth(oauth);
        }
        self
    }

    #[cfg(feature = "auth")]
    pub(crate) fn access(&self) -> Option<&Arc<super::oauth::TokenAccess>> {
        match &self.endpoint {
            Endpoint::Http(http) => http.access.as_ref(),
            _ => None,
        }
    }

    /// Sets how login URLs are shown, if the login was configured in a file.
    #[cfg(feature = "auth")]
    pub(crate) fn show_login(&mut self, show: &super::sources::ShowLoginFn) {
        let (server, show) = (self.name.clone(), show.clone());
        if let Endpoint::Http(http) = &mut self.endpoint
            && let Some(access) = &http.access
            && let Some(oauth) = access.oauth().with_file_prompt(move |url| show(&server, url))
        {
            http.set_oauth(oauth);
        }
    }

    /// Returns why this server cannot be used in this build, if so.
    pub(crate) fn unsupported(&self) -> Option<&'static str> {
        #[cfg(not(feature = "auth"))]
        if matches!(&self.endpoint, Endpoint::Http(HttpEndpoint { needs_login: true, .. })) {
            return Some("`oauth` needs the feature `auth` of `tool-mcp`, which is disabled");
        }
        None
    }

    /// Trusts the server completely: no tool is `sensitive`, and its `read_only` and `idempotent` hints apply.
    pub fn trust(mut self) -> Self {
        self.trust.all = true;
        self
    }

    /// Trusts the server about one tool, by the server's name for it.
    pub fn trust_tool(mut self, tool: impl Into<String>) -> Self {
        self.trust.tools.insert(tool.into());
        self
    }

    /// Trusts the server's read-only hints: a read-only tool is not `sensitive`, all others are.
    pub fn trust_read_only_hints(mut self) -> Self {
        self.trust.read_only_hints = true;
        self
    }

    /// Sets the protocol generation. Defaults to the newest that both sides know.
    pub fn generation(mut self, generation: ProtocolGeneration) -> Self {
        self.generation = generation;
        self
    }

    /// Sets the time limit for connecting and listing the tools. Defaults to 30 seconds.
    ///
    /// A [command](Self::command) that has not responded by then is [starting](crate::ServerState::Starting): nothing
    /// waits for it any longer, and it is connected once it responds. After ten times the limit it is restarted.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the timeout for calls of its tools. A call's own timeout has precedence over it, and it over the dispatcher's.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// Sets the longest message that the server may send. Defaults to 16 MiB. A longer response fails its call.
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.limits.message = bytes;
        self
    }

    /// Sets the most tools that are taken from the server. Defaults to 1,000. The rest is dropped and reported.
    pub fn max_tools(mut self, tools: usize) -> Self {
        self.limits.tools = tools;
        self
    }

    /// Returns the local name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Omits secrets: the values of environment variables and headers, the arguments, and the query and password of a URL.
impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut config = f.debug_struct("ServerConfig");
        config.field("name", &self.name);
        match &self.endpoint {
            Endpoint::Command(command) => {
                config.field("program", &command.program).field("args", &command.args.len());
                config.field("env", &command.env.keys().collect::<Vec<_>>());
            }
            Endpoint::Http(http) => {
                config.field("url", &http.redacted_url()).field("headers", &http.headers.keys().collect::<Vec<_>>());
                #[cfg(feature = "auth")]
                config.field("oauth", &http.access.as_deref().map(super::oauth::TokenAccess::oauth));
            }
            Endpoint::Streams(_) => {}
        }
        config.field("trust", &self.trust).finish_non_exhaustive()
    }
}
