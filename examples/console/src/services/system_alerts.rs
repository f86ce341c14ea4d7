//! The tools `system_alerts.*`: metrics above their thresholds.

use chrono::Utc;
use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::{Effect, HandlerError, tool, tool_class};

use crate::listing::Listing;
use crate::settings::{SettingsFile, Thresholds};
use crate::store::{Alert, AlertRepository, AlertState, Session};

/// Metrics above their thresholds.
pub struct SystemAlertsService {
    alerts: AlertRepository,
    settings: SettingsFile,
}

/// A metric that has a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdMetric {
    /// CPU usage.
    CpuPercent,
    /// Usage of the fullest disk.
    DiskPercent,
    /// Memory usage.
    MemoryPercent,
}

impl ThresholdMetric {
    fn threshold_mut(self, thresholds: &mut Thresholds) -> &mut f64 {
        match self {
            Self::CpuPercent => &mut thresholds.cpu_percent,
            Self::DiskPercent => &mut thresholds.disk_percent,
            Self::MemoryPercent => &mut thresholds.memory_percent,
        }
    }
}

#[tool_class(prefix = "system_alerts", category = "alerts")]
impl SystemAlertsService {
    /// Creates the service for one call, in its session.
    #[must_use]
    pub fn new(session: Session, settings: SettingsFile) -> Self {
        Self { alerts: AlertRepository::new(session), settings }
    }

    /// Returns alerts, the newest first: the metric above its threshold, its value, the start, and the acknowledgement.
    #[tool(read_only)]
    pub async fn list(
        &self,
        /// The state of the alerts.
        #[arg(default = "open")]
        state: AlertState,
        /// Maximum number of items.
        #[arg(default = 20, min = 1, max = 200)]
        limit: u32,
    ) -> Result<Listing<Alert>, HandlerError> {
        let (total, items) = self.alerts.list(state, limit).await?;
        Ok(Listing { total, items })
    }

    /// Acknowledges alerts, with an optional note. Either all of them are acknowledged or none.
    #[tool(idempotent, tags = ["write"])]
    pub async fn acknowledge(
        &self,
        /// The ids of the alerts, as returned by `system_alerts.list`.
        #[arg(min_length = 1, max_length = 100)]
        ids: &[i64],
        /// A note, such as the next step.
        #[arg(max_length = 500)]
        note: Option<&str>,
    ) -> Result<String, HandlerError> {
        for id in ids {
            if !self.alerts.acknowledge(*id, note, Utc::now()).await? {
                return Err(HandlerError::retry(format!("There is no alert {id}; none was acknowledged.")));
            }
        }
        Ok(match ids {
            [id] => format!("Alert {id} is acknowledged."),
            ids => format!("{} alerts are acknowledged.", ids.len()),
        })
    }

    /// Returns the thresholds of the metrics, in percent.
    #[tool(read_only)]
    pub fn thresholds(&self) -> Thresholds {
        self.settings.get().alerts
    }

    /// Changes the threshold of a metric.
    #[tool(sensitive, idempotent, blocking, tags = ["write"], preview = "preview_threshold")]
    pub fn set_threshold(
        &self,
        /// The metric.
        metric: ThresholdMetric,
        /// The new threshold, in percent.
        #[arg(min = 1, max = 100)]
        percent: f64,
    ) -> Result<String, HandlerError> {
        let settings = self.settings.change(|settings| *metric.threshold_mut(&mut settings.alerts) = percent)?;
        Ok(format!("Alerts are raised above {} %.", metric.threshold_mut(&mut settings.alerts.clone())))
    }

    fn preview_threshold(&self, metric: ThresholdMetric, percent: f64) -> Effect {
        let now = *metric.threshold_mut(&mut self.settings.get().alerts);
        Effect::Text(format!("The threshold changes from {now} % to {percent} %."))
    }

    /// Deletes the closed alerts permanently. Open ones are kept.
    #[tool(sensitive, destructive, tags = ["write"], preview = "preview_clear")]
    pub async fn clear_closed(&self) -> Result<String, HandlerError> {
        Ok(format!("{} alerts are deleted.", self.alerts.delete_closed().await?))
    }

    async fn preview_clear(&self) -> Result<Effect, HandlerError> {
        let (total, _) = self.alerts.list(AlertState::Closed, 0).await?;
        Ok(Effect::Statement(format!("DELETE FROM alerts WHERE closed IS NOT NULL -- {total} alerts")))
    }
}
