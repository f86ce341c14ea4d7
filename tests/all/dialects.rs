use std::sync::Arc;

use serde_json::json;
use tool_runtime::dialect::Dialect;
use tool_runtime::{Dispatcher, NameCase, RuntimeTool, Selection};

fn shop() -> Dispatcher {
    let tools = Dispatcher::builder().manifest(crate::fixtures::theme("nothing")).allow_empty().build().unwrap();
    let price = RuntimeTool::new("shop.price", "What a thing costs.", |of: Vec<String>| async move { of.join(" ") });
    assert!(tools.registry().register(price).is_err(), "arguments must be an object");
    let price = RuntimeTool::from_schema(
        "shop.price",
        "What a thing costs.",
        &json!({"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]}),
        |arguments, _| async move { format!("{} costs 3", arguments["thing"].as_str().unwrap_or("it")) },
    );
    tools.registry().register(price).unwrap();
    tools
}

/// Three calls of one response: one with invalid arguments, one of an unknown tool, and a valid one.
const RESPONSE: &str = r#"{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
    "content": [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "a", "name": "shop__price", "input": "tea"},
        {"type": "tool_use", "id": "b", "name": "shop__prices", "input": {}},
        {"type": "tool_use", "id": "c", "name": "shop__price", "input": {"thing": "tea"}}
    ], "usage": {"input_tokens": 1, "output_tokens": 1}}"#;

#[tokio::test]
async fn every_call_of_a_response_gets_a_result_in_order() {
    let tools = shop();
    let offer = tools.offer(Dialect::Anthropic).unwrap();
    let results = tools.answers("chat", offer.calls(RESPONSE).unwrap()).await;
    let outcomes: Vec<_> = results.iter().map(|result| (result.id.as_str(), result.success)).collect();
    assert_eq!(outcomes, [("a", false), ("b", false), ("c", true)]);
    assert!(results[1].output.contains("Did you mean `shop.price`?"), "{}", results[1].output);
    let message = offer.results(&results);
    assert_eq!(message[0]["content"][2]["content"], "tea costs 3");
    assert_eq!(message[0]["content"][0]["is_error"], true);
}

#[test]
fn definitions_are_rendered_once_for_the_same_tools() {
    let tools = shop();
    let text = |form| tools.offer(form).unwrap().text();
    let first = text(Dialect::OpenAiChat.into());
    assert!(Arc::ptr_eq(&first, &text(Dialect::OpenAiChat.into())));
    assert_ne!(first, text(Dialect::OpenAiChat.strict()));
    assert!(Arc::ptr_eq(&first, &text(Dialect::OpenAiChat.into())), "another form evicts nothing");

    tools.registry().disable("shop.price").unwrap();
    assert_eq!(&*text(Dialect::OpenAiChat.into()), "[]");
}

#[tokio::test]
async fn a_selection_is_rendered_separately() {
    let tools = shop().select(Selection::new().case(NameCase::Camel)).unwrap();
    let offer = tools.offer(Dialect::OpenAiResponses).unwrap();
    assert_eq!(offer.definitions()[0]["name"], "shopPrice");
    let response = json!({"output": [
        {"type": "function_call", "call_id": "1", "name": "shopPrice", "arguments": "{\"thing\": \"tea\"}"}
    ]});
    let results = tools.answers("chat", offer.calls(&response.to_string()).unwrap()).await;
    assert_eq!(results[0].output, "tea costs 3");
}

#[test]
fn losses_are_reported() {
    let tools = shop();
    assert!(tools.report(Dialect::OpenAiChat).findings.is_empty());
    let map = RuntimeTool::from_schema(
        "shop.labels",
        "Label things.",
        &json!({"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}}}),
        |_, _| async {},
    );
    tools.registry().register(map).unwrap();
    let report = tools.report(Dialect::OpenAiChat.strict());
    assert!(report.findings.iter().any(|finding| finding.tool == "shop.labels"), "{report:?}");
}
