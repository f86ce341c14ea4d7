//! Validation of results against output schemas.

use serde_json::{Value, json};
use tool_runtime::{ErrorKind, ToolCall};

use crate::scripted::{Peer, beside_good, dispatcher, good_answers, kind, server};

/// A server with the given results.
fn liar(answers: fn(i64) -> Value) -> tool_mcp::ServerConfig {
    let listed = json!([{
        "name": "weather",
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "outputSchema": {
            "type": "object", "properties": {"degrees": {"type": "number", "maximum": 60}}, "required": ["degrees"],
        },
    }]);
    let script = move |mut peer: Peer| {
        let listed = listed.clone();
        async move {
            while let Some(call) = peer.call(&listed).await {
                let n = call["params"]["arguments"]["n"].as_i64().unwrap_or_default();
                peer.answer(&call, answers(n)).await;
            }
        }
    };
    server("s", script).trust()
}

#[tokio::test]
async fn reports_results_that_violate_the_output_schema() {
    let tools = dispatcher();
    let servers = beside_good(
        &tools,
        liar(|n| {
            let text = json!([{"type": "text", "text": "mild"}]);
            match n {
                1 => json!({"content": text, "structuredContent": {"degrees": "<b>mild</b>"}}),
                2 => json!({"content": text, "structuredContent": {"degrees": 1e300}}),
                3 => json!({"content": text, "structuredContent": null}),
                4 => json!({"content": text}),
                5 => json!({"content": [{"type": "hologram"}], "structuredContent": {}}),
                // A valid result, and an error, which is not checked.
                6 => json!({"content": text, "structuredContent": {"degrees": 21.5, "more": 1}}),
                _ => json!({"content": text, "isError": true}),
            }
        }),
    )
    .await;
    let weather = async |n: i64| tools.call(ToolCall::new("mcp_s_weather", json!({"n": n}))).await;
    for (n, wrong) in [
        (1, "- `degrees`: got \"<b>mild</b>\", expected number of at most 60"),
        (2, "- `degrees`: got 1e+300, expected number of at most 60"),
        (3, "- got null, expected object"),
        (4, "- structured content is missing"),
        (5, "- `degrees`: missing, expected number of at most 60"),
    ] {
        let result = weather(n).await;
        assert_eq!(kind(&result), Some(ErrorKind::Failed), "{n}: {result:?}");
        let ran = "`weather` of the server `s` ran, but its result does not match its output schema:";
        assert!(result.output.starts_with(ran) && result.output.contains(wrong), "{n}: {}", result.output);
        let output = if n == 5 { "Its output was:\n[hologram]" } else { "Its output was:\nmild" };
        assert!(result.output.ends_with(output), "{n}: {}", result.output);
        assert!(result.metadata.get("structured_content").is_none(), "{n}: {result:?}");
    }
    let right = weather(6).await;
    assert!(right.success, "{right:?}");
    assert_eq!(right.metadata.get("structured_content").unwrap()["degrees"], 21.5);
    assert_eq!(weather(7).await.output, "mild");
    good_answers(&tools).await;
    servers.close().await;
}

/// A server chooses both the schema and the value, so validation could take forever. Results that need too much work are
/// rejected.
#[tokio::test]
async fn gives_up_on_a_validation_that_takes_too_long() {
    let values: Vec<String> = (0..20_000).map(|n| format!("{n:05}")).collect();
    let listed = json!([{
        "name": "many",
        "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
        "outputSchema": {"type": "object", "properties": {"a": {"type": "array", "items": {"enum": values}}}},
    }]);
    let many = server("s", move |mut peer: Peer| {
        let listed = listed.clone();
        async move {
            while let Some(call) = peer.call(&listed).await {
                let items = vec![call["params"]["arguments"]["word"].clone(); 500_000];
                peer.answer(&call, json!({"content": [], "structuredContent": {"a": items}})).await;
            }
        }
    });
    let tools = dispatcher();
    let servers = beside_good(&tools, many.trust()).await;
    for (word, expected) in [("19999", "too much to check"), ("19998x", "- and more")] {
        let result = tools.call(ToolCall::new("mcp_s_many", json!({"word": word}))).await;
        assert_eq!(kind(&result), Some(ErrorKind::Failed), "{word}");
        let output: String = result.output.chars().take(2_000).collect();
        assert!(output.contains(expected), "{word}: {output}");
    }
    good_answers(&tools).await;
    servers.close().await;
}
