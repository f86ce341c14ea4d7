//! Connection to NATS workers with more tools.

use tool_nats::{ConnectionBuilder, NatsConnection};

use crate::app::{OrStart, StartError};

/// Connects to a NATS server. Credentials come from the environment: `NATS_USER` and `NATS_PASSWORD`, or `NATS_CREDS`
/// with a credentials file; `NATS_CA`; `NATS_INBOX_PREFIX`.
pub(crate) async fn connect(url: &str) -> Result<NatsConnection, StartError> {
    ConnectionBuilder::from_env().url(url).await.or_start("cannot connect to the workers")
}
