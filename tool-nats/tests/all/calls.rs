use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_nats::{async_nats, serve};
use tool_runtime::confirm::{self, Decision};
use tool_runtime::output::Spill;
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, Progress, RuntimeTool, ToolCall};

use crate::support::{Caller, Effects, connect, kind, server, until, worker_tools};

#[tokio::test]
async fn a_remote_tool_is_like_a_local_one() {
    let server = server!();
    let local = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(connect(&server.url()).await, local.clone()).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;

    assert_eq!(caller.call("math.add", json!({"a": 1, "b": 2})).await.output, "3");
    let repaired = caller.call("math.add", json!({"a": "1", "b": 2})).await;
    assert_eq!((repaired.output.as_str(), repaired.metadata.get("repairs").is_some()), ("3", true));
    for (name, definition) in local.definitions().iter() {
        let mut remote = caller.tools.definition(name).unwrap().as_ref().clone();
        assert_eq!(remote.handler, format!("nats://tools/{name}"));
        remote.handler.clone_from(&definition.handler);
        assert_eq!(remote, **definition);
    }
    let wrong = |tools: Dispatcher| async move {
        tools.call(ToolCall::from_text("math.add", r#"{"a": "x", "b": 101}"#)).await.output
    };
    assert_eq!(wrong(caller.tools.clone()).await, wrong(local).await);
}

#[tokio::test]
async fn the_context_of_a_call_reaches_the_handler() {
    let server = server!();
    let local = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(connect(&server.url()).await, local).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;
    let call = ToolCall::new("context.show", json!({}))
        .id("call\r\nTool-Consent: yes")
        .conversation("Grüße")
        .channel("telegram", "42")
        .trace_parent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    let shown = caller.tools.call(call).timeout(Duration::from_secs(60)).await;
    assert_eq!(
        serde_json::from_str::<Value>(&shown.output).unwrap(),
        json!({
            "id": "call\r\nTool-Consent: yes", "conversation": "Grüße", "channel": "telegram", "chat": "42",
            "trace": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "has_deadline": true,
        })
    );
}

/// A busy worker's `retry_after` reaches the calling program, and the model reads the same text.
#[tokio::test]
async fn retry_after_reaches_the_caller() {
    let server = server!();
    let local = worker_tools(Effects::new(server.folder.path())).concurrency(1, 0).build().unwrap();
    let _worker = serve(connect(&server.url()).await, local.clone()).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;
    let stop = CancellationToken::new();
    let wait = ToolCall::new("slow.wait", json!({"milliseconds": 600_000}));
    let running = caller.tools.call(wait).cancel(stop.clone());
    let refused = async {
        until("it runs", async || local.concurrency().unwrap().running() == 1).await;
        let add = || ToolCall::new("math.add", json!({"a": 1, "b": 2}));
        let refused = (caller.tools.call(add()).await, local.call(add()).await);
        stop.cancel();
        refused
    };
    let (_, (remote, local)) = tokio::join!(running, refused);
    assert_eq!((kind(&remote), &remote.output), (Some(ErrorKind::Busy), &local.output));
    let error = remote.error.unwrap();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(1)), "what is said while nothing was learned from calls");
    assert_eq!(Some(error), local.error);
}

#[tokio::test]
async fn progress_arrives_in_order_and_before_the_result() {
    let server = server!();
    let local = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(connect(&server.url()).await, local).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let progress = Progress::to(move |report| listener.lock().unwrap().push(report["step"].as_u64()));
    let call = ToolCall::new("slow.wait", json!({"milliseconds": 400}));
    assert!(caller.tools.call(call).with(progress).await.success);
    assert_eq!(*heard.lock().unwrap(), [Some(0), Some(1), Some(2), Some(3)]);
}

