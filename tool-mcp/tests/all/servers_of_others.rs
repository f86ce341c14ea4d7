//! Servers and the conformance suite as others publish them.

#![expect(deprecated, reason = "sampling is deprecated, and still asked for")]

use std::sync::{Arc, Mutex};

use rmcp::model::{CreateMessageResult, ElicitResult, ElicitationAction, SamplingMessage};
use serde_json::{Value, json};
use tool_mcp::{Elicitation, Sampling, ServerConfig, ServerState, Servers};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, Progress, ToolCall, ToolResult};

use crate::published::Npm;
use crate::scripted::{connect, dispatcher, kind};

fn script(name: &str, package: &str) -> Option<ServerConfig> {
    let Npm { modules } = Npm::installed()?;
    let script = modules.join("@modelcontextprotocol").join(package).join("dist/index.js");
    Some(ServerConfig::command(name, modules.join(".bin/node")).arg(script.to_string_lossy()).trust())
}

async fn call(tools: &Dispatcher, name: &str, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new(format!("mcp_{name}"), arguments)).await
}

async fn everything(tools: &Dispatcher) -> Option<Servers> {
    let everything = script("all", "server-everything")?.arg("stdio").env("SECRET_OF_THE_TEST", "none");
    let model = |_: Sampling| async {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("sampled here"), "a-model".to_owned()))
    };
    let person = |_: Elicitation| async {
        ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ada", "check": true}))
    };
    let builder =
        Servers::builder().server(everything).on_sampling(model).on_elicitation(person).roots(["file:///srv"]);
    Some(connect(tools, builder).await)
}

/// Every tool that the server has, called, with what it must say.
#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_everything_server_answers() {
    let tools = dispatcher();
    let Some(servers) = everything(&tools).await else { return };
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    // The server adds tools once it knows what the client can do.
    crate::scripted::until(|| tools.registry().has("mcp_all_get-roots-list")).await;
    let expected: &[(&str, Value, &str)] = &[
        ("echo", json!({"message": "hello"}), "Echo: hello"),
        ("get-sum", json!({"a": 2, "b": "3"}), "5"),
        ("get-env", json!({}), "SECRET_OF_THE_TEST"),
        ("get-annotated-message", json!({"messageType": "error", "includeImage": true}), "[image image/png"),
        ("get-tiny-image", json!({}), "[image image/png"),
        ("get-resource-links", json!({"count": 2}), "[link "),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1}), "[resource "),
        ("get-structured-content", json!({"location": "Chicago"}), "\"temperature\""),
        (
            "gzip-file-as-resource",
            json!({"data": "data:text/plain;base64,aGVsbG8=", "outputType": "resource"}),
            "[resource ",
        ),
        ("toggle-simulated-logging", json!({}), "logging"),
        ("toggle-subscriber-updates", json!({}), "updates"),
        ("trigger-long-running-operation", json!({"duration": 0.2, "steps": 2}), "completed"),
        ("trigger-sampling-request", json!({"prompt": "say"}), "sampled here"),
        ("trigger-elicitation-request", json!({}), "Ada"),
        ("get-roots-list", json!({}), "file:///srv"),
        // These two only work as tasks, and say so.
        ("simulate-research-query", json!({"topic": "tea"}), "task"),
    ];
    let mut listed: Vec<String> = tools.registry().names().iter().map(ToString::to_string).collect();
    for (name, arguments, part) in expected {
        let result = call(&tools, &format!("all_{name}"), arguments.clone()).await;
        assert!(result.output.contains(part), "{name}: {result:?}");
        let local = format!("mcp_all_{name}");
        assert!(listed.contains(&local), "{name} is not listed");
        listed.retain(|known| *known != local);
    }
    for left in listed {
        let result = tools.call(ToolCall::new(left.clone(), json!({}))).await;
        assert!(!result.output.is_empty(), "{left}: {result:?}");
        println!("also there: {left}: {}", result.output);
    }
    let environment = call(&tools, "all_get-env", json!({})).await.output;
    assert!(!environment.contains("CARGO"), "only what it needs of our environment: {environment}");

    let image = call(&tools, "all_get-tiny-image", json!({})).await;
    let content = image.metadata.get("content").unwrap();
    assert!(content[1]["type"] == "image" && content[1]["data"].is_string(), "{content}");
    let structured = call(&tools, "all_get-structured-content", json!({"location": "Chicago"})).await;
    assert!(serde_json::from_str::<Value>(&structured.output).unwrap()["temperature"].is_number(), "{structured:?}");
    let refused = call(&tools, "all_get-sum", json!({"a": "x"})).await;
    assert_eq!(kind(&refused), Some(ErrorKind::InvalidArguments), "before it is sent");
    servers.close().await;
    assert!(tools.registry().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_call_reports_and_is_cancelled() {
    let tools = dispatcher();
    let Some(servers) = everything(&tools).await else { return };
    let (heard, token) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
    let (listener, stop) = (heard.clone(), token.clone());
    let progress = Progress::to(move |report| {
        listener.lock().unwrap().push(report);
        stop.cancel();
    });
    let long = ToolCall::new("mcp_all_trigger-long-running-operation", json!({"duration": 600, "steps": 1200}));
    let stopped = tools.call(long).with(progress).cancel(token).await;
    assert_eq!(kind(&stopped), Some(ErrorKind::Cancelled), "{stopped:?}");
    assert_eq!(heard.lock().unwrap()[0]["total"], 1200.0);
    let late = ToolCall::new("mcp_all_trigger-long-running-operation", json!({"duration": 600, "steps": 1}));
    let late = tools.call(late).timeout(std::time::Duration::from_millis(100)).await;
    assert_eq!(kind(&late), Some(ErrorKind::TimedOut), "{late:?}");
    assert_eq!(call(&tools, "all_echo", json!({"message": "on"})).await.output, "Echo: on");
    servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_filesystem_server_answers() {
    let tools = dispatcher();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let Some(config) = script("files", "server-filesystem") else { return };
    let servers = connect(&tools, Servers::builder().server(config.arg(root.to_string_lossy()))).await;
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

/// The client scenarios of the conformance suite that concern tools, in both generations.
#[tokio::test(flavor = "multi_thread")]
async fn the_conformance_suite_is_content() {
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

/// Those that concern logging in, the attacks among them.
#[tokio::test(flavor = "multi_thread")]
async fn the_conformance_suite_lets_us_in() {
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

/// Runs scenarios of the suite against our client.
async fn run(revision: &str, scenarios: &[&str]) {
    let Some(Npm { modules }) = Npm::installed() else { return };
    let client = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples/conformance_client");
    if !client.exists() {
        return eprintln!("skipped: the example `conformance_client` is not built; it needs the feature `auth`");
    }
    for scenario in scenarios {
        let suite = modules.join("@modelcontextprotocol/conformance/dist/index.js");
        let mut command = tokio::process::Command::new(modules.join(".bin/node"));
        command
            .arg(suite)
            .args(["client", "--scenario", scenario, "--spec-version", revision, "--command"])
            .arg(&client);
        let output = command.kill_on_drop(true).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{revision} {scenario}:\n{said}\n{told}");
    }
}
