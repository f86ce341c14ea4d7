//! The way to workers that have more tools.

use tool_nats::{ConnectionBuilder, NatsConnection};

use crate::app::{OrStart, StartError};

/// Connects to where workers are. How to get in is for the environment to say, as for all programs of NATS: `NATS_USER` and
/// `NATS_PASSWORD`, or `NATS_CREDS` with a credentials file; `NATS_CA`; `NATS_INBOX_PREFIX`.
pub(crate) async fn connect(url: &str) -> Result<NatsConnection, StartError> {
    ConnectionBuilder::from_env().url(url).await.or_start("the tools of workers cannot be had")
}
