//! Subscription to changes of a server's tools.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use rmcp::service::{ServiceError, Subscription};
use tokio::time::{Instant, sleep, timeout};

use super::backoff::Backoff;
use super::connection::ServerConnection;

/// The time limit for the acknowledgement of a subscription.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Subscribes to changes of the tools, which 2026-07-28 requires. The connection monitor receives the notifications.
pub(super) async fn subscribe(connection: &Arc<ServerConnection>) {
    let info = connection.peer.peer_info();
    let Some(info) = info.filter(|info| !info.protocol_version.has_initialize()) else { return };
    if info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed) != Some(true) {
        return;
    }
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    match timeout(TIMEOUT, connection.peer.listen(filter.clone())).await {
        Ok(Ok(subscription)) => drop(tokio::spawn(stay_subscribed(Arc::downgrade(connection), filter, subscription))),
        Ok(Err(error)) => tracing::debug!(%error, "cannot subscribe to tool changes"),
        Err(_) => tracing::debug!("cannot subscribe to tool changes: not acknowledged"),
    }
}

/// Subscribes again whenever a subscription ends, for example because of a proxy's timeout. Each time the tools are listed
/// again, which finds missed changes and also notices that a server is gone.
async fn stay_subscribed(
    connection: Weak<ServerConnection>,
    filter: SubscriptionFilter,
    mut subscription: Subscription,
) {
    let mut backoff = Backoff::default();
    loop {
        let since = Instant::now();
        while let Ok(Some(_)) = subscription.next().await {}
        backoff.lost(since.elapsed(), false);
        subscription = loop {
            sleep(backoff.pause()).await;
            let Some((peer, monitor)) = connection.upgrade().map(|open| (open.peer.clone(), open.monitor.clone()))
            else {
                return;
            };
            let subscribed = timeout(TIMEOUT, peer.listen(filter.clone())).await;
            monitor.tools_changed.notify_one();
            match subscribed {
                Ok(Ok(subscription)) => break subscription,
                Ok(Err(error @ ServiceError::McpError(_))) => {
                    return tracing::debug!(%error, "the subscription to tool changes was refused");
                }
                Ok(Err(_)) | Err(_) => backoff.failed(),
            }
        };
    }
}
