use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tool_mcp::rmcp::ServiceExt;
use tool_mcp::rmcp::model::ElicitationAction;
use tool_mcp::rmcp::transport::TokioChildProcess;

use super::connected::{User, call};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tool-mcp");

#[tokio::test]
async fn it_serves_the_files_of_a_folder_and_has_the_user_asked() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "milk\n").unwrap();
    let mut command = tokio::process::Command::new(PROGRAM);
    command.arg("--files").arg(folder.path()).args(["--policy", "confirm-all"]);
    let user = User::who(ElicitationAction::Accept);
    let client = user.clone().serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "read_file"), "{tools:?}");
    assert!(!tools.iter().any(|tool| tool.name == "run_command"), "nobody asked for commands");
    let result = client.call_tool(call("read_file", json!({"path": "notes.txt"}))).await.unwrap();
    assert!(result.content[0].as_text().unwrap().text.contains("milk"), "{result:?}");
    assert!(user.seen()[0].contains("read_file"), "{:?}", user.seen());
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn it_listens_at_a_port_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(PROGRAM);
    command.arg("--files").arg(folder.path()).args(["--http", "0"]).stderr(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut said).await.unwrap();
    assert!(said.contains("tools at http://127.0.0.1:") && said.trim().ends_with("/mcp"), "{said}");
}

#[test]
fn it_offers_what_can_work() {
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
fn it_does_not_listen_to_others_without_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("--files").arg(folder.path()).args(["--http", "0", "--address", "0.0.0.0"]);
    for (token, said) in [
        ("", "set a bearer token in TOOL_MCP_TOKEN"),
        ("guess", "TOOL_MCP_TOKEN: a bearer token has at least 16 characters"),
    ] {
        let output = command.env("TOOL_MCP_TOKEN", token).output().unwrap();
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{output:?}");
    }
}

#[test]
fn it_says_what_is_wrong() {
    for (arguments, said) in [
        (&["--files", "/no/such/folder"][..], "/no/such/folder"),
        (&[], "--files"),
        (&["--files", ".", "--policy", "ask-nobody"], "yolo"),
        (&["--files", ".", "--host", "example.com"], "--http"),
    ] {
        let output = Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{arguments:?}: {output:?}");
    }
}
