use std::time::Duration;

use serde_json::json;
use tool_nats::{DeliveryMode, JobId, JobStatus, QueueOptions, WorkQueue, async_nats, serve};
use tool_runtime::{CancellationToken, ErrorKind, ToolCall, ToolResult};

use crate::support::{Caller, Child, Effects, Task, connect, kind, server, until, worker_tools};

pub(crate) const SILENCE: Duration = Duration::from_secs(2);

pub(crate) async fn open(client: async_nats::Client) -> WorkQueue {
    WorkQueue::open(client, QueueOptions::default().heartbeat_timeout(SILENCE)).await.unwrap()
}

/// Returns a caller with a queue, and the queue.
pub(crate) async fn caller(url: &str) -> (Caller, WorkQueue) {
    let client = connect(url).await;
    let queue = open(client.clone()).await;
    let given = queue.clone();
    (Caller::with(client, |discover| discover.queue(given).retry_idempotent()).await, queue)
}

pub(crate) fn call(tool: &'static str, line: &str, milliseconds: u64) -> ToolCall<'static> {
    ToolCall::new(tool, json!({"line": line, "milliseconds": milliseconds})).conversation("c").id(line.to_owned())
}

pub(crate) fn job(result: &ToolResult) -> JobId {
    assert!(result.success, "{result:?}");
    JobId::parse(result.metadata.get("job").unwrap().as_str().unwrap()).unwrap()
}

pub(crate) fn task(server: &crate::support::Server) -> Task {
    let folder = server.folder.path().to_owned();
    Task { url: server.url(), folder, queue_silence: Some(SILENCE), ..Task::default() }
}

#[tokio::test]
async fn a_submitted_job_runs_once_and_can_be_looked_up() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let client = connect(&server.url()).await;
    let tools = worker_tools(effects.clone()).build().unwrap();
    let _worker = serve(client.clone(), tools).queue(open(client).await).await.unwrap();
    let (caller, queue) = caller(&server.url()).await;

    let submitted = caller.tools.call(call("effect.leave", "x", 500)).with(DeliveryMode::Submitted).await;
    let id = job(&submitted);
    until("it runs", async || matches!(queue.status(&id).await, Ok(Some(JobStatus::Running { attempt: 1, .. })))).await;
    let result = queue.result(&id).await.unwrap();
    assert_eq!(result.output, "x");
    assert_eq!(queue.status(&id).await.unwrap(), Some(JobStatus::Done(result)));

    // The same call is the same job, and does not run again.
    let again = caller.tools.call(call("effect.leave", "x", 500)).with(DeliveryMode::Queued).await;
    assert_eq!((again.output.as_str(), again.metadata.get("job").unwrap()), ("x", &json!(id.as_str())));
    assert_eq!(effects.lines(), ["x", "x done"]);

    let direct = caller.call("effect.leave", json!({"line": "y", "milliseconds": 0})).await;
    assert!(direct.success && direct.metadata.get("job").is_none());
    assert_eq!(queue.status(&JobId::parse("no.such").unwrap()).await.unwrap(), None);
    assert!(queue.result(&JobId::parse("no.such").unwrap()).await.is_err());
    assert!(JobId::parse("a.>").is_err());
}

#[tokio::test]
async fn jobs_can_be_cancelled_before_and_while_they_run() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let client = connect(&server.url()).await;
    let tools = worker_tools(effects.clone()).build().unwrap();
    // One permit, so that a second job waits.
    let _worker = serve(client.clone(), tools).queue(open(client).await).queue_concurrency(1).await.unwrap();
    let (caller, queue) = caller(&server.url()).await;
    let submit =
        async |line| job(&caller.tools.call(call("effect.leave", line, 20_000)).with(DeliveryMode::Submitted).await);
    let running = submit("running").await;
    until("it runs", async || matches!(queue.status(&running).await, Ok(Some(JobStatus::Running { .. })))).await;
    let waiting = submit("waiting").await;
    for id in [&waiting, &running] {
        queue.cancel(id).await.unwrap();
        let result = queue.result(id).await.unwrap();
        assert_eq!(kind(&result), Some(ErrorKind::Cancelled), "{result:?}");
    }
    assert_eq!(effects.lines(), ["running"]);

    // Cancelling a call that waits for its job cancels the job.
    let stop = CancellationToken::new();
    let begun = async {
        until("it begins", async || effects.lines().contains(&"stopped".to_owned())).await;
        stop.cancel();
    };
    let waits =
        caller.tools.call(call("effect.leave", "stopped", 20_000)).with(DeliveryMode::Queued).cancel(stop.clone());
    let (result, ()) = tokio::join!(waits, begun);
    assert_eq!(kind(&result), Some(ErrorKind::Cancelled), "{result:?}");
}

