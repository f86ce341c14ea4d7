//! A tool of a server as one of ours.

use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tool_model::{ToolDefinition, name};
use tool_runtime::RuntimeTool;

use super::call::call;
use super::config::{ServerConfig, Trust};
use super::link::Link;
use super::listed::Listed;

/// `mcp_{server}_{tool}`, with `_` in place of what no name can have. One that is too long ends in a hash.
pub(super) fn local_name(server: &str, tool: &str) -> String {
    let name = format!("mcp_{}_{}", plain(server), plain(tool));
    if name.len() <= name::MAX_LENGTH {
        return name;
    }
    let hash = Sha256::digest(&name);
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{hash}", &name[..name::MAX_LENGTH - hash.len() - 1])
}

/// A part of a name: letters, digits, `_` and `-`. A dot would separate parts, and a server's dots are none of ours.
pub(super) fn plain(part: &str) -> String {
    part.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// The tool under its name here. What the server says to warn is always taken over (`destructive`), what it says to
/// reassure (`read_only`, `idempotent`) only where it is trusted.
pub(super) fn local_tool(
    name: &str,
    config: &ServerConfig,
    link: &Arc<Link>,
    tool: &Tool,
    listed: &Arc<Listed>,
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
            Err(error) => tracing::debug!(tool = name, %error, "the schema of its result was left out"),
        }
    }
    if let Some(timeout) = config.call_timeout {
        local = local.timeout(timeout);
    }
    flagged(local, &config.trust, tool)
}

fn flagged(mut local: RuntimeTool, trust: &Trust, tool: &Tool) -> RuntimeTool {
    let hints = tool.annotations.clone().unwrap_or_default();
    let says_read_only = hints.read_only_hint == Some(true);
    let trusted = trust.all || trust.tools.contains(&*tool.name);
    let believed = trusted || trust.read_only_hints;
    if says_read_only {
        if believed {
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
    if trusted || (says_read_only && trust.read_only_hints) { local } else { local.sensitive() }
}
