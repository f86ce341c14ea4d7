//! The tool `report.host`, on one instance that all calls share.

use tool_runtime::tool_class;

use crate::repository::{Point, PointRepository};

/// Words for numbers. Holds configuration only, so that one instance serves all calls.
pub struct ReportService {
    /// A load above this, in percent, is high.
    pub high: f64,
}

#[tool_class]
impl ReportService {
    /// Say in one line how a host is doing.
    ///
    /// # Arguments
    /// * `host` - Host name, such as `web-1`.
    /// * `detail` - How much to say.
    pub async fn host(
        &self,
        host: &str,
        #[arg(default = "short")] detail: Detail,
        // Injected by its name: the session of the call stands behind it.
        repository: &PointRepository,
    ) -> Result<String, sqlx::Error> {
        let points = repository.newest(host, None, 100).await?;
        let Some(newest) = points.first() else {
            return Ok(format!("{host}: no points"));
        };
        let mood = if newest.value > self.high { "high" } else { "normal" };
        let line = format!("{host}: load {mood} ({:.0} %)", newest.value);
        Ok(match detail {
            Detail::Short => line,
            Detail::Long => format!("{line}, on average {:.0} % over {} points", average(&points), points.len()),
        })
    }
}

/// How much a report says.
#[derive(Clone, Copy, Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// The newest point.
    Short,
    /// The average, too.
    Long,
}

fn average(points: &[Point]) -> f64 {
    points.iter().map(|point| point.value).sum::<f64>() / points.len() as f64
}
