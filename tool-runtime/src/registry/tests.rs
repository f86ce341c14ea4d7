use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::manifest::Definitions;
use crate::search::ToolSearch;
use crate::{BuildError, Dispatcher, Manifest, RegistryChanges, RuntimeTool, ToolCall};

fn tool(name: impl Into<String>, description: &str) -> RuntimeTool {
    RuntimeTool::new(name, description, |(): ()| async {})
}

fn empty() -> Dispatcher {
    Dispatcher::builder().allow_empty().build().unwrap()
}

fn names(tools: &Dispatcher) -> String {
    tools.registry().names().join(" ")
}

/// Returns the first inconsistency of a list in which `a.N` and `b.N` always change together.
fn inconsistency(list: &Definitions) -> Option<String> {
    if !list.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Some("not sorted".to_owned());
    }
    let mut pairs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, definition) in list.iter().filter(|(name, _)| &**name != "search_tools") {
        pairs.entry(&name[2..]).or_default().push(&definition.description);
    }
    let torn = pairs.into_iter().find(|(_, words)| words.len() != 2 || words[0] != words[1]);
    torn.map(|(name, words)| format!("{name}: {words:?}"))
}

/// Runs `change` while four threads list the tools. Returns the number of lists and the inconsistencies they had.
fn read_meanwhile(tools: &Dispatcher, change: impl FnOnce(&AtomicUsize) + Send) -> (usize, Vec<String>) {
    let (over, lists, wrong) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let seen = Mutex::new(Vec::new());
    let selected = tools.select(crate::Selection::new().hide(["nothing.*"])).unwrap();
    std::thread::scope(|threads| {
        for reader in 0..4 {
            let (over, lists, wrong, seen) = (&over, &lists, &wrong, &seen);
            let tools = if reader % 2 == 0 { tools } else { &selected };
            threads.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let list = tools.definitions();
                    lists.fetch_add(1, Ordering::Relaxed);
                    if let Some(inconsistency) = inconsistency(&list) {
                        wrong.fetch_add(1, Ordering::Relaxed);
                        seen.lock().unwrap().push(inconsistency);
                    }
                }
            });
        }
        change(&wrong);
        over.store(true, Ordering::Relaxed);
    });
    (lists.into_inner(), seen.into_inner().unwrap())
}

#[test]
fn readers_never_see_a_partial_change() {
    let tools = Dispatcher::builder().also(ToolSearch).build().unwrap();
    let registry = tools.registry();
    let (lists, wrong) = read_meanwhile(&tools, |_| {
        for round in 0..1_000 {
            let (pair, words) = (round % 20, format!("round {round}"));
            let both = ["a", "b"].map(|side| format!("{side}.{pair}"));
            let changes = both.iter().fold(RegistryChanges::new(), |changes, name| match round % 3 {
                0 => changes.remove(name),
                _ => changes.replace(tool(name, &words)),
            });
            registry.apply(changes).unwrap();
            match round % 100 {
                50 => tools.reload(Manifest::default()).unwrap(),
                75 => registry.clear(),
                _ => {}
            }
        }
    });
    assert!(lists > 0 && wrong.is_empty(), "{wrong:?}");
}

/// The control: the same two tools, changed one after the other.
#[test]
fn readers_see_changes_that_are_applied_one_by_one() {
    let tools = empty();
    let registry = tools.registry();
    let (_, wrong) = read_meanwhile(&tools, |wrong| {
        for round in 0..100_000 {
            let words = format!("round {round}");
            for name in ["a.1", "b.1"] {
                registry.replace(tool(name, &words)).unwrap();
                std::thread::yield_now();
            }
            if wrong.load(Ordering::Relaxed) > 0 {
                break;
            }
        }
    });
    assert!(!wrong.is_empty());
}

#[test]
fn a_duplicate_names_both_and_changes_nothing() {
    let tools = Dispatcher::builder().also(ToolSearch).build().unwrap();
    let changes: RegistryChanges = ["x.new", "search_tools"].into_iter().map(|name| tool(name, "")).collect();
    let error = tools.registry().apply(changes).unwrap_err().to_string();
    assert!(error.contains("`search_tools`: two tools have this name: "), "{error}");
    assert!(error.contains("ToolSearch::search_tools (") && error.contains("registry/tests.rs:"), "{error}");
    assert_eq!(names(&tools), "search_tools");
}

