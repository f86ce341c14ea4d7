//! What is said of a server: how it is reached, how far it is trusted, how much it may send.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::reached::{Command, Http, Reached};

/// How a server is reached, how far it is trusted and how much it may send.
///
/// ```no_run
/// use std::time::Duration;
/// use tool_mcp::ServerConfig;
///
/// // A program that is started, and spoken to over its standard input and output.
/// let files = ServerConfig::command("files", "mcp-server-filesystem").arg("/srv/files").trust_read_only_hints();
/// // One that runs already, behind a URL.
/// let wiki = ServerConfig::http("wiki", "https://wiki.example/mcp")
///     .bearer("..")
///     .trust_tool("search")
///     .call_timeout(Duration::from_secs(30));
/// ```
///
/// Nothing that a server says of itself is believed: every tool is `sensitive`, so that somebody is asked before it
/// runs, until [`trust`](Self::trust) or its kin say otherwise.
#[derive(Clone, PartialEq)]
#[must_use = "a server is connected by `Servers::builder().server(..)`"]
pub struct ServerConfig {
    pub(crate) name: String,
    pub(crate) reached: Reached,
    pub(crate) trust: Trust,
    pub(crate) generation: Generation,
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Option<Duration>,
    pub(crate) limits: Limits,
}

/// What is believed of what a server says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trust {
    pub all: bool,
    pub tools: BTreeSet<String>,
    pub read_only_hints: bool,
}

/// How much a server may send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// The longest message, in bytes.
    pub message: usize,
    /// The most tools.
    pub tools: usize,
    /// The longest description and schemas of one tool together, in bytes.
    pub definition: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message: 16 << 20, tools: 1_000, definition: 256 << 10 }
    }
}

/// Which generation of the protocol is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Generation {
    /// The newest that the server knows; it is asked first.
    #[default]
    Newest,
    /// 2025-11-25 and before, which begin with `initialize`.
    Initialize,
    /// 2026-07-28, which begins with `server/discover`.
    Discover,
}

impl ServerConfig {
    fn new(name: impl Into<String>, reached: Reached) -> Self {
        Self {
            name: name.into(),
            reached,
            trust: Trust::default(),
            generation: Generation::default(),
            connect_timeout: Duration::from_secs(30),
            call_timeout: None,
            limits: Limits::default(),
        }
    }

    /// A program that is started, and spoken to over its standard input and output.
    ///
    /// Of this process' environment it is given what programs cannot do without, such as `PATH` and `HOME`; the rest
    /// is said with [`env`](Self::env). What it writes to its standard error is logged. It is ended, with all that it
    /// has started in its process group, when the connection is.
    pub fn command(name: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self::new(name, Reached::Command(Command { program: program.into(), ..Command::default() }))
    }

