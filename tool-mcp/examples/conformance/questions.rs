//! Tools with requests to a 2025 client.

use serde_json::{Value, json};
use tool_mcp::rmcp::model::ElicitResult;
use tool_mcp::{ClientError, McpClient};
use tool_runtime::tool;

use crate::rounds::{text_of, to_model};

fn completed(response: &ElicitResult) -> String {
    let content = response.content.clone().unwrap_or(Value::Null);
    format!("Elicitation completed: action={:?}, content={content}", response.action).to_lowercase()
}

/// Ask the client's model.
#[tool]
async fn test_sampling(prompt: &str, #[inject] client: &McpClient) -> Result<String, ClientError> {
    Ok(format!("LLM response: {}", text_of(&client.sample("prompt", to_model(prompt, 100)).await?)))
}

/// Ask the user.
#[tool]
async fn test_elicitation(message: &str, #[inject] client: &McpClient) -> Result<String, ClientError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    });
    let response = client.ask("user", message, schema).await?;
    Ok(format!("User response: {}", completed(&response)))
}

/// Ask with default values.
#[tool]
async fn test_elicitation_sep1034_defaults(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    }});
    Ok(completed(&client.ask("defaults", "Is this right?", schema).await?))
}

/// Ask with all kinds of enums.
#[tool]
async fn test_elicitation_sep1330_enums(#[inject] client: &McpClient) -> Result<String, ClientError> {
    let titled = |word: &str| {
        let choice = |value, title| json!({"const": value, "title": format!("{title} {word}")});
        json!([choice("value1", "First"), choice("value2", "Second"), choice("value3", "Third")])
    };
    let options = json!(["option1", "option2", "option3"]);
    let names = json!(["Option One", "Option Two", "Option Three"]);
    let schema = json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": names},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    }});
    Ok(completed(&client.ask("choices", "What do you choose?", schema).await?))
}
