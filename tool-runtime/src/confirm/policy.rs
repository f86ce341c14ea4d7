//! Which calls need consent.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value;
use tool_model::{ToolDefinition, nearest};

/// When a person is asked before a tool runs.
///
/// ```
/// use tool_runtime::Policy;
/// use tool_runtime::confirm::PolicyVerdict;
///
/// // From a command line or a configuration file:
/// let policy: Policy = "confirm-all".parse()?;
/// assert_eq!(policy.to_string(), "confirm-all");
///
/// // Or by what the call is about:
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
    /// Nobody is asked: for continuous integration, and for machines that hold nothing of value.
    Yolo,
    /// Someone is asked about every call.
    ConfirmAll,
    /// Someone is asked about the tools that are marked `sensitive`.
    #[default]
    ConfirmSensitive,
    /// A function decides; see [`custom`](Self::custom).
    Custom(Arc<CustomPolicy>),
}

/// A function of the tool's name, its definition and the arguments as they would run.
type CustomPolicy = dyn Fn(&str, &ToolDefinition, &Value) -> PolicyVerdict + Send + Sync;

/// What a [`Policy`] says about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyVerdict {
    /// It runs, and nobody is asked.
    Run,
    /// Someone is asked.
    Ask,
    /// It does not run, and nobody is asked. The model is told why.
    Refuse(String),
}

impl Policy {
    const NAMES: [&str; 3] = ["yolo", "confirm-all", "confirm-sensitive"];

    /// A policy that looks at the tool's name, at its definition and at the arguments as they would run.
    pub fn custom(decide: impl Fn(&str, &ToolDefinition, &Value) -> PolicyVerdict + Send + Sync + 'static) -> Self {
        Self::Custom(Arc::new(decide))
    }

    /// What is to be done about a call.
    #[must_use]
    pub fn decide(&self, tool: &str, definition: &ToolDefinition, arguments: &Value) -> PolicyVerdict {
        match self {
            Self::Custom(decide) => decide(tool, definition, arguments),
            policy if policy.asks_about(definition) => PolicyVerdict::Ask,
            _ => PolicyVerdict::Run,
        }
    }

    /// Whether a call of this tool can need consent. If not, it runs, and its arguments need not be looked at.
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

/// A name that is not that of a [`Policy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePolicyError(String);

impl fmt::Display for ParsePolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no policy `{}`", self.0)?;
        match nearest(&self.0, Policy::NAMES).first() {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => write!(f, "; there are `{}`", Policy::NAMES.join("`, `")),
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
    fn sensitive_tools_are_asked_about_unless_one_says_otherwise() {
        let verdicts = |policy: Policy| [false, true].map(|flag| policy.decide("t", &definition(flag), &json!({})));
        assert_eq!(verdicts(Policy::default()), [PolicyVerdict::Run, PolicyVerdict::Ask]);
        assert_eq!(verdicts(Policy::ConfirmSensitive), [PolicyVerdict::Run, PolicyVerdict::Ask]);
        assert_eq!(verdicts(Policy::ConfirmAll), [PolicyVerdict::Ask, PolicyVerdict::Ask]);
        assert_eq!(verdicts(Policy::Yolo), [PolicyVerdict::Run, PolicyVerdict::Run]);
    }

    #[test]
    fn a_function_sees_tool_and_arguments() {
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
    fn names_both_ways() {
        for name in Policy::NAMES {
            assert_eq!(name.parse::<Policy>().unwrap().to_string(), name);
        }
        let message = "confirm_al".parse::<Policy>().unwrap_err().to_string();
        assert_eq!(message, "there is no policy `confirm_al`; did you mean `confirm-all`?");
        assert!("custom".parse::<Policy>().unwrap_err().to_string().contains("`yolo`, `confirm-all`"));
    }
}
