//! The settings, a JSON file in the data directory.

mod extension;
mod file;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use extension::Extension;
pub use file::SettingsFile;

/// Maximum number of targets.
const TARGETS: usize = 16;

/// The settings of the console. Missing keys have their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The enabled extensions.
    pub extensions: BTreeSet<Extension>,
    /// The measurements.
    pub sampler: SamplerSettings,
    /// The checks of targets.
    pub internet: InternetSettings,
    /// The thresholds of metrics.
    pub alerts: Thresholds,
}

/// Interval and retention of measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplerSettings {
    /// Seconds from one measurement to the next.
    pub every_seconds: u32,
    /// Hours after which points are deleted.
    pub keep_hours: u32,
}

/// Settings of target checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InternetSettings {
    /// Seconds from one check to the next.
    pub every_seconds: u32,
    /// Timeout of a check in milliseconds.
    pub timeout_ms: u32,
    /// The targets as `host:port`. If there are none, the console checks itself.
    pub targets: Vec<String>,
    /// The target of `internet_metrics.ping` as `host:port`; the default is the console itself.
    pub ping_host: Option<String>,
}

/// Thresholds of metrics, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// CPU usage.
    pub cpu_percent: f64,
    /// Memory usage.
    pub memory_percent: f64,
    /// Usage of the fullest disk.
    pub disk_percent: f64,
}

impl Thresholds {
    /// The metrics that have a threshold.
    pub const METRICS: [&str; 3] = ["cpu_percent", "disk_percent", "memory_percent"];

    /// Returns the threshold of a metric.
    #[must_use]
    pub fn threshold(&self, metric: &str) -> Option<f64> {
        match metric {
            "cpu_percent" => Some(self.cpu_percent),
            "memory_percent" => Some(self.memory_percent),
            "disk_percent" => Some(self.disk_percent),
            _ => None,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            extensions: Extension::ALL.into_iter().filter(|extension| !extension.is_powerful()).collect(),
            sampler: SamplerSettings::default(),
            internet: InternetSettings::default(),
            alerts: Thresholds::default(),
        }
    }
}

impl Default for SamplerSettings {
    fn default() -> Self {
        Self { every_seconds: 10, keep_hours: 48 }
    }
}

impl Default for InternetSettings {
    fn default() -> Self {
        Self { every_seconds: 30, timeout_ms: 2000, targets: Vec::new(), ping_host: None }
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { cpu_percent: 90.0, memory_percent: 90.0, disk_percent: 90.0 }
    }
}

impl Settings {
    /// Returns `true` if an extension is enabled.
    #[must_use]
    pub fn has(&self, extension: Extension) -> bool {
        self.extensions.contains(&extension)
    }

    /// Parses and checks settings.
    fn from_json(text: &str) -> Result<Self, String> {
        let settings: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        settings.check()?;
        Ok(settings)
    }

    /// Checks the settings. A number out of range could cause a busy loop or fill the disk.
    fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u32, least: u32, most: u32| match value {
            value if (least..=most).contains(&value) => Ok(()),
            value => Err(format!("`{name}` must be between {least} and {most}, not {value}")),
        };
        within("sampler.every_seconds", self.sampler.every_seconds, 1, 3600)?;
        within("sampler.keep_hours", self.sampler.keep_hours, 1, 24 * 31)?;
        within("internet.every_seconds", self.internet.every_seconds, 5, 3600)?;
        within("internet.timeout_ms", self.internet.timeout_ms, 50, 10_000)?;
        let Thresholds { cpu_percent, memory_percent, disk_percent } = self.alerts;
        if [cpu_percent, memory_percent, disk_percent].iter().any(|percent| !(1.0..=100.0).contains(percent)) {
            return Err("the thresholds under `alerts` must be between 1 and 100".to_owned());
        }
        let InternetSettings { targets, ping_host, .. } = &self.internet;
        if targets.len() > TARGETS {
            return Err(format!("`internet.targets` has {} entries, but at most {TARGETS} are allowed", targets.len()));
        }
        targets.iter().chain(ping_host).try_for_each(|target| check_target(target))
    }
}

fn check_target(target: &str) -> Result<(), String> {
    let port = target.rsplit_once(':').filter(|(host, _)| !host.is_empty()).and_then(|(_, port)| port.parse().ok());
    match port {
        Some(1_u16..) => Ok(()),
        _ => Err(format!("`{target}` under `internet` is not `host:port`")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Extension, Settings};

    #[test]
    fn what_the_file_leaves_out_has_its_default() {
        let settings =
            Settings::from_json(r#"{"extensions": ["sampler"], "sampler": {"every_seconds": 60}}"#).expect("settings");
        assert!(settings.has(Extension::Sampler) && !settings.has(Extension::AiChat));
        assert_eq!(settings.sampler.keep_hours, Settings::default().sampler.keep_hours);
        assert_eq!(Settings::from_json("{}").expect("settings"), Settings::default());
    }

    #[test]
    fn rejects_invalid_settings_with_their_path() {
        for (text, problem) in [
            (r#"{"extensions": ["ai_chta"]}"#, "unknown variant `ai_chta`"),
            (r#"{"smapler": {}}"#, "unknown field `smapler`"),
            (r#"{"sampler": {"every_seconds": 0}}"#, "`sampler.every_seconds` must be between 1 and 3600, not 0"),
            (r#"{"internet": {"targets": ["example.org"]}}"#, "`example.org` under `internet` is not `host:port`"),
            (r#"{"internet": {"targets": [":80"]}}"#, "is not `host:port`"),
            (r#"{"alerts": {"cpu_percent": 0}}"#, "between 1 and 100"),
        ] {
            let found = Settings::from_json(text).expect_err(text);
            assert!(found.contains(problem), "{found}");
        }
    }
}
