//! The tools of a dispatcher as an MCP server.

mod answer;
mod call;
mod changes;
mod client;
mod consent;
mod handler;
mod http;
mod listing;
mod log;
mod progress;
mod read;
mod rounds;
mod stdio;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig, Tool, ToolsCapability};
use tool_runtime::Dispatcher;
use tool_runtime::confirm::{PendingStore, WeakKeyError};

use self::changes::Peers;
use self::handler::Session;
use self::listing::{Describe, Listings};
use self::rounds::{Rounds, Seal};

pub use client::{Client, ClientError};
pub use handler::Nothing;
pub use http::{Denied, HttpConfig, Principal, WeakToken};
pub use stdio::{ServeError, serve_stdio};

/// The tools of a dispatcher, for every MCP client.
///
/// A selection of tools is a dispatcher as well: `Server::new(tools.select(..)?)` offers only those.
///
/// ```no_run
/// use tool_mcp::{HttpConfig, Server};
/// # async fn serve(tools: tool_runtime::Dispatcher) -> Result<(), Box<dyn std::error::Error>> {
/// // For a client that starts us as a child process:
/// Server::new(tools.clone()).name("metrics").stdio().await?;
///
/// // As a part of a web application:
/// let config = HttpConfig::new().bearer(std::env::var("METRICS_TOKEN")?)?;
/// let app: axum::Router = axum::Router::new().nest("/mcp", Server::new(tools).http(config));
/// # let _ = app;
/// # Ok(())
/// # }
/// ```
///
/// Both generations of the protocol are spoken, 2025-11-25 and 2026-07-28, to each client its own:
///
/// - **Definitions** have output schemas, and annotations that say what the code says of a tool. They come sorted, in
///   pages if [`page_size`](Self::page_size) says so, and clients hear when they change.
/// - **Consent**: where the policy wants somebody asked, the client is asked to ask: by `elicitation/create`, or by an
///   answer that says `input_required`. What was shown is what runs. A client that can do neither is told that the
///   call was refused, and why. [`ask_dispatcher`](Self::ask_dispatcher) leaves the question to the dispatcher.
/// - **Progress** that a tool reports, and the items of one that streams, are sent to a client that asked for them; a
///   call that the client cancels is cancelled.
/// - **Results** are texts, with structured content for tools that have an output schema. A tool says more by
///   [`Notes`](tool_runtime::inject::Notes): under `content` the content blocks, as MCP writes them, in place of the text, and
///   under `structured_content` the structured content.
/// - **Handlers** that need something of the client, such as an answer of its user, take a [`Client`].
pub struct Server<H = Nothing> {
    tools: Dispatcher,
    implementation: Implementation,
    instructions: Option<String>,
    page_size: Option<NonZeroUsize>,
    asks_client: bool,
    describe: Option<Box<Describe>>,
    seal: Option<Seal>,
    extra: H,
}

impl Server {
    /// Offers the tools of a dispatcher.
    pub fn new(tools: Dispatcher) -> Self {
        Self {
            tools,
            implementation: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            instructions: None,
            page_size: None,
            asks_client: true,
            describe: None,
            seal: None,
            extra: Nothing,
        }
    }
}

impl<H: ServerHandler> Server<H> {
    /// What the server is called. `tool-mcp` unless set.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.implementation.name = name.into();
        self
    }

    /// The version of the server. That of this crate unless set.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.implementation.version = version.into();
        self
    }

    /// How the tools are to be used, for the model. The instructions of the tools themselves unless set.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// How many tools stand on one page of a list; nought is all of them, as it is unless set. Not every client asks for
    /// a second page.
    #[must_use]
    pub fn page_size(mut self, tools: usize) -> Self {
        self.page_size = NonZeroUsize::new(tools);
        self
    }

    /// Says of each tool what a dispatcher's definition has no place for: a title, icons, `_meta`, words of JSON Schema
    /// that no Rust type has. What is said of the arguments must be true of them: they are checked as before.
    ///
    /// ```
    /// # fn describe(tools: tool_runtime::Dispatcher) {
    /// let server = tool_mcp::Server::new(tools).describe(|tool| {
    ///     tool.title = Some(tool.name.replace('_', " "));
    /// });
    /// # drop(server);
    /// # }
    /// ```
    #[must_use]
    pub fn describe(mut self, describe: impl Fn(&mut Tool) + Send + Sync + 'static) -> Self {
        self.describe = Some(Box::new(describe));
        self
    }

    /// Asks whom the dispatcher asks about a call that needs consent, and not the client.
    #[must_use]
    pub fn ask_dispatcher(mut self) -> Self {
        self.asks_client = false;
        self
    }

    /// For several servers behind one address, which have to answer for each other's questions to clients of
    /// 2026-07-28: the secret that they share, of 32 bytes or more, and the store where calls wait for consent. Unless
    /// set, the secret is random and the store this process's memory.
    ///
    /// # Errors
    /// When the secret is too short.
    pub fn rounds(mut self, secret: impl Into<Vec<u8>>, store: impl PendingStore) -> Result<Self, WeakKeyError> {
        self.seal = Some(Seal::shared(secret.into(), store)?);
        Ok(self)
    }

    /// What else the server has: the prompts, resources and completions of a handler of your own. It declares them in
    /// its [`get_info`](ServerHandler::get_info), whose capabilities join ours. Tools it may have are not offered.
    #[must_use]
    pub fn extra<E: ServerHandler>(self, extra: E) -> Server<E> {
        let Self { tools, implementation, instructions, page_size, asks_client, describe, seal, extra: _ } = self;
        Server { tools, implementation, instructions, page_size, asks_client, describe, seal, extra }
    }

    fn shared(self) -> Arc<Shared<H>> {
        let info = self.info();
        Arc::new(Shared {
            tools: self.tools,
            info,
            page_size: self.page_size,
            asks_client: self.asks_client,
            listings: Listings::new(self.describe),
            rounds: Rounds::new(self.seal),
            peers: Peers::default(),
            extra: self.extra,
        })
    }

    /// What the server says of itself: what the extra handler can do, and the tools.
    fn info(&self) -> ServerConfig {
        let extra = self.extra.get_info();
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        let mut capabilities: ServerCapabilities = extra.capabilities;
        capabilities.tools = Some(tools);
        capabilities.logging.get_or_insert_default();
        let mut info = ServerConfig::new(capabilities).with_server_info(self.implementation.clone());
        info.instructions = self.instructions.clone().or(extra.instructions).or_else(|| instructions_of(&self.tools));
        info
    }
}

/// What the tools say of their use beyond their descriptions, which a client has anyway.
fn instructions_of(tools: &Dispatcher) -> Option<String> {
    let definitions = tools.definitions();
    let said = definitions.iter().filter_map(|(name, tool)| Some((name, tool.instructions.as_deref()?)));
    let said: Vec<String> = said.map(|(name, instructions)| format!("## {name}\n{instructions}\n")).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// What all connections of a server share.
struct Shared<H> {
    tools: Dispatcher,
    info: ServerConfig,
    page_size: Option<NonZeroUsize>,
    asks_client: bool,
    listings: Listings,
    rounds: Rounds,
    peers: Peers,
    extra: H,
}

impl<H> fmt::Debug for Server<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.implementation.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