/// A call that reaches its deadline says so, and its job continues.
#[tokio::test]
async fn a_job_outlives_the_deadline_of_its_call() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let client = connect(&server.url()).await;
    let tools = worker_tools(effects.clone()).build().unwrap();
    let _worker = serve(client.clone(), tools).queue(open(client).await).await.unwrap();
    let (caller, queue) = caller(&server.url()).await;
    let late = caller.tools.call(call("effect.leave", "late", 2_000)).with(DeliveryMode::Queued);
    let late = late.timeout(Duration::from_millis(700)).await;
    assert_eq!(kind(&late), Some(ErrorKind::OutcomeUnknown), "{late:?}");
    let id = JobId::parse(late.metadata.get("job").unwrap().as_str().unwrap()).unwrap();
    assert_eq!(queue.result(&id).await.unwrap().output, "late");
}

/// Jobs that are submitted while there is no worker wait for one, across a restart of the server and with another
/// caller.
#[tokio::test]
async fn jobs_survive_restarts_of_caller_worker_and_server() {
    let mut server = server!();
    let effects = Effects::new(server.folder.path());
    let worker = Child::start(&task(&server));
    let (first, _) = caller(&server.url()).await;
    drop(worker);
    let mut ids = Vec::new();
    for number in 0..10 {
        let submitted =
            first.tools.call(call("effect.leave", &number.to_string(), 0)).with(DeliveryMode::Submitted).await;
        ids.push(job(&submitted));
    }
    drop(first);
    server.restart();
    let _worker = Child::start(&task(&server));
    let (_second, queue) = caller(&server.url()).await;
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(queue.result(id).await.unwrap().output, number.to_string());
    }
    assert_eq!(effects.lines().len(), 20, "each ran once");
}

/// The server goes away while a job runs: the worker keeps the result until the server is back.
#[tokio::test]
async fn a_result_waits_for_the_server() {
    let mut server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = Child::start(&task(&server));
    let (caller, queue) = caller(&server.url()).await;
    let id = job(&caller.tools.call(call("effect.leave", "x", 1_000)).with(DeliveryMode::Submitted).await);
    until("it begins", async || effects.lines().contains(&"x".to_owned())).await;
    server.restart();
    assert_eq!(queue.result(&id).await.unwrap().output, "x");
    assert_eq!(effects.lines(), ["x", "x done"]);
}

/// A worker dies with a job. A repeatable job is run by another worker; any other has an unknown outcome and does not
/// run again.
#[tokio::test]
async fn jobs_of_a_killed_worker_are_repeated_or_unknown() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let mut first = Child::start(&task(&server));
    let (caller, queue) = caller(&server.url()).await;
    let submit =
        async |tool, line| job(&caller.tools.call(call(tool, line, 1_000)).with(DeliveryMode::Submitted).await);
    let (repeated, once) = (submit("effect.repeat", "twice").await, submit("effect.leave", "once").await);
    until("both begin", async || effects.lines().len() == 2).await;
    first.kill();
    let _second = Child::start(&task(&server));
    let result = queue.result(&repeated).await.unwrap();
    assert_eq!(result.output, "twice", "{result:?}");
    let result = queue.result(&once).await.unwrap();
    assert_eq!(kind(&result), Some(ErrorKind::OutcomeUnknown), "{result:?}");
    let mut lines = effects.lines();
    lines.sort();
    assert_eq!(lines, ["once", "twice", "twice", "twice done"]);
}

