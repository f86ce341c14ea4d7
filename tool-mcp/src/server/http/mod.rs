//! MCP over streamable HTTP.

mod check;
mod fast_path;
mod http_config;
mod local;
mod sse_response;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::any;
use axum::serve::ListenerExt;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::Semaphore;

pub use check::{AccessDenied, Principal, WeakBearerToken};
pub use http_config::HttpConfig;

pub(super) use fast_path::SESSION;

use self::fast_path::HttpFrontend;
use super::{McpServer, ServerSession};

impl<H: ServerHandler> McpServer<H> {
    /// Returns a router to mount in a web application: `Router::new().nest("/mcp", server.http(config))`. Its only route
    /// is `/`.
    ///
    /// Without a token, a check or a host, it serves loopback clients only. For that it needs the peer address: serve the
    /// application with `into_make_service_with_connect_info::<SocketAddr>()`, otherwise every request is refused.
    pub fn http(self, config: HttpConfig) -> Router {
        self.router_at("/", config)
    }

    /// Serves clients at `/mcp` of an address, such as `("127.0.0.1", 8080)`, until [`HttpConfig::stop`] is cancelled.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound.
    pub async fn listen(self, address: impl ToSocketAddrs, config: HttpConfig) -> io::Result<()> {
        self.listen_on(TcpListener::bind(address).await?, config).await
    }

    /// Same as [`listen`](Self::listen), with an existing listener.
    ///
    /// # Errors
    /// Returns an error if the listener fails.
    pub async fn listen_on(self, listener: TcpListener, config: HttpConfig) -> io::Result<()> {
        let stop = config.stop.clone();
        let router = self.router_at("/mcp", config);
        // Event streams consist of small writes, which Nagle's algorithm would delay.
        let listener = listener.tap_io(|connection| {
            if let Err(error) = connection.set_nodelay(true) {
                tracing::debug!(%error, "cannot disable Nagle's algorithm");
            }
        });
        let router = router.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await
    }

    fn router_at(self, path: &str, config: HttpConfig) -> Router {
        let frontend = Arc::new(self.frontend(&config));
        check::with_check(Router::new().route(path, any(fast_path::handle::<H>).with_state(frontend)), config)
    }

    fn frontend(self, config: &HttpConfig) -> HttpFrontend<H> {
        let shared = self.shared();
        let permits = Arc::new(Semaphore::new(config.max_sessions));
        let sessions = Arc::new(LocalSessionManager::default());
        let new_session = {
            let (shared, permits) = (shared.clone(), permits.clone());
            move || {
                let permit = permits.clone().try_acquire_owned().map_err(|_| io::Error::other("too many sessions"))?;
                Ok(ServerSession::for_http(shared.clone(), permit))
            }
        };
        let rmcp = StreamableHttpService::new(new_session, sessions.clone(), config.rmcp());
        let (hosts, max_body, stop) = (config.hosts(), config.max_body, config.stop.clone());
        let local_only = config.is_local_only();
        HttpFrontend { shared, hosts, local_only, max_body, permits, sessions, stop, rmcp }
    }
}
