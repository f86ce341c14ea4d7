//! The prompts that the suite requires.

use serde_json::{Value, json};
use tool_mcp::rmcp::model::{ContentBlock, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use crate::content::PNG;

pub fn all() -> Vec<Prompt> {
    let argument = |name| PromptArgument::new(name).with_description("A value for the prompt.").with_required(true);
    vec![
        Prompt::new("test_simple_prompt", Some("A simple prompt."), None),
        Prompt::new("test_prompt_with_arguments", Some("With arguments."), Some(["arg1", "arg2"].map(argument).into())),
        Prompt::new(
            "test_prompt_with_embedded_resource",
            Some("With a resource."),
            Some(vec![argument("resourceUri")]),
        ),
        Prompt::new("test_prompt_with_image", Some("With an image."), None),
        Prompt::new("test_input_required_result_prompt", Some("Asks first."), None),
    ]
}

/// Returns the messages of a prompt, or `None` for an unknown name.
pub fn get(name: &str, arguments: &JsonObject) -> Option<Vec<PromptMessage>> {
    let argument = |name| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let text = |text: &str| PromptMessage::new_text(Role::User, text);
    Some(match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let contents = "Embedded resource content for testing.";
            let resource = json!({"uri": argument("resourceUri"), "mimeType": "text/plain", "text": contents});
            let block = serde_json::from_value(json!({"type": "resource", "resource": resource})).ok()?;
            vec![PromptMessage::new(Role::User, block), text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let image = ContentBlock::image(PNG, "image/png");
            vec![PromptMessage::new(Role::User, image), text("Please analyze the image above.")]
        }
        _ => return None,
    })
}
