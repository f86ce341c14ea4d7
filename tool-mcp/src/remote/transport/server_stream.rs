//! The stream for requests and notifications that the server initiates.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tool_runtime::CancellationToken;

/// The time that the first request waits for the stream.
const OPEN_TIMEOUT: Duration = Duration::from_secs(1);

/// The state of the server's stream.
#[derive(Default)]
pub(super) struct ServerStream {
    /// Cancelled once opening the stream was attempted.
    attempted: CancellationToken,
    streams: Arc<OpenStream>,
}

/// Held by each open stream: the server's stream, and resumed streams of responses.
#[derive(Default)]
pub(super) struct OpenStream;

impl ServerStream {
    /// Waits until opening the stream was attempted. rmcp opens it concurrently with the first requests of a session. Many
    /// servers lose requests that they send before it is open, such as an elicitation, and the call would never end.
    pub(super) async fn wait_for_attempt(&self) {
        if !self.attempted.is_cancelled() && timeout(OPEN_TIMEOUT, self.attempted.cancelled()).await.is_err() {
            self.attempted.cancel();
        }
    }

    /// Returns a guard that marks the attempt as done when dropped.
    pub(super) fn attempt(&self) -> DropGuard {
        self.attempted.clone().drop_guard()
    }

    /// Returns `true` if a stream is open over which the server can send messages.
    pub(super) fn is_open(&self) -> bool {
        Arc::strong_count(&self.streams) > 1
    }

    /// Counts a stream as open until the returned value is dropped.
    pub(super) fn opened(&self) -> Arc<OpenStream> {
        self.streams.clone()
    }
}
