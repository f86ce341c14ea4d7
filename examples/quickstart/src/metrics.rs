//! The tools `metrics.*`, methods of an instance built for each call.

use std::fmt;

use chrono::{DateTime, Utc};
use tool_runtime::{tool, tool_class};

use crate::repository::{Point, PointRepository};
use crate::user::CurrentUser;

/// The load of hosts over time.
pub struct MetricsService {
    repository: PointRepository,
}

#[tool_class(prefix = "metrics", category = "monitoring")]
impl MetricsService {
    /// Builds the instance of one call, whose repository uses the session of that call.
    pub fn new(repository: PointRepository) -> Self {
        Self { repository }
    }

    /// The newest points of one host, the newest first.
    ///
    /// # Arguments
    /// * `host` - Host name, such as `web-1`.
    /// * `since` - Leave out points measured before this time.
    #[tool(read_only)]
    pub async fn newest(
        &self,
        host: &str,
        /// Maximum number of points.
        #[arg(default = 10, min = 1, max = 100)]
        limit: u32,
        since: Option<DateTime<Utc>>,
    ) -> Result<Vec<Point>, MetricsError> {
        Ok(self.repository.newest(host, since, limit).await?)
    }

    /// Record points of one host, oldest first. Either all of them are kept or none.
    ///
    /// # Arguments
    /// * `host` - Host name, such as `web-1`.
    #[tool(tags = ["write"])]
    pub async fn record(
        &self,
        #[arg(pattern = "^[a-z0-9-]+$", max_length = 63)] host: &str,
        /// The points to add, each newer than all before it.
        #[arg(min_length = 1, max_length = 1000)]
        points: &[Point],
    ) -> Result<String, MetricsError> {
        let mut newest = self.repository.newest(host, None, 1).await?.pop().map(|point| point.at);
        for point in points {
            if let Some(newest) = newest
                && point.at <= newest
            {
                return Err(MetricsError::OutOfOrder { at: point.at, newest });
            }
            self.repository.insert(host, point).await?;
            newest = Some(point.at);
        }
        Ok(format!("{} points recorded", points.len()))
    }

    /// Delete all points of a host. This cannot be undone.
    ///
    /// # Arguments
    /// * `host` - Host name, such as `web-1`.
    #[tool(name = "metrics.purge", sensitive, destructive, tags = ["write"], timeout = "5s")]
    pub async fn purge_host(&self, host: &str, #[inject] user: &CurrentUser) -> Result<u64, MetricsError> {
        if !user.may_delete {
            return Err(MetricsError::NotAllowed { user: user.name.clone() });
        }
        Ok(self.repository.delete(host).await?)
    }
}

/// Errors of the handlers, as the model reads them.
#[derive(Debug)]
pub enum MetricsError {
    OutOfOrder { at: DateTime<Utc>, newest: DateTime<Utc> },
    NotAllowed { user: String },
    Database(sqlx::Error),
}

impl fmt::Display for MetricsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfOrder { at, newest } => {
                write!(f, "nothing was recorded: the point of {at} is not newer than that of {newest}")
            }
            Self::NotAllowed { user } => write!(f, "{user} may not delete points"),
            Self::Database(error) => write!(f, "the database failed: {error}"),
        }
    }
}

impl From<sqlx::Error> for MetricsError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}
