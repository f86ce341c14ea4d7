//! The tool `report.host`, a method of an instance shared by all calls.

use tool_runtime::tool_class;

use crate::repository::{Point, PointRepository};

/// A service that summarizes points. It holds only configuration, so one instance serves all calls.
pub struct ReportService {
    /// Threshold of a high load, in percent.
    pub high: f64,
}

#[tool_class]
impl ReportService {
    /// Summarize the load of a host in one line.
    ///
    /// # Arguments
    /// * `host` - Host name, such as `web-1`.
    /// * `detail` - Level of detail.
    pub async fn host(
        &self,
        host: &str,
        #[arg(default = "short")] detail: Detail,
        // Injected by name. Uses the session of the call.
        repository: &PointRepository,
    ) -> Result<String, sqlx::Error> {
        let points = repository.newest(host, None, 100).await?;
        let Some(newest) = points.first() else {
            return Ok(format!("{host}: no points"));
        };
        let level = if newest.value > self.high { "high" } else { "normal" };
        let line = format!("{host}: load {level} ({:.0} %)", newest.value);
        Ok(match detail {
            Detail::Short => line,
            Detail::Long => format!("{line}, on average {:.0} % over {} points", average(&points), points.len()),
        })
    }
}

/// The level of detail of a report.
#[derive(Clone, Copy, Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// The newest point.
    Short,
    /// The newest point and the average.
    Long,
}

fn average(points: &[Point]) -> f64 {
    points.iter().map(|point| point.value).sum::<f64>() / points.len() as f64
}
