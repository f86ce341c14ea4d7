//! Policies that decide which calls need approval.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value;
use tool_model::{ToolDefinition, nearest};

/// Decides which calls a user must approve.
///
/// ```
/// use tool_runtime::Policy;
/// use tool_runtime::confirm::PolicyVerdict;
///
/// // Parsed from a command line or a configuration file:
/// let policy: Policy = "confirm-all".parse()?;
/// assert_eq!(policy.to_string(), "confirm-all");
///
/// // Or computed from the call:
/// let policy = Policy::custom(|tool, definition, arguments| match arguments["host"].as_str() {
///     Some("production") if !definition.read_only => PolicyVerdict::Ask,
///     _ if tool.starts_with("admin.") => PolicyVerdict::Refuse("not from here".to_owned()),
///     _ => PolicyVerdict::Run,
/// });
/// # let _ = policy;
/// # Ok::<(), tool_runtime::confirm::ParsePolicyError>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Runs every call without approval: for CI, and for machines that hold nothing of value.
    Yolo,
    /// Asks about every call.
    ConfirmAll,
    /// Asks about calls of tools that are marked `sensitive`. A `destructive` tool is, unless it sets `sensitive = false`.
    #[default]
    ConfirmSensitive,
    /// Decides by a function; see [`custom`](Self::custom).
    Custom(Arc<CustomPolicy>),
}

/// A function of the tool's name, its definition and the arguments that would run.
type CustomPolicy = dyn Fn(&str, &ToolDefinition, &Value) -> PolicyVerdict + Send + Sync;

/// The verdict of a [`Policy`] on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyVerdict {
    /// Run the call without asking.
    Run,
    /// Ask the user.
    Ask,
    /// Refuse the call without asking. The model receives the reason.
    Refuse(String),
}

impl Policy {
    const NAMES: [&str; 3] = ["yolo", "confirm-all", "confirm-sensitive"];

    /// Creates a policy from a function of the tool's name, its definition and the arguments that would run.
    pub fn custom(decide: impl Fn(&str, &ToolDefinition, &Value) -> PolicyVerdict + Send + Sync + 'static) -> Self {
        Self::Custom(Arc::new(decide))
    }

    /// Returns the verdict on a call.
    #[must_use]
    pub fn decide(&self, tool: &str, definition: &ToolDefinition, arguments: &Value) -> PolicyVerdict {
        match self {
            Self::Custom(decide) => decide(tool, definition, arguments),
            policy if policy.asks_about(definition) => PolicyVerdict::Ask,
            _ => PolicyVerdict::Run,
        }
    }

    /// Returns `true` if a call of this tool may need approval. Otherwise the call runs with any arguments.
    pub(crate) fn asks_about(&self, definition: &ToolDefinition) -> bool {
        match self {
            Self::Yolo => false,
            Self::ConfirmAll | Self::Custom(_) => true,
            Self::ConfirmSensitive => definition.sensitive,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yolo => "yolo",
            Self::ConfirmAll => "confirm-all",
            Self::ConfirmSensitive => "confirm-sensitive",
            Self::Custom(_) => "custom",
        })
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policy({self})")
    }
}

impl FromStr for Policy {
    type Err = ParsePolicyError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "yolo" => Ok(Self::Yolo),
            "confirm-all" => Ok(Self::ConfirmAll),
            "confirm-sensitive" => Ok(Self::ConfirmSensitive),
            _ => Err(ParsePolicyError(name.to_owned())),
        }
    }
}

/// The error for an unknown [`Policy`] name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePolicyError(String);

impl fmt::Display for ParsePolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown policy `{}`", self.0)?;
        match nearest(&self.0, Policy::NAMES).first() {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => write!(f, "; expected one of `{}`", Policy::NAMES.join("`, `")),
        }
    }
}

impl std::error::Error for ParsePolicyError {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(sensitive: bool) -> ToolDefinition {
        let mut definition = ToolDefinition::default();
        definition.sensitive = sensitive;
        definition
    }

    #[test]
    fn asks_about_sensitive_tools_by_default() {
        let verdicts = |policy: Policy| [false, true].map(|flag| policy.decide("t", &definition(flag), &json!({})));
        assert_eq!(verdicts(Policy::default()), [PolicyVerdict::Run, PolicyVerdict::Ask]);
        assert_eq!(verdicts(Policy::ConfirmSensitive), [PolicyVerdict::Run, PolicyVerdict::Ask]);
        assert_eq!(verdicts(Policy::ConfirmAll), [PolicyVerdict::Ask, PolicyVerdict::Ask]);
        assert_eq!(verdicts(Policy::Yolo), [PolicyVerdict::Run, PolicyVerdict::Run]);
    }

    #[test]
    fn a_custom_policy_sees_the_tool_and_its_arguments() {
        let policy = Policy::custom(|tool, definition, arguments| match arguments["count"].as_u64() {
            Some(..10) => PolicyVerdict::Run,
            _ if definition.sensitive => PolicyVerdict::Refuse(format!("{tool} is not for that")),
            _ => PolicyVerdict::Ask,
        });
        assert_eq!(policy.decide("t", &definition(true), &json!({"count": 1})), PolicyVerdict::Run);
        assert_eq!(policy.decide("t", &definition(false), &json!({"count": 10})), PolicyVerdict::Ask);
        let refused = policy.decide("t", &definition(true), &json!({}));
        assert_eq!(refused, PolicyVerdict::Refuse("t is not for that".to_owned()));
    }

    #[test]
    fn names_round_trip() {
        for name in Policy::NAMES {
            assert_eq!(name.parse::<Policy>().unwrap().to_string(), name);
        }
        let message = "confirm_al".parse::<Policy>().unwrap_err().to_string();
        assert_eq!(message, "unknown policy `confirm_al`; did you mean `confirm-all`?");
        assert!("custom".parse::<Policy>().unwrap_err().to_string().contains("`yolo`, `confirm-all`"));
    }
}
