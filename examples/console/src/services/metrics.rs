//! The tools `metrics.*`: stored measurements.

use chrono::{DateTime, Utc};
use tool_runtime::{Effect, HandlerError, tool, tool_class};

use crate::clock::hours_before;
use crate::store::{MetricName, MetricPoint, MetricPointRepository, MetricSummary};

/// Stored measurements.
pub struct MetricsService {
    repository: MetricPointRepository,
}

#[tool_class(prefix = "metrics", category = "metrics")]
impl MetricsService {
    /// Creates the service for one call, with a repository in its session.
    #[must_use]
    pub fn new(repository: MetricPointRepository) -> Self {
        Self { repository }
    }

    /// Returns the stored metrics, each with the number of its points.
    #[tool(read_only)]
    pub async fn names(&self) -> Result<Vec<MetricName>, HandlerError> {
        Ok(self.repository.names().await?)
    }

    /// Returns the newest points of one metric, the newest first.
    #[tool(read_only)]
    pub async fn newest(
        &self,
        /// The metric, as returned by `metrics.names`, such as `cpu_percent`.
        #[arg(min_length = 1, max_length = 300)]
        metric: &str,
        /// Only points measured at or after this time.
        since: Option<DateTime<Utc>>,
        /// Maximum number of items.
        #[arg(default = 20, min = 1, max = 1000)]
        limit: u32,
    ) -> Result<Vec<MetricPoint>, HandlerError> {
        let points = self.repository.newest(metric, since.unwrap_or_default(), limit).await?;
        if points.is_empty() && since.is_none() {
            return Err(unknown(metric));
        }
        Ok(points)
    }

    /// Summarizes one metric over some hours: minimum, average, 95th percentile, maximum, newest.
    #[tool(read_only)]
    pub async fn summary(
        &self,
        /// The metric, as returned by `metrics.names`, such as `memory_percent`.
        #[arg(min_length = 1, max_length = 300)]
        metric: &str,
        /// Number of hours to look back.
        #[arg(default = 1, min = 1, max = 744)]
        hours: u32,
    ) -> Result<MetricSummary, HandlerError> {
        let summary = self.repository.summary(metric, hours_before(Utc::now(), hours)).await?;
        summary.ok_or_else(|| unknown(metric))
    }

    /// Deletes all points of one metric permanently.
    #[tool(sensitive, destructive, tags = ["write"], preview = "preview_purge")]
    pub async fn purge(
        &self,
        /// The metric, as returned by `metrics.names`.
        #[arg(min_length = 1, max_length = 300)]
        metric: &str,
    ) -> Result<String, HandlerError> {
        match self.repository.delete(metric).await? {
            0 => Err(unknown(metric)),
            deleted => Ok(format!("{deleted} points of {metric} are deleted.")),
        }
    }

    async fn preview_purge(&self, metric: &str) -> Result<Effect, HandlerError> {
        let names = self.repository.names().await?;
        let found = names.into_iter().find(|name| name.metric == metric).ok_or_else(|| unknown(metric))?;
        let quoted = metric.replace('\'', "''");
        Ok(Effect::Statement(format!("DELETE FROM points WHERE metric = '{quoted}' -- {} points", found.points)))
    }
}

fn unknown(metric: &str) -> HandlerError {
    HandlerError::retry(format!("There are no points of `{metric}`. `metrics.names` lists the metrics."))
}
