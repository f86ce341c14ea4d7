//! The configuration of the example, with TLS: a worker serves its own tools only.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::Request;
use futures_util::StreamExt;
use serde_json::json;
use tool_nats::{DeliveryMode, JobId, NatsConnection, NatsError, QueueOptions, WorkQueue, async_nats, serve};
use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, ToolCall};

use crate::support::{Caller, Server, certificates, kind, until};

/// Starts a server with the example's configuration, or skips the test if there is no server.
macro_rules! secured {
    () => {
        match Server::configured(configure) {
            Some(server) => server,
            None => return,
        }
    };
}

fn configure(folder: &Path) -> Option<PathBuf> {
    let cluster = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cluster");
    certificates(folder);
    let configuration = std::fs::read_to_string(cluster.join("nats.conf")).unwrap();
    let with_passwords = ["METRICS", "MATH", "CALLER"].iter().fold(configuration, |text, user| {
        text.replace(&format!("${user}_PASSWORD"), &format!("{:?}", user.to_lowercase()))
    });
    let file = folder.join("nats.conf");
    std::fs::write(&file, with_passwords).unwrap();
    Some(file)
}

async fn connect(server: &Server, user: &str) -> NatsConnection {
    tool_nats::connect(format!("tls://{}", server.url()))
        .user(user, user)
        .authority(server.folder.path().join("ca.pem"))
        .inbox_prefix(format!("_INBOX_{user}"))
        .await
        .unwrap()
}

async fn open(connection: &NatsConnection) -> WorkQueue {
    WorkQueue::open(connection.clone(), QueueOptions::default()).await.unwrap()
}

fn tools(names: &[&str], says: &'static str) -> Dispatcher {
    let tool = |name: &&str| RuntimeTool::new(*name, says, move |(): ()| async move { says });
    names.iter().map(tool).fold(Dispatcher::builder(), |builder, tool| builder.tool(tool)).build().unwrap()
}

#[tokio::test]
async fn a_worker_serves_its_own_tools_only() {
    let server = secured!();
    let caller = Caller::new(connect(&server, "caller").await).await;

    // The control: the same program with the right user serves them.
    let worker = serve(connect(&server, "metrics").await, tools(&["metrics.newest"], "right")).await.unwrap();
    until("it is known", async || caller.call("metrics.newest", json!({})).await.output == "right").await;

    let denied = serve(connect(&server, "math").await, tools(&["math.add", "metrics.other"], "wrong")).await;
    let Err(NatsError::Denied(tools)) = denied else { panic!("{denied:?}") };
    assert_eq!(tools, ["metrics.other"]);
    worker.drain().await;
}

/// A tool that a worker announces but may not serve does not replace that of a worker that may, even if it is newer.
#[tokio::test]
async fn a_tool_cannot_be_taken_over_by_announcing_it() {
    let server = secured!();
    let _worker = serve(connect(&server, "metrics").await, tools(&["metrics.newest"], "right")).version("1.0.0").await;
    let intruder = connect(&server, "math").await;
    // It announces everything that a worker does, but cannot subscribe to the calls.
    let impostor = tools(&["metrics.newest"], "wrong");
    let _impostor = impostor_worker(intruder.client().clone(), impostor).await;
    let caller = Caller::new(connect(&server, "caller").await).await;
    let call = || caller.tools.call(ToolCall::from_text("metrics.newest", "{}"));
    for _ in 0..5 {
        assert_eq!(call().await.output, "right");
        caller.remote.refresh().await;
    }
    assert_eq!(caller.remote.workers().len(), 2);
    assert!(
        caller.remote.conflicts()[0]
            .to_string()
            .contains("no worker serves the definition that a newer version announced")
    );
}

/// A worker that does not check its permissions.
async fn impostor_worker(client: async_nats::Client, tools: Dispatcher) -> tokio::task::JoinHandle<()> {
    use sha2::Digest;
    let mut manifest = tools.manifest();
    let mut definition = manifest.get("metrics.newest").unwrap().clone();
    definition.handler = "nats://tools/metrics.newest".to_owned();
    manifest.insert("metrics.newest", definition);
    let text = manifest.to_json();
    let hash: String = sha2::Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut pings = client.subscribe("$SRV.PING.tools").await.unwrap();
    let mut manifests = client.subscribe(format!("tools.manifest.{hash}")).await.unwrap();
    client.flush().await.unwrap();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                Some(ping) = pings.next() => {
                    let presence = json!({"id": "intruder", "version": "99.0.0", "metadata": {"manifest": hash}});
                    client.publish(ping.reply.unwrap(), presence.to_string().into()).await.unwrap();
                }
                Some(ask) = manifests.next() => {
                    let mut headers = async_nats::HeaderMap::new();
                    headers.insert("Tool-Part", "0/1");
                    client.publish_with_headers(ask.reply.unwrap(), headers, text.clone().into()).await.unwrap();
                }
            }
        }
    })
}

/// A caller cannot serve tools, and a worker cannot call those of others.
#[tokio::test]
async fn a_caller_cannot_serve_and_a_worker_cannot_call() {
    let server = secured!();
    let _worker = serve(connect(&server, "metrics").await, tools(&["metrics.newest"], "right")).await.unwrap();
    let denied = serve(connect(&server, "caller").await, tools(&["metrics.newest"], "wrong")).await;
    // Even if the right worker would reply instead.
    assert!(matches!(denied, Err(NatsError::Denied(tools)) if tools == ["metrics.newest"]));
    let caller = Caller::new(connect(&server, "caller").await).await;
    for _ in 0..20 {
        assert_eq!(caller.call("metrics.newest", json!({})).await.output, "right");
    }
    let stranger = Caller::new(connect(&server, "math").await).await;
    let result = stranger.call("metrics.newest", json!({})).await;
    assert_eq!(kind(&result), Some(ErrorKind::UnknownTool), "it does not see the tool");
}

