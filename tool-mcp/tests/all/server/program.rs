use std::fs;
use std::io::{BufRead, Write};
use std::process::{Command, Stdio};

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tool_mcp::rmcp::ServiceExt;
use tool_mcp::rmcp::model::ElicitationAction;
use tool_mcp::rmcp::transport::TokioChildProcess;

use super::connected::{User, call};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tool-mcp");

#[tokio::test]
async fn serves_files_and_asks_for_approval() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("notes.txt"), "milk\n").unwrap();
    let mut command = tokio::process::Command::new(PROGRAM);
    command.arg("--files").arg(directory.path()).args(["--policy", "confirm-all"]);
    let user = User::with_action(ElicitationAction::Accept);
    let client = user.clone().serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "read_file"), "{tools:?}");
    assert!(!tools.iter().any(|tool| tool.name == "run_command"), "`--exec` was not given");
    let result = client.call_tool(call("read_file", json!({"path": "notes.txt"}))).await.unwrap();
    assert!(result.content[0].as_text().unwrap().text.contains("milk"), "{result:?}");
    assert!(user.seen()[0].contains("read_file"), "{:?}", user.seen());
    client.cancel().await.unwrap();
}

/// Standard output belongs to the protocol, however much is logged.
#[test]
fn logs_to_stderr_only() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("--files").arg(directory.path()).args(["--log", "json"]).env("RUST_LOG", "trace");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = command.spawn().unwrap();
    let client =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_files", "arguments": {"path": "."}}}),
    ];
    let mut input = program.stdin.take().unwrap();
    messages.iter().for_each(|message| writeln!(input, "{message}").unwrap());
    let mut lines = std::io::BufReader::new(program.stdout.take().unwrap()).lines();
    let errors = program.stderr.take().unwrap();
    let log = std::thread::spawn(move || std::io::read_to_string(errors).unwrap());
    for id in [1, 2] {
        let message: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(id)));
    }
    drop(input);
    assert_eq!(lines.count(), 0);
    program.wait().unwrap();
    let log = log.join().unwrap();
    let events: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let finished = events.iter().find(|event| event["message"] == "call finished").unwrap();
    assert_eq!((&finished["tool"], &finished["level"]), (&json!("list_files"), &json!("INFO")));
    assert!(!events.iter().any(|event| event["level"] == "WARN"), "{log}");
}

#[tokio::test]
async fn listens_on_a_loopback_port() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(PROGRAM);
    command.arg("--files").arg(directory.path()).args(["--http", "0"]).stderr(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut output = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut output).await.unwrap();
    assert!(output.contains("tools at http://127.0.0.1:") && output.trim().ends_with("/mcp"), "{output}");
}

#[test]
fn offers_only_usable_tools() {
    let run = |arguments: &[&str], searx: Option<&str>| {
        let mut command = Command::new(PROGRAM);
        command.args(["--manifest", "--files", "."]).args(arguments).env_remove("BRAVE_API_KEY");
        match searx {
            None => command.env_remove("SEARXNG_URL"),
            Some(url) => command.env("SEARXNG_URL", url),
        };
        let output = command.output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let without = run(&["--web"], None);
    assert!(without.get("read_file").is_some() && without.get("web_fetch").is_some(), "{without}");
    assert!(without.get("delete_file").is_none() && without.get("web_search").is_none(), "{without}");
    let with = run(&["--web", "--allow-delete"], Some("https://searx.example"));
    assert!(with.get("delete_file").is_some() && with.get("web_search").is_some(), "{with}");
}

#[test]
fn refuses_to_listen_on_other_addresses_without_a_token() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("--files").arg(directory.path()).args(["--http", "0", "--address", "0.0.0.0"]);
    for (token, expected) in [
        ("", "set a bearer token in TOOL_MCP_TOKEN"),
        ("guess", "TOOL_MCP_TOKEN: a bearer token needs at least 16 characters"),
    ] {
        let output = command.env("TOOL_MCP_TOKEN", token).output().unwrap();
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(expected), "{output:?}");
    }
}

#[test]
fn reports_invalid_arguments() {
    for (arguments, expected) in [
        (&["--files", "/no/such/folder"][..], "/no/such/folder"),
        (&[], "--files"),
        (&["--files", ".", "--policy", "ask-nobody"], "yolo"),
        (&["--files", ".", "--host", "example.com"], "--http"),
    ] {
        let output = Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(expected), "{arguments:?}: {output:?}");
    }
}
