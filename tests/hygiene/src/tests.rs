//! Calls of the tools in this crate.

use rt::{Dispatcher, ToolCall};

#[tokio::test]
async fn every_tool_returns_its_result() {
    let tools = Dispatcher::builder()
        .service(crate::wrapped::WrappedService)
        .provide("session", |_| async { Ok::<_, rt::inject::InjectError>(String::from("session")) })
        .build()
        .expect("everything is provided");
    for (name, arguments, output) in [
        ("nested.double", r#"{"number": 4}"#, "8"),
        ("nested.greet", r#"{"name": "a", "times": 2}"#, "aa"),
        ("nested.old", "", "true"),
        ("local.tool", "", "7"),
        ("shadowed.plain", r#"{"text": "a"}"#, "a None"),
        ("shadowed.converted", r#"{"number": "1", "all": [2]}"#, r#"["3"]"#),
        ("shadowed.fail", r#"{"text": "b"}"#, "b"),
        ("shadowed.with", "", "8"),
        (
            "extended.all",
            r#"{"number": 1, "text": "a", "numbers": [2], "path": "p", "parsed": "3"}"#,
            "1 a [2] None None p 3 0",
        ),
        ("extended.length", "", "7"),
        ("extended.push", r#"{"text": "!"}"#, "8"),
        ("extended.into_text", "", "session"),
        ("wrapped_three", r#"{"text": "a"}"#, "3"),
        ("wrapped_four", "{}", "4"),
        ("wrapped.one", r#"{"plus": 4}"#, "5"),
        ("wrapped.two", "", "2"),
    ] {
        assert_eq!(tools.call(ToolCall::from_text(name, arguments)).await.output, output, "{name}");
    }
}
