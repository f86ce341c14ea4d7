//! A client that has started us as a child process.

use std::fmt;

use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt};
use tool_runtime::{CancellationToken, Dispatcher};

use super::read::LONGEST_LINE;
use super::{Server, Session};
use crate::lines::{Keep, Lines};

/// Serves the tools to the client at the other end of the standard streams, until it goes away.
///
/// Nothing else may write to the standard output; logs go to the standard error.
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
/// When the client does not speak the protocol.
pub async fn serve_stdio(tools: Dispatcher) -> Result<(), ServeError> {
    Server::new(tools).stdio().await
}

impl<H: ServerHandler> Server<H> {
    /// Serves the client at the other end of the standard streams, until it goes away; see [`serve_stdio`].
    ///
    /// # Errors
    /// When the client does not speak the protocol.
    pub async fn stdio(self) -> Result<(), ServeError> {
        self.serve(rmcp::transport::io::stdio_pipes()).await
    }

    /// Serves the client at the other end of a pair of streams, such as a socket, until it goes away.
    ///
    /// # Errors
    /// When the client does not speak the protocol.
    pub async fn serve<R, W>(self, (read, write): (R, W)) -> Result<(), ServeError>
    where
        R: tokio::io::AsyncRead + Send + Unpin + 'static,
        W: tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let gone = CancellationToken::new();
        let session = Session::of_connection(self.shared(), gone.clone());
        let running = match session.serve(Lines::new(read, write, LONGEST_LINE, Client(gone))).await {
            Ok(running) => running,
            // A client that only looked whether there is somebody.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| ServeError(error.to_string()))
    }
}

/// The client at the other end. What it has subscribed to ends when it says nothing more; its calls may go on for a
/// moment.
struct Client(CancellationToken);

impl Keep for Client {
    async fn fell_silent(&mut self) {
        self.0.cancel();
    }
}

/// Why a client could not be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeError(String);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the client cannot be served: {}", self.0)
    }
}

impl std::error::Error for ServeError {}
