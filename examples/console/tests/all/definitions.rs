use tool_runtime::Manifest;

use crate::fixture::Console;

const SERVICES: [&str; 15] = [
    "applications",
    "applications_system",
    "classification",
    "extensions",
    "internet_events",
    "internet_metrics",
    "logs",
    "metrics",
    "processes",
    "service_discovery",
    "system",
    "system_alerts",
    "system_packages",
    "system_simple",
    "users",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_fifteen_services_are_offered_and_described() {
    let console = Console::open().await;
    let tools = console.app.dispatcher().definitions();
    let mut services: Vec<&str> = tools.iter().filter_map(|(name, _)| Some(name.split_once('.')?.0)).collect();
    services.dedup();
    assert_eq!(services, SERVICES);
    for (name, tool) in tools.iter() {
        assert!(tool.description.len() > 20, "{name}: {}", tool.description);
        for (argument, schema) in &tool.arguments {
            assert!(schema.description.is_some(), "{name}: {argument} has no description");
        }
    }
}

/// The policy asks about sensitive tools, so a destructive tool must be sensitive too. A tool that is not `read_only`
/// must be tagged `write`.
#[tokio::test(flavor = "multi_thread")]
async fn the_flags_are_consistent() {
    let console = Console::open().await;
    for (name, tool) in console.app.dispatcher().definitions().iter().filter(|(name, _)| name.contains('.')) {
        assert!(!tool.destructive || tool.sensitive, "{name} destroys without asking");
        assert!(!(tool.read_only && tool.sensitive), "{name} only reads and yet asks");
        let writes = tool.tags.iter().any(|tag| tag == "write") || &**name == "internet_metrics.check";
        assert_ne!(tool.read_only, writes, "{name} must be `read_only` or tagged `write`");
    }
    for sensitive in ["processes.kill", "metrics.purge", "extensions.enable", "extensions.disable"] {
        assert!(console.app.dispatcher().definition(sensitive).is_some_and(|tool| tool.sensitive), "{sensitive}");
    }
}

/// The manifest in the data directory has what the build script read from the source, and the built-in tools.
#[tokio::test(flavor = "multi_thread")]
async fn the_written_manifest_lists_every_offered_tool() {
    let console = Console::open().await;
    let tools = console.app.dispatcher();
    let written = Manifest::load(console.path("data/tools_calls.json")).expect("a manifest");
    assert_eq!(written.to_json(), tools.manifest().to_json());
    for (name, tool) in Manifest::linked().iter() {
        assert_eq!(written.get(name), Some(tool));
    }
    for built_in in ["read_file", "apply_patch", "read_result"] {
        assert!(written.get(built_in).is_some(), "{built_in}");
    }
    let beside: Vec<_> = tools.explain().tools.into_iter().filter(|tool| tool.is_beside_manifest).collect();
    assert!(beside.is_empty(), "{beside:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn injected_parameters_are_hidden_from_the_model() {
    let console = Console::open().await;
    for (name, tool) in console.app.dispatcher().definitions().iter() {
        for injected in ["session", "repository", "machine", "settings", "ping_host", "progress", "targets"] {
            assert!(!tool.arguments.contains_key(injected), "{name} shows {injected}");
        }
    }
}
