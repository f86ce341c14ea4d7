//! Panics, deadlines, cancellation and drops of handlers without injected values; manifests that do not match.

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_runtime::{Builder, CancellationToken, Dispatcher, ErrorKind, Manifest, ToolCall, tool};

fn own() -> Manifest {
    let mut tools = Manifest::default();
    for (name, tool) in Manifest::linked().iter().filter(|(_, tool)| tool.handler.contains("::calls::")) {
        tools.insert(name, tool.clone());
    }
    tools
}

fn tools() -> Builder {
    Dispatcher::builder().manifest(own()).per_call::<Arc<Flag>>()
}

#[derive(Default)]
struct Flag(AtomicBool);

struct SetOnDrop(Arc<Flag>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panics in the way that is asked for.
#[tool(name = "calls.panic")]
fn panics(how: String) -> u8 {
    match how.as_str() {
        "text" => panic!("plain"),
        "format" => panic!("with {}", 5),
        "odd" => panic_any(17_u8),
        "bomb" => panic_any(PanicsWhenDropped),
        _ => 0,
    }
}

/// Panics after a wait.
#[tool(name = "calls.panic_later")]
async fn panics_later() {
    tokio::task::yield_now().await;
    panic!("later");
}

/// Never answers; its future panics when dropped, if asked to.
#[tool(name = "calls.hang")]
async fn hang(#[inject] flag: Arc<Flag>, #[arg(default = false)] bomb: bool) {
    let _set = SetOnDrop(flag);
    let _bomb = bomb.then(|| PanicsWhenDropped);
    std::future::pending::<()>().await;
}

/// Sleeps as long as it may.
#[tool(name = "calls.limited", timeout = "1s")]
async fn limited() {
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

/// Blocks its thread.
#[tool(name = "calls.block", blocking)]
fn block(milliseconds: u64, #[arg(default = false)] fail: bool) -> Result<String, String> {
    std::thread::sleep(Duration::from_millis(milliseconds));
    assert!(!fail, "as requested");
    Ok("woke".to_owned())
}

#[tokio::test]
async fn every_panic_becomes_a_result_and_the_dispatcher_continues() {
    let tools = tools().build().unwrap();
    for how in ["text", "format", "odd", "bomb"] {
        let result = tools.call(ToolCall::new("calls.panic", json!({"how": how}))).await;
        assert_eq!(result.error.unwrap().kind, ErrorKind::Panicked);
        assert_eq!(result.output, "`calls.panic` panicked, which is a bug in the tool.");
    }
    let result = tools.call(ToolCall::new("calls.panic_later", json!({}))).await;
    assert_eq!(result.output, "`calls.panic_later` panicked, which is a bug in the tool.");
    assert_eq!(tools.call(ToolCall::new("calls.panic", json!({"how": "not"}))).await.output, "0");
}

#[tokio::test(start_paused = true)]
async fn deadlines_apply_in_the_order_call_tool_dispatcher() {
    let dispatcher = tools().timeout(Duration::from_secs(30)).build().unwrap();
    let started = tokio::time::Instant::now();
    let result = dispatcher.call(ToolCall::new("calls.limited", json!({}))).await;
    assert_eq!(result.output, "`calls.limited` did not finish within 1s and was stopped.");
    assert_eq!(started.elapsed().as_secs(), 1);

    let flag = Arc::<Flag>::default();
    let result = dispatcher.call(ToolCall::new("calls.hang", json!({}))).with(flag.clone()).await;
    assert_eq!(result.output, "`calls.hang` did not finish within 30s and was stopped.");
    assert!(flag.0.load(Ordering::SeqCst), "the handler's future was not dropped");

    let result = dispatcher.call(ToolCall::new("calls.limited", json!({}))).timeout(Duration::from_millis(5)).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_future_that_panics_on_drop_does_not_unwind_into_the_caller() {
    let tools = tools().timeout(Duration::from_secs(1)).build().unwrap();
    let result = tools.call(ToolCall::new("calls.hang", json!({"bomb": true}))).with(Arc::<Flag>::default()).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::TimedOut);
}

#[tokio::test]
async fn cancelling_and_dropping_a_call_drop_the_handler() {
    let tools = tools().build().unwrap();
    let flag = Arc::<Flag>::default();
    let token = CancellationToken::new();
    let call = tools.call(ToolCall::new("calls.hang", json!({}))).with(flag.clone()).cancel(token.clone());
    let (result, ()) = tokio::join!(call, async {
        tokio::task::yield_now().await;
        token.cancel();
    });
    assert_eq!(result.output, "`calls.hang` was cancelled.");
    assert!(flag.0.load(Ordering::SeqCst));

    let late = tools.call(ToolCall::new("calls.panic", json!({"how": "text"}))).cancel(token).await;
    assert_eq!(late.error.unwrap().kind, ErrorKind::Cancelled);

    let flag = Arc::<Flag>::default();
    let call = tools.call(ToolCall::new("calls.hang", json!({}))).with(flag.clone());
    assert!(tokio::time::timeout(Duration::from_millis(10), call).await.is_err());
    assert!(flag.0.load(Ordering::SeqCst));
}

#[tokio::test]
async fn blocking_handlers_do_not_hold_up_others() {
    let tools = tools().build().unwrap();
    let slow = tools.call(ToolCall::new("calls.block", json!({"milliseconds": 50})));
    let (slow, quick) = tokio::join!(slow, tools.call(ToolCall::new("calls.panic", json!({"how": "not"}))));
    assert_eq!((slow.output.as_str(), quick.output.as_str()), ("woke", "0"));

    let result = tools.call(ToolCall::new("calls.block", json!({"milliseconds": 0, "fail": true}))).await;
    assert_eq!(result.output, "`calls.block` panicked, which is a bug in the tool.");

    let call = ToolCall::new("calls.block", json!({"milliseconds": 200}));
    let result = tools.call(call).timeout(Duration::from_millis(10)).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::OutcomeUnknown);
}

#[test]
fn a_call_without_a_runtime_still_returns_a_result() {
    let tools = tools().timeout(Duration::from_secs(1)).build().unwrap();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut answer = |name: &'static str, arguments| {
        let mut call = tools.call(ToolCall::new(name, arguments)).with(Arc::<Flag>::default());
        match Future::poll(std::pin::Pin::new(&mut call), &mut context) {
            std::task::Poll::Ready(result) => result,
            std::task::Poll::Pending => panic!("{name} waits for ever"),
        }
    };
    assert_eq!(answer("calls.panic", json!({"how": "not"})).output, "0");
    assert_eq!(answer("calls.hang", json!({})).error.unwrap().kind, ErrorKind::NoRuntime);
    assert_eq!(answer("calls.block", json!({"milliseconds": 0})).error.unwrap().kind, ErrorKind::NoRuntime);
}

