//! Clients that come over HTTP.

mod check;
mod config;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::Semaphore;

pub use check::{Denied, Principal};
pub use config::HttpConfig;

use super::{Server, Session};

impl<H: ServerHandler> Server<H> {
    /// A router to mount in a web application: `Router::new().nest("/mcp", server.http(config))`. It answers at its
    /// root.
    pub fn http(self, config: HttpConfig) -> Router {
        self.at("/", config)
    }

    /// Serves clients at `/mcp` of an address, such as `("127.0.0.1", 8080)`, until the [configuration's
    /// token](HttpConfig::stop) is cancelled.
    ///
    /// # Errors
    /// When the address cannot be listened at.
    pub async fn listen(self, address: impl ToSocketAddrs, config: HttpConfig) -> io::Result<()> {
        self.listen_on(TcpListener::bind(address).await?, config).await
    }

    /// As [`listen`](Self::listen), with a socket that listens already.
    ///
    /// # Errors
    /// When the socket fails.
    pub async fn listen_on(self, listener: TcpListener, config: HttpConfig) -> io::Result<()> {
        let stop = config.stop.clone();
        let router = self.at("/mcp", config);
        // An answer that is a stream comes in small pieces, none of which is to wait for the one before it.
        let listener = listener.tap_io(|connection| {
            if let Err(error) = connection.set_nodelay(true) {
                tracing::debug!(%error, "small pieces may wait for each other");
            }
        });
        axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await
    }

    fn at(self, path: &str, config: HttpConfig) -> Router {
        let shared = self.shared();
        let places = Arc::new(Semaphore::new(config.max_sessions));
        let new_session = move || {
            let place = places.clone().try_acquire_owned().map_err(|_| io::Error::other("too many sessions"))?;
            Ok(Session::of_http(shared.clone(), place))
        };
        let service = StreamableHttpService::new(new_session, Arc::new(LocalSessionManager::default()), config.rmcp());
        check::guarded(Router::new().route_service(path, service), config)
    }
}
