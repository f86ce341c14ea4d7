//! Credentials files, with TLS: a user has exactly the permissions in its token.

use std::path::{Path, PathBuf};

use serde_json::json;
use tool_nats::{DeliveryMode, NatsConnection, NatsError, QueueOptions, WorkQueue, connect, serve};
use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, ToolCall};

use crate::support::{Caller, Log, Operator, Permissions, Server, certificates, kind};

const BOTH: [&str; 2] = ["math.add", "metrics.newest"];

/// Starts a server that trusts an operator, or skips the test if there is no server.
macro_rules! trusting {
    () => {{
        let operator = Operator::new();
        match Server::configured(|folder| Some(configure(folder, &operator))) {
            Some(server) => (server, operator),
            None => return,
        }
    }};
}

fn configure(folder: &Path, operator: &Operator) -> PathBuf {
    certificates(folder);
    let tls = "tls { cert_file: \"server.pem\", key_file: \"server-key.pem\" }";
    let store = "jetstream { store_dir: \"jetstream\" }";
    let file = folder.join("nats.conf");
    std::fs::write(&file, format!("{tls}\n{store}\n{}", operator.configuration())).unwrap();
    file
}

/// Connects with a credentials file for a user with these permissions.
async fn user(server: &Server, operator: &Operator, name: &str, permissions: &Permissions) -> NatsConnection {
    try_user(server, operator, name, permissions).await.unwrap()
}

async fn try_user(
    server: &Server,
    operator: &Operator,
    name: &str,
    permissions: &Permissions,
) -> Result<NatsConnection, NatsError> {
    let file = server.folder.path().join(format!("{name}.creds"));
    std::fs::write(&file, operator.credentials(name, permissions)).unwrap();
    connect(format!("tls://{}", server.url()))
        .credentials_file(file)
        .authority(server.folder.path().join("ca.pem"))
        .inbox_prefix(format!("_INBOX_{name}"))
        .await
}

/// The permissions that the user `math` needs to serve `math.*`.
fn math() -> Permissions {
    let verbs = ["PING", "INFO", "STATS"].into_iter();
    let verbs = verbs.flat_map(|verb| ["", ".tools", ".tools.>"].map(|to| format!("$SRV.{verb}{to}")));
    let mut subscribe = strings(&["tools.call.math.>", "tools.manifest.*", "tools.worker.*", "_INBOX_math.>"]);
    subscribe.extend(verbs);
    Permissions::Only { publish: strings(&["tools.call.math.>", "tools.news.*"]), subscribe }
}

/// The permissions that the user `caller` needs to call `math.*`, directly and through the queue. It sees all tools.
fn caller_of_math() -> Permissions {
    let publish = strings(&[
        "tools.call.math.>",
        "tools.manifest.*",
        "tools.worker.*",
        "$SRV.>",
        "$JS.API.STREAM.INFO.*",
        "$JS.API.STREAM.CREATE.*",
        "$JS.API.DIRECT.GET.KV_tools-job-states.$KV.tools-job-states.math.>",
        "$KV.tools-job-states.math.>",
        "tools.job.math.>",
    ]);
    Permissions::Only { publish, subscribe: strings(&["_INBOX_caller.>", "tools.news.*", "tools.done.math.>"]) }
}

