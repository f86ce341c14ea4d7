//! Notifies clients of changed tools.

use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use rmcp::service::{Peer, SubscriptionSink};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::ServerShared;

/// The time that a client has to read a notification.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(10);

/// The connected clients of 2025-11-25. Clients of 2026-07-28 subscribe instead.
pub(super) struct ConnectedPeers {
    known: Mutex<Vec<Peer<RoleServer>>>,
    watched: Once,
}

impl Default for ConnectedPeers {
    fn default() -> Self {
        Self { known: Mutex::default(), watched: Once::new() }
    }
}

impl ConnectedPeers {
    fn connected(&self) -> Vec<Peer<RoleServer>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|peer| !peer.is_transport_closed());
        known.clone()
    }

    fn add(&self, peer: Peer<RoleServer>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|peer| !peer.is_transport_closed());
        known.push(peer);
    }
}

impl<H: ServerHandler> ServerShared<H> {
    /// Notifies a client of changes from now on, until it disconnects.
    pub(super) fn add_peer(self: &Arc<Self>, peer: Peer<RoleServer>) {
        self.peers.add(peer);
        self.peers.watched.call_once(|| {
            let mut changes = ListChanges::new(self);
            // The task must not keep the server alive.
            let server = Arc::downgrade(self);
            tokio::spawn(async move {
                while changes.wait().await {
                    let Some(server) = server.upgrade() else { return };
                    if !changes.are_visible(&server) {
                        continue;
                    }
                    // Concurrently, so that a client that does not read cannot block the others.
                    let notified: JoinSet<()> = server.peers.connected().into_iter().map(notify).collect();
                    notified.join_all().await;
                }
            });
        });
    }

    /// Notifies a subscriber of changes, until it disconnects.
    pub(super) async fn notify_subscriber(&self, sink: SubscriptionSink) {
        let mut changes = ListChanges::new(self);
        while changes.wait().await {
            if changes.are_visible(self) && sink.notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    }
}

async fn notify(peer: Peer<RoleServer>) {
    match tokio::time::timeout(NOTIFY_TIMEOUT, peer.notify_tool_list_changed()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "cannot notify a client of changed tools"),
        Err(_) => tracing::debug!("a client does not read notifications"),
    }
}

/// Watches the registry for changes that affect the listed tools, which may be a selection.
struct ListChanges {
    registry: watch::Receiver<u64>,
    listed: Option<Arc<str>>,
}

impl ListChanges {
    fn new<H>(server: &ServerShared<H>) -> Self {
        // In this order, a change in between is reported twice instead of never.
        let registry = server.tools.registry().changes();
        Self { registry, listed: listed_text(server) }
    }

    /// Waits for a change. Returns `false` when there can be no more changes.
    async fn wait(&mut self) -> bool {
        self.registry.changed().await.is_ok()
    }

    /// Returns `true` if the list has changed since the last call.
    fn are_visible<H>(&mut self, server: &ServerShared<H>) -> bool {
        let before = std::mem::replace(&mut self.listed, listed_text(server));
        before != self.listed
    }
}

fn listed_text<H>(server: &ServerShared<H>) -> Option<Arc<str>> {
    server.listings.current(&server.tools).ok().map(|listing| listing.text().clone())
}
