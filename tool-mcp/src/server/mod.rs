//! MCP server: exposes the tools of a dispatcher.

mod approval;
mod call_handler;
mod client;
mod handler;
mod http;
mod list_changes;
mod listing;
mod progress;
mod request_parser;
mod rounds;
mod stdio;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig, Tool, ToolsCapability};
use tool_runtime::Dispatcher;
use tool_runtime::confirm::{PendingStore, WeakKeyError};

use self::handler::ServerSession;
use self::list_changes::ConnectedPeers;
use self::listing::{Describe, ListingCache};
use self::rounds::{LazySeal, StateSeal};

pub use client::{ClientError, McpClient};
pub use handler::ToolsOnly;
pub use http::{AccessDenied, HttpConfig, Principal, WeakBearerToken};
pub use stdio::{ServeError, serve_stdio};

/// An MCP server that exposes the tools of a dispatcher.
///
/// To expose only some tools, pass a selection: `McpServer::new(tools.select(..)?)`.
///
/// ```no_run
/// use tool_mcp::{HttpConfig, McpServer};
/// # async fn serve(tools: tool_runtime::Dispatcher) -> Result<(), Box<dyn std::error::Error>> {
/// // For a client that starts the server as a child process:
/// McpServer::new(tools.clone()).name("metrics").stdio().await?;
///
/// // As a part of a web application:
/// let config = HttpConfig::new().bearer(std::env::var("METRICS_TOKEN")?)?;
/// let app: axum::Router = axum::Router::new().nest("/mcp", McpServer::new(tools).http(config));
/// # let _ = app;
/// # Ok(())
/// # }
/// ```
///
/// The server speaks both generations of the protocol, 2025-11-25 and 2026-07-28:
///
/// - **Definitions** have output schemas and annotations derived from the tool's flags. They are sorted, and paged if
///   [`page_size`](Self::page_size) is set. Clients are notified of changes.
/// - **Approval**: if the policy requires it, the client asks its user, by `elicitation/create` or by a result of type
///   `input_required`. The call runs with exactly the arguments that were shown. If the client supports neither, the
///   call is refused with a reason. [`ask_dispatcher`](Self::ask_dispatcher) uses the dispatcher's confirmer instead.
/// - **Progress** reports, and the items of a streaming tool, are sent to clients that request them. A call is cancelled
///   when its client cancels it.
/// - **Results** are text, with structured content for tools that have an output schema. With
///   [`Notes`](tool_runtime::inject::Notes) a handler can replace the text by MCP content blocks (key `content`), and set the
///   structured content (key `structured_content`).
/// - **Handlers** that need something from the client, such as input of its user, inject an [`McpClient`].
pub struct McpServer<H = ToolsOnly> {
    tools: Dispatcher,
    implementation: Implementation,
    instructions: Option<String>,
    page_size: Option<NonZeroUsize>,
    asks_client: bool,
    describe: Option<Box<Describe>>,
    seal: Option<StateSeal>,
    extra: H,
}

impl McpServer {
    /// Creates a server for the tools of a dispatcher.
    pub fn new(tools: Dispatcher) -> Self {
        Self {
            tools,
            implementation: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            instructions: None,
            page_size: None,
            asks_client: true,
            describe: None,
            seal: None,
            extra: ToolsOnly,
        }
    }
}

impl<H: ServerHandler> McpServer<H> {
    /// Sets the name of the server. Defaults to `tool-mcp`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.implementation.name = name.into();
        self
    }

    /// Sets the version of the server. Defaults to the version of this crate.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.implementation.version = version.into();
        self
    }

    /// Sets the instructions for the model. Defaults to the instructions of the tools.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the number of tools per page of `tools/list`. Defaults to 0, which means one page: not every client requests
    /// a second one.
    #[must_use]
    pub fn page_size(mut self, tools: usize) -> Self {
        self.page_size = NonZeroUsize::new(tools);
        self
    }

    /// Edits each definition before it is listed, for fields that tool definitions do not have: a title, icons, `_meta`,
    /// further JSON Schema keywords. The arguments are still validated against the original definition.
    ///
    /// ```
    /// # fn describe(tools: tool_runtime::Dispatcher) {
    /// let server = tool_mcp::McpServer::new(tools).describe(|tool| {
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

    /// Asks the dispatcher's confirmer, instead of the client, about calls that need approval.
    #[must_use]
    pub fn ask_dispatcher(mut self) -> Self {
        self.asks_client = false;
        self
    }

    /// Shares rounds between several servers behind one address, so that each can continue a call that another one
    /// started (2026-07-28 clients only). Takes a common secret of at least 32 bytes and the store for pending calls.
    /// Defaults to a random secret and a store in memory.
    ///
    /// # Errors
    /// Returns an error if the secret is too short.
    pub fn rounds(mut self, secret: impl Into<Vec<u8>>, store: impl PendingStore) -> Result<Self, WeakKeyError> {
        self.seal = Some(StateSeal::with_secret(secret.into(), store)?);
        Ok(self)
    }

    /// Adds prompts, resources and completions from another handler. Its [`get_info`](ServerHandler::get_info) declares
    /// them. Tools of that handler are not listed.
    #[must_use]
    pub fn extra<E: ServerHandler>(self, extra: E) -> McpServer<E> {
        let Self { tools, implementation, instructions, page_size, asks_client, describe, seal, extra: _ } = self;
        McpServer { tools, implementation, instructions, page_size, asks_client, describe, seal, extra }
    }

    fn shared(self) -> Arc<ServerShared<H>> {
        let info = self.info();
        Arc::new(ServerShared {
            tools: self.tools,
            info,
            page_size: self.page_size,
            asks_client: self.asks_client,
            listings: ListingCache::new(self.describe),
            rounds: LazySeal::new(self.seal),
            peers: ConnectedPeers::default(),
            extra: self.extra,
        })
    }

    /// Returns the server information: the capabilities of the extra handler, and the tools.
    fn info(&self) -> ServerConfig {
        let extra = self.extra.get_info();
        let mut tools = ToolsCapability::default();
        tools.list_changed = Some(true);
        let mut capabilities: ServerCapabilities = extra.capabilities;
        capabilities.tools = Some(tools);
        capabilities.logging.get_or_insert_default();
        let mut info = ServerConfig::new(capabilities).with_server_info(self.implementation.clone());
        info.instructions = self.instructions.clone().or(extra.instructions).or_else(|| tool_instructions(&self.tools));
        info
    }
}

/// Collects the instructions of all tools.
fn tool_instructions(tools: &Dispatcher) -> Option<String> {
    let definitions = tools.definitions();
    let instructions = definitions.iter().filter_map(|(name, tool)| Some((name, tool.instructions.as_deref()?)));
    let sections: Vec<String> = instructions.map(|(name, text)| format!("## {name}\n{text}\n")).collect();
    (!sections.is_empty()).then(|| sections.join("\n"))
}

/// The state that all connections of a server share.
struct ServerShared<H> {
    tools: Dispatcher,
    info: ServerConfig,
    page_size: Option<NonZeroUsize>,
    asks_client: bool,
    listings: ListingCache,
    rounds: LazySeal,
    peers: ConnectedPeers,
    extra: H,
}

impl<H> fmt::Debug for McpServer<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("name", &self.implementation.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
