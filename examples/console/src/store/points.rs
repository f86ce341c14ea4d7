//! Points of metrics.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Session;
use crate::clock::{from_stamp, stamp};
use crate::listing::rounded;

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricPoint {
    /// When it was measured.
    pub at: DateTime<Utc>,
    /// The value.
    pub value: f64,
}

/// A metric with points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricName {
    /// Its name.
    pub metric: String,
    /// The number of points.
    pub points: i64,
    /// When the newest was measured.
    pub newest: DateTime<Utc>,
}

/// A summary of points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricSummary {
    /// The metric.
    pub metric: String,
    /// The number of points.
    pub points: usize,
    /// The minimum.
    pub min: f64,
    /// The average.
    pub average: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The maximum.
    pub max: f64,
    /// The newest value.
    pub newest: MetricPoint,
}

/// Reads and writes points in the session of one call.
#[derive(Clone)]
pub struct MetricPointRepository {
    session: Session,
}

impl MetricPointRepository {
    /// Creates a repository in this session.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self { session }
    }

    /// Adds a point. It replaces one with the same time.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn insert(&self, metric: &str, point: &MetricPoint) -> sqlx::Result<()> {
        let mut connection = self.session.connection().await?;
        sqlx::query("INSERT OR REPLACE INTO points (metric, at, value) VALUES (?, ?, ?)")
            .bind(metric)
            .bind(stamp(point.at))
            .bind(point.value)
            .execute(&mut *connection)
            .await?;
        Ok(())
    }

    /// Returns the newest points since a time, newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn newest(&self, metric: &str, since: DateTime<Utc>, limit: u32) -> sqlx::Result<Vec<MetricPoint>> {
        let mut connection = self.session.connection().await?;
        let rows: Vec<(i64, f64)> =
            sqlx::query_as("SELECT at, value FROM points WHERE metric = ? AND at >= ? ORDER BY at DESC LIMIT ?")
                .bind(metric)
                .bind(stamp(since))
                .bind(limit)
                .fetch_all(&mut *connection)
                .await?;
        Ok(rows.into_iter().map(|(at, value)| MetricPoint { at: from_stamp(at), value }).collect())
    }

    /// Summarizes the points since a time, if there are any.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn summary(&self, metric: &str, since: DateTime<Utc>) -> sqlx::Result<Option<MetricSummary>> {
        let points = self.newest(metric, since, u32::MAX).await?;
        let Some(newest) = points.first().cloned() else { return Ok(None) };
        let mut values: Vec<f64> = points.iter().map(|point| point.value).collect();
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let (sum, p95) = (values.iter().sum::<f64>(), values[(last * 95).div_ceil(100)]);
        Ok(Some(MetricSummary {
            metric: metric.to_owned(),
            points: values.len(),
            min: values[0],
            average: rounded(sum / values.len() as f64),
            p95,
            max: values[last],
            newest,
        }))
    }

    /// Returns the metrics with points, sorted by name.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn names(&self) -> sqlx::Result<Vec<MetricName>> {
        let mut connection = self.session.connection().await?;
        let rows: Vec<(String, i64, i64)> =
            sqlx::query_as("SELECT metric, count(*), max(at) FROM points GROUP BY metric ORDER BY metric")
                .fetch_all(&mut *connection)
                .await?;
        let name = |(metric, points, newest)| MetricName { metric, points, newest: from_stamp(newest) };
        Ok(rows.into_iter().map(name).collect())
    }

    /// Deletes all points of a metric and returns their number.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn delete(&self, metric: &str) -> sqlx::Result<u64> {
        let mut connection = self.session.connection().await?;
        let deleted = sqlx::query("DELETE FROM points WHERE metric = ?").bind(metric).execute(&mut *connection).await?;
        Ok(deleted.rows_affected())
    }

    /// Deletes the points of all metrics before a time and returns their number.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn delete_before(&self, time: DateTime<Utc>) -> sqlx::Result<u64> {
        let mut connection = self.session.connection().await?;
        let deleted =
            sqlx::query("DELETE FROM points WHERE at < ?").bind(stamp(time)).execute(&mut *connection).await?;
        Ok(deleted.rows_affected())
    }
}
