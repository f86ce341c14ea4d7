//! Responses and results of each provider, as sent over the wire.

use serde_json::{Value, json};
use tool_dialect::{Dialect, MalformedCall, ProviderResult, RequestedCall, ToolOffer};

use crate::fixtures::tool;

fn offer(dialect: Dialect) -> ToolOffer {
    let add = tool(
        json!({"a": {"type": "integer", "required": true}, "user-name": {"type": "string", "required": false}}),
        json!({}),
    );
    dialect.offer([("math.add", &add), ("ping", &tool(json!({}), json!({})))]).expect("names stay apart")
}

/// Formats each call as `id name arguments`, or as its error.
fn calls(offer: &ToolOffer, response: &Value) -> Vec<Result<String, String>> {
    let calls = offer.calls_in(response).unwrap_or_else(|error| panic!("{error}"));
    let shown = |call: RequestedCall| format!("{} {} {}", call.id, call.name, call.arguments);
    calls.into_iter().map(|call| call.map(shown).map_err(|bad: MalformedCall| bad.to_result().output)).collect()
}

fn answers() -> [ProviderResult; 2] {
    [
        RequestedCall::new("1", "math.add", "{}").succeeded(r#"{"sum":3}"#),
        RequestedCall::new("2", "ping", "{}").failed("no route to host"),
    ]
}

#[test]
fn openai_chat() {
    for dialect in [Dialect::OpenAiChat, Dialect::OpenRouter] {
        let offer = offer(dialect);
        let message = json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "math__add", "arguments": "{\"a\": 1e400, \"a\": 2}"}},
            {"id": "2", "type": "function", "function": {"name": "ping", "arguments": ""}},
            {"id": "3", "type": "function", "function": {"name": "ping", "arguments": {"sent": "as an object"}}},
            {"id": "4", "type": "function", "function": {"name": "nonsense", "arguments": "{\"half"}},
            {"id": "5", "type": "custom", "custom": {"name": "grammar", "input": "x"}},
            {"id": "6", "type": "function", "function": {"arguments": "{}"}},
            "nothing at all",
        ]});
        let response = json!({"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]});
        let expected = [
            Ok(r#"1 math.add {"a": 1e400, "a": 2}"#.to_owned()),
            Ok("2 ping {}".to_owned()),
            Ok(r#"3 ping {"sent":"as an object"}"#.to_owned()),
            Ok(r#"4 nonsense {"half"#.to_owned()),
            Err("malformed call: only function calls are supported, not calls of type `custom`".to_owned()),
            Err("malformed call: the function name is missing".to_owned()),
            Err("malformed call: only function calls are supported, not calls of type `no type`".to_owned()),
        ];
        assert_eq!(calls(&offer, &response), expected);
        assert_eq!(calls(&offer, &message), expected, "the message alone does, too");
        assert_eq!(offer.turn(&response.to_string()).expect("a response"), [message]);
        assert_eq!(
            offer.results(&answers()),
            [
                json!({"role": "tool", "tool_call_id": "1", "content": "{\"sum\":3}"}),
                json!({"role": "tool", "tool_call_id": "2", "content": "no route to host"}),
            ]
        );
        let text = json!({"choices": [{"message": {"role": "assistant", "content": "Hello."}}]});
        assert!(calls(&offer, &text).is_empty());
    }
}

/// Gemini's OpenAI-compatible endpoint rejects a call that is returned without its signature.
#[test]
fn extra_fields_of_a_call_are_returned() {
    let signed = json!({"google": {"thought_signature": "c2lnbmVk"}});
    let mut stream = offer(Dialect::OpenAiChat).stream();
    let first = json!({"index": 0, "id": "1", "type": "function", "function": {"name": "ping", "arguments": ""}, "extra_content": signed});
    let second = json!({"index": 0, "function": {"arguments": "{}"}, "extra_content": null});
    for delta in [json!({"tool_calls": [first]}), json!({"tool_calls": [second]})] {
        stream.push_value(&json!({"choices": [{"delta": delta}]})).expect("an event");
    }
    stream.push_value(&json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})).expect("an event");
    let call = json!({"id": "1", "type": "function", "function": {"name": "ping", "arguments": "{}"}, "extra_content": signed});
    assert_eq!(stream.finish().turn, [json!({"role": "assistant", "content": null, "tool_calls": [call]})]);
}

#[test]
fn openai_responses() {
    let offer = offer(Dialect::OpenAiResponses);
    let output = json!([
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "math__add", "arguments": "{\"a\":1}", "status": "completed"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]},
        {"type": "function_call", "id": "fc_2", "call_id": "call_2", "arguments": "{}"},
    ]);
    let response = json!({"id": "resp_1", "object": "response", "output": output});
    let expected =
        [Ok(r#"call_1 math.add {"a":1}"#.to_owned()), Err("malformed call: the function name is missing".to_owned())];
    assert_eq!(calls(&offer, &response), expected);
    assert_eq!(offer.turn(&response.to_string()).expect("a response").len(), 4);
    assert_eq!(
        offer.results(&answers())[1],
        json!({"type": "function_call_output", "call_id": "2", "output": "no route to host"})
    );
}

#[test]
fn anthropic() {
    let offer = offer(Dialect::Anthropic);
    let content = json!([
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "toolu_1", "name": "math__add", "input": {"a": 1, "user-name": "x"}},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_use", "id": "toolu_2", "input": {}},
        {"type": "tool_use", "id": "toolu_3", "name": "ping"},
    ]);
    let response =
        json!({"id": "msg_1", "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"});
    assert_eq!(
        calls(&offer, &response),
        [
            Ok(r#"toolu_1 math.add {"a":1,"user-name":"x"}"#.to_owned()),
            Err("malformed call: the tool name is missing".to_owned()),
            Ok("toolu_3 ping {}".to_owned()),
        ]
    );
    assert_eq!(
        offer.turn(&response.to_string()).expect("a response"),
        [json!({"role": "assistant", "content": content})]
    );
    assert_eq!(
        offer.results(&answers()),
        [json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "{\"sum\":3}"},
            {"type": "tool_result", "tool_use_id": "2", "content": "no route to host", "is_error": true},
        ]})]
    );
}

