use std::path::Path;

use serde_json::Value;
use test_packages::{Node, run};
use tokio::net::TcpListener;
use tool_mcp::{HttpConfig, McpServer};
use tool_runtime::{CancellationToken, Dispatcher, RuntimeTool};

use crate::published::{NPM, PYPI, example};

/// Runs a function with the URL of a running server.
fn with_server<T: Send + 'static>(use_it: impl FnOnce(String) -> T + Send + 'static) -> T {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let tools = Dispatcher::builder().allow_empty().build().unwrap();
        tools.registry().clear();
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"number": {"type": "integer"}, "text": {"type": "string"}},
        });
        let add = RuntimeTool::from_schema("notes.add", "Write a note.", &schema, |arguments, _| async move {
            serde_json::json!({"number": 1, "text": arguments["text"]})
        });
        tools.registry().register(add.returns(&schema)).unwrap();
        tools.registry().register(RuntimeTool::new("notes.count", "Count.", |(): ()| async { "1" })).unwrap();
        let clear = RuntimeTool::new("notes.clear", "Clear.", |(): ()| async { "gone" });
        tools.registry().register(clear.sensitive().destructive()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let config = HttpConfig::new().bearer("secret-secret-secret").unwrap().stop(stop.clone());
        tokio::spawn(McpServer::new(tools).listen_on(listener, config));
        let used = tokio::task::spawn_blocking(move || use_it(url)).await.unwrap();
        stop.cancel();
        used
    })
}

/// Lists and calls with the published inspector.
fn inspect(node: &Node, target: &[&str]) {
    let inspector = |arguments: &[&str]| {
        let home = tempfile::tempdir().unwrap();
        let mut command = node.command("mcp-inspector");
        // The inspector writes into the home directory.
        command.env("HOME", home.path()).arg("--cli").args(target).args(arguments);
        run(&mut command)
    };
    let read = |output: Result<String, String>| -> Value {
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}"))
    };
    let listed = read(inspector(&["--method", "tools/list"]));
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"notes.add") && names.is_sorted(), "{names:?}");

    let add = ["--method", "tools/call", "--tool-name", "notes.add", "--tool-arg", "text=milk"];
    let added = read(inspector(&add));
    assert_eq!(added["structuredContent"]["text"], "milk", "{added}");
    let wrong = inspector(&["--method", "tools/call", "--tool-name", "notes.count", "--tool-arg", "about=milk"]);
    let wrong = wrong.expect_err("it says by its status that the call failed");
    assert!(wrong.contains("unknown argument") && wrong.contains("tool_is_error"), "{wrong}");
}

#[test]
fn the_inspector_lists_and_calls_over_stdio() {
    let Some(node) = NPM.installed() else { return };
    inspect(&node, &[example("serve").to_str().unwrap()]);
}

#[test]
fn the_inspector_lists_and_calls_over_http() {
    let Some(node) = NPM.installed() else { return };
    with_server(move |url| inspect(&node, &[&url, "--header", "Authorization: Bearer secret-secret-secret"]));
}

#[test]
fn the_python_clients_list_and_call() {
    let Some(python) = PYPI.installed() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/clients.py");
    let output = with_server(move |url| run(python.command().arg(script).arg(example("serve")).arg(url)));
    let output = output.unwrap_or_else(|error| panic!("{error}"));
    let output: Vec<&str> = output.lines().collect();
    assert_eq!(output, ["mcp over stdio", "mcp over http", "fastmcp over stdio", "fastmcp over http"]);
}
