use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tool_nats::{Worker, async_nats, serve};
use tool_runtime::{ErrorKind, ToolCall};

use crate::support::{Caller, Child, Effects, Proxy, Server, Task, Way, connect, kind, server, until, worker_tools};

const LONG: u64 = 1_500;

/// Starts a long call, and does something once it has begun.
async fn during(caller: &Caller, effects: &Effects, line: &str, then: impl FnOnce()) -> tool_runtime::ToolResult {
    let call = caller.tools.call(ToolCall::new("effect.leave", json!({"line": line, "milliseconds": LONG})));
    let begun = async {
        until("it begins", async || effects.lines().contains(&line.to_owned())).await;
        then();
    };
    tokio::join!(call, begun).0
}

#[tokio::test]
async fn a_caller_whose_connection_is_cut_says_what_it_knows() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = serve(connect(&server.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let proxy = Proxy::to(&server.url()).await;
    let caller = Caller::new(connect(&proxy.url()).await).await;

    let cut = during(&caller, &effects, "cut", || proxy.set(Way::Cut)).await;
    assert_eq!(kind(&cut), Some(ErrorKind::OutcomeUnknown), "{cut:?}");
    assert!(cut.output.contains("the connection to NATS was lost"), "{}", cut.output);

    // Nothing was sent, and nothing has run.
    let meanwhile = caller.call("effect.leave", json!({"line": "meanwhile", "milliseconds": 0})).await;
    assert_eq!(kind(&meanwhile), Some(ErrorKind::Unavailable), "{meanwhile:?}");
    proxy.set(Way::Open);
    until("it is back", async || caller.call("math.add", json!({"a": 1, "b": 1})).await.success).await;
    until("the call that was cut had its effect", async || effects.lines().contains(&"cut done".to_owned())).await;
    assert!(!effects.lines().contains(&"meanwhile".to_owned()));
}

/// The worker is there and works, but is not heard: so nobody knows.
#[tokio::test]
async fn of_a_worker_that_is_cut_off_the_outcome_is_unknown() {
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
async fn a_slow_network_is_no_lost_call() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = serve(connect(&server.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let proxy = Proxy::to(&server.url()).await;
    let caller = Caller::new(connect(&proxy.url()).await).await;
    proxy.set(Way::Slow(Duration::from_millis(300)));
    assert_eq!(caller.call("math.add", json!({"a": 1, "b": 2})).await.output, "3");
    // Longer than what a worker may be silent: it is heard all the while.
    let long = caller.call("slow.wait", json!({"milliseconds": 3_000})).await;
    assert_eq!(long.output, "waited");
}

/// A worker that is killed in the middle of a call.
#[tokio::test]
async fn of_a_worker_that_dies_the_outcome_is_unknown() {
    let server = server!();
    let folder = server.folder.path();
    let effects = Effects::new(folder);
    let task = Task { url: server.url(), folder: folder.to_owned(), journal: None, ..Task::default() };
    let mut worker = Child::start(&task);
    let caller = Caller::new(connect(&server.url()).await).await;
    let killed = during(&caller, &effects, "killed", || worker.kill()).await;
    assert_eq!(kind(&killed), Some(ErrorKind::OutcomeUnknown), "{killed:?}");
    // It found nobody, which is another thing: it did not run.
    let after = caller.call("effect.leave", json!({"line": "after", "milliseconds": 0})).await;
    assert!(matches!(kind(&after), Some(ErrorKind::Unavailable | ErrorKind::UnknownTool)), "{after:?}");
    assert_eq!(effects.lines(), ["killed"]);
}

/// Closing a connection ends the calls that were sent over it, also those that have no deadline.
#[tokio::test]
async fn of_a_connection_that_is_closed_in_the_middle_the_outcome_is_unknown() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = serve(connect(&server.url()).await, worker_tools(effects.clone()).build().unwrap()).await.unwrap();
    let client = connect(&server.url()).await;
    // So patient that only the end of the connection can end the call.
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
    // What comes after it is not sent at all.
    let after = async || kind(&caller.call("math.add", json!({"a": 1, "b": 1})).await);
    until("the connection is closed", async || after().await == Some(ErrorKind::Unavailable)).await;
}

/// The call is sent again and finds nobody: that says nothing of the first time, when it began.
#[tokio::test]
async fn a_call_that_was_lost_is_not_said_to_have_not_run() {
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

/// At least once, where it does no harm and somebody wants it: the call is sent again, and another worker does it. The
/// control is the tool that is not idempotent, beside it.
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

/// A worker whose server is gone in the middle of three calls. Its connection holds a single message meanwhile, so that
/// whoever says more has to wait.
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
async fn calls_go_on_while_the_server_is_away() {
    let mut server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = cut_off(&mut server, &effects).await;
    until("they are done while the server is away", async || effects.lines().len() == 6).await;
}

/// It waits for what runs, and not for somebody to hear of it.
#[tokio::test]
async fn a_worker_that_is_cut_off_finishes_its_calls_and_leaves() {
    let mut server = server!();
    let effects = Effects::new(server.folder.path());
    let worker = cut_off(&mut server, &effects).await;
    tokio::time::timeout(Duration::from_secs(60), worker.drain()).await.expect("it never leaves");
    assert_eq!(effects.lines().len(), 6, "{:?}", effects.lines());
}
