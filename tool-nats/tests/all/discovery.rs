use std::time::Duration;

use serde_json::{Value, json};
use tool_nats::{DeliveryMode, NatsError, Space, discover, serve};
use tool_runtime::{Dispatcher, ErrorKind, RuntimeTool, ToolCall};

use crate::support::{Caller, connect, kind, server, until};

fn tool(name: &str, says: &'static str) -> RuntimeTool {
    RuntimeTool::new(name, says, move |(): ()| async move { says })
}

fn tools(all: impl IntoIterator<Item = RuntimeTool>) -> Dispatcher {
    all.into_iter().fold(Dispatcher::builder().allow_empty(), |builder, tool| builder.tool(tool)).build().unwrap()
}

#[tokio::test]
async fn the_registry_follows_workers_that_join_leave_and_change() {
    let server = server!();
    let url = server.url();
    let caller = Caller::new(connect(&url).await).await;
    assert!(caller.tools.registry().is_empty());

    let changing = tools([tool("a.one", "1")]);
    let a = serve(connect(&url).await, changing.clone()).await.unwrap();
    let b = serve(connect(&url).await, tools([tool("b.two", "2")])).await.unwrap();
    let names = || caller.tools.registry().names().join(" ");
    until("both come", async || names() == "a.one b.two").await;
    assert_eq!(caller.remote.workers().len(), 2);

    changing.registry().register(tool("a.three", "3")).unwrap();
    until("one changes", async || names() == "a.one a.three b.two").await;
    changing.registry().replace(tool("a.one", "one")).unwrap();
    until("a tool changes", async || caller.call("a.one", json!({})).await.output == "one").await;
    changing.registry().remove("a.one");
    until("a tool goes", async || names() == "a.three b.two").await;

    b.drain().await;
    until("one leaves", async || names() == "a.three").await;
    let gone = caller.call("b.two", json!({})).await;
    assert_eq!(kind(&gone), Some(ErrorKind::UnknownTool));
    a.drain().await;
    until("all are gone", async || names().is_empty()).await;
}

/// Functions of the application are called in the background for each new tool.
#[tokio::test]
async fn a_panic_for_one_tool_does_not_affect_others() {
    let server = server!();
    let url = server.url();
    let client = connect(&url).await;
    let changing = tools([tool("a", "1")]);
    let queue = crate::queue::open(client.clone()).await;
    let worker = serve(client.clone(), changing.clone()).queue(queue.clone()).queued(|name, _| {
        assert_ne!(name, "b");
        true
    });
    let _worker = worker.await.unwrap();
    let caller = Caller::with(client, |discover| {
        discover.queue(queue).deliver(|name, _| {
            assert_ne!(name, "c");
            DeliveryMode::Direct
        })
    });
    let caller = caller.await;
    for (added, expected) in [("b", "a b"), ("c", "a b c")] {
        changing.registry().register(tool(added, "2")).unwrap();
        until("it is found", async || caller.tools.registry().names().join(" ") == expected).await;
    }
    for name in ["a", "b"] {
        assert!(caller.call(name, json!({})).await.success, "{name}");
    }
    assert_eq!(kind(&caller.call("c", json!({})).await), Some(ErrorKind::Panicked));
}

/// The choice does not depend on the order, and a call goes to a worker with the chosen definition.
#[tokio::test]
async fn the_newer_of_two_definitions_wins_and_the_conflict_is_reported() {
    let server = server!();
    let url = server.url();
    for versions in [["1.9.0", "1.10.0"], ["1.10.0", "1.9.0"]] {
        let mut workers = Vec::new();
        for version in versions {
            let says = if version == "1.10.0" { "new" } else { "old" };
            workers.push(serve(connect(&url).await, tools([tool("t", says)])).version(version).await.unwrap());
        }
        let caller = Caller::new(connect(&url).await).await;
        for _ in 0..20 {
            assert_eq!(caller.call("t", json!({})).await.output, "new");
        }
        let conflicts = caller.remote.conflicts();
        assert_eq!(conflicts.len(), 1);
        assert_eq!((conflicts[0].used.as_deref(), &*conflicts[0].ignored), (Some("1.10.0"), &["1.9.0".to_owned()][..]));
        assert!(conflicts[0].to_string().contains("version 1.10.0 is used"), "{}", conflicts[0]);
        for worker in workers {
            worker.drain().await;
        }
    }
}

