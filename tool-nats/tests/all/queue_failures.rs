use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::stream::{Config, RetentionPolicy};
use async_nats::jetstream::{self, Context};
use serde_json::json;
use tool_nats::{DeliveryMode, JobId, JobStatus, async_nats, serve};
use tool_runtime::{ErrorKind, ToolCall};

use crate::queue::{call, caller, job, open, task};
use crate::support::{Caller, Child, Effects, Proxy, Task, Way, connect, kind, server, until, worker_tools};

const TOOLS: [&str; 2] = ["effect.leave", "effect.repeat"];

/// Returns the stream of jobs with a deduplication window of only a tenth of a second.
async fn forgetful(url: &str) -> Context {
    let context = jetstream::new(connect(url).await);
    let config = Config {
        name: "tools-jobs".to_owned(),
        subjects: vec!["tools.job.>".to_owned()],
        retention: RetentionPolicy::WorkQueue,
        duplicate_window: Duration::from_millis(100),
        ..Config::default()
    };
    context.create_stream(config).await.unwrap();
    context
}

/// Returns how many messages are unprocessed or unacknowledged.
async fn messages(context: &Context) -> u64 {
    context.get_stream("tools-jobs").await.unwrap().cached_info().state.messages
}

/// A job has two messages, because it was submitted again after the deduplication window. Two workers get one each, and
/// they do not share a journal.
#[tokio::test]
async fn a_job_that_was_submitted_twice_runs_once() {
    let server = server!();
    let stream = forgetful(&server.url()).await;
    let effects = Effects::new(server.folder.path());
    // A worker with the tools that takes no jobs.
    let idle = worker_tools(effects.clone()).build().unwrap();
    let _idle = serve(connect(&server.url()).await, idle).version("1.0.0").await.unwrap();
    let (caller, queue) = caller(&server.url()).await;
    let submit = async |tool| job(&caller.tools.call(call(tool, tool, 5_000)).with(DeliveryMode::Submitted).await);
    let first = [submit(TOOLS[0]).await, submit(TOOLS[1]).await];
    tokio::time::sleep(Duration::from_millis(500)).await;
    let second = [submit(TOOLS[0]).await, submit(TOOLS[1]).await];
    assert_eq!((&first, messages(&stream).await), (&second, 4), "two messages for each job");

    let worker = |journal: &str| {
        Child::spawn(&Task { journal: Some(journal.to_owned()), queue_concurrency: 1, ..task(&server) })
    };
    let mut workers = [worker("one.db"), worker("other.db")];
    workers.iter_mut().for_each(Child::wait);
    for (id, tool) in first.iter().zip(TOOLS) {
        let result = queue.result(id).await.unwrap();
        assert_eq!(result.output, tool, "{result:?}");
    }
    until("nothing is left", async || messages(&stream).await == 0).await;
    let mut lines = effects.lines();
    lines.sort();
    assert_eq!(lines, ["effect.leave", "effect.leave done", "effect.repeat", "effect.repeat done"]);
}

/// A job is cancelled after its worker has died: it is not started again.
#[tokio::test]
async fn a_cancelled_job_does_not_run_again() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let mut first = Child::start(&task(&server));
    let (caller, queue) = caller(&server.url()).await;
    let submit = async |tool| job(&caller.tools.call(call(tool, tool, 20_000)).with(DeliveryMode::Submitted).await);
    let ids = [submit(TOOLS[0]).await, submit(TOOLS[1]).await];
    until("both begin", async || effects.lines().len() == 2).await;
    first.kill();
    for id in &ids {
        assert!(matches!(queue.cancel(id).await.unwrap(), JobStatus::Running { .. }));
    }
    let _second = Child::start(&task(&server));
    for (id, expected) in ids.iter().zip([ErrorKind::OutcomeUnknown, ErrorKind::Cancelled]) {
        let result = queue.result(id).await.unwrap();
        assert_eq!(kind(&result), Some(expected), "{result:?}");
    }
    assert_eq!(effects.lines().len(), 2, "{:?}", effects.lines());
}