/// A worker dies between the end of a call and recording it in the queue. A worker with the same journal finds the
/// result and does not run the job again. The control is a worker with another journal, which reports an unknown
/// outcome.
#[tokio::test]
async fn completed_jobs_of_a_killed_worker_are_replayed_from_the_journal() {
    for (journal, expected) in [("calls.db", None), ("other.db", Some(ErrorKind::OutcomeUnknown))] {
        let server = server!();
        let effects = Effects::new(server.folder.path());
        let mut first = Child::start(&Task { holds: true, ..task(&server) });
        let (caller, queue) = caller(&server.url()).await;
        let id = job(&caller.tools.call(call("effect.leave", "x", 0)).with(DeliveryMode::Submitted).await);
        until("it is recorded", async || effects.lines().contains(&"recorded".to_owned())).await;
        first.kill();
        assert!(matches!(queue.status(&id).await.unwrap(), Some(JobStatus::Running { attempt: 1, .. })));
        let _second = Child::start(&Task { journal: Some(journal.to_owned()), ..task(&server) });
        let result = queue.result(&id).await.unwrap();
        assert_eq!(kind(&result), expected, "{journal}: {result:?}");
        assert_eq!(result.output == "x", expected.is_none(), "{journal}: {result:?}");
        assert_eq!(effects.lines(), ["x", "x done", "recorded"], "{journal}: it ran once");
    }
}

/// A worker is silent for so long that its job is delivered to another, but is still running it. The other worker sees
/// that in the journal and leaves the job alone, even if it is repeatable.
#[tokio::test]
async fn a_job_that_is_still_running_is_left_to_its_worker() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let first = Child::start(&task(&server));
    let (caller, queue) = caller(&server.url()).await;
    let mut ids = Vec::new();
    for tool in ["effect.leave", "effect.repeat"] {
        ids.push(job(&caller.tools.call(call(tool, tool, 1_000)).with(DeliveryMode::Submitted).await));
    }
    until("both begin", async || effects.lines().len() == 2).await;
    first.pause();
    let _second = Child::start(&task(&server));
    tokio::time::sleep(SILENCE * 3).await;
    first.resume();
    for (id, tool) in ids.iter().zip(["effect.leave", "effect.repeat"]) {
        let result = queue.result(id).await.unwrap();
        assert_eq!(result.output, tool, "{result:?}");
    }
    assert_eq!(effects.lines().len(), 4, "{:?}", effects.lines());
}

/// Results that exceed the message size are stored as well.
#[tokio::test]
async fn the_result_of_a_job_can_be_long() {
    let server = server!();
    let client = connect(&server.url()).await;
    let tools = worker_tools(Effects::new(server.folder.path())).build().unwrap();
    let _worker = serve(client.clone(), tools).queue(open(client.clone()).await).await.unwrap();
    let (caller, _) = caller(&server.url()).await;
    let bytes = client.max_payload() * 2;
    let long = ToolCall::new("big.text", json!({"bytes": bytes}));
    let result = caller.tools.call(long).with(DeliveryMode::Queued).await;
    assert!(result.success && result.output.len() == bytes / 10 * 10, "{:?}", kind(&result));
}

#[tokio::test]
async fn a_job_that_exceeds_the_message_size_is_rejected() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let client = connect(&server.url()).await;
    let tools = worker_tools(effects.clone()).build().unwrap();
    let _worker = serve(client.clone(), tools).queue(open(client.clone()).await).await.unwrap();
    let (caller, _) = caller(&server.url()).await;
    let limit = client.max_payload();
    for delivery in [DeliveryMode::Queued, DeliveryMode::Submitted] {
        let result = caller.tools.call(call("effect.leave", &"x".repeat(limit), 0)).with(delivery).await;
        assert_eq!(kind(&result), Some(ErrorKind::InvalidArguments));
        let bytes = json!({"line": "x".repeat(limit), "milliseconds": 0}).to_string().len();
        let expected = format!("Invalid arguments for `effect.leave`: {bytes} bytes exceed the limit of ");
        assert!(result.output.starts_with(&expected), "{}", result.output);
        assert!(result.output.ends_with("Send less, or in several calls."), "{}", result.output);
    }
    assert!(effects.lines().is_empty());
}

/// Two of three workers are killed while they have jobs, and all jobs are done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_loses_nothing_when_workers_are_killed() {
    let server = server!();
    let mut workers: Vec<_> = (0..3).map(|_| Child::start(&task(&server))).collect();
    let (caller, queue) = caller(&server.url()).await;
    let mut ids = Vec::new();
    for number in 0..60 {
        let line = format!("job {number}");
        ids.push(job(&caller.tools.call(call("effect.repeat", &line, 200)).with(DeliveryMode::Submitted).await));
        if number == 30 || number == 50 {
            workers.pop();
        }
    }
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(queue.result(id).await.unwrap().output, format!("job {number}"));
    }
}