/// Numbers keep every digit, and duplicate keys are kept for the tool to reject.
#[test]
fn arguments_are_preserved_exactly() {
    let response = r#"{"content": [{"type": "tool_use", "id": "1", "name": "ping", "input": {"n": 123456789012345678901234567890, "n": 1.10}}]}"#;
    let calls = offer(Dialect::Anthropic).calls(response).expect("a response");
    assert_eq!(calls[0].as_ref().expect("a call").arguments, r#"{"n": 123456789012345678901234567890, "n": 1.10}"#);
}

#[test]
fn gemini() {
    let offer = offer(Dialect::Gemini);
    let parts = json!([
        {"text": "Let me see.", "thought": true},
        {"functionCall": {"name": "math.add", "args": {"a": 1, "user_name": "x"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "2", "name": "ping"}},
    ]);
    let content = json!({"role": "model", "parts": parts});
    let response = json!({"candidates": [{"content": content, "finishReason": "STOP"}]});
    assert_eq!(
        calls(&offer, &response),
        [Ok(r#" math.add {"a":1,"user-name":"x"}"#.to_owned()), Ok("2 ping {}".to_owned())],
        "the argument has its own name again"
    );
    assert_eq!(offer.turn(&response.to_string()).expect("a response"), [content]);
    let mut answers = answers();
    answers[0].id.clear();
    assert_eq!(
        offer.results(&answers),
        [json!({"role": "user", "parts": [
            {"functionResponse": {"name": "math.add", "response": {"output": {"sum": 3}}}},
            {"functionResponse": {"id": "2", "name": "ping", "response": {"error": "no route to host"}}},
        ]})]
    );
    assert!(calls(&offer, &json!({"candidates": [{"finishReason": "SAFETY"}]})).is_empty());
}

#[test]
fn bedrock() {
    let offer = offer(Dialect::Bedrock);
    let message = json!({"role": "assistant", "content": [
        {"text": "Let me see."},
        {"toolUse": {"toolUseId": "t1", "name": "math__add", "input": {"a": 1}}},
        {"toolUse": {"toolUseId": "t2", "input": {}}},
    ]});
    let response = json!({"output": {"message": message}, "stopReason": "tool_use"});
    assert_eq!(
        calls(&offer, &response),
        [Ok(r#"t1 math.add {"a":1}"#.to_owned()), Err("malformed call: the tool name is missing".to_owned())]
    );
    let mut answers = answers();
    answers[0].output = " ".to_owned();
    assert_eq!(
        offer.results(&answers),
        [json!({"role": "user", "content": [
            {"toolResult": {"toolUseId": "1", "content": [{"text": "(nothing)"}], "status": "success"}},
            {"toolResult": {"toolUseId": "2", "content": [{"text": "no route to host"}], "status": "error"}},
        ]})]
    );
}

#[test]
fn mcp() {
    let mut sum = tool(json!({}), json!({}));
    sum.returns = Some(json!({"type": "object", "properties": {"sum": {"type": "integer"}}}));
    let offer = Dialect::Mcp.offer([("math.add", &sum), ("ping", &tool(json!({}), json!({})))]).expect("two tools");
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "math.add", "arguments": {"a": 1}}},
        {"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": {"name": "ping"}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]);
    let expected = [
        Ok(r#"1 math.add {"a":1}"#.to_owned()),
        Ok(r#""1" ping {}"#.to_owned()),
        Err("malformed call: `params.name` is missing".to_owned()),
    ];
    assert_eq!(calls(&offer, &batch), expected);
    let mut answers = answers();
    answers[1].id = "\"1\"".to_owned();
    assert_eq!(
        offer.results(&answers),
        [
            json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "{\"sum\":3}"}], "isError": false, "structuredContent": {"sum": 3}}}),
            json!({"jsonrpc": "2.0", "id": "1", "result": {"content": [{"type": "text", "text": "no route to host"}], "isError": true}}),
        ]
    );
}

