//! Reachability checks of network targets.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use serde::Serialize;
use tokio::net::TcpStream;

use crate::listing::rounded;
use crate::settings::SettingsFile;
use crate::store::{InternetEventRepository, MetricPoint, MetricPointRepository, Session};

/// The result of checking a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetCheck {
    /// The target.
    pub target: String,
    /// When it was checked.
    pub at: DateTime<Utc>,
    /// `true` if it accepted the connection.
    pub up: bool,
    /// The time until the connection was established.
    pub latency_ms: Option<f64>,
    /// The error of a failed check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The configured targets. No others can be checked, so that callers cannot scan the network.
#[derive(Clone, Debug)]
pub struct Targets {
    settings: SettingsFile,
    own: SocketAddr,
}

impl Targets {
    /// Creates the targets from the settings. If there are none, the console itself is the target.
    #[must_use]
    pub fn new(settings: SettingsFile, own: SocketAddr) -> Self {
        Self { settings, own }
    }

    /// Returns the targets as `host:port`.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        let targets = self.settings.get().internet.targets;
        if targets.is_empty() { vec![self.own.to_string()] } else { targets }
    }

    /// Returns the host of the ping tool.
    #[must_use]
    pub fn ping_host(&self) -> String {
        self.settings.get().internet.ping_host.unwrap_or_else(|| self.own.to_string())
    }

    /// Connects to a target and closes the connection.
    pub async fn reach(&self, target: &str) -> TargetCheck {
        let (at, begun) = (Utc::now(), Instant::now());
        let patience = Duration::from_millis(self.settings.get().internet.timeout_ms.into());
        let connected = tokio::time::timeout(patience, TcpStream::connect(target)).await;
        let (up, problem) = match connected {
            Ok(Ok(_)) => (true, None),
            Ok(Err(error)) => (false, Some(error.to_string())),
            Err(_) => (false, Some(format!("no answer within {} ms", patience.as_millis()))),
        };
        let latency_ms = up.then(|| rounded(begun.elapsed().as_secs_f64() * 1000.0));
        TargetCheck { target: target.to_owned(), at, up, latency_ms, problem }
    }

    /// Checks all targets concurrently.
    pub async fn reach_all(&self) -> Vec<TargetCheck> {
        let targets = self.list();
        join_all(targets.iter().map(|target| self.reach(target))).await
    }
}

/// Returns the name of a target's latency metric.
#[must_use]
pub fn latency_metric(target: &str) -> String {
    format!("latency_ms {target}")
}

/// Stores a check: its latency as a point, and a change of state as an event.
///
/// # Errors
/// If the database fails.
pub async fn keep(session: &Session, seen: &TargetCheck) -> sqlx::Result<()> {
    if let Some(value) = seen.latency_ms {
        let points = MetricPointRepository::new(session.clone());
        points.insert(&latency_metric(&seen.target), &MetricPoint { at: seen.at, value }).await?;
    }
    let detail = match (&seen.problem, seen.latency_ms) {
        (Some(problem), _) => problem.clone(),
        (None, Some(latency)) => format!("{latency} ms"),
        (None, None) => String::new(),
    };
    InternetEventRepository::new(session.clone()).seen(&seen.target, seen.up, &detail, seen.at).await?;
    Ok(())
}