/// The permissions of a user in the documentation's `nsc` commands.
fn documented(name: &str) -> Permissions {
    let user = format!("add user --account tools --name {name} ");
    let command = include_str!("../../docs/crate.md").split("nsc ").find(|command| command.starts_with(&user)).unwrap();
    let subjects = |option: &str| -> Vec<String> {
        let lists = command.split(option).skip(1).filter_map(|rest| rest.split('\'').next());
        lists.flat_map(|list| list.split(',')).map(str::to_owned).collect()
    };
    Permissions::Only { publish: subjects("--allow-pub '"), subscribe: subjects("--allow-sub '") }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn tools(names: &[&str]) -> Dispatcher {
    let tool = |name: &&str| RuntimeTool::new(*name, "Says yes.", |(): ()| async { "yes" });
    names.iter().map(tool).fold(Dispatcher::builder(), |builder, tool| builder.tool(tool)).build().unwrap()
}

#[tokio::test]
async fn a_worker_serves_only_what_its_credentials_allow() {
    let (server, operator) = trusting!();
    let connection = user(&server, &operator, "math", &math()).await;
    let denied = serve(connection.clone(), tools(&BOTH)).await.unwrap_err();
    assert!(matches!(&denied, NatsError::Denied(tools) if tools == &["metrics.newest"]), "{denied:?}");
    assert!(denied.to_string().starts_with("the server denies this worker access to `metrics.newest`"), "{denied}");

    // It serves its own tools.
    let _worker = serve(connection, tools(&["math.add"])).await.unwrap();
    let caller = Caller::new(user(&server, &operator, "caller", &caller_of_math()).await).await;
    assert_eq!(caller.call("math.add", json!({})).await.output, "yes");

    // The control: a user of the same account without permissions in its token.
    serve(user(&server, &operator, "all", &Permissions::All).await, tools(&BOTH)).await.unwrap();
}

#[tokio::test]
async fn the_documented_permissions_suffice_for_calls_and_jobs() {
    let (server, operator) = trusting!();
    let math = user(&server, &operator, "math", &documented("math")).await;
    let queue = WorkQueue::open(math.clone(), QueueOptions::default()).await.unwrap();
    let _worker = serve(math, tools(&["math.add"])).queue(queue).await.unwrap();
    let connection = user(&server, &operator, "caller", &documented("caller")).await;
    let queue = WorkQueue::open(connection.clone(), QueueOptions::default()).await.unwrap();
    let caller = Caller::with(connection, |discover| discover.queue(queue)).await;
    for delivery in [DeliveryMode::Direct, DeliveryMode::Queued] {
        let result = caller.tools.call(ToolCall::new("math.add", json!({}))).with(delivery).await;
        assert_eq!(result.output, "yes", "{delivery:?}: {result:?}");
    }
}

/// A denied call has not run, and its caller learns that at once. The log has the server's reason with the subject.
#[tokio::test]
async fn a_caller_learns_at_once_that_a_call_is_denied() {
    let (server, operator) = trusting!();
    let all = user(&server, &operator, "all", &Permissions::All).await;
    let queue = WorkQueue::open(all.clone(), QueueOptions::default()).await.unwrap();
    let _worker = serve(all.clone(), tools(&BOTH)).queue(queue.clone()).await.unwrap();
    let free = Caller::with(all, |discover| discover.queue(queue)).await;

    let connection = user(&server, &operator, "caller", &caller_of_math()).await;
    let queue = WorkQueue::open(connection.clone(), QueueOptions::default()).await.unwrap();
    let bound = Caller::with(connection, |discover| discover.queue(queue)).await;
    let log = Log::default();
    let _recording = log.record();
    for delivery in [DeliveryMode::Direct, DeliveryMode::Queued] {
        let call = async |caller: &Caller, tool: &'static str| {
            caller.tools.call(ToolCall::new(tool, json!({}))).with(delivery).await
        };
        let denied = call(&bound, "metrics.newest").await;
        assert_eq!(kind(&denied), Some(ErrorKind::Unavailable), "{delivery:?}: {denied:?}");
        assert_eq!(
            denied.output, "`metrics.newest` did not run: this application is not permitted to call it.",
            "{delivery:?}"
        );
        let lines = log.take();
        let has_cause = |line: &str| line.contains("the server does not allow this user to publish to `");
        assert!(lines.lines().any(|line| line.contains("WARN") && has_cause(line)), "{delivery:?}: {lines}");
        // The controls: another tool, another user.
        assert_eq!(call(&bound, "math.add").await.output, "yes", "{delivery:?}");
        assert_eq!(call(&free, "metrics.newest").await.output, "yes", "{delivery:?}");
    }
}

#[tokio::test]
async fn a_denied_queue_is_named_in_the_error() {
    let (server, operator) = trusting!();
    let connection = user(&server, &operator, "math", &math()).await;
    let denied = WorkQueue::open(connection, QueueOptions::default()).await.unwrap_err();
    let expected =
        "open the stream of jobs: the server does not allow this user to publish to `$JS.API.STREAM.INFO.tools-jobs`";
    assert_eq!(denied.to_string(), expected);
}

#[tokio::test]
async fn invalid_credentials_are_rejected() {
    let (server, operator) = trusting!();
    let url = format!("tls://{}", server.url());
    let authority = server.folder.path().join("ca.pem");
    let file = |name: &str, text: &str| {
        let file = server.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let strangers = Operator::new().credentials("all", &Permissions::All);
    let good = operator.credentials("all", &Permissions::All);
    // The token of one user with the key of another.
    let (token, _) = good.split_once("-----BEGIN USER NKEY SEED").unwrap();
    let (_, key) = strangers.split_once("-----BEGIN USER NKEY SEED").unwrap();
    let mixed = format!("{token}-----BEGIN USER NKEY SEED{key}");
    let connect = |file: PathBuf| connect(&url).credentials_file(file).authority(&authority);
    for (name, text) in [("strangers", &*strangers), ("mixed", &mixed), ("empty", "")] {
        let refused = connect(file(name, text)).await.unwrap_err();
        assert!(matches!(refused, NatsError::Connect { .. }), "{name}: {refused:?}");
    }
    let refused = connect(server.folder.path().join("missing")).await.unwrap_err().to_string();
    assert!(
        refused.starts_with(&format!("cannot connect to NATS at {url}: ")) && refused.contains("missing"),
        "{refused}"
    );
    // The control.
    connect(file("good", &good)).await.unwrap();
    // A client without credentials is rejected.
    tool_nats::connect(&url).authority(&authority).await.unwrap_err();
}

/// The variables of NATS's own command line suffice to connect.
#[tokio::test]
async fn connects_with_environment_variables() {
    let (server, operator) = trusting!();
    let file = server.folder.path().join("caller.creds");
    std::fs::write(&file, operator.credentials("caller", &caller_of_math())).unwrap();
    let connects = |credentials: &Path| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "credentials::connects_from_the_environment", "--ignored"])
            .env("NATS_URL", format!("tls://{}", server.url()))
            .env("NATS_CREDS", credentials)
            .env("NATS_CA", server.folder.path().join("ca.pem"))
            .env("NATS_INBOX_PREFIX", "_INBOX_caller")
            // Empty variables count as unset: with a user set, there would be two kinds of credentials.
            .env("NATS_USER", "")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap()
            .success()
    };
    assert!(connects(&file));
    assert!(!connects(Path::new("")), "the control");
}

/// Runs in a process that a test has started.
#[tokio::test]
#[ignore = "a part of another test"]
async fn connects_from_the_environment() {
    if std::env::var_os("NATS_CREDS").is_none() {
        return;
    }
    let connection = tool_nats::ConnectionBuilder::from_env().await.unwrap();
    assert!(connection.client().new_inbox().starts_with("_INBOX_caller."));
}
