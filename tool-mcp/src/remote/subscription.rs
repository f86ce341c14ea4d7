//! Being told when a server's list of tools changes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use rmcp::service::{ServiceError, Subscription};
use tokio::time::{Instant, sleep, timeout};

use super::backoff::Backoff;
use super::connection::Connection;

/// How long a subscription may take to be acknowledged.
const TIMEOUT: Duration = Duration::from_secs(3);

/// In the newer generation changes of the list are only told to those who subscribe. What is told is heard by the wire.
pub(super) async fn subscribe(connection: &Arc<Connection>) {
    let info = connection.peer.peer_info();
    let Some(info) = info.filter(|info| !info.protocol_version.has_initialize()) else { return };
    if info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed) != Some(true) {
        return;
    }
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    match timeout(TIMEOUT, connection.peer.listen(filter.clone())).await {
        Ok(Ok(subscription)) => drop(tokio::spawn(stay_subscribed(Arc::downgrade(connection), filter, subscription))),
        Ok(Err(error)) => tracing::debug!(%error, "changes of its list will not be told"),
        Err(_) => tracing::debug!("changes of its list will not be told: the subscription is not acknowledged"),
    }
}

/// Subscribes again when a subscription ends, which proxies see to. What has changed meanwhile is found by listing, and so
/// is a server that is gone.
async fn stay_subscribed(connection: Weak<Connection>, filter: SubscriptionFilter, mut subscription: Subscription) {
    let mut backoff = Backoff::default();
    loop {
        let since = Instant::now();
        while let Ok(Some(_)) = subscription.next().await {}
        backoff.lost(since.elapsed(), false);
        subscription = loop {
            sleep(backoff.pause()).await;
            let Some((peer, wire)) = connection.upgrade().map(|open| (open.peer.clone(), open.wire.clone())) else {
                return;
            };
            let subscribed = timeout(TIMEOUT, peer.listen(filter.clone())).await;
            wire.changed.notify_one();
            match subscribed {
                Ok(Ok(subscription)) => break subscription,
                Ok(Err(error @ ServiceError::McpError(_))) => {
                    return tracing::debug!(%error, "changes of its list will not be told any more");
                }
                Ok(Err(_)) | Err(_) => backoff.failed(),
            }
        };
    }
}
