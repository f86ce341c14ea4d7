use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tool_nats::{Worker, async_nats, serve};
use tool_runtime::{ErrorKind, ToolCall};

use crate::support::{Caller, Child, Effects, Proxy, Server, Task, Way, connect, kind, server, until, worker_tools};

const LONG: u64 = 1_500;

/// Starts a long call, and does something once it has started.
async fn during(caller: &Caller, effects: &Effects, line: &str, then: impl FnOnce()) -> tool_runtime::ToolResult {
    let call = caller.tools.call(ToolCall::new("effect.leave", json!({"line": line, "milliseconds": LONG})));
    let begun = async {
        until("it begins", async || effects.lines().contains(&line.to_owned())).await;
        then();
    };
    tokio::join!(call, begun).0
}

#[tokio::test]
async fn a_caller_without_a_connection_reports_what_it_knows() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = serve(connect(&server.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let proxy = Proxy::to(&server.url()).await;
    let caller = Caller::new(connect(&proxy.url()).await).await;

    let cut = during(&caller, &effects, "cut", || proxy.set(Way::Cut)).await;
    assert_eq!(kind(&cut), Some(ErrorKind::OutcomeUnknown), "{cut:?}");
    assert!(cut.output.contains("the connection to NATS was lost"), "{}", cut.output);

    // Nothing was sent, so nothing ran.
    let meanwhile = caller.call("effect.leave", json!({"line": "meanwhile", "milliseconds": 0})).await;
    assert_eq!(kind(&meanwhile), Some(ErrorKind::Unavailable), "{meanwhile:?}");
    proxy.set(Way::Open);
    until("it is back", async || caller.call("math.add", json!({"a": 1, "b": 1})).await.success).await;
    until("the call that was cut had its effect", async || effects.lines().contains(&"cut done".to_owned())).await;
    assert!(!effects.lines().contains(&"meanwhile".to_owned()));
}

/// The worker is alive and running the call, but silent, so that the outcome is unknown.
#[tokio::test]
async fn the_outcome_is_unknown_if_the_worker_is_cut_off() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let proxy = Proxy::to(&server.url()).await;
    let _worker = serve(connect(&proxy.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;
    let cut = during(&caller, &effects, "silent", || proxy.set(Way::Silent)).await;
    assert_eq!(kind(&cut), Some(ErrorKind::OutcomeUnknown), "{cut:?}");
    assert!(cut.output.contains("its worker was silent for"), "{}", cut.output);
}

#[tokio::test]
async fn a_slow_network_does_not_lose_calls() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = serve(connect(&server.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let proxy = Proxy::to(&server.url()).await;
    let caller = Caller::new(connect(&proxy.url()).await).await;
    proxy.set(Way::Slow(Duration::from_millis(300)));
    assert_eq!(caller.call("math.add", json!({"a": 1, "b": 2})).await.output, "3");
    // Longer than a worker may be silent: it sends heartbeats meanwhile.
    let long = caller.call("slow.wait", json!({"milliseconds": 3_000})).await;
    assert_eq!(long.output, "waited");
}

/// A worker is killed in the middle of a call.
#[tokio::test]
async fn the_outcome_is_unknown_if_the_worker_dies() {
    let server = server!();
    let folder = server.folder.path();
    let effects = Effects::new(folder);
    let task = Task { url: server.url(), folder: folder.to_owned(), journal: None, ..Task::default() };
    let mut worker = Child::start(&task);
    let caller = Caller::new(connect(&server.url()).await).await;
    let killed = during(&caller, &effects, "killed", || worker.kill()).await;
    assert_eq!(kind(&killed), Some(ErrorKind::OutcomeUnknown), "{killed:?}");
    // It found no worker, so that it did not run.
    let after = caller.call("effect.leave", json!({"line": "after", "milliseconds": 0})).await;
    assert!(matches!(kind(&after), Some(ErrorKind::Unavailable | ErrorKind::UnknownTool)), "{after:?}");
    assert_eq!(effects.lines(), ["killed"]);
}

/// Closing a connection ends the calls that were sent over it, also those without a deadline.
#[tokio::test]
async fn the_outcome_is_unknown_if_the_connection_is_closed() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = serve(connect(&server.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let client = connect(&server.url()).await;
    // A timeout so long that only the end of the connection can end the call.
    let patience = Duration::from_secs(3_600);
    let caller = Caller::with(client.clone(), |discover| discover.heartbeat_timeout(patience)).await;
    let call = caller.call("effect.leave", json!({"line": "closed", "milliseconds": 3_600_000}));
    let closed = async {
        until("it begins", async || effects.lines().contains(&"closed".to_owned())).await;
        client.drain().await.unwrap();
    };
    let both = async { tokio::join!(call, closed).0 };
    let result = tokio::time::timeout(Duration::from_secs(60), both).await.expect("the call never ends");
    assert_eq!(kind(&result), Some(ErrorKind::OutcomeUnknown), "{result:?}");
    // Later calls are not sent at all.
    let after = async || kind(&caller.call("math.add", json!({"a": 1, "b": 1})).await);
    until("the connection is closed", async || after().await == Some(ErrorKind::Unavailable)).await;
}

/// The call is sent again and finds no worker, which says nothing about the first attempt, which had started.
#[tokio::test]
async fn a_lost_call_is_not_reported_as_not_run() {
    let server = server!();
    let folder = server.folder.path();
    let effects = Effects::new(folder);
    let task = Task { url: server.url(), folder: folder.to_owned(), ..Task::default() };
    let mut worker = Child::start(&task);
    let caller = Caller::with(connect(&server.url()).await, |discover| discover.retry_idempotent()).await;
    let call = caller.call("effect.repeat", json!({"line": "x", "milliseconds": LONG}));
    let killed = async {
        until("it begins", async || effects.lines().contains(&"x".to_owned())).await;
        worker.kill();
    };
    let (result, ()) = tokio::join!(call, killed);
    assert_eq!(kind(&result), Some(ErrorKind::OutcomeUnknown), "{result:?}");
}

/// At-least-once on request: a lost call of an idempotent tool is sent again, and another worker runs it. The control
/// is a tool that is not idempotent.
#[tokio::test]
async fn a_lost_call_of_an_idempotent_tool_is_repeated_on_request() {
    let server = server!();
    let folder = server.folder.path();
    let effects = Effects::new(folder);
    let task = Task { url: server.url(), folder: folder.to_owned(), ..Task::default() };
    let mut first = Child::start(&task);
    let caller = Caller::with(connect(&server.url()).await, |discover| discover.retry_idempotent()).await;
    let call = |tool, line| {
        let call = ToolCall::new(tool, json!({"line": line, "milliseconds": LONG})).conversation("c").id(line);
        caller.tools.call(call)
    };
    let killed = async {
        until("both begin", async || effects.lines().len() == 2).await;
        first.kill();
        Child::start(&task)
    };
    let (repeated, once, _second) = tokio::join!(call("effect.repeat", "twice"), call("effect.leave", "once"), killed);
    assert_eq!(repeated.output, "twice", "{repeated:?}");
    assert_eq!(kind(&once), Some(ErrorKind::OutcomeUnknown), "{once:?}");
    let mut lines = effects.lines();
    lines.sort();
    assert_eq!(lines, ["once", "twice", "twice", "twice done"]);
}

/// Starts a worker whose server goes away in the middle of three calls. Its connection buffers a single message, so
/// that sending more blocks.
async fn cut_off(server: &mut Server, effects: &Effects) -> Worker {
    let options = async_nats::ConnectOptions::new().client_capacity(1);
    let client = options.connect(server.url()).await.unwrap();
    let worker = serve(client, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let caller = Arc::new(Caller::new(connect(&server.url()).await).await);
    for line in ["a", "b", "c"] {
        let caller = caller.clone();
        tokio::spawn(async move { caller.call("effect.leave", json!({"line": line, "milliseconds": 4_000})).await });
    }
    until("they begin", async || effects.lines().len() == 3).await;
    server.stop();
    worker
}

#[tokio::test]
async fn calls_continue_while_the_server_is_away() {
    let mut server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = cut_off(&mut server, &effects).await;
    until("they are done while the server is away", async || effects.lines().len() == 6).await;
}

/// It waits for running calls, but not for the connection.
#[tokio::test]
async fn a_worker_without_a_connection_finishes_its_calls_and_drains() {
    let mut server = server!();
    let effects = Effects::new(server.folder.path());
    let worker = cut_off(&mut server, &effects).await;
    tokio::time::timeout(Duration::from_secs(60), worker.drain()).await.expect("the worker never drains");
    assert_eq!(effects.lines().len(), 6, "{:?}", effects.lines());
}
