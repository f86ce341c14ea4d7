//! The tools `system_alerts.*`: what was above its threshold.

use chrono::Utc;
use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::{Effect, HandlerError, tool, tool_class};

use crate::listing::Listing;
use crate::settings::{SettingsFile, Thresholds};
use crate::store::{Alert, AlertRepository, AlertState, Session};

/// What was above its threshold.
pub struct SystemAlertsService {
    alerts: AlertRepository,
    settings: SettingsFile,
}

/// A metric that has a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// How busy the processors are.
    CpuPercent,
    /// How full the fullest disk is.
    DiskPercent,
    /// How much of the memory is used.
    MemoryPercent,
}

impl Watched {
    fn of(self, thresholds: &mut Thresholds) -> &mut f64 {
        match self {
            Self::CpuPercent => &mut thresholds.cpu_percent,
            Self::DiskPercent => &mut thresholds.disk_percent,
            Self::MemoryPercent => &mut thresholds.memory_percent,
        }
    }
}

#[tool_class(prefix = "system_alerts", category = "alerts")]
impl SystemAlertsService {
    /// Made for each call, on its session.
    #[must_use]
    pub fn new(session: Session, settings: SettingsFile) -> Self {
        Self { alerts: AlertRepository::new(session), settings }
    }

    /// Alerts, the newest first: which metric was above its threshold, since when, how high, and who knows of it.
    #[tool(read_only)]
    pub async fn list(
        &self,
        /// Which alerts.
        #[arg(default = "open")]
        state: AlertState,
        /// How many at most.
        #[arg(default = 20, min = 1, max = 200)]
        limit: u32,
    ) -> Result<Listing<Alert>, HandlerError> {
        let (total, items) = self.alerts.list(state, limit).await?;
        Ok(Listing { total, items })
    }

    /// Say that somebody knows of alerts, with a note. Either all of them are acknowledged or none.
    #[tool(idempotent, tags = ["write"])]
    pub async fn acknowledge(
        &self,
        /// The numbers of the alerts, as `system_alerts.list` gives them.
        #[arg(min_length = 1, max_length = 100)]
        ids: &[i64],
        /// What is done about it.
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

    /// What the metrics are not to be above, in percent.
    #[tool(read_only)]
    pub fn thresholds(&self) -> Thresholds {
        self.settings.get().alerts
    }

    /// Change what a metric is not to be above.
    #[tool(sensitive, idempotent, blocking, tags = ["write"], preview = "preview_threshold")]
    pub fn set_threshold(
        &self,
        /// Which metric.
        metric: Watched,
        /// The new threshold, in percent.
        #[arg(min = 1, max = 100)]
        percent: f64,
    ) -> Result<String, HandlerError> {
        let settings = self.settings.change(|settings| *metric.of(&mut settings.alerts) = percent)?;
        Ok(format!("Alerts are raised above {} %.", metric.of(&mut settings.alerts.clone())))
    }

    fn preview_threshold(&self, metric: Watched, percent: f64) -> Effect {
        let now = *metric.of(&mut self.settings.get().alerts);
        Effect::Text(format!("The threshold changes from {now} % to {percent} %."))
    }

    /// Delete the alerts that are over, for good. Open ones stay.
    #[tool(sensitive, destructive, tags = ["write"], preview = "preview_clear")]
    pub async fn clear_closed(&self) -> Result<String, HandlerError> {
        Ok(format!("{} alerts are deleted.", self.alerts.delete_closed().await?))
    }

    async fn preview_clear(&self) -> Result<Effect, HandlerError> {
        let (total, _) = self.alerts.list(AlertState::Closed, 0).await?;
        Ok(Effect::Statement(format!("DELETE FROM alerts WHERE closed IS NOT NULL -- {total} alerts")))
    }
}
