//! Tools with requests to a 2026-07-28 client, by `input_required` results.
#![expect(deprecated, reason = "the suite requires sampling and roots")]

use serde_json::{Value, json};
use tool_mcp::rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ElicitResult, Role, SamplingMessage, SamplingMessageContentBlock,
};
use tool_mcp::{ClientError, McpClient};
use tool_runtime::{Progress, tool};

pub fn to_model(prompt: &str, max_tokens: u32) -> CreateMessageRequestParams {
    let content = SamplingMessageContentBlock::text(prompt);
    CreateMessageRequestParams::new(vec![SamplingMessage::new(Role::User, content)], max_tokens)
}

pub fn text_of(response: &CreateMessageResult) -> String {
    serde_json::to_value(&response.message.content).unwrap_or_default()["text"].as_str().unwrap_or_default().to_owned()
}

/// A form with one field.
fn field(name: &str, kind: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]})
}

fn text(response: &ElicitResult, name: &str) -> String {
    response.content.as_ref().and_then(|content| content[name].as_str()).unwrap_or("nobody").to_owned()
}

/// Greet the user by name.
#[tool]
async fn test_input_required_result_elicitation(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let name = client.ask("user_name", "What is your name?", field("name", "string")).await?;
    Ok(format!("Hello, {}!", text(&name, "name")))
}

/// Ask the client's model.
#[tool]
async fn test_input_required_result_sampling(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let response = client.sample("capital_question", to_model("What is the capital of France?", 100)).await?;
    Ok(text_of(&response))
}

/// Name the client's roots.
#[tool]
async fn test_input_required_result_list_roots(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let roots = client.roots("client_roots").await?.roots;
    Ok(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(", "))
}

/// Ask with a request state.
#[tool]
async fn test_input_required_result_request_state(#[inject] client: &McpClient) -> Result<&'static str, ClientError> {
    client.ask("confirm", "Please confirm", field("ok", "boolean")).await?;
    Ok("state-ok")
}

/// Ask with a request state that must not be tampered with.
#[tool]
async fn test_input_required_result_tampered_state(#[inject] client: &McpClient) -> Result<&'static str, ClientError> {
    client.ask("confirm", "Please confirm", field("ok", "boolean")).await?;
    Ok("state-ok")
}

/// Make three requests at once.
#[tool]
async fn test_input_required_result_multiple_inputs(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let name = client.ask("user_name", "What is your name?", field("name", "string")).await;
    let greeting = client.sample("greeting", to_model("Generate a greeting", 50)).await;
    let roots = client.roots("client_roots").await;
    Ok(format!("{} {}, with {} roots", text_of(&greeting?), text(&name?, "name"), roots?.roots.len()))
}

/// Ask in two rounds.
#[tool]
async fn test_input_required_result_multi_round(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let name = client.ask("step1", "Step 1: What is your name?", field("name", "string")).await?;
    let color = client.ask("step2", "Step 2: What is your favorite color?", field("color", "string")).await?;
    Ok(format!("{} likes {}", text(&name, "name"), text(&color, "color")))
}

/// Make the requests that the client supports.
#[tool]
async fn test_input_required_result_capabilities(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let can = client.capabilities();
    let mut responses = Vec::new();
    if can.elicitation.is_some() {
        responses.push(
            client
                .ask("user_name", "What is your name?", field("name", "string"))
                .await
                .map(|name| text(&name, "name")),
        );
    }
    if can.sampling.is_some() {
        responses.push(
            client.sample("greeting", to_model("Generate a greeting", 50)).await.map(|response| text_of(&response)),
        );
    }
    Ok(responses.into_iter().collect::<Result<Vec<_>, _>>()?.join(" "))
}

/// Ask the model of a client that may not support it.
#[tool]
async fn test_missing_capability(#[inject] client: &McpClient) -> Result<String, ClientError> {
    Ok(text_of(&client.sample("question", to_model("Are you there?", 10)).await?))
}

/// Report progress, then ask.
#[tool]
async fn test_streaming_elicitation(
    #[inject] client: &McpClient,
    #[inject] progress: &Progress,
) -> Result<String, ClientError> {
    progress.report(1);
    let name = client.ask("user_name", "What is your name?", field("name", "string")).await?;
    Ok(text(&name, "name"))
}
