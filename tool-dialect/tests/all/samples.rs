//! Responses and streams as providers send them, from `../samples`: whole, truncated and broken ones.
//!
//! The providers' own packages check the samples (see `python`). `accepted` states whether their types accept a sample,
//! `package` whether their clients assemble a stream without an error. `calls` lists the expected calls; if absent,
//! they follow from the equivalent `response` of a stream.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tool_dialect::{Dialect, MalformedCall, RequestedCall, StreamedResponse, ToolOffer};

use crate::fixtures::tool;

/// The dialects with samples; OpenRouter uses OpenAI's.
const DIALECTS: [Dialect; 6] = [
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
    Dialect::Anthropic,
    Dialect::Gemini,
    Dialect::Bedrock,
    Dialect::Mcp,
];

/// All samples, by dialect name.
pub fn all() -> Map<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let read = |dialect: Dialect| {
        let text = fs::read_to_string(folder.join(format!("{dialect}.json"))).expect("the samples are there");
        (dialect.to_string(), serde_json::from_str(&text).expect("the samples are JSON"))
    };
    DIALECTS.map(read).into_iter().collect()
}

/// The tools that the samples call.
pub fn offer(dialect: Dialect) -> ToolOffer {
    let add = tool(
        json!({"a": {"type": "integer", "required": true}, "user-name": {"type": "string", "required": false}}),
        json!({}),
    );
    dialect.offer([("math.add", &add), ("ping", &tool(json!({}), json!({})))]).expect("names stay apart")
}

