//! The basics of remote tools.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_mcp::{RemoteServers, ServerConfig, ServerState};
use tool_runtime::confirm::{self, Decision, Question};
use tool_runtime::{Dispatcher, ErrorKind, Progress, ToolCall};

use crate::scripted::{Peer, answering, beside_good, call, connect, dispatcher, kind, server, text, tool, until};

#[tokio::test]
async fn applies_reassuring_hints_of_trusted_servers_only() {
    let hinted =
        |name: &str, hints: Value| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": hints});
    let listed = json!([
        hinted("look", json!({"readOnlyHint": true})),
        hinted("put", json!({"destructiveHint": false, "idempotentHint": true})),
        tool("other", "x"),
    ]);
    let flags = async |trust: fn(ServerConfig) -> ServerConfig| {
        let tools = dispatcher();
        let config = trust(answering("s", listed.clone(), |_| text("done")));
        let servers = connect(&tools, RemoteServers::builder().server(config)).await;
        let mut flags = Vec::new();
        for name in ["look", "put", "other"] {
            let is = tools.registry().get(&format!("mcp_s_{name}")).unwrap();
            let letters = [(is.sensitive, 's'), (is.read_only, 'r'), (is.destructive, 'd'), (is.idempotent, 'i')];
            flags.push(letters.iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect::<String>());
        }
        servers.close().await;
        flags.join(" ")
    };
    assert_eq!(flags(|config| config).await, "s s sd");
    assert_eq!(flags(ServerConfig::trust_read_only_hints).await, "r s sd");
    assert_eq!(flags(|config| config.trust_tool("put")).await, "s i sd");
    assert_eq!(flags(ServerConfig::trust).await, "r i d");
}

