//! A repository of points that uses the session of one call.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::Session;

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Time of the measurement.
    pub at: DateTime<Utc>,
    /// The load, in percent.
    pub value: f64,
}

/// Reads and writes points.
#[derive(Clone)]
pub struct PointRepository {
    session: Session,
}

impl PointRepository {
    pub fn new(session: Session) -> Self {
        Self { session }
    }

    pub async fn insert(&self, host: &str, point: &Point) -> sqlx::Result<()> {
        let mut connection = self.session.connection().await?;
        sqlx::query("INSERT INTO points (host, at, value) VALUES (?, ?, ?)")
            .bind(host)
            .bind(point.at)
            .bind(point.value)
            .execute(&mut *connection)
            .await?;
        Ok(())
    }

    /// Returns the newest points, newest first.
    pub async fn newest(&self, host: &str, since: Option<DateTime<Utc>>, limit: u32) -> sqlx::Result<Vec<Point>> {
        let mut connection = self.session.connection().await?;
        let rows: Vec<(DateTime<Utc>, f64)> = sqlx::query_as(
            "SELECT at, value FROM points WHERE host = ?1 AND (?2 IS NULL OR at >= ?2) ORDER BY at DESC LIMIT ?3",
        )
        .bind(host)
        .bind(since)
        .bind(limit)
        .fetch_all(&mut *connection)
        .await?;
        Ok(rows.into_iter().map(|(at, value)| Point { at, value }).collect())
    }

    pub async fn delete(&self, host: &str) -> sqlx::Result<u64> {
        let mut connection = self.session.connection().await?;
        let deleted = sqlx::query("DELETE FROM points WHERE host = ?").bind(host).execute(&mut *connection).await?;
        Ok(deleted.rows_affected())
    }
}
