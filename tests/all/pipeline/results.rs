//! Long results, as the model reads them.

use serde_json::json;
use tool_runtime::journal::MemoryJournal;
use tool_runtime::output::{MemorySpillStore, Spill};
use tool_runtime::{ErrorKind, ToolCall, tool};

use super::{builder, kind};

/// Say a lot.
#[tool(name = "pipeline.long")]
fn long(lines: usize) -> String {
    "\u{1b}[31mred\u{1b}[0m line\n".repeat(lines)
}

#[tokio::test]
async fn long_results_are_sanitized_and_shortened() {
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

#[tokio::test]
async fn replays_of_a_long_result_are_stored_once() {
    let spill = Spill::over(1_000).store(MemorySpillStore::new(60_000));
    let tools = builder().journal(MemoryJournal::new()).spill(spill).build().unwrap();
    let long =
        |id: &'static str| tools.call(ToolCall::new("pipeline.long", json!({"lines": 1_000})).conversation("c").id(id));
    let other = long("other").await;
    let first = long("1").await;
    let replays = [long("1").await, long("1").await];
    assert_eq!(replays[0], replays[1], "they have one handle");
    for _ in 0..20 {
        long("1").await;
    }
    for result in [&other, &first, &replays[0]] {
        let whole = tools.whole_output(Some("c"), result).expect("the output is still stored");
        assert_eq!(whole.len(), "red line\n".len() * 1_000);
        assert!(result.output.len() <= 1_000);
    }
    for id in ["2", "3", "4", "5", "6", "7", "8"] {
        long(id).await;
    }
    assert!(tools.whole_output(Some("c"), &other).is_none(), "the control: other results do evict it");
}

/// Models do not always assign unique ids to their calls.
#[tokio::test]
async fn replays_of_two_calls_with_one_id_are_distinguished() {
    let tools = builder().journal(MemoryJournal::new()).spill(Spill::over(1_000)).build().unwrap();
    let long =
        |lines: usize| tools.call(ToolCall::new("pipeline.long", json!({"lines": lines})).conversation("c").id("1"));
    for lines in [500, 600, 500, 600] {
        let result = long(lines).await;
        let whole = tools.whole_output(Some("c"), &result).unwrap();
        assert_eq!(whole.len(), "red line\n".len() * lines);
    }
}
