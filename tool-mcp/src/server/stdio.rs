//! MCP over the standard streams.

use std::fmt;

use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt};
use tool_runtime::{CancellationToken, Dispatcher};

use super::request_parser::MAX_LINE_LENGTH;
use super::{McpServer, ServerSession};
use crate::lines::{LineTransport, StreamEnd};

/// Serves the tools over the standard streams until the client disconnects.
///
/// Nothing else may write to the standard output; send logs to the standard error.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = tool_runtime::Dispatcher::builder().build()?;
/// tool_mcp::serve_stdio(tools).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if the client does not speak MCP.
pub async fn serve_stdio(tools: Dispatcher) -> Result<(), ServeError> {
    McpServer::new(tools).stdio().await
}

impl<H: ServerHandler> McpServer<H> {
    /// Serves the client over the standard streams until it disconnects; see [`serve_stdio`].
    ///
    /// # Errors
    /// Returns an error if the client does not speak MCP.
    pub async fn stdio(self) -> Result<(), ServeError> {
        self.serve(rmcp::transport::io::stdio_pipes()).await
    }

    /// Serves the client over a pair of streams, such as a socket, until it disconnects.
    ///
    /// # Errors
    /// Returns an error if the client does not speak MCP.
    pub async fn serve<R, W>(self, (read, write): (R, W)) -> Result<(), ServeError>
    where
        R: tokio::io::AsyncRead + Send + Unpin + 'static,
        W: tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let gone = CancellationToken::new();
        let session = ServerSession::for_connection(self.shared(), gone.clone());
        let running = match session.serve(LineTransport::new(read, write, MAX_LINE_LENGTH, StdioClient(gone))).await {
            Ok(running) => running,
            // The client only probed the server.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| ServeError(error.to_string()))
    }
}

/// The client at the other end. Its subscriptions end when it closes its output; running calls may still finish.
struct StdioClient(CancellationToken);

impl StreamEnd for StdioClient {
    async fn on_eof(&mut self) {
        self.0.cancel();
    }
}

/// The error of serving a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeError(String);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot serve the client: {}", self.0)
    }
}

impl std::error::Error for ServeError {}
