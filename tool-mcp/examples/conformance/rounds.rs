//! Tools that ask a client of 2026-07-28, by answering that input is required.
#![expect(deprecated, reason = "the suite wants sampling and roots")]

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

pub fn said(answer: &CreateMessageResult) -> String {
    serde_json::to_value(&answer.message.content).unwrap_or_default()["text"].as_str().unwrap_or_default().to_owned()
}

/// A form with one field.
fn field(name: &str, kind: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]})
}

fn text(answer: &ElicitResult, name: &str) -> String {
    answer.content.as_ref().and_then(|content| content[name].as_str()).unwrap_or("nobody").to_owned()
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
    let answer = client.sample("capital_question", to_model("What is the capital of France?", 100)).await?;
    Ok(said(&answer))
}

/// Name the client's roots.
#[tool]
async fn test_input_required_result_list_roots(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let roots = client.roots("client_roots").await?.roots;
    Ok(roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join(", "))
}

/// Ask something that goes with a state.
#[tool]
async fn test_input_required_result_request_state(#[inject] client: &McpClient) -> Result<&'static str, ClientError> {
    client.ask("confirm", "Please confirm", field("ok", "boolean")).await?;
    Ok("state-ok")
}

/// Ask something that goes with a state which must come back as it was.
#[tool]
async fn test_input_required_result_tampered_state(#[inject] client: &McpClient) -> Result<&'static str, ClientError> {
    client.ask("confirm", "Please confirm", field("ok", "boolean")).await?;
    Ok("state-ok")
}

/// Ask three things at once.
#[tool]
async fn test_input_required_result_multiple_inputs(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let name = client.ask("user_name", "What is your name?", field("name", "string")).await;
    let greeting = client.sample("greeting", to_model("Generate a greeting", 50)).await;
    let roots = client.roots("client_roots").await;
    Ok(format!("{} {}, with {} roots", said(&greeting?), text(&name?, "name"), roots?.roots.len()))
}

/// Ask one thing after the other.
#[tool]
async fn test_input_required_result_multi_round(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let name = client.ask("step1", "Step 1: What is your name?", field("name", "string")).await?;
    let color = client.ask("step2", "Step 2: What is your favorite color?", field("color", "string")).await?;
    Ok(format!("{} likes {}", text(&name, "name"), text(&color, "color")))
}

/// Ask what the client can be asked.
#[tool]
async fn test_input_required_result_capabilities(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let can = client.capabilities();
    let mut answers = Vec::new();
    if can.elicitation.is_some() {
        answers.push(
            client
                .ask("user_name", "What is your name?", field("name", "string"))
                .await
                .map(|name| text(&name, "name")),
        );
    }
    if can.sampling.is_some() {
        answers.push(client.sample("greeting", to_model("Generate a greeting", 50)).await.map(|answer| said(&answer)));
    }
    Ok(answers.into_iter().collect::<Result<Vec<_>, _>>()?.join(" "))
}

/// Ask the model of a client that may have none.
#[tool]
async fn test_missing_capability(#[inject] client: &McpClient) -> Result<String, ClientError> {
    Ok(said(&client.sample("question", to_model("Are you there?", 10)).await?))
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
