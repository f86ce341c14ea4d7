//! Clients that come over HTTP.

mod check;
mod config;
mod events;
mod front;
mod head;
mod local;
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

pub use check::{Denied, Principal, WeakToken};
pub use config::HttpConfig;

pub(super) use head::SESSION;

use self::front::Front;
use super::{Server, Session};

impl<H: ServerHandler> Server<H> {
    /// A router to mount in a web application: `Router::new().nest("/mcp", server.http(config))`. It answers at its
    /// root.
    ///
    /// Without a token, a check or a host of its own it answers this machine only. Where a request comes from it knows
    /// from an application that is served with `into_make_service_with_connect_info::<SocketAddr>()`; from another it
    /// answers none.
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
        let router = router.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await
    }

    fn at(self, path: &str, config: HttpConfig) -> Router {
        let front = Arc::new(self.front(&config));
        check::guarded(Router::new().route(path, any(front::answer::<H>).with_state(front)), config)
    }

    fn front(self, config: &HttpConfig) -> Front<H> {
        let shared = self.shared();
        let places = Arc::new(Semaphore::new(config.max_sessions));
        let sessions = Arc::new(LocalSessionManager::default());
        let new_session = {
            let (shared, places) = (shared.clone(), places.clone());
            move || {
                let place = places.clone().try_acquire_owned().map_err(|_| io::Error::other("too many sessions"))?;
                Ok(Session::of_http(shared.clone(), place))
            }
        };
        let rmcp = StreamableHttpService::new(new_session, sessions.clone(), config.rmcp());
        let (hosts, max_body, stop) = (config.hosts(), config.max_body, config.stop.clone());
        let local_only = config.is_local_only();
        Front { shared, hosts, local_only, max_body, places, sessions, stop, rmcp }
    }
}