/// A repeatable job that crashes its worker is not repeated forever.
#[tokio::test]
async fn a_job_that_crashes_its_workers_is_given_up() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let idle = worker_tools(effects.clone()).build().unwrap();
    let _idle = serve(connect(&server.url()).await, idle).version("1.0.0").await.unwrap();
    let (caller, queue) = caller(&server.url()).await;
    let id = job(&caller.tools.call(call("effect.crash", "x", 0)).with(DeliveryMode::Submitted).await);
    let short = Task { queue_silence: Some(Duration::from_secs(1)), ..task(&server) };
    let _workers: Vec<Child> = (0..7).map(|_| Child::spawn(&short)).collect();
    let given_up = tokio::time::timeout(Duration::from_secs(120), queue.result(&id)).await;
    let result = given_up.expect("all workers crash").unwrap();
    assert_eq!(kind(&result), Some(ErrorKind::OutcomeUnknown), "{result:?}");
    assert!(result.output.contains("was started 5 times"), "{}", result.output);
    assert_eq!(effects.lines(), ["x"; 5]);
}

/// A job continues while its record cannot be read. Such a read times out after five seconds and is retried soon: a job
/// that was blocked meanwhile would take longer than this test waits.
#[tokio::test]
async fn a_job_continues_while_the_server_is_away() {
    let mut server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = Child::start(&task(&server));
    let (caller, queue) = caller(&server.url()).await;
    let id = job(&caller.tools.call(call("effect.leave", "x", 5_000)).with(DeliveryMode::Submitted).await);
    until("it begins", async || effects.lines().contains(&"x".to_owned())).await;
    server.stop();
    until("it is done while the server is away", async || effects.lines() == ["x", "x done"]).await;
    server.start_again();
    assert_eq!(queue.result(&id).await.unwrap().output, "x");
}

/// A worker that waits for jobs pulls again when the server has lost its pull request.
#[tokio::test]
async fn an_idle_worker_takes_jobs_after_a_restart_of_the_server() {
    let mut server = server!();
    let _worker = Child::start(&task(&server));
    let (caller, queue) = caller(&server.url()).await;
    server.restart();
    let submit = async || caller.tools.call(call("effect.leave", "x", 0)).with(DeliveryMode::Submitted).await;
    until("it is submitted", async || submit().await.success).await;
    let id = job(&submit().await);
    until("it is done", async || matches!(queue.status(&id).await, Ok(Some(JobStatus::Done(_))))).await;
}

/// A job is delivered by a replica that does not have its record yet: it does not count as finished.
#[tokio::test]
async fn a_job_waits_for_its_record() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let _worker = Child::start(&task(&server));
    let (_caller, queue) = caller(&server.url()).await;
    let id = JobId::parse("effect.leave.late").unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("Tool-Job", id.as_str());
    let stream = jetstream::new(connect(&server.url()).await);
    let arguments = json!({"line": "x", "milliseconds": 0}).to_string();
    let put = stream.publish_with_headers("tools.job.effect.leave", headers, arguments.into()).await.unwrap();
    put.await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((queue.status(&id).await.unwrap(), messages(&stream).await), (None, 1));
    let records = stream.get_key_value("tools-job-states").await.unwrap();
    records.create(id.as_str(), json!({"state": "waiting"}).to_string().into()).await.unwrap();
    assert_eq!(queue.result(&id).await.unwrap().output, "x");
    assert_eq!(effects.lines(), ["x", "x done"]);
}

/// A call is submitted again, and the server does not respond: it may be in the queue since the first time. The control
/// is a call without an id, which cannot be there.
#[tokio::test]
async fn a_job_that_may_be_queued_is_not_reported_as_not_run() {
    let server = server!();
    let effects = Effects::new(server.folder.path());
    let idle = worker_tools(effects).build().unwrap();
    let _idle = serve(connect(&server.url()).await, idle).await.unwrap();
    let proxy = Proxy::to(&server.url()).await;
    let client = connect(&proxy.url()).await;
    let queue = open(client.clone()).await;
    let caller = Caller::with(client, |discover| discover.queue(queue)).await;
    let id = job(&caller.tools.call(call("effect.leave", "x", 0)).with(DeliveryMode::Submitted).await);
    proxy.set(Way::Silent);
    let again = caller.tools.call(call("effect.leave", "x", 0)).with(DeliveryMode::Submitted);
    let other = ToolCall::new("effect.leave", json!({"line": "y", "milliseconds": 0}));
    let other = caller.tools.call(other).with(DeliveryMode::Submitted);
    let (again, other) = tokio::join!(again, other);
    assert_eq!(kind(&again), Some(ErrorKind::OutcomeUnknown), "{again:?}");
    assert_eq!(again.metadata.get("job"), Some(&json!(id.as_str())));
    assert_eq!(again.output, "`effect.leave` may be in the queue: the queue did not confirm it.");
    assert_eq!(kind(&other), Some(ErrorKind::Unavailable), "{other:?}");
    assert_eq!(other.output, "`effect.leave` did not run: it cannot be queued at the moment.");
}
