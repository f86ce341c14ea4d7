//! Contents of a response: text, reasoning, calls, usage.

use serde_json::json;
use tool_agent::{Message, ModelErrorKind, ModelOptions, ModelRequest, ResponsePart, StopReason, Usage};

use super::{Way, answered, said, tools};
use crate::server::{Called, End, Reply, Server, Wire};

#[tokio::test]
async fn text_reasoning_and_calls_are_read_in_every_wire_format() {
    for way in Way::all() {
        let calls = [
            Called::new("call_1", "math__add", r#"{"a":1,"b":2}"#),
            Called::new("call_2", "math__add", r#"{"a":3,"b":4}"#),
        ];
        let calls =
            calls.map(|call| if way.wire == Wire::Gemini { Called { name: "math.add".into(), ..call } } else { call });
        let reply = Reply::calls(calls).saying("Grüße, einen Moment…").thinking("They want two sums.");
        let server = Server::start([reply]).await;
        let tools = tools();
        let messages = [Message::user("Add.")];
        let parts = answered(&way.model(&server), ModelRequest::new(&messages).system("Be brief.").tools(&tools))
            .await
            .unwrap();

        let (text, calls) = said(&parts);
        assert_eq!(text, "Grüße, einen Moment…", "{way:?}");
        assert_eq!(calls, [r#"math.add {"a":1,"b":2}"#, r#"math.add {"a":3,"b":4}"#], "{way:?}");
        let thoughts: String = parts
            .iter()
            .filter_map(|part| if let ResponsePart::Thinking(text) = part { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(thoughts, "They want two sums.", "{way:?}");
        let pieces = parts.iter().filter(|part| matches!(part, ResponsePart::Text(_))).count();
        assert_eq!(pieces > 1, way.is_streamed, "{way:?}: text comes as it is written");
        let Some(ResponsePart::End(end)) = parts.last() else { panic!("{way:?}: no end") };
        assert_eq!(end.usage, Usage::new(80, 20).cached(30), "{way:?}");
        assert!(end.opaque.as_ref().is_some_and(|opaque| opaque.is_array()), "{way:?}");

        let received = server.received();
        assert_eq!(received[0].is_streamed, way.is_streamed);
        assert!(received[0].body.to_string().contains("Be brief."), "{way:?}");
    }
}

#[tokio::test]
async fn a_response_has_a_stop_reason() {
    let reasons = |wire| match wire {
        Wire::OpenAi => [
            ("length", StopReason::Length),
            ("content_filter", StopReason::Filtered),
            ("refusal", StopReason::Filtered),
        ],
        Wire::Anthropic => {
            [("max_tokens", StopReason::Length), ("refusal", StopReason::Filtered), ("end_turn", StopReason::Done)]
        }
        Wire::Gemini => {
            [("MAX_TOKENS", StopReason::Length), ("SAFETY", StopReason::Filtered), ("STOP", StopReason::Done)]
        }
    };
    for way in Way::all() {
        for (reason, stop) in reasons(way.wire) {
            let server = Server::start([Reply::text("half a").stopped(reason)]).await;
            let parts = answered(&way.model(&server), ModelRequest::new(&[Message::user("Hi.")])).await.unwrap();
            assert_eq!(said(&parts).0, "half a", "{way:?}: {reason}");
            let Some(ResponsePart::End(end)) = parts.last() else { panic!("{way:?}: no end") };
            assert_eq!(end.stop, stop, "{way:?}: {reason}");
        }
    }
}

/// A retry may succeed.
#[tokio::test]
async fn a_malformed_call_is_an_error() {
    for is_streamed in [true, false] {
        let way = Way { wire: Wire::Gemini, is_streamed };
        let server = Server::start([Reply::text("").stopped("MALFORMED_FUNCTION_CALL")]).await;
        let error = answered(&way.model(&server), ModelRequest::new(&[Message::user("Hi.")])).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
    }
}

#[tokio::test]
async fn options_are_sent_if_they_are_set() {
    for way in Way::all() {
        let server = Server::start([Reply::text("Hello."), Reply::text("Hello.")]).await;
        let (model, messages) = (way.model(&server), [Message::user("Hi.")]);
        let options = ModelOptions::default().max_tokens(1000).temperature(0.5);
        answered(&model, ModelRequest::new(&messages).options(&options)).await.unwrap();
        answered(&model, ModelRequest::new(&messages)).await.unwrap();
        let sent = server.received().into_iter().map(|received| received.body).collect::<Vec<_>>();
        let (at, unset) = match way.wire {
            Wire::OpenAi => (["/max_tokens", "/temperature"], [None, None]),
            // The API requires the one, and rejects the other.
            Wire::Anthropic => (["/max_tokens", ""], [Some(json!(32_000)), None]),
            Wire::Gemini => (["/generationConfig/maxOutputTokens", "/generationConfig/temperature"], [None, None]),
        };
        let found = |number: usize| at.map(|at| sent[number].pointer(at).filter(|_| !at.is_empty()).cloned());
        let set = [Some(json!(1000)), (way.wire != Wire::Anthropic).then(|| json!(0.5))];
        assert_eq!((found(0), found(1)), (set, unset), "{way:?}");
        assert!(way.wire != Wire::Anthropic || sent[0].get("temperature").is_none());
    }
}

/// A stream that ends early is an error, however it ends, and none of its calls is returned.
#[tokio::test]
async fn a_stream_that_is_cut_off_is_an_error_at_every_event() {
    for way in Way::all().filter(|way| way.is_streamed) {
        for end in [End::Quiet, End::Broken, End::Failed] {
            for events in 0..6 {
                let call = Called::new(
                    "call_1",
                    if way.wire == Wire::Gemini { "math.add" } else { "math__add" },
                    r#"{"a":1,"b":2}"#,
                );
                let reply = Reply::calls([call]).saying("One moment.").thinking("A sum.");
                // Gemini's stream of this response has six events.
                let events = if way.wire == Wire::Gemini { events.min(5) } else { events };
                let server = Server::start([reply.cut(events, end)]).await;
                let tools = tools();
                let messages = [Message::user("Add.")];
                let error =
                    answered(&way.model(&server), ModelRequest::new(&messages).tools(&tools)).await.unwrap_err();
                assert!(error.is_retryable(), "{way:?}, {end:?} after {events}: {error}");
                let expected = if end == End::Failed { ModelErrorKind::Server } else { ModelErrorKind::Cut };
                assert_eq!(error.kind, expected, "{way:?}, {end:?} after {events}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn a_complete_response_that_is_cut_off_is_an_error() {
    for way in Way::all().filter(|way| !way.is_streamed) {
        for end in [End::Quiet, End::Broken] {
            let server = Server::start([Reply::text("One moment.").cut(0, end)]).await;
            let error = answered(&way.model(&server), ModelRequest::new(&[Message::user("Hi.")])).await.unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Cut, "{way:?}, {end:?}: {error}");
        }
    }
}