/// The worker cancels the call and confirms that, so that the outcome is known.
#[tokio::test]
async fn deadlines_and_cancellation_reach_the_handler() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = serve(connect(&server.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;
    let call = |line: &str| ToolCall::new("effect.leave", json!({"line": line, "milliseconds": 5_000}));

    let late = caller.tools.call(call("late")).timeout(Duration::from_millis(300)).await;
    assert_eq!(kind(&late), Some(ErrorKind::TimedOut), "{late:?}");

    let stop = CancellationToken::new();
    let started = async {
        until("it starts", async || effects.lines().contains(&"cancelled".to_owned())).await;
        stop.cancel();
    };
    let (cancelled, ()) = tokio::join!(caller.tools.call(call("cancelled")).cancel(stop.clone()), started);
    assert_eq!(kind(&cancelled), Some(ErrorKind::Cancelled), "{cancelled:?}");

    let dropped = caller.tools.call(call("dropped"));
    assert!(tokio::time::timeout(Duration::from_millis(500), dropped).await.is_err());
    // The control: a call that is not cancelled finishes.
    let quick = caller.call("effect.leave", json!({"line": "quick", "milliseconds": 5_500})).await;
    assert!(quick.success);
    assert_eq!(effects.lines(), ["late", "cancelled", "dropped", "quick", "quick done"]);
}

/// The worker's own timeout is an upper bound for the caller's.
#[tokio::test]
async fn a_caller_cannot_extend_the_worker_timeout() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let nap = |(): ()| tokio::time::sleep(Duration::from_secs(5));
    let limited = RuntimeTool::new("slow.limited", "Sleep.", nap).timeout(Duration::from_millis(200));
    let tools = worker_tools(effects).tool(limited).timeout(Duration::from_millis(300)).build().unwrap();
    let _worker = serve(connect(&server.url()).await, tools).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;
    let asked = async |tool, arguments| {
        caller.tools.call(ToolCall::new(tool, arguments)).timeout(Duration::from_secs(600)).await.output
    };
    let waited = asked("slow.wait", json!({"milliseconds": 5_000})).await;
    assert_eq!(waited, "`slow.wait` did not finish within 300ms and was stopped.");
    let limited = asked("slow.limited", json!({})).await;
    assert_eq!(limited, "`slow.limited` did not finish within 200ms and was stopped.");
}

#[tokio::test]
async fn long_results_arrive_in_parts_and_are_spilled_by_the_caller() {
    let server = server!();
    let local = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(connect(&server.url()).await, local).await.unwrap();
    let client = connect(&server.url()).await;
    let bytes = client.max_payload() * 3;
    let whole = Caller::new(client.clone()).await;
    let result = whole.call("big.text", json!({"bytes": bytes})).await;
    assert!(result.success && result.output == "long line\n".repeat(bytes / 10));

    let tools = Dispatcher::builder().spill(Spill::over(2_000)).build().unwrap();
    let caller = Caller::with_tools(tools, client, |discover| discover).await;
    let call = ToolCall::new("big.text", json!({"bytes": bytes})).conversation("c");
    let result = caller.tools.call(call).await;
    assert!(result.output.len() <= 2_000);
    let handle = result.metadata.get("spilled").unwrap()["handle"].as_str().unwrap().to_owned();
    let read = ToolCall::new("read_result", json!({"handle": handle, "offset": 100_000, "limit": 2})).conversation("c");
    assert!(caller.tools.call(read).await.output.starts_with("long line\nlong line\n"));
}

#[tokio::test]
async fn arguments_that_exceed_the_message_size_are_rejected() {
    let server = server!();
    let local = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(connect(&server.url()).await, local).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;
    let arguments = |letters: usize| json!({"line": "x".repeat(letters), "milliseconds": 0});
    let most = (1 << 20) - arguments(0).to_string().len();
    // Without an id there are no headers, so that the whole message is available for arguments.
    let expected = "Invalid arguments for `effect.leave`: 1048577 bytes exceed the limit of 1048576 bytes \
                    (`max_payload` of the server). Send less, or in several calls.";
    let result = caller.call("effect.leave", arguments(most + 1)).await;
    assert_eq!((kind(&result), &*result.output), (Some(ErrorKind::InvalidArguments), expected));
    assert!(Effects::new(server.folder.path()).lines().is_empty());
    // Headers need space as well.
    let known = ToolCall::new("effect.leave", arguments(most)).conversation("c").id("1");
    let result = caller.tools.call(known).await;
    assert!(result.output.contains(": 1048576 bytes exceed the limit of 1048"), "{}", result.output);
    // The control: arguments that just fit.
    assert!(caller.call("effect.leave", arguments(most)).await.success);
}

