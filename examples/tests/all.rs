//! Runs the examples. `cargo test -p examples` builds them first; with `--test all`, cargo does not.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use tool_mcp::{RemoteServers, ServerConfig};
use tool_runtime::{Dispatcher, ToolCall};

const PATIENCE: Duration = Duration::from_secs(60);

fn program(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let examples = this.parent().and_then(Path::parent).unwrap().join("examples");
    let path = examples.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} does not exist; run `cargo build -p examples --examples`", path.display());
    path
}

/// Runs an example without input and returns its standard output.
async fn output(name: &str) -> String {
    let mut command = Command::new(program(name));
    command.stdin(Stdio::null()).env_remove("TOOL_MODEL").kill_on_drop(true);
    let output = timeout(PATIENCE, command.output()).await.expect("it ends").unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{text}{errors}");
    text
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
}

#[tokio::test]
async fn hello() {
    let output = output("hello").await;
    assert_has(&output, &[r#""description": "Greet a person by name.""#, "\nHello, Ada!\n"]);
    assert_has(&output, &["`times`: got 9, expected integer between 1 and 3", "`name`: missing, expected string"]);
}

#[tokio::test]
async fn existing_service() {
    let output = output("existing_service").await;
    assert_has(&output, &["order.place: ok\n", "`order.cups`: got \"two\"", "`order.size`: got \"Huge\""]);
    assert_has(&output, &[r#"order.find: {"customer":"Ada","cups":2,"size":"Large"}"#, "order.cancel: ok"]);
    assert_has(&output, &["There is no tool `order.count`", "0 orders are left"]);
}

#[tokio::test]
async fn session_per_call() {
    let output = output("session_per_call").await;
    assert_has(&output, &["ada has 30 left", "ada lacks 40", r#"account.balances: [["ada",30],["ben",70]]"#]);
}

/// Types an answer to the question on a real terminal. Returns the screen and the exit code, or `None` if the program `script` is not installed.
#[cfg(unix)]
async fn answer_on_terminal(answer: &str) -> Option<(String, Option<i32>)> {
    let mut command = Command::new("script");
    command.arg("-qec").arg(program("approve_in_terminal")).arg("/dev/null").env("NO_COLOR", "1").kill_on_drop(true);
    let mut child = match command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        child => child.unwrap(),
    };
    let (mut keys, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut screen = Vec::new();
    while !String::from_utf8_lossy(&screen).contains("\n> ") {
        assert_ne!(output.read_buf(&mut screen).await.unwrap(), 0, "{}", String::from_utf8_lossy(&screen));
    }
    // Input that arrives before the question can be read is ignored.
    sleep(Duration::from_secs(1)).await;
    keys.write_all(answer.as_bytes()).await.unwrap();
    output.read_to_end(&mut screen).await.unwrap();
    let code = child.wait().await.unwrap().code();
    Some((String::from_utf8_lossy(&screen).into_owned(), code))
}

#[cfg(unix)]
#[tokio::test]
async fn approve_in_terminal() {
    for (answer, expected, exit) in [
        ("y\n", &["2 notes deleted", r#"["call Ben"]"#][..], 0),
        ("n keep them\n", &["keep them", "buy milk"], 0),
        ("a\n", &["the user aborted"], 130),
    ] {
        let Some((screen, code)) = timeout(PATIENCE, answer_on_terminal(answer)).await.expect("it ends") else {
            return eprintln!("`script` is not installed: skipped");
        };
        assert_has(&screen, &["note.delete wants to run", "deletes buy milk, buy bread"]);
        assert_has(screen.rsplit("\n> ").next().unwrap(), expected);
        assert_eq!(code, Some(exit), "{answer}");
    }
    assert_has(&output("approve_in_terminal").await, &["there is no terminal to ask on", "buy milk"]);
}

/// Starts an example that serves HTTP. Returns its URL.
async fn serve(name: &str) -> (Child, String) {
    let mut command = Command::new(program(name));
    let mut child = command.arg("127.0.0.1:0").stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = timeout(PATIENCE, lines.next_line()).await.expect("it starts").unwrap().expect("its address");
    (child, url)
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().timeout(PATIENCE).no_proxy().build().unwrap()
}

#[tokio::test]
async fn approve_in_web_app() {
    let ((_server, url), client) = (serve("approve_in_web_app").await, client());
    let post = async |path: &str, body: Value| {
        let response = client.post(format!("{url}{path}")).json(&body).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (_, pending) = post("/call", json!({"name": "note.delete", "arguments": {"title": "milk"}})).await;
    assert_has(&pending, &[r#""success":false"#, "pending"]);
    let shown: Value = client.get(format!("{url}/pending")).send().await.unwrap().json().await.unwrap();
    assert_eq!((&shown[0]["tool"], &shown[0]["arguments"]), (&json!("note.delete"), &json!({"title": "milk"})));
    assert!(!pending.contains(shown[0]["token"].as_str().unwrap()), "the model must not read the token: {pending}");

    let approved = post("/approve", json!({"token": shown[0]["token"]})).await;
    assert_eq!(approved.0, 200);
    assert_has(&approved.1, &[r#""success":true"#, "`milk` is deleted"]);
    assert_eq!(post("/approve", json!({"token": shown[0]["token"]})).await.0, 400, "a token works once");
}

#[tokio::test]
async fn openai_by_hand() {
    let output = output("openai_by_hand").await;
    assert_has(&output, &[r#""tool_calls""#, r#""tool_call_id":"1""#, "7.5; there is no station in Atlantis"]);
}

#[tokio::test]
async fn agent() {
    let output = output("agent").await;
    assert_has(&output, &["\n> temperature.to_fahrenheit {\"celsius\":20.0}\n< 68.0\n", "1 calls, 0 failed"]);
}

/// The server starts, and ends with its input.
#[tokio::test]
async fn mcp_server() {
    assert_eq!(output("mcp_server").await, "");
}

#[tokio::test]
async fn mcp_client() {
    let output = output("mcp_client").await;
    assert_has(&output, &["we approve mcp_notes_note_add\nmcp_notes_note_add: 1\n", "note_list: [\"buy milk\"]\n"]);
    assert_has(&output, &["notes asks, and we accept\nmcp_notes_note_clear: ok\nmcp_notes_note_list: []\n"]);
    assert!(!output.contains("we approve mcp_notes_note_list"), "{output}");
}

#[tokio::test]
async fn runtime_tools() {
    let output = output("runtime_tools").await;
    assert_has(&output, &["- door.lock(number: integer)", "`days`: got 14", r#"door.open: door.open {"number":3}"#]);
    assert_has(&output, &["`number`: got \"the left one\"", "There is no tool `door.open`"]);
}

#[tokio::test]
async fn axum_app() {
    let ((_server, url), client) = (serve("axum_app").await, client());
    let post = async |path: &str, key: &str, body: &'static str| {
        let request = client.post(format!("{url}{path}")).bearer_auth(key).header("content-type", "application/json");
        let response = request.body(body).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    for user in ["ada", "ben"] {
        let (key, expected) = (format!("key-of-{user}"), format!("{user}'s shopping list"));
        assert_has(&post("/api/tools/note.list", &key, "{}").await.1, &[&expected]);
        assert_has(&post("/chat/1", &key, "List my notes.").await.1, &[&expected]);
        let tools = Dispatcher::builder().allow_empty().build().unwrap();
        let server = ServerConfig::http("notes", format!("{url}/mcp")).bearer(key).trust();
        let servers = RemoteServers::builder().server(server).strict().connect(&tools.registry()).await.unwrap();
        assert_has(&tools.call(ToolCall::new("mcp_notes_note_list", json!({}))).await.output, &[&expected]);
        servers.close().await;
    }
    for path in ["/api/tools/note.list", "/chat/1", "/mcp"] {
        assert_eq!(post(path, "wrong", "{}").await.0, 401, "{path}");
    }
}

/// Each example is short, opens with its command, and is listed in the README. It is run by a test here or has its own.
#[test]
fn every_example_is_short_listed_and_run() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(directory.join(path)).unwrap();
    let (readme, tests, manifest) = (read("README.md"), read("tests/all.rs"), read("Cargo.toml"));
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = files.filter_map(|file| file.strip_suffix(".rs").map(str::to_owned)).collect();
    assert!(names.len() >= 13, "{names:?}");
    for name in names {
        let code = read(&format!("{name}.rs"));
        let lines = code.lines().count();
        assert!((30..=80).contains(&lines), "{name} has {lines} lines");
        let commands = ["run", "test"].map(|verb| format!("//! cargo {verb} -p examples --example {name}\n"));
        let head = code.split("\nuse ").next().unwrap();
        assert!(commands.iter().any(|command| head.contains(command)), "{name} does not open with its command");
        assert!(readme.contains(&format!("[`{name}`]({name}.rs)")), "README.md does not list {name}");
        let has_tests = manifest.contains(&format!("path = \"{name}.rs\"\ntest = true\n"));
        assert!(has_tests || tests.contains(&format!("async fn {name}()")), "there is no test for {name}");
    }
}
