//! Replacing the manifest while calls are running.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tool_runtime::{Dispatcher, Manifest, Selection, ToolCall, tool};

use super::linked;

/// The first.
#[tool(name = "reload.first")]
fn first() -> &'static str {
    "first"
}

/// The second.
#[tool(name = "reload.second")]
async fn second() -> &'static str {
    tokio::task::yield_now().await;
    "second"
}

/// The third.
#[tool(name = "reload.third")]
fn third() -> &'static str {
    "third"
}

/// Wait until the test continues.
#[tool(name = "reload.wait")]
async fn wait(#[inject] gate: &Arc<Notify>) -> &'static str {
    gate.notified().await;
    "waited"
}

fn manifest_of(names: &[&str]) -> Manifest {
    let mut all = linked("reload.");
    for name in ["first", "second", "third", "wait"] {
        if !names.contains(&name) {
            all.remove(&format!("reload.{name}"));
        }
    }
    all
}

fn tools(manifest: Manifest) -> Dispatcher {
    Dispatcher::builder().manifest(manifest).value("gate", Arc::new(Notify::new())).build().unwrap()
}

fn names(tools: &Dispatcher) -> Vec<String> {
    tools.definitions().iter().map(|(name, _)| name.to_string()).collect()
}

/// Every call and every list uses one manifest: the error for an unknown name lists the whole snapshot.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_load_each_call_sees_exactly_one_manifest() {
    let (one, other) = (manifest_of(&["first", "second"]), manifest_of(&["second", "third"]));
    let tools = tools(one.clone());
    let is_over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..32)
        .map(|_| {
            let (tools, is_over) = (tools.clone(), is_over.clone());
            tokio::spawn(async move {
                let (mut of_one, mut of_other) = (0_u32, 0_u32);
                while !is_over.load(Ordering::Relaxed) {
                    let call = |name| tools.call(ToolCall::new(name, json!({})));
                    match call("which").await.output.as_str() {
                        "There is no tool `which`. The tools are `reload.first`, `reload.second`." => of_one += 1,
                        "There is no tool `which`. The tools are `reload.second`, `reload.third`." => of_other += 1,
                        mixture => panic!("{mixture}"),
                    }
                    assert_eq!(call("reload.second").await.output, "second", "both have it");
                    let first = call("reload.first").await;
                    assert!(first.success || first.output.contains("`reload.third`"), "{}", first.output);
                    let listed = names(&tools);
                    assert!(
                        listed == ["reload.first", "reload.second"] || listed == ["reload.second", "reload.third"],
                        "{listed:?}"
                    );
                    tokio::task::yield_now().await;
                }
                (of_one, of_other)
            })
        })
        .collect();
    for turn in 0..300 {
        tools.reload(if turn % 2 == 0 { other.clone() } else { one.clone() }).unwrap();
        tokio::time::sleep(Duration::from_micros(500)).await;
    }
    is_over.store(true, Ordering::Relaxed);
    let mut seen = (0, 0);
    for caller in callers {
        let (of_one, of_other) = caller.await.expect("each call sees one manifest");
        seen = (seen.0 + of_one, seen.1 + of_other);
    }
    assert!(seen.0 > 0 && seen.1 > 0, "both were called: {seen:?}");
}

#[tokio::test]
async fn a_running_call_keeps_its_tool() {
    let gate = Arc::new(Notify::new());
    let tools = Dispatcher::builder().manifest(manifest_of(&["wait"])).value("gate", gate.clone()).build().unwrap();
    let before = tools.definition("reload.wait").expect("on offer");
    let clone = tools.clone();
    let waiting = tokio::spawn(async move { clone.call(ToolCall::new("reload.wait", json!({}))).await });
    tokio::task::yield_now().await;
    tools.reload(manifest_of(&["first"])).unwrap();
    assert_eq!(names(&tools), ["reload.first"]);
    tools.reload(manifest_of(&["second"])).unwrap();
    assert!(!tools.call(ToolCall::new("reload.wait", json!({}))).await.success, "the tool is no longer available");
    gate.notify_one();
    assert_eq!(waiting.await.unwrap().output, "waited");
    assert_eq!(before.description, "Wait until the test continues.");
}

#[tokio::test]
async fn a_manifest_that_does_not_match_keeps_the_old_one() {
    let tools = tools(manifest_of(&["first", "second"]));
    let clone = tools.clone();
    let before = tools.manifest();
    let stale = linked("reload.").to_json().replace("reload.first\"", "reload.primary\"").replace("::third", "::gone");
    let error = tools.reload(Manifest::from_json(&stale).unwrap()).expect_err("the manifest does not match");
    assert_eq!(error.problems().len(), 2, "all at once: {error}");
    assert!(error.to_string().starts_with("the manifest is not loaded, 2 problems:\n- "), "{error}");
    let error =
        tools.reload(tool_runtime::manifest::EmbeddedManifest::new("it.json", "{")).expect_err("not a manifest");
    assert!(error.to_string().contains("cannot read the manifest it.json"), "{error}");
    assert_eq!(tools.manifest(), before);
    assert_eq!(tools.call(ToolCall::new("reload.first", json!({}))).await.output, "first");

    tools.reload(manifest_of(&["third"])).unwrap();
    assert_eq!(names(&clone), ["reload.third"], "clones share it");
    assert!(clone.explain().not_offered.iter().any(|(name, _)| name == "reload.first"));
    let some = clone.select(Selection::new()).unwrap();
    assert!(some.explain().not_offered.is_empty(), "those who see only some hear of no others");
}

#[test]
fn a_lenient_dispatcher_skips_entries_that_do_not_match() {
    let tools = Dispatcher::builder().manifest(manifest_of(&["first"])).lenient().build().unwrap();
    let stale = manifest_of(&["first", "third"]).to_json().replace("::third", "::gone");
    tools.reload(Manifest::from_json(&stale).unwrap()).unwrap();
    assert_eq!(names(&tools), ["reload.first"]);
    tools.reload(manifest_of(&["third", "wait"])).unwrap();
    assert_eq!(names(&tools), ["reload.third"], "`gate` has no provider");
}