/// Each registered tool is logged once, with its origin, and the tools that stay are not logged again.
#[test]
fn logs_each_registered_tool() {
    let log = crate::testing::LogRecorder::default();
    let _logging = log.record();
    let count = |name: &str| log.text().matches(&format!("tool={name:?}")).count();
    let tools = Dispatcher::builder().manifest(Manifest::default()).tool(tool("x.first", "")).build().unwrap();
    assert_eq!(count("x.first"), 1, "{}", log.text());
    assert!(log.text().contains("message=tool registered") && log.text().contains("registry/tests.rs:"));
    tools.registry().register(tool("x.second", "")).unwrap();
    tools.registry().register(tool("x.second", "a duplicate")).unwrap_err();
    assert_eq!((count("x.first"), count("x.second")), (1, 1), "{}", log.text());
    tools.registry().replace(tool("x.second", "another")).unwrap();
    assert_eq!(count("x.second"), 2, "{}", log.text());
}

#[test]
fn notifies_once_per_change_and_not_of_failed_ones() {
    let tools = empty();
    let mut changes = tools.select(crate::Selection::new()).unwrap().registry().changes();
    tools.registry().apply(["a", "b"].map(|name| tool(name, "")).into_iter().collect()).unwrap();
    assert_eq!(*changes.borrow_and_update(), 1);
    tools.registry().register(tool("a", "")).unwrap_err();
    assert!(!changes.has_changed().unwrap());
    tools.reload(Manifest::linked()).unwrap();
    assert_eq!(*changes.borrow_and_update(), 2);
}

#[test]
fn reports_all_invalid_tools_at_once() {
    let check = |built: Result<(), BuildError>| built.unwrap_err().problems().len();
    let bad_schema = serde_json::json!({"type": "array"});
    let changes = RegistryChanges::new()
        .register(tool("no name", ""))
        .register(RuntimeTool::from_schema("x.list", "", &bad_schema, |_, _| async {}))
        .register(tool("x.both", "").read_only().destructive())
        .disable("x.gone");
    assert_eq!(check(empty().registry().apply(changes)), 4);
    let built = Dispatcher::builder().tool(tool("x", "")).tool(tool("x", "")).build();
    assert_eq!(check(built.map(drop)), 1);
}

#[test]
fn a_replacement_of_a_linked_tool_survives_a_reload_until_it_is_removed() {
    let tools = Dispatcher::builder().also(ToolSearch).build().unwrap();
    let registry = tools.registry();
    let linked = tools.manifest();
    registry.replace(tool("search_tools", "mine")).unwrap();
    tools.reload(linked.clone()).unwrap();
    assert_eq!(registry.get("search_tools").unwrap().description, "mine");
    assert_eq!(registry.remove("search_tools").unwrap().description, "mine");
    assert!(registry.is_empty());
    tools.reload(linked.clone()).unwrap();
    assert!(registry.get("search_tools").unwrap().description.starts_with("Find tools"));

    // The name was free when the runtime tool took it, so the linked tool is a duplicate.
    registry.remove("search_tools");
    registry.register(tool("search_tools", "mine")).unwrap();
    let error = tools.reload(linked).unwrap_err().to_string();
    assert!(error.contains("two tools have this name"), "{error}");
    assert_eq!(registry.get("search_tools").unwrap().description, "mine");
}

