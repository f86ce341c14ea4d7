//! Tools that users write, and the context of a call.

use std::time::Duration;

use serde_json::{Value, json};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, RuntimeTool, ToolCall};

use crate::support::{call, empty, kind, linked, output};

/// Returns a tool that is described by a JSON Schema.
fn my_tool() -> RuntimeTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "param1": {"type": "string", "description": "The first one.", "enum": ["hello", "bye"]},
            "param2": {"type": "integer", "minimum": 0, "maximum": 100},
        },
        "required": ["param1"],
    });
    RuntimeTool::from_schema("my_tool", "Greet in a way.", &schema, |arguments, _| async move {
        match arguments.get("param2").and_then(Value::as_u64) {
            Some(13) => Err("13 is bad luck"),
            number => Ok(format!("{} {number:?}", arguments["param1"].as_str().unwrap_or_default())),
        }
    })
}

fn tools() -> Dispatcher {
    empty().tool(my_tool()).build().unwrap()
}

/// Requirement 194
#[tokio::test]
async fn a_tool_is_a_name_a_description_a_schema_and_a_function() {
    let definition = tools().definition("my_tool").unwrap();
    assert_eq!(definition.description, "Greet in a way.");
    assert_eq!(definition.parameters()["required"], json!(["param1"]));
    assert_eq!(output(&tools(), "my_tool", json!({"param1": "hello", "param2": 42})).await, "hello Some(42)");
}

/// Requirement 195
#[tokio::test]
async fn a_tool_returns_a_text_or_an_error() {
    assert_eq!(output(&tools(), "my_tool", json!({"param1": "bye"})).await, "bye None");
    let failed = call(&tools(), "my_tool", json!({"param1": "bye", "param2": 13})).await;
    assert_eq!((failed.success, failed.output.as_str()), (false, "13 is bad luck"));
}

/// Requirement 196
#[tokio::test]
async fn a_tool_can_read_the_context_of_its_call() {
    assert_eq!(output(&linked(), "context.origin", json!({})).await, "none/none");
    let call = ToolCall::new("context.origin", json!({})).channel("mail", "ada");
    assert_eq!(linked().call(call).await.output, "mail/ada");
}

/// Requirement 197
#[test]
fn the_registry_registers_gets_lists_counts_and_defines() {
    let tools = empty().build().unwrap();
    tools.registry().register(my_tool()).unwrap();
    assert!(tools.registry().get("my_tool").is_some());
    assert_eq!((tools.registry().names()[0].as_ref(), tools.registry().len()), ("my_tool", 1));
    assert_eq!(tools.definitions().len(), 1);
}

/// Requirement 198
#[tokio::test]
async fn a_tool_is_executed_by_its_name() {
    let result = tools().call(ToolCall::from_text("my_tool", r#"{"param1": "hello"}"#)).await;
    assert_eq!(result.output, "hello None");
}

/// Requirement 199
#[tokio::test]
async fn a_tool_is_executed_with_a_channel_and_a_chat() {
    let call = ToolCall::new("context.origin", json!({})).channel("telegram", "123456");
    assert_eq!(linked().call(call).await.output, "telegram/123456");
}

/// Requirement 201
#[tokio::test]
async fn the_rules_of_a_schema_are_enforced() {
    let shown = tools().definition("my_tool").unwrap().parameters();
    assert_eq!(shown["properties"]["param1"]["enum"], json!(["hello", "bye"]));
    assert_eq!(shown["properties"]["param2"]["maximum"], 100);
    for wrong in
        [json!({"param1": "welcome"}), json!({"param1": "bye", "param2": 101}), json!({"param1": "bye", "param2": -1})]
    {
        assert_eq!(kind(&call(&tools(), "my_tool", wrong.clone()).await), ErrorKind::InvalidArguments, "{wrong}");
    }
}

/// Requirement 202
#[tokio::test]
async fn a_whole_float_is_an_integer() {
    assert_eq!(output(&tools(), "my_tool", json!({"param1": "hello", "param2": 42.0})).await, "hello Some(42)");
    assert_eq!(output(&linked(), "echo", json!({"message": "hi", "times": 2.0})).await, "hi hi");
}

/// Requirement 203
#[tokio::test]
async fn a_missing_argument_is_an_error() {
    let result = call(&tools(), "my_tool", json!({"param2": 42})).await;
    assert_eq!(kind(&result), ErrorKind::InvalidArguments);
    assert!(result.output.contains("param1"), "{}", result.output);
}

/// Requirement 204
#[tokio::test]
async fn a_cancelled_call_ends() {
    let token = CancellationToken::new();
    let tools = linked();
    let call = tools.call(ToolCall::new("faults.wait", json!({"milliseconds": 600_000}))).cancel(token.clone());
    token.cancel();
    assert_eq!(kind(&call.await), ErrorKind::Cancelled);
}

/// Requirement 205
#[tokio::test(start_paused = true)]
async fn a_call_has_a_timeout() {
    let tools = linked();
    let wait = || tools.call(ToolCall::new("faults.wait", json!({"milliseconds": 60_000})));
    assert_eq!(kind(&wait().timeout(Duration::from_secs(30)).await), ErrorKind::TimedOut);
    assert_eq!(wait().timeout(Duration::from_secs(90)).await.output, "done");
}

/// Requirement 244
#[tokio::test]
async fn a_tool_of_ones_own_is_written_registered_offered_and_called() {
    let tools = empty().build().unwrap();
    tools.registry().register(my_tool()).unwrap();
    let offer = tools.offer(tool_runtime::dialect::Dialect::OpenAiChat).unwrap();
    assert_eq!(offer.definitions()[0]["function"]["name"], "my_tool");
    assert_eq!(output(&tools, "my_tool", json!({"param1": "hello", "param2": 7})).await, "hello Some(7)");
}
