//! How often a stream of events that broke is taken up again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::common::client_side_sse::SseRetryPolicy;

use super::wire::Wire;

/// How often it is tried before what the stream should have brought is given up.
const ATTEMPTS: usize = 3;
/// The pause after a stream that ended; after each failure it is twice as long.
const PAUSE: Duration = Duration::from_secs(1);

/// Takes a stream up again a few times. After that the server may be another, or gone: it is asked for its tools, which
/// shows it, and whoever waits for an answer of the stream is told. rmcp would go on for ever, and the call with it.
pub(super) struct Resume {
    wire: Arc<Wire>,
}

impl Resume {
    pub(super) fn new(wire: Arc<Wire>) -> Self {
        Self { wire }
    }
}

impl SseRetryPolicy for Resume {
    fn retry(&self, failures: usize) -> Option<Duration> {
        if failures < ATTEMPTS {
            return Some(PAUSE * (1 << failures));
        }
        self.wire.changed.notify_one();
        None
    }
}

impl fmt::Debug for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resume")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_that_stays_broken_puts_the_server_in_doubt() {
        let wire = Arc::<Wire>::default();
        let resume = Resume::new(wire.clone());
        let pauses: Vec<_> = (0..).map_while(|failures| resume.retry(failures)).map(|pause| pause.as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4]);
        wire.changed.notified().await;
    }
}