#[test]
fn rejects_text_that_is_not_a_response() {
    for dialect in Dialect::ALL {
        let offer = offer(dialect);
        for text in ["", "not JSON", "{\"cut\": ", "[1]trailing"] {
            let error = offer.calls(text).expect_err("it is no JSON");
            assert!(error.to_string().starts_with("the response is not JSON"), "{error}");
        }
        for text in ["{}", "null", "5", "\"text\""] {
            let error = offer.calls(text).expect_err("it is no response");
            assert!(error.to_string().starts_with("not a response of "), "{dialect}: {error}");
        }
        let error = offer.calls(r#"{"error": {"message": "overloaded"}}"#).expect_err("an error");
        assert!(error.to_string().contains(r#"returned an error: {"message": "overloaded"}"#), "{error}");
        assert!(offer.results(&[]).is_empty());
    }
}

#[test]
fn removes_the_nulls_of_strict_mode() {
    let order = json!({"type": "object", "properties": {
        "note": {"type": ["string", "null"]}, "kept": {"type": ["string", "null"]}, "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}},
    }, "required": ["kept"]});
    let tag = json!({"anyOf": [{"type": "object", "properties": {"colour": {"type": "string"}}}, {"type": "string"}]});
    let arguments = json!({"order": {"type": "object", "required": true, "$ref": "#/$defs/Order"}, "limit": {"type": "integer", "required": false, "default": 10}});
    let tool = tool(arguments, json!({"Order": order, "Tag": tag}));
    let offer = Dialect::OpenAiChat.strict().offer([("f", &tool)]).expect("one tool");
    assert!(offer.is_strict("f"));
    let written = r#"{"limit":null,"order":{"note":null,"kept":null,"tags":[{"colour":null},"null"]}}"#;
    let call = json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": written}});
    let calls = offer.calls_in(&json!({"role": "assistant", "tool_calls": [call]})).expect("a message");
    let read: Value = serde_json::from_str(&calls[0].as_ref().expect("a call").arguments).expect("JSON");
    assert_eq!(read, json!({"order": {"kept": null, "tags": [{}, "null"]}}));
}