#[tokio::test]
async fn asks_for_approval_and_sends_only_valid_arguments() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let operator = {
        let asked = asked.clone();
        move |question: Question| {
            asked.lock().unwrap().push(question.arguments);
            async { Decision::Run }
        }
    };
    let tools = Dispatcher::builder().allow_empty().confirm(confirm::from_fn(operator)).build().unwrap();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = sent.clone();
    let config = answering("s", json!([tool("add", "Add.")]), move |params| {
        seen.lock().unwrap().push(params["arguments"].clone());
        text("added")
    });
    let servers = connect(&tools, RemoteServers::builder().server(config)).await;
    let wrong = tools.call(ToolCall::from_text("mcp_s_add", r#"{"n": "many", "m": 1}"#)).await;
    assert_eq!(kind(&wrong), Some(ErrorKind::InvalidArguments), "{wrong:?}");
    let repaired = tools.call(ToolCall::from_text("mcp_s_add", r#"{"n": "3"}"#)).await;
    assert_eq!(repaired.output, "added");
    assert_eq!(
        (sent.lock().unwrap().clone(), asked.lock().unwrap().clone()),
        (vec![json!({"n": 3})], vec![json!({"n": 3})])
    );
    servers.close().await;

    let alone = dispatcher();
    let servers =
        connect(&alone, RemoteServers::builder().server(answering("s", json!([tool("add", "")]), |_| text("x")))).await;
    assert_eq!(kind(&call(&alone, "mcp_s_add").await), Some(ErrorKind::Refused), "no confirmer");
    servers.close().await;
}

#[tokio::test]
async fn reports_progress_in_order_before_the_result() {
    let tools = dispatcher();
    let reporting = server("s", |mut peer: Peer| async move {
        while let Some(call) = peer.call(&json!([tool("work", "")])).await {
            let token = &call["params"]["_meta"]["progressToken"];
            for step in 1..=50 {
                let params = json!({"progressToken": token, "progress": step, "total": 50, "message": "on"});
                peer.send(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})).await;
            }
            let unknown = json!({"progressToken": "nobody's", "progress": 1});
            peer.send(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": unknown})).await;
            peer.answer(&call, text("done")).await;
        }
    });
    let servers = connect(&tools, RemoteServers::builder().server(reporting.trust())).await;
    let reports = Arc::new(Mutex::new(Vec::new()));
    let listener = reports.clone();
    let progress = Progress::to(move |report: Value| listener.lock().unwrap().push(report));
    let result = tools.call(ToolCall::from_text("mcp_s_work", "{}")).with(progress).await;
    assert_eq!(result.output, "done");
    let reports = reports.lock().unwrap().clone();
    let steps: Vec<f64> = reports.iter().map(|report| report["progress"].as_f64().unwrap()).collect();
    assert_eq!(steps, (1..=50).map(f64::from).collect::<Vec<_>>());
    assert_eq!(reports[0], json!({"progress": 1.0, "total": 50.0, "message": "on"}));
    servers.close().await;
}

#[tokio::test]
async fn notifies_the_server_of_cancelled_calls() {
    let tools = dispatcher();
    let notifications = Arc::new(Mutex::new(Vec::new()));
    let seen = notifications.clone();
    let slow = server("s", move |mut peer: Peer| {
        let seen = seen.clone();
        async move {
            while let Some(message) = peer.call(&json!([tool("wait", "")])).await {
                let id =
                    if message["method"] == "tools/call" { &message["id"] } else { &message["params"]["requestId"] };
                seen.lock().unwrap().push((message["method"].clone(), id.clone()));
            }
        }
    });
    let servers =
        connect(&tools, RemoteServers::builder().server(slow.trust().call_timeout(Duration::from_millis(50)))).await;
    assert_eq!(kind(&call(&tools, "mcp_s_wait").await), Some(ErrorKind::TimedOut));
    until(|| notifications.lock().unwrap().len() == 2).await;
    let notifications = notifications.lock().unwrap().clone();
    assert_eq!((&notifications[0].0, &notifications[1].0), (&json!("tools/call"), &json!("notifications/cancelled")));
    assert_eq!(notifications[0].1, notifications[1].1);
    servers.close().await;
}

#[tokio::test]
async fn lists_the_tools_again_after_a_change() {
    let tools = dispatcher();
    let changing = server("s", |mut peer: Peer| async move {
        let mut listed = json!([tool("one", "first"), tool("same", "")]);
        while let Some(call) = peer.call(&listed).await {
            listed = json!([tool("same", ""), tool("two", "")]);
            peer.send(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
            peer.answer(&call, text("changed")).await;
        }
    });
    let servers = beside_good(&tools, changing.trust()).await;
    assert_eq!(call(&tools, "mcp_s_one").await.output, "changed");
    until(|| tools.registry().names().join(" ") == "mcp_good_say mcp_s_same mcp_s_two").await;
    servers.close().await;
}

/// In 2026-07-28 changes need a subscription, and elicitations come as results.
#[tokio::test]
async fn speaks_the_2026_generation() {
    let tools = dispatcher();
    let newer = server("s", |mut peer: Peer| async move {
        let mut listed = json!([tool("one", "")]);
        let mut subscription = Value::Null;
        while let Some(message) = peer.next().await {
            let notification = |method: &str, mut params: Value, id: &Value| {
                params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
                json!({"jsonrpc": "2.0", "method": method, "params": params})
            };
            match message["method"].as_str() {
                Some("server/discover") => {
                    let result = json!({
                        "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                        "capabilities": {"tools": {"listChanged": true}},
                    });
                    peer.answer(&message, result).await;
                }
                Some("subscriptions/listen") => {
                    subscription = message["id"].clone();
                    let params = json!({"notifications": {"toolsListChanged": true}});
                    peer.send(notification("notifications/subscriptions/acknowledged", params, &subscription)).await;
                }
                Some("tools/list") => {
                    let result =
                        json!({"resultType": "complete", "tools": listed, "ttlMs": 60_000, "cacheScope": "private"});
                    peer.answer(&message, result).await;
                }
                Some("tools/call") => {
                    listed = json!([tool("two", "")]);
                    let answered = message["params"]["requestState"] == "half";
                    let action = &message["params"]["inputResponses"]["who"]["action"];
                    let result = match answered {
                        true => json!({"resultType": "complete", "content": [{"type": "text", "text": action}]}),
                        false => {
                            json!({"resultType": "input_required", "requestState": "half", "inputRequests": {"who": {
                                "method": "elicitation/create",
                                "params": {"mode": "form", "message": "who?", "requestedSchema": {"type": "object", "properties": {}}},
                            }}})
                        }
                    };
                    peer.answer(&message, result).await;
                    peer.send(notification("notifications/tools/list_changed", json!({}), &subscription)).await;
                }
                _ => {}
            }
        }
    });
    let servers = beside_good(&tools, newer.trust()).await;
    assert_eq!(servers.status()[1].protocol.as_deref(), Some("2026-07-28"), "{servers:?}");
    assert_eq!(call(&tools, "mcp_s_one").await.output, "decline", "without a handler the request is declined");
    until(|| tools.registry().names().join(" ") == "mcp_good_say mcp_s_two").await;
    servers.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn ends_a_program_with_its_process_group() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let (program, pid) = (directory.path().join("server"), directory.path().join("pid"));
    let script = format!(
        "#!/bin/sh\nsleep 600 &\necho $! > {}\necho 'on stderr' >&2\nread discover\n\
         echo '{{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{{\"code\":-32601,\"message\":\"\"}}}}'\nread initialize\n\
         echo '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{{\"tools\":{{}}}},\
         \"serverInfo\":{{\"name\":\"sh\",\"version\":\"1\"}}}}}}'\nread initialized\nread list\n\
         echo '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"tools\":[]}}}}'\nread more\n",
        pid.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(ServerConfig::command("sh", &program))).await;
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    let started: u32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    // A zombie has ended, too.
    let runs = || std::fs::read_to_string(format!("/proc/{started}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(runs(), "the child runs");
    servers.close().await;
    until(|| !runs()).await;
}
