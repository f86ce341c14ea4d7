//! The tools `internet_events.*`: changes of the targets' state.

use chrono::Utc;
use tool_runtime::{HandlerError, tool, tool_class};

use crate::clock::hours_before;
use crate::listing::Listing;
use crate::store::{InternetEvent, InternetEventRepository, Outage, Session};

/// Events of targets that went down or came up.
pub struct InternetEventsService {
    events: InternetEventRepository,
}

#[tool_class(prefix = "internet_events", category = "network")]
impl InternetEventsService {
    /// Creates the service for one call, in its session.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self { events: InternetEventRepository::new(session) }
    }

    /// Returns when targets went down and came up, the newest first. A target without events has always been up.
    #[tool(read_only)]
    pub async fn list(
        &self,
        /// Only this target, as returned by `internet_metrics.targets`.
        #[arg(max_length = 300)]
        target: Option<&str>,
        /// Maximum number of items.
        #[arg(default = 20, min = 1, max = 200)]
        limit: u32,
    ) -> Result<Vec<InternetEvent>, HandlerError> {
        Ok(self.events.newest(target, limit).await?)
    }

    /// Returns the outages of some hours, the newest first, each with its duration.
    #[tool(read_only)]
    pub async fn outages(
        &self,
        /// Number of hours to look back.
        #[arg(default = 24, min = 1, max = 744)]
        hours: u32,
    ) -> Result<Listing<Outage>, HandlerError> {
        let now = Utc::now();
        Ok(Listing::first(self.events.outages(hours_before(now, hours), now).await?, 200))
    }
}
