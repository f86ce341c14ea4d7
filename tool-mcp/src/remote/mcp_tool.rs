//! Remote tools: as their server listed them, and as they are registered.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::Tool;
use serde_json::Value;
use tool_model::ToolDefinition;
use tool_runtime::{ErrorKind, RuntimeTool, ToolError, ToolResult};

use super::call::call;
use super::link::ServerLink;
use super::output_check::OutputCheck;
use super::server_config::{ServerConfig, TrustSettings};

/// A tool as its server listed it: the definition against which the arguments of its calls were checked.
pub(super) struct McpTool {
    /// The server's name for the tool.
    pub(super) name: String,
    /// The check of its structured results.
    output: Option<OutputCheck>,
    standing: Mutex<ToolStanding>,
}

/// The permission to send calls of a listed tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ToolStanding {
    /// The tool is listed unchanged.
    Offered,
    /// Calls that were checked before must no longer be sent.
    WithheldReason(WithheldReason),
}

/// The reason why a call must no longer be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WithheldReason {
    /// The tool is held until a user approves it.
    HoldReason,
    /// The tool was replaced by one with another definition.
    Changed,
    /// The server no longer has the tool.
    Gone,
}

impl McpTool {
    pub(super) fn new(tool: &Tool) -> Self {
        let output_schema = tool.output_schema.as_ref().map(|schema| Value::Object(schema.as_ref().clone()));
        let output = output_schema.as_ref().and_then(OutputCheck::new);
        Self { name: tool.name.to_string(), output, standing: Mutex::new(ToolStanding::Offered) }
    }

    fn standing(&self) -> MutexGuard<'_, ToolStanding> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_standing(&self, standing: ToolStanding) {
        *self.standing() = standing;
    }

    /// Checks whether a call may still be sent. While the call waited for a connection, a login or an approval, the server
    /// may have changed the tool, and nothing has been approved about the new one.
    pub(super) fn check(&self) -> Result<(), WithheldReason> {
        match *self.standing() {
            ToolStanding::Offered => Ok(()),
            ToolStanding::WithheldReason(why) => Err(why),
        }
    }

    /// Describes how a result violates the output schema, unless it is an error.
    pub(super) fn output_mismatch(&self, is_error: bool, structured: Option<&Value>) -> Option<String> {
        self.output.as_ref().filter(|_| !is_error)?.mismatch(structured)
    }
}

impl WithheldReason {
    /// Returns the result of a call that was not sent.
    pub(super) fn refusal(self, server: &str, tool: &str) -> ToolResult {
        let (kind, why) = match self {
            Self::HoldReason => (
                ErrorKind::Refused,
                format!("`{tool}` of the server `{server}` is disabled until a user approves its new definition"),
            ),
            Self::Changed => (
                ErrorKind::Retry,
                format!(
                    "`{tool}` of the server `{server}` has changed since it was called; read its new description and parameters, \
                    and call it again"
                ),
            ),
            Self::Gone => (ErrorKind::UnknownTool, format!("The server `{server}` no longer has the tool `{tool}`")),
        };
        ToolResult::failure(ToolError::new(kind, format!("{why}. It did not run.")))
    }
}

impl fmt::Display for WithheldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HoldReason => "the tool is held until a user approves it",
            Self::Changed => "the tool has changed",
            Self::Gone => "the server no longer has the tool",
        })
    }
}

impl std::error::Error for WithheldReason {}

/// Converts a listed tool for the registry. Hints that warn (`destructive`) always apply, hints that reassure (`read_only`,
/// `idempotent`) only if the server is trusted.
pub(super) fn local_tool(
    name: &str,
    config: &ServerConfig,
    link: &Arc<ServerLink>,
    tool: &Tool,
    listed: &Arc<McpTool>,
) -> RuntimeTool {
    let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default().to_owned();
    let output_schema = tool.output_schema.as_ref().map(|schema| Value::Object(schema.as_ref().clone()));
    let (link, listed) = (link.clone(), listed.clone());
    let schema = Value::Object(tool.input_schema.as_ref().clone());
    let mut local = RuntimeTool::remote(name, description, &schema, move |arguments, scope| {
        call(link.clone(), listed.clone(), arguments, scope)
    });
    local = local.handler(format!("mcp:{}/{}", config.name, tool.name)).tags(["mcp".to_owned(), config.name.clone()]);
    if let Some(schema) = &output_schema {
        match ToolDefinition::default().describe_result(schema) {
            Ok(()) => local = local.returns(schema),
            Err(error) => tracing::debug!(tool = name, %error, "ignoring an unsupported output schema"),
        }
    }
    if let Some(timeout) = config.call_timeout {
        local = local.timeout(timeout);
    }
    with_flags(local, &config.trust, tool)
}

fn with_flags(mut local: RuntimeTool, trust: &TrustSettings, tool: &Tool) -> RuntimeTool {
    let hints = tool.annotations.clone().unwrap_or_default();
    let is_read_only_hint = hints.read_only_hint == Some(true);
    let trusted = trust.all || trust.tools.contains(&*tool.name);
    let trusts_hint = trusted || trust.read_only_hints;
    if is_read_only_hint {
        if trusts_hint {
            local = local.read_only();
        }
    } else {
        if hints.is_destructive() {
            local = local.destructive();
        }
        if trusted && hints.is_idempotent() {
            local = local.idempotent();
        }
    }
    if trusted || (is_read_only_hint && trust.read_only_hints) { local.not_sensitive() } else { local.sensitive() }
}
