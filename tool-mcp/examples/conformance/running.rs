//! Tools that send notifications.
#![expect(deprecated, reason = "the suite requires logging")]

use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use tool_mcp::McpClient;
use tool_mcp::rmcp::model::LoggingLevel;
use tool_runtime::{BuildError, Dispatcher, Progress, RuntimeTool, tool};

async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Log three messages.
#[tool]
async fn test_tool_with_logging(#[inject] client: &McpClient) -> &'static str {
    client.log(LoggingLevel::Info, "Tool execution started").await;
    a_moment().await;
    client.log(LoggingLevel::Info, "Tool processing data").await;
    a_moment().await;
    client.log(LoggingLevel::Info, "Tool execution completed").await;
    "It was logged."
}

/// Log a message.
#[tool]
async fn test_logging_tool(#[inject] client: &McpClient) -> &'static str {
    client.log(LoggingLevel::Info, "Something happened").await;
    "It was logged, if the level is enabled."
}

/// Report progress.
#[tool]
async fn test_tool_with_progress(#[inject] progress: &Progress) -> &'static str {
    for done in [0, 50, 100] {
        progress.report(json!({"progress": done, "total": 100}));
        a_moment().await;
    }
    "It is done."
}

/// Add a tool, or remove it again.
#[tool]
fn test_trigger_tool_change(#[inject] tools: &Dispatcher) -> Result<&'static str, BuildError> {
    let registry = tools.registry();
    if registry.remove("test_dynamic_tool").is_some() {
        return Ok("It is gone.");
    }
    registry.register(RuntimeTool::new("test_dynamic_tool", "Comes and goes.", |(): ()| async {}))?;
    Ok("It is there.")
}

/// Change the prompts.
#[tool]
fn test_trigger_prompt_change(#[inject] prompts: &watch::Sender<usize>) -> &'static str {
    prompts.send_modify(|changes| *changes += 1);
    "They have changed."
}
