//! The link between the tools of a server and its current connection.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::connection::ServerConnection;

/// The time that a call waits for a connection in progress.
const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// Shared by the tools of a server. A tool stays registered when its server is unavailable; calls then report it.
pub(super) struct ServerLink {
    name: Arc<str>,
    state: watch::Sender<LinkState>,
    relist: Notify,
}

#[derive(Clone)]
pub(super) enum LinkState {
    Connecting,
    /// The program runs, but has not responded within the connect timeout. It may still connect.
    Starting,
    Connected(Arc<ServerConnection>),
    /// Not connected, for this reason. The connection is retried.
    Unavailable(Arc<str>),
    Closed,
}

impl LinkState {
    /// Returns `true` if waiting would not help. A closed connection is about to be replaced.
    fn is_settled(&self) -> bool {
        match self {
            Self::Connecting => false,
            Self::Connected(connection) => !connection.is_closed(),
            Self::Starting | Self::Unavailable(_) | Self::Closed => true,
        }
    }
}

impl ServerLink {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self { name, state: watch::Sender::new(LinkState::Connecting), relist: Notify::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn state(&self) -> LinkState {
        self.state.borrow().clone()
    }

    pub(super) fn set(&self, state: LinkState) {
        self.state.send_replace(state);
    }

    /// Returns the connection, or a message for the model, which has no address and no cause. Waits for a connection in progress.
    pub(super) async fn connection(&self) -> Result<Arc<ServerConnection>, String> {
        if let LinkState::Connected(connection) = &*self.state.borrow()
            && !connection.is_closed()
        {
            return Ok(connection.clone());
        }
        let mut state = self.state.subscribe();
        let made = tokio::time::timeout(CONNECT_WAIT, state.wait_for(LinkState::is_settled)).await;
        let name = &self.name;
        match made.ok().and_then(Result::ok).map(|state| state.clone()) {
            Some(LinkState::Connected(connection)) => Ok(connection),
            Some(LinkState::Unavailable(why)) => {
                tracing::warn!(server = %name, error = %why, "a call did not run: the server is not connected");
                Err(format!(
                    "The server `{name}` is not connected. The call did not run; the connection is retried, so try again later."
                ))
            }
            Some(LinkState::Starting) => {
                Err(format!("The server `{name}` is still starting. The call did not run; try again later."))
            }
            Some(LinkState::Closed) => Err(format!("The server `{name}` was closed. The call did not run.")),
            None | Some(LinkState::Connecting) => {
                Err(format!("The server `{name}` is still connecting. The call did not run; try again."))
            }
        }
    }

    /// Requests that the tools are listed again, because the server may have changed.
    pub(super) fn request_relist(&self) {
        self.relist.notify_one();
    }

    pub(super) async fn relist_requested(&self) {
        self.relist.notified().await;
    }
}
