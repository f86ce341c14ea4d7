//! The settings, a JSON file in the data directory.

mod extension;
mod file;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use extension::Extension;
pub use file::SettingsFile;

/// Maximum number of targets.
const TARGETS: usize = 16;

/// What the console does. A key that the file leaves out has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What is switched on.
    pub extensions: BTreeSet<Extension>,
    /// The measurements.
    pub sampler: SamplerSettings,
    /// The checks of targets.
    pub internet: InternetSettings,
    /// What metrics are not to be above.
    pub alerts: Thresholds,
}

/// How often is measured, and how long it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplerSettings {
    /// Seconds from one measurement to the next.
    pub every_seconds: u32,
    /// Hours after which points are deleted.
    pub keep_hours: u32,
}

/// What is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InternetSettings {
    /// Seconds from one check to the next.
    pub every_seconds: u32,
    /// Milliseconds after which a target counts as down.
    pub timeout_ms: u32,
    /// What is checked, each as `host:port`. If there are none, the console checks that it can be reached itself.
    pub targets: Vec<String>,
    /// What `internet_metrics.ping` asks, as `host:port`; without it, the console itself.
    pub ping_host: Option<String>,
}

/// What metrics are not to be above, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// The processors.
    pub cpu_percent: f64,
    /// The memory.
    pub memory_percent: f64,
    /// The fullest disk.
    pub disk_percent: f64,
}

impl Thresholds {
    /// The metrics that have a threshold.
    pub const METRICS: [&str; 3] = ["cpu_percent", "disk_percent", "memory_percent"];

    /// What a metric is not to be above.
    #[must_use]
    pub fn of(&self, metric: &str) -> Option<f64> {
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
            extensions: Extension::ALL.into(),
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
    fn what_cannot_be_is_refused_with_its_place() {
        for (text, problem) in [
            (r#"{"extensions": ["ai_chta"]}"#, "unknown variant `ai_chta`"),
            (r#"{"smapler": {}}"#, "unknown field `smapler`"),
            (r#"{"sampler": {"every_seconds": 0}}"#, "`sampler.every_seconds` is 0"),
            (r#"{"internet": {"targets": ["example.org"]}}"#, "`example.org` under `internet` is not `host:port`"),
            (r#"{"internet": {"targets": [":80"]}}"#, "is not `host:port`"),
            (r#"{"alerts": {"cpu_percent": 0}}"#, "between 1 and 100"),
        ] {
            let found = Settings::from_json(text).expect_err(text);
            assert!(found.contains(problem), "{found}");
        }
    }
}
