//! Telling clients that the tools have changed.

use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use rmcp::service::{Peer, SubscriptionSink};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Shared;

/// How long a client may take to read that the tools have changed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The clients of the 2025 generation that are connected. Those of 2026-07-28 subscribe.
pub(super) struct Peers {
    known: Mutex<Vec<Peer<RoleServer>>>,
    watched: Once,
}

impl Default for Peers {
    fn default() -> Self {
        Self { known: Mutex::default(), watched: Once::new() }
    }
}

impl Peers {
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

impl<H: ServerHandler> Shared<H> {
    /// Tells a client of changes from now on, until it goes away.
    pub(super) fn tell(self: &Arc<Self>, peer: Peer<RoleServer>) {
        self.peers.add(peer);
        self.peers.watched.call_once(|| {
            let mut changes = Changes::of(self);
            // It must not keep the server alive.
            let server = Arc::downgrade(self);
            tokio::spawn(async move {
                while changes.wait().await {
                    let Some(server) = server.upgrade() else { return };
                    if !changes.show(&server) {
                        continue;
                    }
                    // Side by side: one that does not read must not keep the others from hearing of it.
                    let told: JoinSet<()> = server.peers.connected().into_iter().map(tell).collect();
                    told.join_all().await;
                }
            });
        });
    }

    /// Tells a subscriber of changes, until it goes away.
    pub(super) async fn tell_subscriber(&self, sink: SubscriptionSink) {
        let mut changes = Changes::of(self);
        while changes.wait().await {
            if changes.show(self) && sink.notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    }
}

/// Tells one client, if it listens.
async fn tell(peer: Peer<RoleServer>) {
    match tokio::time::timeout(PATIENCE, peer.notify_tool_list_changed()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a client no longer hears of changes"),
        Err(_) => tracing::debug!("a client does not listen"),
    }
}

/// Changes of the registry, and whether they show: what is offered may be a selection.
struct Changes {
    registry: watch::Receiver<u64>,
    shown: Option<Arc<str>>,
}

impl Changes {
    fn of<H>(server: &Shared<H>) -> Self {
        // In this order: a change in between shows twice, and not never.
        let registry = server.tools.registry().changes();
        Self { registry, shown: shown(server) }
    }

    /// Waits for a change; false when there can be none any more.
    async fn wait(&mut self) -> bool {
        self.registry.changed().await.is_ok()
    }

    fn show<H>(&mut self, server: &Shared<H>) -> bool {
        let before = std::mem::replace(&mut self.shown, shown(server));
        before != self.shown
    }
}

fn shown<H>(server: &Shared<H>) -> Option<Arc<str>> {
    server.listings.of(&server.tools).ok().map(|listing| listing.text().clone())
}
