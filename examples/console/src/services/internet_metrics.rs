//! The tools `internet_metrics.*`: reachability of the configured targets.

use chrono::Utc;
use tool_runtime::{HandlerError, tool, tool_class};

use crate::clock::hours_before;
use crate::internet::{TargetCheck, Targets, keep, latency_metric};
use crate::store::{MetricPointRepository, MetricSummary, Session};

/// Reachability of the configured targets.
pub struct InternetMetricsService {
    targets: Targets,
    session: Session,
}

#[tool_class(prefix = "internet_metrics", category = "network")]
impl InternetMetricsService {
    /// Creates the service for one call, in its session.
    #[must_use]
    pub fn new(targets: Targets, session: Session) -> Self {
        Self { targets, session }
    }

    /// Returns the configured targets, each as `host:port`. No others can be checked.
    #[tool(read_only)]
    pub fn targets(&self) -> Vec<String> {
        self.targets.list()
    }

    /// Connects to the configured host and returns the latency.
    #[tool(read_only)]
    pub async fn ping(&self, #[inject] ping_host: &str) -> Result<TargetCheck, HandlerError> {
        Ok(self.targets.reach(ping_host).await)
    }

    /// Checks a target now and stores the result.
    #[tool(idempotent)]
    pub async fn check(
        &self,
        /// The target, as returned by `internet_metrics.targets`.
        #[arg(min_length = 1, max_length = 300)]
        target: &str,
    ) -> Result<TargetCheck, HandlerError> {
        self.expect(target)?;
        let seen = self.targets.reach(target).await;
        keep(&self.session, &seen).await?;
        Ok(seen)
    }

    /// Returns the latency of a target over some hours: minimum, average, 95th percentile, maximum, newest.
    #[tool(read_only)]
    pub async fn latency(
        &self,
        /// The target, as returned by `internet_metrics.targets`.
        #[arg(min_length = 1, max_length = 300)]
        target: &str,
        /// Number of hours to look back.
        #[arg(default = 1, min = 1, max = 744)]
        hours: u32,
        repository: &MetricPointRepository,
    ) -> Result<MetricSummary, HandlerError> {
        self.expect(target)?;
        let summary = repository.summary(&latency_metric(target), hours_before(Utc::now(), hours)).await?;
        summary.ok_or_else(|| {
            HandlerError::retry(format!(
                "{target} was not reached within {hours} h. `internet_metrics.check` tries now."
            ))
        })
    }

    fn expect(&self, target: &str) -> Result<(), HandlerError> {
        let known = self.targets.list();
        if known.iter().any(|known| known == target) {
            return Ok(());
        }
        Err(HandlerError::retry(format!("`{target}` is not configured. The targets are {}.", known.join(", "))))
    }
}
