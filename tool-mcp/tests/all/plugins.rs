//! Plugin directories.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tool_mcp::{RemoteServers, ServerState};

use crate::scripted::{call, connect, dispatcher, good, good_answers};

/// A server as a shell script, with one tool that returns a word.
pub fn program(word: &str) -> String {
    let answers = [
        ("server/discover", r#""error":{"code":-32601,"message":"unknown"}"#.to_owned()),
        (
            "\"initialize\"",
            r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}"#.to_owned(),
        ),
        ("tools/list", r#""result":{"tools":[{"name":"say","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}"#.to_owned()),
        ("tools/call", format!(r#""result":{{"content":[{{"type":"text","text":"{word}"}}]}}"#)),
    ];
    let cases: String =
        answers.iter().map(|(method, answer)| format!("*'{method}'*) answer='{answer}' ;;\n")).collect();
    format!(
        "#!/bin/sh\nwhile read -r line; do\ncase \"$line\" in\n{cases}*) continue ;;\nesac\n\
         id=$(printf '%s' \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/')\n\
         printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,%s}}\\n' \"$id\" \"$answer\"\ndone\n"
    )
}

fn put(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn reload_follows_changes_of_the_directory() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    put(&at("one.sh"), &program("one"), 0o755);
    put(&at("notes.txt"), "no program", 0o644);
    put(&at(".hidden"), &program("hidden"), 0o755);
    put(&at("broken"), "#!/bin/sh\nexit 3\n", 0o755);
    put(&at("odd.json"), r#"{"mcpServers": {"x": {"comand": "y"}}}"#, 0o644);
    put(&at("unmarked"), &program("unmarked"), 0o644);
    put(&at("twin.json"), r#"{"mcpServers": {"one": {"command": "x"}}}"#, 0o644);
    let tools = dispatcher();
    let builder = || RemoteServers::builder().plugins(folder.path()).server(good());
    let servers = connect(&tools, builder().configure("one", |one| one.trust_read_only_hints())).await;
    assert_eq!(call(&tools, "mcp_one_say").await.output, "one");
    assert_eq!(tools.registry().names().join(" "), "mcp_good_say mcp_one_say");
    let problems = servers.problems().join("\n");
    assert!(problems.contains("odd.json: `mcpServers.x`: needs `command` or `url`"), "{problems}");
    assert!(problems.contains("the server `broken`: not connected: it disconnected during"), "{problems}");

    assert!(problems.contains("unmarked is a script that is not executable"), "{problems}");
    let twins = [at("one.sh").display().to_string(), at("twin.json").display().to_string()];
    assert!(twins.iter().all(|twin| problems.contains(twin)), "{problems}");

    for gone in ["broken", "odd.json", "unmarked", "twin.json"] {
        std::fs::remove_file(at(gone)).unwrap();
    }
    put(&at("two"), &program("two"), 0o755);
    let json = format!(r#"{{"mcpServers": {{"three": {{"command": "{}"}}}}}}"#, at("two").display());
    put(&at("three.json"), &json, 0o644);
    let reloaded = servers.reload().await;
    assert_eq!(
        (reloaded.started, reloaded.stopped),
        (vec!["three".to_owned(), "two".into()], vec!["broken".to_owned()])
    );
    assert_eq!(reloaded.problems, [""; 0]);
    assert_eq!(tools.registry().names().join(" "), "mcp_good_say mcp_one_say mcp_three_say mcp_two_say");

    // A modified program and a removed one.
    let changed = std::fs::metadata(at("one.sh")).unwrap().modified().unwrap();
    put(&at("one.sh"), &program("uno"), 0o755);
    std::fs::File::options()
        .write(true)
        .open(at("one.sh"))
        .unwrap()
        .set_modified(changed + std::time::Duration::from_secs(2))
        .unwrap();
    std::fs::remove_file(at("two")).unwrap();
    std::fs::remove_file(at("three.json")).unwrap();
    let reloaded = servers.reload().await;
    assert_eq!(
        (reloaded.restarted, reloaded.stopped),
        (vec!["one".to_owned()], vec!["three".to_owned(), "two".into()])
    );
    assert_eq!(call(&tools, "mcp_one_say").await.output, "uno");
    good_answers(&tools).await;
    servers.close().await;
}

#[tokio::test]
async fn keeps_the_servers_of_a_file_that_becomes_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let (script, file) = (folder.path().join("server"), folder.path().join("mcp.json"));
    put(&script, &program("yes"), 0o755);
    put(&file, &format!(r#"{{"mcpServers": {{"s": {{"command": "{}"}}}}}}"#, script.display()), 0o644);
    let tools = dispatcher();
    let builder = RemoteServers::builder().config_file(&file).unwrap().configure("s", |config| config.trust());
    let servers = connect(&tools, builder).await;
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    put(&file, "{", 0o644);
    let reloaded = servers.reload().await;
    assert!(reloaded.problems[0].contains("mcp.json: not valid JSON"), "{reloaded:?}");
    assert_eq!(call(&tools, "mcp_s_say").await.output, "yes");
    put(&file, r#"{"mcpServers": {}}"#, 0o644);
    assert_eq!(servers.reload().await.stopped, ["s"]);
    assert!(tools.registry().is_empty());

    let missing = RemoteServers::builder().config_file(folder.path().join("none.json")).unwrap_err();
    assert!(missing.to_string().contains("none.json: cannot be read"), "{missing}");
}

#[tokio::test]
async fn reports_a_missing_directory() {
    let folder = tempfile::tempdir().unwrap();
    let servers = connect(&dispatcher(), RemoteServers::builder().plugins(folder.path().join("plugin"))).await;
    let problems = servers.problems().join("\n");
    assert!(problems.contains("cannot read the plugin directory") && problems.contains("plugin"), "{problems}");
    servers.close().await;
}
