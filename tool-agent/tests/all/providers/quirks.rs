//! Streams of servers with deviations from their protocol.

use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::{
    Agent, Message, ModelError, ModelErrorKind, ModelRequest, ResponsePart, RetryPolicy, RetryingModel, RunEnding,
    Usage,
};
use tool_runtime::ErrorKind;

use super::{Way, answered, said, tools};
use crate::server::{Reply, Server, Wire};
use crate::support::{assert_valid, kinds};

fn streamed(wire: Wire) -> Way {
    Way { wire, is_streamed: true }
}

/// Returns the parts of a response that a server streams with these events.
async fn parts(wire: Wire, events: impl IntoIterator<Item = Value>) -> Result<Vec<ResponsePart>, ModelError> {
    let server = Server::start([Reply::events(events)]).await;
    answered(&streamed(wire).model(&server), ModelRequest::new(&[Message::user("Hi.")]).tools(&tools())).await
}

/// An event of Chat Completions.
fn chunk(delta: &Value, finish_reason: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})
}

fn call_delta(id: &str, function: &Value) -> Value {
    chunk(&json!({"tool_calls": [{"index": 0, "id": id, "type": "function", "function": function}]}), &Value::Null)
}

#[tokio::test]
async fn deltas_with_a_new_id_each_are_one_call() {
    let events = [
        call_delta("aaa", &json!({"name": "math__add", "arguments": ""})),
        call_delta("bbb", &json!({"arguments": "{\"a\": 1,"})),
        call_delta("ccc", &json!({"arguments": " \"b\": 2}"})),
        chunk(&json!({}), &"tool_calls".into()),
    ];
    let parts = parts(Wire::OpenAi, events).await.unwrap();
    assert_eq!(said(&parts).1, [r#"math.add {"a":1,"b":2}"#]);
    let Some(ResponsePart::Call(call)) = parts.iter().find(|part| matches!(part, ResponsePart::Call(_))) else {
        panic!("{parts:?}")
    };
    assert_eq!(call.id, "aaa", "the first id counts");
}

#[tokio::test]
async fn a_new_id_with_a_name_is_another_call_at_the_same_index() {
    let events = [
        call_delta("aaa", &json!({"name": "math__add", "arguments": "{\"a\": 1}"})),
        call_delta("bbb", &json!({"name": "math__add", "arguments": "{\"a\":"})),
        call_delta("ccc", &json!({"arguments": " 2}"})),
        call_delta("aaa", &json!({"arguments": " "})),
        chunk(&json!({}), &"tool_calls".into()),
    ];
    let parts = parts(Wire::OpenAi, events).await.unwrap();
    assert_eq!(said(&parts).1, [r#"math.add {"a":1} "#, r#"math.add {"a":2}"#]);
}

#[tokio::test]
async fn an_empty_finish_reason_does_not_complete_a_response() {
    let delta = json!({"content": "Hello wor"});
    for reason in [json!(null), json!(""), json!("null")] {
        let cut = parts(Wire::OpenAi, [chunk(&delta, &reason)]).await.unwrap_err();
        assert_eq!(cut.kind, ModelErrorKind::Cut, "{reason}");
        let whole = [chunk(&delta, &reason), chunk(&json!({"content": "ld"}), &"stop".into())];
        assert_eq!(said(&parts(Wire::OpenAi, whole).await.unwrap()).0, "Hello world", "{reason}");
    }
}

#[tokio::test]
async fn prompt_feedback_completes_a_response_only_if_the_prompt_is_blocked() {
    let candidate = json!([{"content": {"role": "model", "parts": [{"text": "The first half"}]}}]);
    let rated = json!({"promptFeedback": {"safetyRatings": []}, "candidates": candidate});
    assert_eq!(parts(Wire::Gemini, [rated]).await.unwrap_err().kind, ModelErrorKind::Cut);
    let blocked = parts(Wire::Gemini, [json!({"promptFeedback": {"blockReason": "SAFETY"}})]).await.unwrap();
    assert!(matches!(blocked.last(), Some(ResponsePart::End(_))), "{blocked:?}");
}

#[tokio::test]
async fn a_message_instead_of_a_delta_is_read() {
    let event = json!({"choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]});
    assert_eq!(said(&parts(Wire::OpenAi, [event]).await.unwrap()).0, "Hello");
    // A message that repeats the streamed text is not added to it.
    let last = json!({"choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]});
    let events = [chunk(&json!({"content": "Hello"}), &Value::Null), last];
    assert_eq!(said(&parts(Wire::OpenAi, events).await.unwrap()).0, "Hello");
}

/// Returns the events of a response of Messages around these.
fn anthropic(events: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 1_000, "cache_creation_input_tokens": 50,
        "output_tokens": 1});
    let start = json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}});
    [start].into_iter().chain(events).collect()
}

#[tokio::test]
async fn text_and_reasoning_at_the_start_of_a_block_count() {
    let events = anthropic([
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "Hm"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Hello "}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "world"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_stop"}),
    ]);
    let parts = parts(Wire::Anthropic, events).await.unwrap();
    let thoughts = parts
        .iter()
        .filter_map(|part| if let ResponsePart::Thinking(text) = part { Some(text.as_str()) } else { None });
    assert_eq!((said(&parts).0.as_str(), thoughts.collect::<String>().as_str()), ("Hello world", "Hm."));
}

#[tokio::test]
async fn cached_tokens_count_even_if_a_later_event_omits_them() {
    let usage = json!({"input_tokens": 10, "output_tokens": 7});
    let events = anthropic([
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
        json!({"type": "message_stop"}),
    ]);
    let parts = parts(Wire::Anthropic, events).await.unwrap();
    let Some(ResponsePart::End(end)) = parts.last() else { panic!("{parts:?}") };
    assert_eq!(end.usage, Usage::new(1_060, 7).cached(1_000));
}

/// Anthropic is overloaded while the model reasons.
fn overloaded() -> Reply {
    Reply::events(anthropic([
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Wrong."}}),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ]))
}

#[tokio::test]
async fn a_failure_after_reasoning_is_retried_and_counted() {
    let server = Server::start([overloaded(), Reply::text("Here I am.").thinking("Right.")]).await;
    let model = RetryingModel::new(streamed(Wire::Anthropic).model(&server));
    let model = model.retry(RetryPolicy::default().first_wait(Duration::from_millis(1)));
    let agent = Agent::builder(model, tools()).build();
    let conversation = agent.conversation("c");
    let outcome = conversation.say("Hi.").await;
    assert_eq!(outcome.answer(), Some("Here I am."), "{:?}", outcome.ending);
    let history = conversation.history().await.unwrap();
    let Some(Message::Assistant(answer)) = history.last() else { panic!("{history:?}") };
    assert_eq!(answer.thinking, "Right.", "the reasoning of the failed request is discarded");
    let once = Server::start([Reply::text("Here I am.").thinking("Right.")]).await;
    let once =
        Agent::builder(streamed(Wire::Anthropic).model(&once), tools()).build().conversation("c").say("Hi.").await;
    assert_eq!(outcome.usage.input, once.usage.input + 1_060, "the failed request is charged");
}

#[tokio::test]
async fn the_usage_of_a_failed_response_counts() {
    let server = Server::start([overloaded()]).await;
    let agent = Agent::builder(streamed(Wire::Anthropic).model(&server), tools()).build();
    let outcome = agent.conversation("c").say("Hi.").await;
    assert!(matches!(&outcome.ending, RunEnding::Failed(error) if error.kind == ModelErrorKind::Server), "{outcome:?}");
    assert_eq!(outcome.usage, Usage::new(1_060, 1).cached(1_000));
}

#[tokio::test]
async fn the_result_of_a_malformed_call_has_the_reason() {
    let call = json!({"index": 0, "id": "1", "type": "function", "function": {"arguments": "{}"}});
    let events = [chunk(&json!({"tool_calls": [call]}), &Value::Null), chunk(&json!({}), &"tool_calls".into())];
    let server = Server::start([Reply::events(events), Reply::text("Sorry.")]).await;
    let agent = Agent::builder(streamed(Wire::OpenAi).model(&server), tools()).build();
    let conversation = agent.conversation("c");
    assert_eq!(conversation.say("Add.").await.answer(), Some("Sorry."));
    let history = conversation.history().await.unwrap();
    assert_valid(&history);
    assert_eq!(kinds(&history[2]), [Some(ErrorKind::InvalidArguments)]);
    let Message::Tools { results } = &history[2] else { panic!("{history:?}") };
    assert_eq!(
        results[0].result.output,
        "`unknown` was not run: the function name is missing. Repeat the complete call."
    );
}

#[tokio::test]
async fn consecutive_messages_of_the_user_are_sent_as_one() {
    for way in Way::all() {
        let server = Server::start([Reply::status(400), Reply::text("Hello.")]).await;
        let agent = Agent::builder(way.model(&server), tools()).build();
        let conversation = agent.conversation("c");
        assert!(matches!(conversation.say("First.").await.ending, RunEnding::Failed(_)), "{way:?}");
        assert_eq!(conversation.say("Second.").await.answer(), Some("Hello."), "{way:?}");
        let received = server.received();
        let body = &received.last().expect("it was asked").body;
        let sent = body.get("messages").or(body.get("contents")).and_then(Value::as_array).expect("there are messages");
        let sent: Vec<&Value> = sent.iter().filter(|message| message["role"] != "system").collect();
        assert_eq!(sent.len(), 1, "{way:?}: {body}");
        assert!(sent[0].to_string().contains("First.\\n\\nSecond."), "{way:?}: {body}");
    }
}
