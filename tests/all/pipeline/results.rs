//! What the model reads of a long result.

use serde_json::json;
use tool_runtime::{ErrorKind, Spill, ToolCall, tool};

use super::{builder, kind};

/// Say a lot.
#[tool(name = "pipeline.long")]
fn long(lines: usize) -> String {
    "\u{1b}[31mred\u{1b}[0m line\n".repeat(lines)
}

#[tokio::test]
async fn long_results_are_cleaned_and_shortened() {
    let tools = builder().spill(Spill::over(1_000)).build().unwrap();
    let call = |lines: usize| ToolCall::new("pipeline.long", json!({"lines": lines})).conversation("c");
    assert_eq!(tools.call(call(1)).await.output, "red line\n");
    let long = tools.call(call(5_000)).await;
    assert!(long.success && long.output.len() <= 1_000, "{}", long.output.len());
    let handle = long.metadata.get("spilled").unwrap()["handle"].as_str().unwrap().to_owned();
    let read = ToolCall::new("read_result", json!({"handle": handle, "offset": 4_000, "limit": 1})).conversation("c");
    assert!(tools.call(read).await.output.starts_with("red line\n"));
    let strange = ToolCall::new("read_result", json!({"handle": handle})).conversation("d");
    assert!(!tools.call(strange).await.success, "another conversation reads nothing");
}

/// Fail with a lot of words.
#[tool(name = "pipeline.long_error")]
fn long_error(lines: usize) -> Result<(), String> {
    Err("it does not work\n".repeat(lines))
}

#[tokio::test]
async fn a_long_error_is_shortened_too() {
    let tools = builder().spill(Spill::over(1_000)).build().unwrap();
    let result = tools.call(ToolCall::new("pipeline.long_error", json!({"lines": 100_000}))).await;
    assert_eq!(kind(&result), ErrorKind::Failed);
    assert!(serde_json::to_string(&result).unwrap().len() < 4_000);
    assert_eq!(result.error.unwrap().message, result.output);
}