/// Approval is asked for before anything is sent. The control: without the caller's approval, the worker refuses.
#[tokio::test]
async fn the_caller_asks_for_approval() {
    let server = server!();
    let local = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(connect(&server.url()).await, local).await.unwrap();
    let client = connect(&server.url()).await;
    for (decision, expected) in [(Decision::Run, None), (Decision::refuse("no"), Some(ErrorKind::Refused))] {
        let asked = Arc::new(Mutex::new(0));
        let counted = asked.clone();
        let confirm = confirm::from_fn(move |_| {
            *counted.lock().unwrap() += 1;
            let decision = decision.clone();
            async move { decision }
        });
        let tools = Dispatcher::builder().allow_empty().confirm(confirm).build().unwrap();
        let caller = Caller::with_tools(tools, client.clone(), |discover| discover).await;
        let result = caller.call("data.purge", json!({})).await;
        assert_eq!((kind(&result), *asked.lock().unwrap()), (expected, 1));
    }
    let seen = raw_call(&client, "data.purge").await;
    assert!(seen.contains("refused"), "{seen}");
}

/// Sends a call without a dispatcher.
async fn raw_call(client: &async_nats::Client, tool: &str) -> String {
    let info = client.request("$SRV.INFO.tools", "".into()).await.unwrap();
    let info: Value = serde_json::from_slice(&info.payload).unwrap();
    let endpoints = info["endpoints"].as_array().unwrap();
    let endpoint = endpoints.iter().find(|endpoint| endpoint["metadata"]["tool"] == tool).unwrap();
    let reply = client.request(endpoint["subject"].as_str().unwrap().to_owned(), "{}".into()).await.unwrap();
    String::from_utf8_lossy(&reply.payload).into_owned()
}

/// The worker validates arguments again, so that sending without a dispatcher bypasses nothing.
#[tokio::test]
async fn the_worker_validates_arguments_as_well() {
    let server = server!();
    let local = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(connect(&server.url()).await, local).await.unwrap();
    let seen = raw_call(&connect(&server.url()).await, "math.add").await;
    assert!(seen.contains("invalid_arguments"), "{seen}");
}

#[tokio::test]
async fn a_call_without_a_worker_is_reported_as_not_run() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let worker = serve(connect(&server.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    // Without announcements, so that the tool is still registered when its worker is gone.
    let caller = Caller::new(connect(&server.url()).await).await;
    let tool = caller.tools.clone();
    let select = tool.select(tool_runtime::Selection::new()).unwrap();
    worker.drain().await;
    let result = select.call(ToolCall::new("effect.leave", json!({"line": "x", "milliseconds": 0}))).await;
    assert!(matches!(kind(&result), Some(ErrorKind::Unavailable | ErrorKind::UnknownTool)), "{result:?}");
    assert!(effects.lines().is_empty());
}

/// A worker that shuts down finishes calls that it has and calls in flight, and takes no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drained_worker_loses_nothing() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let tools = worker_tools(effects.clone()).build().unwrap();
    let first = serve(connect(&server.url()).await, tools.clone()).await.unwrap();
    let second = serve(connect(&server.url()).await, tools).await.unwrap();
    let caller = Arc::new(Caller::new(connect(&server.url()).await).await);
    let calls: Vec<_> = (0..400)
        .map(|number| {
            let caller = caller.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(number)).await;
                caller.call("effect.leave", json!({"line": number.to_string(), "milliseconds": 150})).await
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    first.drain().await;
    for call in calls {
        let result = call.await.unwrap();
        assert!(result.success, "{result:?}");
    }
    second.drain().await;
    assert_eq!(effects.lines().len(), 800);
}

/// A worker whose server is gone can shut down as well.
#[tokio::test]
async fn a_worker_without_a_server_can_be_drained() {
    let server = server!();
    let tools = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let worker = serve(connect(&server.url()).await, tools).await.unwrap();
    drop(server);
    worker.drain().await;
}
