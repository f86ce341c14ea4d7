//! The published filesystem server and the client scenarios of the conformance suite.

use serde_json::{Value, json};
use tool_mcp::{RemoteServers, ServerConfig};
use tool_runtime::{Dispatcher, ErrorKind, ToolCall, ToolResult};

#[cfg(feature = "auth")]
use crate::published::example;
use crate::published::{NPM, script};
use crate::scripted::{connect, dispatcher, kind};

fn files() -> Option<ServerConfig> {
    let node = NPM.installed()?;
    let script = script(&node, "server-filesystem");
    Some(ServerConfig::command("files", node.program()).arg(script.to_string_lossy()).trust())
}

async fn call(tools: &Dispatcher, name: &str, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new(format!("mcp_{name}"), arguments)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_every_tool_of_the_filesystem_server() {
    let tools = dispatcher();
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let Some(config) = files() else { return };
    let servers = connect(&tools, RemoteServers::builder().server(config.arg(root.to_string_lossy()))).await;
    let path = |name: &str| root.join(name).to_string_lossy().into_owned();
    std::fs::write(root.join("dot.png"), [0x89, b'P', b'N', b'G']).unwrap();
    let expected: &[(&str, Value, &str)] = &[
        ("create_directory", json!({"path": path("sub")}), "sub"),
        ("write_file", json!({"path": path("a.txt"), "content": "one\ntwo\n"}), "a.txt"),
        ("read_file", json!({"path": path("a.txt")}), "one\ntwo"),
        ("read_text_file", json!({"path": path("a.txt"), "head": "1"}), "one"),
        ("read_media_file", json!({"path": path("dot.png")}), "image/png"),
        ("read_multiple_files", json!({"paths": [path("a.txt")]}), "two"),
        ("edit_file", json!({"path": path("a.txt"), "edits": [{"oldText": "one", "newText": "uno"}]}), "+uno"),
        ("list_directory", json!({"path": path("")}), "[DIR] sub"),
        ("list_directory_with_sizes", json!({"path": path("")}), "a.txt"),
        ("directory_tree", json!({"path": path("")}), "\"sub\""),
        ("move_file", json!({"source": path("a.txt"), "destination": path("sub/b.txt")}), "b.txt"),
        ("search_files", json!({"path": path(""), "pattern": "**/*.txt"}), "b.txt"),
        ("get_file_info", json!({"path": path("sub/b.txt")}), "size"),
        ("list_allowed_directories", json!({}), root.to_str().unwrap()),
    ];
    let mut listed: Vec<String> = tools.registry().names().iter().map(ToString::to_string).collect();
    for (name, arguments, part) in expected {
        let result = call(&tools, &format!("files_{name}"), arguments.clone()).await;
        assert!(result.success && result.output.contains(part), "{name}: {result:?}");
        listed.retain(|known| *known != format!("mcp_files_{name}"));
    }
    assert_eq!(listed, [""; 0], "every tool was called");
    let outside = call(&tools, "files_read_text_file", json!({"path": "/etc/hostname"})).await;
    assert_eq!(kind(&outside), Some(ErrorKind::Failed), "{outside:?}");
    servers.close().await;
}

/// The client scenarios for tools, in both generations.
#[cfg(feature = "auth")]
#[tokio::test(flavor = "multi_thread")]
async fn passes_the_client_scenarios_for_tools() {
    let old = [
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
    ];
    let new = [
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
    ];
    run("2025-11-25", &old).await;
    run("2026-07-28", &new).await;
}

/// The client scenarios for authorization, including attacks.
#[cfg(feature = "auth")]
#[tokio::test(flavor = "multi_thread")]
async fn passes_the_client_scenarios_for_authorization() {
    let both = [
        "auth/metadata-default",
        "auth/metadata-var1",
        "auth/metadata-var2",
        "auth/metadata-var3",
        "auth/basic-cimd",
        "auth/scope-from-www-authenticate",
        "auth/scope-from-scopes-supported",
        "auth/scope-omitted-when-undefined",
        "auth/scope-step-up",
        "auth/scope-retry-limit",
        "auth/token-endpoint-auth-basic",
        "auth/token-endpoint-auth-post",
        "auth/token-endpoint-auth-none",
        "auth/pre-registration",
        "auth/client-credentials-basic",
    ];
    let new = [
        "auth/resource-mismatch",
        "auth/offline-access-scope",
        "auth/offline-access-not-supported",
        "auth/authorization-server-migration",
        "auth/iss-supported",
        "auth/iss-not-advertised",
        "auth/iss-supported-missing",
        "auth/iss-wrong-issuer",
        "auth/iss-unexpected",
        "auth/iss-normalized",
        "auth/metadata-issuer-mismatch",
    ];
    run("2025-11-25", &both).await;
    run("2026-07-28", &both).await;
    run("2026-07-28", &new).await;
}

/// Runs scenarios of the suite against the example client.
#[cfg(feature = "auth")]
async fn run(revision: &str, scenarios: &[&str]) {
    let Some(node) = NPM.installed() else { return };
    let client = example("conformance_client");
    for scenario in scenarios {
        let mut command = tokio::process::Command::new(node.program());
        command
            .arg(script(&node, "conformance"))
            .args(["client", "--scenario", scenario, "--spec-version", revision, "--command"])
            .arg(&client);
        let output = command.kill_on_drop(true).output().await.unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{revision} {scenario}:\n{stdout}\n{stderr}");
    }
}