    /// A server behind a URL, over streamable HTTP.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, Reached::Http(Http { url: url.into(), ..Http::default() }))
    }

    /// A server at the other end of two streams, such as a socket, with one message a line. The function is called for
    /// every connection.
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
        Self::new(name, Reached::Streams(Arc::new(super::transport::streams(connect))))
    }

    /// One more argument of the [command](Self::command).
    pub fn arg(self, arg: impl Into<String>) -> Self {
        self.args([arg])
    }

    /// More arguments of the [command](Self::command).
    pub fn args<T: Into<String>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        if let Reached::Command(command) = &mut self.reached {
            command.args.extend(args.into_iter().map(Into::into));
        }
        self
    }

    /// A variable of the [command](Self::command)'s environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Reached::Command(command) = &mut self.reached {
            command.env.insert(name.into(), value.into());
        }
        self
    }

    /// The folder that the [command](Self::command) runs in.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Reached::Command(command) = &mut self.reached {
            command.folder = Some(folder.into());
        }
        self
    }

    /// A header of every request to the [URL](Self::http).
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Reached::Http(http) = &mut self.reached {
            http.headers.insert(name.into(), value.into());
        }
        self
    }

    /// A token that is sent with every request to the [URL](Self::http).
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header("Authorization", format!("Bearer {token}"))
    }

    /// How tokens are got for requests to the [URL](Self::http), when it asks for them.
    #[cfg(feature = "auth")]
    pub fn oauth(mut self, oauth: super::OAuth) -> Self {
        if let Reached::Http(http) = &mut self.reached {
            http.log_in(oauth);
        }
        self
    }

    #[cfg(feature = "auth")]
    pub(crate) fn access(&self) -> Option<&Arc<super::oauth::Access>> {
        match &self.reached {
            Reached::Http(http) => http.access.as_ref(),
            _ => None,
        }
    }

    /// Shows people where they log in, where a file says that they do.
    #[cfg(feature = "auth")]
    pub(crate) fn show_login(&mut self, show: &super::sources::ShowLogin) {
        let (server, show) = (self.name.clone(), show.clone());
        if let Reached::Http(http) = &mut self.reached
            && let Some(access) = &http.access
            && let Some(oauth) = access.oauth().shown_by(move |url| show(&server, url))
        {
            http.log_in(oauth);
        }
    }

    /// What of it cannot be done, in words.
    pub(crate) fn impossible(&self) -> Option<&'static str> {
        #[cfg(not(feature = "auth"))]
        if matches!(&self.reached, Reached::Http(Http { wants_login: true, .. })) {
            return Some("its `oauth` needs the feature `auth` of `tool-mcp`, which is off: nobody can log in");
        }
        None
    }

    /// Believes all that the server says: no tool is `sensitive`, and `read_only` and `idempotent` are what it says.
    pub fn trust(mut self) -> Self {
        self.trust.all = true;
        self
    }

    /// Believes what the server says of one tool, by the name that the server gives it.
    pub fn trust_tool(mut self, tool: impl Into<String>) -> Self {
        self.trust.tools.insert(tool.into());
        self
    }

    /// Believes the server where it calls a tool read-only: such a tool is not `sensitive`, the others are.
    pub fn trust_read_only_hints(mut self) -> Self {
        self.trust.read_only_hints = true;
        self
    }

    /// Which generation of the protocol is spoken; the newest that both know unless told.
    pub fn generation(mut self, generation: Generation) -> Self {
        self.generation = generation;
        self
    }

    /// How long it may take until the server is connected and has listed its tools; 30 seconds unless told.
    ///
    /// A [command](Self::command) that has answered nothing by then is [starting](crate::ServerState::Starting): nobody is
    /// held up by it any longer, and it is connected once it answers. After ten times as long it is started again.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long a call of any of its tools may take. The call's own timeout goes before it, the dispatcher's after.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// The longest message that is read from it; 16 MiB unless told. A longer answer is a failed call.
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.limits.message = bytes;
        self
    }

    /// The most tools that are taken from it; 1,000 unless told. The rest is left out, and reported.
    pub fn max_tools(mut self, tools: usize) -> Self {
        self.limits.tools = tools;
        self
    }

    /// The name by which the server is known here.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Where secrets stand is left out: the values of the environment and of headers, the arguments, and of a URL the query
/// and the password.
impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut config = f.debug_struct("ServerConfig");
        config.field("name", &self.name);
        match &self.reached {
            Reached::Command(command) => {
                config.field("program", &command.program).field("args", &command.args.len());
                config.field("env", &command.env.keys().collect::<Vec<_>>());
            }
            Reached::Http(http) => {
                config.field("url", &http.bare_url()).field("headers", &http.headers.keys().collect::<Vec<_>>());
                #[cfg(feature = "auth")]
                config.field("oauth", &http.access.as_deref().map(super::oauth::Access::oauth));
            }
            Reached::Streams(_) => {}
        }
        config.field("trust", &self.trust).finish_non_exhaustive()
    }
}