#[tokio::test]
async fn wrong_passwords_and_connections_without_tls_are_rejected() {
    let server = secured!();
    let url = format!("tls://{}", server.url());
    let authority = server.folder.path().join("ca.pem");
    let guessed = tool_nats::connect(&url).user("metrics", "guess").authority(&authority).await.unwrap_err();
    assert!(!guessed.to_string().contains("guess"), "{guessed}");
    tool_nats::connect(server.url()).user("metrics", "metrics").await.expect_err("its certificate is not trusted");
    tool_nats::connect(&url).user("metrics", "metrics").authority(&authority).await.unwrap();
}

/// Errors and debug output never contain the password, wherever it was given.
#[tokio::test]
async fn a_password_is_never_shown() {
    for url in ["nats://user:secret@127.0.0.1:1", "nats://user:secret@[", "user:secret@127.0.0.1:1,127.0.0.1:2"] {
        let error = tool_nats::connect(url).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        let connect = tool_nats::connect(url).user("user", "secret");
        assert!(!format!("{connect:?}").contains("secret"));
    }
    let half = tool_nats::connect("127.0.0.1").credentials_file("x").user("user", "secret").await.unwrap_err();
    assert!(half.to_string().ends_with("both a user and a credentials file are set: use one of them"), "{half}");
}

#[tokio::test]
async fn a_worker_takes_its_own_jobs_only() {
    let server = secured!();
    let connection = connect(&server, "caller").await;
    let queue = open(&connection).await;
    let given = queue.clone();
    let caller = Caller::with(connection, |discover| discover.queue(given)).await;
    let (math, metrics) = (connect(&server, "math").await, connect(&server, "metrics").await);
    let worker = async |connection: &NatsConnection, tool, says| {
        serve(connection.clone(), tools(&[tool], says)).queue(open(connection).await).await.unwrap()
    };
    let call = |tool: &'static str, delivery| caller.tools.call(ToolCall::new(tool, json!({}))).with(delivery);

    // Each worker runs its own jobs.
    let _worker = worker(&math, "math.add", "sum").await;
    let other = worker(&metrics, "metrics.newest", "right").await;
    caller.remote.refresh().await;
    assert_eq!(call("math.add", DeliveryMode::Queued).await.output, "sum");
    assert_eq!(call("metrics.newest", DeliveryMode::Queued).await.output, "right");

    // A job waits for its worker. Meanwhile another worker tries everything that could be done with it.
    other.drain().await;
    let _known = serve(metrics.clone(), tools(&["metrics.newest"], "right")).await.unwrap();
    until("it is known again", async || call("metrics.newest", DeliveryMode::Direct).await.success).await;
    let submitted = call("metrics.newest", DeliveryMode::Submitted).await;
    let Some(job) = submitted.metadata.get("job").and_then(|job| job.as_str()) else { panic!("{submitted:?}") };
    let tries = [
        ("$JS.API.CONSUMER.INFO.tools-jobs.metrics=newest".to_owned(), json!({})),
        ("$JS.API.CONSUMER.MSG.NEXT.tools-jobs.metrics=newest".to_owned(), json!({"batch": 1, "no_wait": true})),
        ("$JS.API.CONSUMER.DELETE.tools-jobs.metrics=newest".to_owned(), json!({})),
        ("$JS.API.STREAM.MSG.GET.tools-jobs".to_owned(), json!({"last_by_subj": "tools.job.metrics.newest"})),
        ("$JS.API.STREAM.PURGE.tools-jobs".to_owned(), json!({})),
        ("$JS.API.STREAM.DELETE.tools-jobs".to_owned(), json!({})),
        (format!("$JS.API.DIRECT.GET.KV_tools-job-states.$KV.tools-job-states.{job}"), json!({})),
        (format!("$KV.tools-job-states.{job}"), json!({"state": "done"})),
        ("tools.job.metrics.newest".to_owned(), json!({})),
    ];
    let try_as = async |connection: &NatsConnection, (subject, payload): &(String, serde_json::Value)| {
        let request = Request::new().payload(payload.to_string().into()).timeout(Some(Duration::from_millis(300)));
        connection.client().send_request(subject.clone(), request).await.is_ok()
    };
    for attempt in &tries {
        assert!(!try_as(&math, attempt).await, "{attempt:?}");
    }
    // Nor does a worker start with a tool whose jobs it may not take. The control: it may serve the tool directly.
    let other = || tools(&["math.other"], "other");
    let denied = serve(math.clone(), other()).queue(open(&math).await).await.unwrap_err();
    assert!(matches!(denied, NatsError::Forbidden { .. }) && denied.to_string().contains("math=other"), "{denied}");
    serve(math.clone(), other()).await.unwrap();
    // The control: the right worker gets a response to the first of these requests.
    assert!(try_as(&metrics, &tries[0]).await);
    let _worker = worker(&metrics, "metrics.newest", "right").await;
    assert_eq!(queue.result(&JobId::parse(job).unwrap()).await.unwrap().output, "right");
}
