//! How a tool finds the connection of its server, whichever that is at the moment.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::connection::Connection;

/// How long a call waits for a connection that is being made.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the tools of a server share. A tool stays when its server goes: it says so when it is called.
pub(super) struct Link {
    name: Arc<str>,
    state: watch::Sender<State>,
    doubt: Notify,
}

#[derive(Clone)]
pub(super) enum State {
    Connecting,
    /// The program runs, and has answered nothing for longer than it should take to connect. It is waited for.
    Starting,
    Connected(Arc<Connection>),
    /// Not connected, and why. It is tried again.
    Away(Arc<str>),
    Closed,
}

impl State {
    /// Whether it is worth no waiting. A connection that is over is about to be replaced.
    fn is_settled(&self) -> bool {
        match self {
            Self::Connecting => false,
            Self::Connected(connection) => !connection.is_over(),
            Self::Starting | Self::Away(_) | Self::Closed => true,
        }
    }
}

impl Link {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self { name, state: watch::Sender::new(State::Connecting), doubt: Notify::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(super) fn set(&self, state: State) {
        self.state.send_replace(state);
    }

    /// The connection, or in words why there is none. One that is being made is waited for.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, String> {
        if let State::Connected(connection) = &*self.state.borrow()
            && !connection.is_over()
        {
            return Ok(connection.clone());
        }
        let mut state = self.state.subscribe();
        let made = tokio::time::timeout(PATIENCE, state.wait_for(State::is_settled)).await;
        let name = &self.name;
        match made.ok().and_then(Result::ok).map(|state| state.clone()) {
            Some(State::Connected(connection)) => Ok(connection),
            Some(State::Away(why)) => Err(format!(
                "The server `{name}` is not connected: {why}. The call did not run; the server is tried again, so try later."
            )),
            Some(State::Starting) => {
                Err(format!("The server `{name}` is still starting. The call did not run; try again later."))
            }
            Some(State::Closed) => Err(format!("The server `{name}` was switched off. The call did not run.")),
            None | Some(State::Connecting) => {
                Err(format!("The server `{name}` is still being connected. The call did not run; try again."))
            }
        }
    }

    /// Says that the server may not be what it was: it is to list its tools again.
    pub(super) fn doubt(&self) {
        self.doubt.notify_one();
    }

    pub(super) async fn doubted(&self) {
        self.doubt.notified().await;
    }
}
