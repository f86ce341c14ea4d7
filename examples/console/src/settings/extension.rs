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
    /// The model can run programs in the workspace.
    Commands,
    /// The configured targets are checked from time to time.
    Internet,
    /// The model can send a message to the user.
    Messages,
    /// Metrics of the machine are measured and kept.
    Sampler,
    /// The model can delegate tasks.
    SubAgents,
    /// The model can read pages of the web.
    Web,
}

impl Extension {
    /// All extensions.
    pub const ALL: [Self; 8] = [
        Self::AiChat,
        Self::Alerts,
        Self::Commands,
        Self::Internet,
        Self::Messages,
        Self::Sampler,
        Self::SubAgents,
        Self::Web,
    ];

    /// Returns `true` if only a user can enable the extension: it reaches beyond the machine's data and the workspace, so
    /// it is off by default, and the model cannot enable it.
    #[must_use]
    pub fn is_powerful(self) -> bool {
        matches!(self, Self::Commands | Self::Web)
    }

    /// Returns the built-in tools that are offered only while the extension is enabled.
    #[must_use]
    pub fn tools(self) -> &'static [&'static str] {
        match self {
            Self::Commands => &["run_command"],
            Self::Messages => &["message"],
            Self::SubAgents => &["spawn"],
            Self::Web => &["web_fetch", "web_search"],
            Self::AiChat | Self::Alerts | Self::Internet | Self::Sampler => &[],
        }
    }

    /// Returns the name in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AiChat => "ai_chat",
            Self::Alerts => "alerts",
            Self::Commands => "commands",
            Self::Internet => "internet",
            Self::Messages => "messages",
            Self::Sampler => "sampler",
            Self::SubAgents => "sub_agents",
            Self::Web => "web",
        }
    }

    /// Returns a short description.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::AiChat => "Offers the tools. Without it no tool can be called.",
            Self::Alerts => "Alerts are raised when a metric is above its threshold.",
            Self::Commands => {
                "Offers `run_command`: the model runs programs in the workspace; the approvals below apply. Programs read \
                 whatever the console's user can read, and reach the network unless `--no-network` is set."
            }
            Self::Internet => "The configured targets are checked from time to time.",
            Self::Messages => "Offers `message`: the model shows you a message in the conversation.",
            Self::Sampler => "Metrics of the machine are measured and kept.",
            Self::SubAgents => {
                "Offers `spawn`: the model delegates tasks to sub-agents. Their calls that need approval are refused."
            }
            Self::Web => {
                "Offers `web_fetch`, and `web_search` if a provider is configured, without asking you. Pages can contain \
                 instructions for the model, and a URL can carry what the model has read elsewhere."
            }
        }
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