/// A worker that does not respond to a probe in time still counts as serving its tool.
#[tokio::test]
async fn a_slow_worker_keeps_its_tool() {
    let server = server!();
    let url = server.url();
    let proxy = crate::support::Proxy::to(&url).await;
    let _new = serve(connect(&proxy.url()).await, tools([tool("t", "new")])).version("2.0.0").await.unwrap();
    let caller = Caller::with(connect(&url).await, |discover| discover.ping_interval(Duration::from_secs(3_600))).await;
    proxy.set(crate::support::Way::Silent);
    let _old = serve(connect(&url).await, tools([tool("t", "old")])).version("1.0.0").await.unwrap();
    until("both are known", async || !caller.remote.conflicts().is_empty()).await;
    let conflict = &caller.remote.conflicts()[0];
    assert_eq!((conflict.used.as_deref(), &*conflict.ignored), (Some("2.0.0"), &["1.0.0".to_owned()][..]));
}

/// The newer of two definitions loses its only worker: the first call that finds none switches to the older one.
#[tokio::test]
async fn a_definition_without_workers_is_replaced() {
    let server = server!();
    let url = server.url();
    let proxy = crate::support::Proxy::to(&url).await;
    let _new = serve(connect(&proxy.url()).await, tools([tool("t", "new")])).version("2.0.0").await.unwrap();
    let _old = serve(connect(&url).await, tools([tool("t", "old")])).version("1.0.0").await.unwrap();
    let caller = Caller::with(connect(&url).await, |discover| discover.ping_interval(Duration::from_secs(3_600))).await;
    assert_eq!(caller.call("t", json!({})).await.output, "new");
    proxy.set(crate::support::Way::Cut);
    until("the other is used", async || caller.call("t", json!({})).await.output == "old").await;
}

#[tokio::test]
async fn a_local_tool_has_precedence() {
    let server = server!();
    let _worker = serve(connect(&server.url()).await, tools([tool("t", "theirs"), tool("u", "theirs")])).await.unwrap();
    let own = tools([tool("t", "ours")]);
    let caller = Caller::with_tools(own, connect(&server.url()).await, |discover| discover).await;
    assert_eq!(caller.call("t", json!({})).await.output, "ours");
    assert_eq!(caller.call("u", json!({})).await.output, "theirs");
    assert_eq!(caller.remote.conflicts()[0].used, None);
    let Caller { tools, remote } = caller;
    drop(remote);
    until("its tools are gone with it", async || tools.registry().names().join(" ") == "t").await;

    let remote = discover(connect(&server.url()).await, tools.registry()).await.unwrap();
    assert_eq!(tools.registry().names().join(" "), "t u");
    remote.leave().await;
    assert_eq!(tools.registry().names().join(" "), "t", "at once");
}

/// A worker must not take over calls that a local tool gets by an alias, nor those of another worker's tool.
#[tokio::test]
async fn a_local_alias_has_precedence_over_names_and_aliases_of_workers() {
    let server = server!();
    let theirs = [
        tool("exec", "captured"),
        tool("off", "captured"),
        tool("a_shell", "captured").alias("sh").alias("run").alias("shell"),
        tool("b_shell", "theirs").alias("bash"),
    ];
    let _worker = serve(connect(&server.url()).await, tools(theirs)).await.unwrap();
    let _other = serve(connect(&server.url()).await, tools([tool("c_shell", "captured").alias("bash")])).await.unwrap();
    let own = tools([tool("run", "ours").alias("exec").alias("sh"), tool("off", "ours")]);
    own.registry().disable("off").unwrap();
    let caller = Caller::with_tools(own, connect(&server.url()).await, |discover| discover).await;
    until("all are known", async || caller.tools.registry().has("c_shell")).await;
    for name in ["run", "exec", "sh"] {
        assert_eq!(caller.call(name, json!({})).await.output, "ours", "{name}");
    }
    assert_eq!(caller.call("shell", json!({})).await.output, "captured", "a free alias");
    assert_eq!(caller.call("bash", json!({})).await.output, "theirs");
    assert_eq!(caller.tools.registry().names().join(" "), "a_shell b_shell c_shell run");
    let conflicts: Vec<String> = caller.remote.conflicts().into_iter().map(|conflict| conflict.tool).collect();
    assert_eq!(conflicts, ["exec", "off"]);
    caller.tools.registry().enable("off").unwrap();
    assert_eq!(caller.call("off", json!({})).await.output, "ours", "a disabled tool keeps its name");

    caller.tools.registry().remove("run");
    caller.remote.refresh().await;
    assert_eq!(caller.call("exec", json!({})).await.output, "captured", "the name is free now");
    assert_eq!(caller.call("sh", json!({})).await.output, "captured", "the alias is free now");
}

