//! Encoding of conversations.

use serde_json::{Value, json};
use tool_agent::{AssistantMessage, CallResult, Message, ModelCall, ModelRequest, ResponsePart};
use tool_runtime::{ErrorKind, ToolError, ToolResult};

use super::{Way, answered, tools};
use crate::server::{Called, Reply, Server, Wire};

/// Returns the history after a first response, as the loop makes it.
fn continued(model: &str, parts: Vec<ResponsePart>) -> Vec<Message> {
    let mut said = AssistantMessage::default();
    model.clone_into(&mut said.model);
    for part in parts {
        match part {
            ResponsePart::Text(text) => said.text.push_str(&text),
            ResponsePart::Call(call) => said.calls.push(call),
            ResponsePart::End(end) => said.opaque = end.opaque,
            _ => {}
        }
    }
    for (at, call) in said.calls.iter_mut().enumerate().filter(|(_, call)| call.id.is_empty()) {
        call.id = format!("of-the-loop/{at}");
    }
    let results = said.calls.iter().map(|call| result(call, false)).collect();
    vec![Message::user("Add."), Message::Assistant(said), Message::Tools { results }]
}

fn result(call: &ModelCall, success: bool) -> CallResult {
    let result = match success {
        true => ToolResult::success("3".to_owned()),
        false => ToolResult::failure(ToolError::new(ErrorKind::Failed, "no numbers today")),
    };
    CallResult::new(&call.id, &call.name, result)
}

/// The messages of a request.
fn messages(body: &Value) -> &Vec<Value> {
    body.get("messages").or(body.get("contents")).and_then(Value::as_array).expect("there are messages")
}

#[tokio::test]
async fn signed_reasoning_is_sent_back_to_its_own_model_only() {
    for way in Way::all() {
        let name = if way.wire == Wire::Gemini { "math.add" } else { "math__add" };
        let id = if way.wire == Wire::Gemini { "" } else { "call_1" };
        let reply =
            Reply::calls([Called::new(id, name, json!({"a": 1, "b": 2}))]).saying("One moment.").thinking("A sum.");
        let server = Server::start([reply, Reply::text("3"), Reply::text("3")]).await;
        let (model, tools) = (way.model(&server), tools());
        let first = answered(&model, ModelRequest::new(&[Message::user("Add.")]).tools(&tools)).await.unwrap();
        for (of, is_same) in [(tool_agent::Model::name(&model), true), ("another/model", false)] {
            let history = continued(of, first.clone());
            answered(&model, ModelRequest::new(&history).tools(&tools))
                .await
                .unwrap_or_else(|error| panic!("{way:?}: {error}"));
            let received = server.received();
            let sent = messages(&received.last().expect("it was asked").body);
            for thought in ["A sum.", "c2lnbmVk"] {
                assert_eq!(Value::from(sent.clone()).to_string().contains(thought), is_same, "{way:?}: {thought}");
            }
            assert!(Value::from(sent.clone()).to_string().contains("no numbers today"), "{way:?}");
        }
        let sent = messages(&server.received()[1].body).last().cloned().expect("there are results");
        match way.wire {
            Wire::OpenAi => assert_eq!(sent["tool_call_id"], "call_1"),
            Wire::Anthropic => assert_eq!(sent["content"][0]["is_error"], true, "a failure is one to the model"),
            Wire::Gemini => assert_eq!(sent["parts"][0]["functionResponse"]["id"], Value::Null, "it gave none itself"),
        }
    }
}

/// Invalid names, arguments that are not JSON, empty responses: the conversation can continue whatever a model has
/// done.
#[tokio::test]
async fn an_unusual_history_is_accepted_by_all_providers() {
    let call = |id: &str, name: &str, arguments: &str| ModelCall::new(id, name, arguments);
    let calls = vec![
        call("", "math.add", r#"{"a": 1"#),
        call("same", "functions.no such tool!", "[1, 2]"),
        call("same", "", ""),
        call(&"long".repeat(40), "math.add", r#"{"a": 1, "b": 12345678901234567890123}"#),
    ];
    let results = calls.iter().map(|call| result(call, true)).collect();
    let history = [
        Message::user("  "),
        Message::assistant(""),
        Message::user("Add."),
        Message::Assistant(AssistantMessage::new("\n\n", calls)),
        Message::Tools { results },
        Message::assistant("Something went wrong."),
        Message::user("Again."),
    ];
    for way in Way::all() {
        let server = Server::start([Reply::text("Well."), Reply::text("Well.")]).await;
        let (model, tools) = (way.model(&server), tools());
        // With tools and without, as between planning and building.
        for request in [ModelRequest::new(&history).tools(&tools), ModelRequest::new(&history)] {
            answered(&model, request).await.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        }
        let planned = &server.received()[1].body;
        match way.wire {
            Wire::Anthropic => assert_eq!(planned["tool_choice"], json!({"type": "none"})),
            Wire::OpenAi | Wire::Gemini => assert_eq!(planned.get("tools"), None),
        }
    }
}

/// A model that is cut off during its reasoning has no response, and the next request does not contain any.
#[tokio::test]
async fn reasoning_without_text_is_not_sent_back() {
    for way in Way::all() {
        let server = Server::start([Reply::text("").thinking("A sum."), Reply::text("3")]).await;
        let model = way.model(&server);
        let mut history = vec![Message::user("Add.")];
        let parts = answered(&model, ModelRequest::new(&history)).await.unwrap();
        history = continued(tool_agent::Model::name(&model), parts);
        history.truncate(2);
        history.push(Message::user("Go on."));
        answered(&model, ModelRequest::new(&history)).await.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert_eq!(messages(&server.received()[1].body).len(), 1, "{way:?}: the user's messages only, as one");
    }
}
