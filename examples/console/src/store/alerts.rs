//! Alerts: metrics above their thresholds.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Session;
use crate::clock::{from_stamp, stamp};

/// Maximum number of closed alerts.
const KEPT: u32 = 1000;

/// A metric that is or was above its threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alert {
    /// The id of the alert.
    pub id: i64,
    /// The metric.
    pub metric: String,
    /// The threshold.
    pub threshold: f64,
    /// The highest value.
    pub peak: f64,
    /// When it was opened.
    pub opened: DateTime<Utc>,
    /// When it was closed, if it is.
    pub closed: Option<DateTime<Utc>>,
    /// When it was acknowledged.
    pub acknowledged: Option<DateTime<Utc>>,
    /// The note of the acknowledgement.
    pub note: Option<String>,
}

/// A filter for alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AlertState {
    /// Open alerts.
    Open,
    /// Open alerts that are not acknowledged.
    New,
    /// Closed alerts.
    Closed,
    /// All alerts.
    All,
}

type Row = (i64, String, f64, f64, i64, Option<i64>, Option<i64>, Option<String>);

/// Reads and writes alerts in the session of one call.
#[derive(Clone)]
pub struct AlertRepository {
    session: Session,
}

impl AlertRepository {
    /// Creates a repository in this session.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self { session }
    }

    /// Returns the newest alerts, newest first, and their total number.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn list(&self, state: AlertState, limit: u32) -> sqlx::Result<(usize, Vec<Alert>)> {
        let wanted = match state {
            AlertState::Open => "closed IS NULL",
            AlertState::New => "closed IS NULL AND acknowledged IS NULL",
            AlertState::Closed => "closed IS NOT NULL",
            AlertState::All => "TRUE",
        };
        let query = format!(
            "SELECT id, metric, threshold, peak, opened, closed, acknowledged, note FROM alerts WHERE {wanted} \
             ORDER BY id DESC LIMIT ?"
        );
        let count = format!("SELECT count(*) FROM alerts WHERE {wanted}");
        let mut connection = self.session.connection().await?;
        let (total,): (i64,) = sqlx::query_as(sqlx::AssertSqlSafe(count)).fetch_one(&mut *connection).await?;
        let rows: Vec<Row> = sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(limit).fetch_all(&mut *connection).await?;
        Ok((usize::try_from(total).unwrap_or_default(), rows.into_iter().map(read).collect()))
    }

    /// Acknowledges an alert. Returns `false` if there is none with that id.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn acknowledge(&self, id: i64, note: Option<&str>, at: DateTime<Utc>) -> sqlx::Result<bool> {
        let mut connection = self.session.connection().await?;
        let update =
            "UPDATE alerts SET acknowledged = coalesce(acknowledged, ?), note = coalesce(?, note) WHERE id = ?";
        let done = sqlx::query(update).bind(stamp(at)).bind(note).bind(id).execute(&mut *connection).await?;
        Ok(done.rows_affected() > 0)
    }

    /// Opens, updates or closes an alert after a measurement.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn measured(&self, metric: &str, value: f64, threshold: f64, at: DateTime<Utc>) -> sqlx::Result<()> {
        let mut connection = self.session.connection().await?;
        let statement = if value > threshold {
            "INSERT INTO alerts (metric, opened, peak, threshold) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (metric) WHERE closed IS NULL DO UPDATE SET peak = max(peak, excluded.peak)"
        } else {
            "UPDATE alerts SET closed = ?2 WHERE metric = ?1 AND closed IS NULL"
        };
        let statement = sqlx::query(statement).bind(metric).bind(stamp(at)).bind(value).bind(threshold);
        statement.execute(&mut *connection).await?;
        Ok(())
    }

    /// Deletes the closed alerts and returns their number.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn delete_closed(&self) -> sqlx::Result<u64> {
        self.keep_closed(0).await
    }

    /// Deletes the oldest closed alerts beyond the limit.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn prune(&self) -> sqlx::Result<u64> {
        self.keep_closed(KEPT).await
    }

    async fn keep_closed(&self, kept: u32) -> sqlx::Result<u64> {
        let mut connection = self.session.connection().await?;
        let delete = "DELETE FROM alerts WHERE id IN \
                      (SELECT id FROM alerts WHERE closed IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)";
        Ok(sqlx::query(delete).bind(kept).execute(&mut *connection).await?.rows_affected())
    }
}

fn read((id, metric, threshold, peak, opened, closed, acknowledged, note): Row) -> Alert {
    let (closed, acknowledged) = (closed.map(from_stamp), acknowledged.map(from_stamp));
    Alert { id, metric, threshold, peak, opened: from_stamp(opened), closed, acknowledged, note }
}