/// A worker that dies announces nothing: it misses pings.
#[tokio::test]
async fn a_worker_that_stops_responding_is_removed() {
    let server = server!();
    let proxy = crate::support::Proxy::to(&server.url()).await;
    let _worker = serve(connect(&proxy.url()).await, tools([tool("t", "x")])).await.unwrap();
    let every = Duration::from_millis(300);
    let caller = Caller::with(connect(&server.url()).await, |discover| discover.ping_interval(every)).await;
    assert!(caller.tools.registry().has("t"));
    proxy.set(crate::support::Way::Silent);
    until("it is missed", async || !caller.tools.registry().has("t")).await;
    proxy.set(crate::support::Way::Open);
    until("it is back", async || caller.call("t", json!({})).await.success).await;
}

/// A manifest that exceeds the message size is fetched in parts.
#[tokio::test]
async fn a_long_manifest_is_fetched_in_parts() {
    let server = server!();
    let long: &'static str = Box::leak("words ".repeat(2_000).into_boxed_str());
    let names: Vec<String> = (0..300).map(|number| format!("many.tool_{number}")).collect();
    let _worker = serve(connect(&server.url()).await, tools(names.iter().map(|name| tool(name, long)))).await.unwrap();
    let caller = Caller::new(connect(&server.url()).await).await;
    assert_eq!(caller.tools.registry().len(), 300);
    assert_eq!(caller.call("many.tool_299", json!({})).await.output, long);
}

#[tokio::test]
async fn spaces_are_independent() {
    let server = server!();
    let space = Space::new("other").unwrap();
    let _worker = serve(connect(&server.url()).await, tools([tool("t", "x")])).space(space.clone()).await.unwrap();
    let here = Caller::new(connect(&server.url()).await).await;
    let there = Caller::with(connect(&server.url()).await, |discover| discover.space(space)).await;
    assert!(here.tools.registry().is_empty());
    assert_eq!(there.call("t", json!({})).await.output, "x");
}

/// NATS's own tools see workers as services.
#[tokio::test]
async fn a_worker_is_a_nats_service() {
    let server = server!();
    let worker = serve(connect(&server.url()).await, tools([tool("t", "x")])).version("1.2.3").await.unwrap();
    let client = connect(&server.url()).await;
    let caller = Caller::new(client.clone()).await;
    caller.call("t", json!({})).await;
    caller.tools.call(ToolCall::from_text("t", "{}")).await;
    let ask = async |subject: String| -> Value {
        serde_json::from_slice(&client.request(subject, "".into()).await.unwrap().payload).unwrap()
    };
    let ping = ask("$SRV.PING".into()).await;
    assert_eq!(
        (&ping["name"], &ping["version"], &ping["metadata"]["tools"]),
        (&json!("tools"), &json!("1.2.3"), &json!("1"))
    );
    assert_eq!(ping["metadata"]["manifest"].as_str().unwrap().len(), 64);
    let info = ask(format!("$SRV.INFO.tools.{}", worker.id())).await;
    assert!(info["endpoints"][0]["subject"].as_str().unwrap().starts_with("tools.call.t."));
    // The reply is sent before it is counted.
    until("both are counted", async || ask("$SRV.STATS.tools".into()).await["endpoints"][0]["num_requests"] == 2).await;
}

#[tokio::test]
async fn an_invalid_version_is_rejected() {
    let server = server!();
    let error = serve(connect(&server.url()).await, tools([])).version("new").await.unwrap_err();
    assert!(matches!(error, NatsError::Version(_)), "{error}");
}