#[tokio::test]
async fn unknown_tools_are_reported_with_similar_names() {
    let tools = tools().build().unwrap();
    let result = tools.call(ToolCall::new("calls.limitd", json!({}))).await;
    assert_eq!(result.error.unwrap().kind, ErrorKind::UnknownTool);
    assert_eq!(result.output, "There is no tool `calls.limitd`. Did you mean `calls.limited`?");
    let result = tools.call(ToolCall::new("weather", json!({}))).await;
    assert!(result.output.contains("The tools are `calls.block`, `calls.hang`"), "{}", result.output);
}

#[test]
fn a_manifest_that_does_not_match_is_rejected_with_every_reason() {
    let text = own().to_json();
    let stale = text
        .replace("\"how\"", "\"manner\"")
        .replace("all::calls::limited", "gone_crate::limited")
        .replace("\"calls.panic_later\"", "\"calls.panic_soon\"");
    let error = Dispatcher::builder()
        .manifest(Manifest::from_json(&stale).unwrap())
        .per_call::<Arc<Flag>>()
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("argument `how` is missing in the manifest; argument `manner` is no longer in the code"),
        "{text}"
    );
    assert!(
        text.contains("its handler `gone_crate::limited` is not linked; if the crate exists and is never named"),
        "{text}"
    );
    assert!(text.contains("write `use gone_crate as _;`"), "{text}");
    assert!(text.contains("`calls.panic_soon`: the manifest is stale: its handler `all::calls::panics_later` is now called `calls.panic_later`"), "{text}");

    let lenient = Dispatcher::builder()
        .manifest(Manifest::from_json(&stale).unwrap())
        .per_call::<Arc<Flag>>()
        .lenient()
        .build()
        .unwrap();
    assert!(lenient.definition("calls.block").is_some());
    assert!(lenient.definition("calls.panic").is_none());
}
