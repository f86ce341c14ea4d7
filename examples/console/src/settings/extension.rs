//! Extensions of the console, which can be enabled and disabled.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of the console that can be enabled and disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Extension {
    /// Offers the tools. Without it no tool can be called.
    AiChat,
    /// Alerts are raised when a metric is above its threshold.
    Alerts,
    /// The configured targets are checked from time to time.
    Internet,
    /// Metrics of the machine are measured and kept.
    Sampler,
}

impl Extension {
    /// All extensions.
    pub const ALL: [Self; 4] = [Self::AiChat, Self::Alerts, Self::Internet, Self::Sampler];

    /// Returns the name in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AiChat => "ai_chat",
            Self::Alerts => "alerts",
            Self::Internet => "internet",
            Self::Sampler => "sampler",
        }
    }

    /// Returns a short description.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::AiChat => "Offers the tools. Without it no tool can be called.",
            Self::Alerts => "Alerts are raised when a metric is above its threshold.",
            Self::Internet => "The configured targets are checked from time to time.",
            Self::Sampler => "Metrics of the machine are measured and kept.",
        }
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