/// Formats each call as `id name arguments`, or as its error.
pub fn shown(calls: &[Result<RequestedCall, MalformedCall>]) -> Vec<String> {
    let line = |call: &Result<RequestedCall, MalformedCall>| match call {
        Ok(call) => format!("{} {} {}", call.id, call.name, call.arguments),
        Err(malformed) => format!("malformed: {}", malformed.message),
    };
    calls.iter().map(line).collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn samples(kind: &str) -> Vec<(Dialect, Value)> {
    let all = all();
    let of = |dialect: Dialect| all[dialect.name()][kind].as_array().expect("a list").clone();
    DIALECTS.into_iter().flat_map(|dialect| of(dialect).into_iter().map(move |sample| (dialect, sample))).collect()
}

fn received(dialect: Dialect, events: &[Value]) -> StreamedResponse {
    let mut stream = offer(dialect).stream();
    let mut text = String::new();
    for event in events {
        let new = stream.push_value(event).unwrap_or_else(|error| panic!("{dialect}: {error}"));
        text.extend(new);
    }
    let received = stream.finish();
    assert_eq!(received.text, text, "what came bit by bit");
    received
}

#[test]
fn finds_the_calls_of_every_sample() {
    for (dialect, sample) in samples("responses") {
        let calls = offer(dialect).calls_in(&sample["response"]);
        let calls = calls.unwrap_or_else(|error| panic!("{dialect}, {}: {error}", sample["what"]));
        assert_eq!(shown(&calls), texts(&sample["calls"]), "{dialect}, {}", sample["what"]);
        assert!(offer(dialect).turn(&sample["response"].to_string()).is_ok(), "{dialect}, {}", sample["what"]);
    }
}

/// A stream yields the same calls and the same turn as the equivalent whole response.
#[test]
fn streams_match_whole_responses() {
    for (dialect, sample) in samples("streams") {
        let what = format!("{dialect}, {}", sample["what"]);
        let received = received(dialect, sample["events"].as_array().expect("events"));
        assert_eq!(received.text, sample["text"], "{what}");
        assert_eq!(received.is_complete, sample["complete"], "{what}");
        let Some(response) = sample.get("response") else {
            assert_eq!(shown(&received.calls), texts(&sample["calls"]), "{what}");
            continue;
        };
        let whole = offer(dialect).calls_in(response).expect("a response");
        let spaceless =
            |calls: &[_]| -> Vec<String> { shown(calls).iter().map(|call| call.replace(' ', "")).collect() };
        assert_eq!(spaceless(&received.calls), spaceless(&whole), "{what}");
        let turn = offer(dialect).turn(&response.to_string()).expect("a response");
        assert_eq!(without_nothing(received.turn), without_nothing(turn), "{what}");
    }
}

/// Removes empty fields, which a stream does not repeat.
fn without_nothing(turn: Vec<Value>) -> Vec<Value> {
    let is_said = |value: &Value| !value.is_null() && *value != json!([]);
    let plain = |message: Value| match message {
        Value::Object(object) => object.into_iter().filter(|(_, value)| is_said(value)).collect::<Map<_, _>>().into(),
        other => other,
    };
    turn.into_iter().map(plain).collect()
}

/// A truncated stream never yields a call that the whole stream does not, and every call of the turn has a result.
#[test]
fn a_truncated_stream_is_safe_at_every_event() {
    let mut cut = 0;
    for (dialect, sample) in samples("streams") {
        let events = sample["events"].as_array().expect("events");
        let whole = received(dialect, events);
        for end in 0..events.len() {
            let part = received(dialect, &events[..end]);
            let what = format!("{dialect}, {}, after {end} events", sample["what"]);
            assert!(whole.text.starts_with(&part.text), "{what}");
            for call in &part.calls {
                let known = whole.calls.contains(call);
                cut += usize::from(call.is_err());
                assert!(known || call.is_err(), "{what}: {call:?} is not what the whole says");
            }
            let written = json!(part.turn).to_string();
            for id in part.calls.iter().map(|call| call.as_ref().map_or_else(|bad| &bad.id, |call| &call.id)) {
                assert!(written.contains(id.as_str()), "{what}: {id} is not in {written}");
            }
        }
    }
    assert!(cut > 20, "only {cut} calls were cut");
}

/// Numbers keep every digit, also when streamed in pieces.
#[test]
fn arguments_are_preserved_exactly() {
    let number = "123456789012345678901234567890";
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"ping","input":{}}}"#;
    let delta = |piece: &str| {
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}})
            .to_string()
    };
    let mut stream = offer(Dialect::Anthropic).stream();
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    for event in [start, &delta("{\"n\": 1234567890"), &delta("12345678901234567890, \"n\": 1.10}"), stop, "", "[DONE]"]
    {
        assert_eq!(stream.push(event), Ok(None));
    }
    let calls = stream.finish().calls;
    assert_eq!(shown(&calls), [format!(r#"1 ping {{"n": {number}, "n": 1.10}}"#)]);
    let mut stream = offer(Dialect::Gemini).stream();
    let event = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ping","args":{"n":123456789012345678901234567890}}}]}}]}"#;
    assert_eq!(stream.push(event), Ok(None));
    assert_eq!(shown(&stream.finish().calls), [format!(r#" ping {{"n":{number}}}"#)]);
}

/// A failure within a stream is an error, and earlier events are kept.
#[test]
fn a_failure_within_a_stream_is_an_error() {
    let failures = [
        (Dialect::OpenAiChat, json!({"error": {"message": "overloaded"}})),
        (Dialect::OpenAiResponses, json!({"type": "error", "code": "server_error", "message": "overloaded"})),
        (
            Dialect::OpenAiResponses,
            json!({"type": "response.failed", "response": {"error": {"message": "overloaded"}}}),
        ),
        (Dialect::Anthropic, json!({"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}})),
        (Dialect::Gemini, json!({"error": {"code": 503, "message": "overloaded"}})),
        (Dialect::Bedrock, json!({"throttlingException": {"message": "overloaded"}})),
    ];
    for (dialect, failure) in failures {
        let all = all();
        let events = all[dialect.name()]["streams"][0]["events"].as_array().expect("events").clone();
        let mut stream = offer(dialect).stream();
        for event in &events {
            stream.push_value(event).expect("an event");
        }
        let error = stream.push_value(&failure).expect_err("a failure").to_string();
        assert!(error.contains("returned an error") && error.contains("overloaded"), "{error}");
        assert!(stream.push("{\"half").is_err(), "no JSON");
        assert_eq!(stream.finish().calls.len(), 2, "{dialect}");
    }
}