#[test]
fn a_manifest_overrides_the_texts_of_runtime_tools() {
    let tools = empty();
    tools.registry().register(tool("x.a", "As it was.")).unwrap();
    let edited = tools.manifest().to_json().replace("As it was.", "As it was edited.");
    tools.reload(Manifest::from_json(&edited)).unwrap();
    assert_eq!(tools.definition("x.a").unwrap().description, "As it was edited.");
    let stale = edited.replace(r#""arguments": {}"#, r#""arguments": {"b": {"type": "string", "required": true}}"#);
    let error = tools.reload(Manifest::from_json(&stale)).unwrap_err().to_string();
    assert!(error.contains("the manifest is stale"), "{error}");
}

/// Even after several overrides, and after the tool was replaced.
#[test]
fn the_texts_of_a_manifest_are_dropped_with_it() {
    let tools = Dispatcher::builder().tool(tool("x.a", "Its own.")).build().unwrap();
    let description = || tools.definition("x.a").unwrap().description.clone();
    for words in ["Edited.", "Edited again."] {
        let edited = tools.manifest().to_json().replace(&description(), words);
        tools.reload(Manifest::from_json(&edited)).unwrap();
        assert_eq!(description(), words);
    }
    tools.reload(Manifest::default()).unwrap();
    assert_eq!(description(), "Its own.");

    let edited = tools.manifest().to_json().replace("Its own.", "Edited.");
    for again in [false, true] {
        tools.reload(Manifest::from_json(&edited)).unwrap();
        assert_eq!(description(), "Edited.");
        if again {
            tools.registry().remove("x.a");
        }
        tools.registry().replace(tool("x.a", "Another's.")).unwrap();
        tools.reload(Manifest::default()).unwrap();
        assert_eq!(description(), "Another's.");
    }
}

/// A manifest decides which linked tools exist, but `disable` takes precedence.
#[test]
fn a_reload_restores_removed_linked_tools_but_not_disabled_ones() {
    let tools = Dispatcher::builder().also(ToolSearch).build().unwrap();
    let (registry, linked) = (tools.registry(), tools.manifest());
    registry.remove("search_tools").unwrap();
    registry.register(tool("x", "")).unwrap();
    assert_eq!(names(&tools), "x", "another change does not bring it back");
    tools.reload(linked.clone()).unwrap();
    assert_eq!(names(&tools), "search_tools x");
    registry.disable("search_tools").unwrap();
    tools.reload(linked).unwrap();
    assert_eq!(names(&tools), "x");
}

#[tokio::test]
async fn disabled_tools_are_kept_but_not_offered() {
    let tools = Dispatcher::builder().tool(tool("x.a", "")).tool(tool("x.b", "")).build().unwrap();
    let registry = tools.registry();
    registry.disable("x.a").unwrap();
    assert_eq!((names(&tools).as_str(), registry.is_disabled("x.a")), ("x.b", true));
    let answer = tools.call(ToolCall::from_text("x.a", "{}")).await.output;
    assert_eq!(answer, "There is no tool `x.a`. The tools are `x.b`.");
    registry.replace(tool("x.a", "another")).unwrap();
    tools.reload(Manifest::default()).unwrap();
    assert_eq!(names(&tools), "x.b", "it stays disabled");
    registry.enable("x.a").unwrap();
    assert_eq!(names(&tools), "x.a x.b");
    let error = registry.disable("a.x").unwrap_err().to_string();
    assert!(error.contains("`a.x`: there is no such tool"), "{error}");
}

/// Uses the registry while it is dropped, as an adapter's connection may.
struct UsesRegistryOnDrop(super::Registry, Arc<AtomicUsize>);

impl Drop for UsesRegistryOnDrop {
    fn drop(&mut self) {
        self.1.fetch_add(1 + self.0.len(), Ordering::Relaxed);
        self.0.register_or_keep(tool("x.last", "")).unwrap();
    }
}

#[test]
fn a_removed_tool_may_use_the_registry_while_it_is_dropped() {
    let tools = empty();
    let dropped = Arc::new(AtomicUsize::new(0));
    let nosy = || {
        let nosy = Arc::new(UsesRegistryOnDrop(tools.registry(), dropped.clone()));
        RuntimeTool::new("x.nosy", "", move |(): ()| {
            let nosy = nosy.clone();
            async move { nosy.0.len().to_string() }
        })
    };
    tools.registry().register(nosy()).unwrap();
    assert!(tools.registry().register(nosy()).is_err());
    assert_eq!(dropped.swap(0, Ordering::Relaxed), 2, "the rejected tool");
    tools.registry().remove("x.nosy");
    assert!(dropped.load(Ordering::Relaxed) > 0);
    assert_eq!(names(&tools), "x.last");
}

#[tokio::test]
async fn running_calls_finish_with_the_tool_they_started_with() {
    let tools = empty();
    let go = Arc::new(tokio::sync::Notify::new());
    let waiting = go.clone();
    let slow = RuntimeTool::new("x.slow", "", move |(): ()| {
        let waiting = waiting.clone();
        async move {
            waiting.notified().await;
            "done"
        }
    });
    tools.registry().register(slow).unwrap();
    let call = tokio::spawn({
        let tools = tools.clone();
        async move { tools.call(ToolCall::from_text("x.slow", "{}")).await }
    });
    tokio::task::yield_now().await;
    tools.registry().clear();
    go.notify_one();
    assert_eq!(call.await.unwrap().output, "done");
}

#[test]
fn definitions_are_cached_until_a_change() {
    let tools = Dispatcher::builder().tool(tool("x.a", "")).build().unwrap();
    let selected = tools.select(crate::Selection::new().prefix("p_")).unwrap();
    for tools in [&tools, &selected] {
        let first = tools.definitions();
        assert!(Arc::ptr_eq(&first, &tools.definitions()));
        tools.registry().replace(tool("x.a", "changed")).unwrap();
        assert!(!Arc::ptr_eq(&first, &tools.definitions()));
    }
}

#[test]
fn a_builder_reports_all_problems_and_a_lenient_one_skips_them() {
    let builder = || {
        let (twice, wrong) = (tool("search_tools", "mine"), tool("no name", ""));
        Dispatcher::builder().also(ToolSearch).tool(twice).tool(wrong).tool(tool("x", "first")).tool(tool("x", ""))
    };
    let error = builder().build().unwrap_err();
    assert_eq!(error.problems().len(), 3, "{error}");
    assert!(error.to_string().starts_with("the dispatcher cannot be built, 3 problems:"), "{error}");
    let tools = builder().lenient().build().unwrap();
    assert_eq!(names(&tools), "search_tools x");
    assert_eq!(tools.definition("x").unwrap().description, "first");
}

/// A dispatcher can be built from its own manifest.
#[test]
fn a_builder_applies_the_texts_of_a_manifest_to_runtime_tools() {
    let builder = || Dispatcher::builder().also(ToolSearch).tool(tool("x", "code"));
    let mut manifest = builder().build().unwrap().manifest();
    let edited = manifest.to_json().replace("\"code\"", "\"edited\"");
    manifest = Manifest::from_json(&edited).unwrap();
    let tools = builder().manifest(manifest).build().unwrap();
    assert_eq!(tools.definition("x").unwrap().description, "edited");
}

#[test]
fn removed_tools_release_their_captures() {
    let connection = Arc::new(());
    let remote = |name| {
        let connection = connection.clone();
        RuntimeTool::new(name, "", move |(): ()| std::future::ready(Arc::strong_count(&connection).to_string()))
    };
    let tools = Dispatcher::builder().tool(remote("a")).build().unwrap();
    tools.registry().register(remote("b")).unwrap();
    assert!(Arc::strong_count(&connection) > 2);
    tools.registry().apply(RegistryChanges::new().remove("a").replace(tool("b", ""))).unwrap();
    assert_eq!(Arc::strong_count(&connection), 1);
}

/// A table that `replace` accepts is also accepted by a reload, which checks all tools.
#[test]
fn a_reload_accepts_aliases_that_a_replaced_tool_shares() {
    let replaced: [fn(&Dispatcher); 4] = [
        |tools| tools.registry().replace(tool("exec", "")).unwrap(),
        |tools| tools.registry().replace(tool("other", "").alias("exec")).unwrap(),
        |tools| tools.registry().replace(tool("a_tool", "").alias("run")).unwrap(),
        |tools| {
            tools.registry().register(tool("later", "")).unwrap();
            tools.registry().replace(tool("later", "").alias("exec")).unwrap();
        },
    ];
    for replace in replaced {
        let tools = Dispatcher::builder().allow_empty().tool(tool("run", "").alias("exec")).build().unwrap();
        replace(&tools);
        let before = names(&tools);
        tools.reload(tools.manifest()).unwrap();
        assert_eq!(names(&tools), before);
    }
}

#[test]
fn many_tools_with_aliases_are_registered_at_once() {
    let count = 2_000;
    let changes = (0..count).fold(RegistryChanges::new(), |changes, number| {
        changes.register(tool(format!("tool_{number}"), "").alias(format!("alias_{number}")))
    });
    let tools = empty();
    tools.registry().apply(changes).unwrap();
    assert_eq!(tools.resolve("alias_1999").as_deref(), Some("tool_1999"));
    let error = tools.registry().register(tool("alias_7", "")).unwrap_err().to_string();
    assert!(error.contains("its name is an alias of `tool_7`"), "{error}");
    tools.registry().apply(RegistryChanges::new().remove("tool_7").register(tool("alias_7", ""))).unwrap();
    assert!(tools.registry().has("alias_8") && !tools.registry().has("tool_7"));
}
