#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use clap::Parser;
use console::app::App;
use console::machine::MachinePaths;
use console::options::Options;
use console::settings::Extension;
use serde_json::json;
use tool_agent::OfflineModel;
use tool_runtime::{ErrorKind, ToolCall};

use crate::fixture::{Console, kind};
use crate::sampler::until;
use crate::web::Browser;

/// Writes an MCP server as a shell script, with one tool that returns a word.
pub fn put_server(path: &Path, word: &str) {
    let answers = [
        (
            "\"initialize\"",
            r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}"#.to_owned(),
        ),
        ("tools/list", r#""result":{"tools":[{"name":"say","description":"Says a word.","inputSchema":{"type":"object"}}]}"#.to_owned()),
        ("tools/call", format!(r#""result":{{"content":[{{"type":"text","text":"{word}"}}]}}"#)),
        ("server/discover", r#""error":{"code":-32601,"message":"unknown"}"#.to_owned()),
    ];
    let cases: String =
        answers.iter().map(|(method, answer)| format!("*'{method}'*) answer='{answer}' ;;\n")).collect();
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do\ncase \"$line\" in\n{cases}*) continue ;;\nesac\n\
         id=$(printf '%s' \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/')\n\
         printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,%s}}\\n' \"$id\" \"$answer\"\ndone\n"
    );
    std::fs::write(path, script).expect("a script");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("an executable");
}

async fn reload(browser: &Browser) -> StatusCode {
    let request = browser.request(Method::POST, "/servers/reload");
    let request = request.header(header::ORIGIN, format!("http://{}", browser.own));
    browser.send(request, Body::empty()).await.status()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_a_plugin_directory_are_offered_and_reloaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    put_server(&at("one"), "first");
    let console = Console::with_options(&["--plugins", &folder.path().display().to_string()], OfflineModel).await;
    let browser = Browser::new(&console);
    let asked = console.app.dispatcher().call(ToolCall::new("mcp_one_say", json!({}))).await;
    assert_eq!(kind(&asked), Some(ErrorKind::Pending), "the tools of a server ask first");
    assert_eq!(console.answer("mcp_one_say", json!({})).await, "first");
    let page = browser.page("/tools").await;
    assert!(page.contains("mcp_one_say") && page.contains("1 tool of sh 1") && page.contains("connected"), "{page}");

    std::fs::remove_file(at("one")).expect("a file");
    put_server(&at("two"), "second");
    std::fs::write(at("odd.json"), r#"{"mcpServers": {"x": {"comand": "y"}}}"#).expect("a file");
    assert_eq!(reload(&browser).await, StatusCode::SEE_OTHER);
    assert_eq!(console.answer("mcp_two_say", json!({})).await, "second");
    let page = browser.page("/tools").await;
    assert!(
        page.contains("<code>mcpServers.x</code>: needs <code>command</code>") && !page.contains("mcp_one_say"),
        "{page}"
    );

    console.app.settings.switch(Extension::AiChat, false).expect("a setting");
    until(async || console.app.dispatcher().definitions().is_empty()).await;
    console.app.settings.switch(Extension::AiChat, true).expect("a setting");
    until(async || console.app.dispatcher().definition("mcp_two_say").is_some()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unavailable_server_is_shown_and_the_console_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, r#"{"mcpServers": {"gone": {"command": "/no/such/program"}}}"#).expect("a file");
    let console = Console::with_options(&["--mcp", &file.display().to_string()], OfflineModel).await;
    console.answer("system_simple.summary", json!({})).await;
    let browser = Browser::new(&console);
    let page = browser.page("/tools").await;
    assert!(page.contains("not available") && page.contains("the server <code>gone</code>: not connected"), "{page}");
    let without = Console::open().await;
    assert!(Browser::new(&without).page("/tools").await.contains("<code>--mcp FILE</code>"));
    assert_eq!(reload(&Browser::new(&without)).await, StatusCode::SEE_OTHER, "there is nothing to reload");
    let foreign = browser.request(Method::POST, "/servers/reload").header(header::ORIGIN, "http://evil.example");
    assert_eq!(browser.send(foreign, Body::empty()).await.status(), StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_becomes_invalid_does_not_remove_the_tools_of_the_console() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, server) = (folder.path().join("mcp.json"), folder.path().join("one"));
    put_server(&server, "first");
    let valid = json!({"mcpServers": {"one": {"command": server}}}).to_string();
    std::fs::write(&file, &valid).expect("a file");
    let console = Console::with_options(&["--mcp", &file.display().to_string()], OfflineModel).await;
    let (browser, dispatcher) = (Browser::new(&console), console.app.dispatcher());
    console.app.settings.switch(Extension::AiChat, false).expect("a setting");
    until(async || dispatcher.definitions().is_empty()).await;
    let page = browser.page("/tools").await;
    assert!(page.contains("<code>ai_chat</code> is off") && !page.contains("No server is connected"), "{page}");

    std::fs::write(&file, r#"{"mcpServers": {"one": {}}}"#).expect("a file");
    console.app.settings.switch(Extension::AiChat, true).expect("a setting");
    until(async || console.app.tools.servers().await.is_err()).await;
    console.answer("system_simple.summary", json!({})).await;
    assert!(dispatcher.definition("mcp_one_say").is_none());
    let page = browser.page("/tools").await;
    assert!(page.contains("No server is connected: ") && page.contains("mcpServers.one"), "{page}");
    assert!(page.contains("system_simple.summary") && !page.contains("is off"), "{page}");

    std::fs::write(&file, &valid).expect("a file");
    assert_eq!(reload(&browser).await, StatusCode::SEE_OTHER);
    assert_eq!(console.answer("mcp_one_say", json!({})).await, "first");
    assert!(!browser.page("/tools").await.contains("No server is connected"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_file_prevents_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mcp.json");
    for (content, problem) in
        [(None, "No such file"), (Some("{"), "mcp.json"), (Some(r#"{"mcpServers": []}"#), "mcpServers")]
    {
        if let Some(content) = content {
            std::fs::write(&file, content).expect("a file");
        }
        let data = folder.path().join("data");
        let options = Options { data, ..Options::parse_from(["console", "--mcp", &file.display().to_string()]) };
        let own = ([127, 0, 0, 1], 1).into();
        let Err(error) = App::open(&options, MachinePaths::default(), own, OfflineModel).await else {
            panic!("{content:?} is accepted");
        };
        assert!(error.to_string().contains(problem), "{error}");
    }
}
