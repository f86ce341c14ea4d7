//! The stream over which a server speaks unasked.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tool_runtime::CancellationToken;

/// How long the first request waits until we can hear what the server says unasked.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(1);

/// Whether we hear what a server says unasked.
#[derive(Default)]
pub(super) struct Unasked {
    /// The stream was opened, or it will not be.
    tried: CancellationToken,
    streams: Arc<Open>,
}

/// Kept by each stream that is open: that one, and those of answers that were taken up again.
#[derive(Default)]
pub(super) struct Open;

impl Unasked {
    /// In a session rmcp opens that stream while it sends the first requests. What a server asks before it is open,
    /// such as a question that belongs to a call, is lost with many, and the call waits for it in vain.
    pub(super) async fn until_tried(&self) {
        if !self.tried.is_cancelled() && timeout(LISTEN_TIMEOUT, self.tried.cancelled()).await.is_err() {
            self.tried.cancel();
        }
    }

    /// Says that the stream was tried, when what is given back is dropped.
    pub(super) fn tried(&self) -> DropGuard {
        self.tried.clone().drop_guard()
    }

    /// Whether a stream is open over which the server can say what it likes.
    pub(super) fn is_heard(&self) -> bool {
        Arc::strong_count(&self.streams) > 1
    }

    /// Counts a stream as open until what is given back is dropped.
    pub(super) fn opened(&self) -> Arc<Open> {
        self.streams.clone()
    }
}
