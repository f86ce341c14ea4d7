//! What every user of the adapter relies on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_mcp::{ServerConfig, ServerState, Servers};
use tool_runtime::confirm::{self, Decision};
use tool_runtime::{Dispatcher, ErrorKind, Progress, Question, RuntimeTool, ToolCall};

use crate::scripted::{
    Peer, beside_good, call, connect, dispatcher, good, good_answers, kind, server, text, tool, until,
};

/// A server whose calls are answered by a function of their parameters.
fn answering(
    name: &str,
    tools: Value,
    answer: impl Fn(&Value) -> Value + Clone + Send + Sync + 'static,
) -> ServerConfig {
    server(name, move |mut peer: Peer| {
        let (tools, answer) = (tools.clone(), answer.clone());
        async move {
            while let Some(call) = peer.call(&tools).await {
                peer.answer(&call, answer(&call["params"])).await;
            }
        }
    })
}

#[tokio::test]
async fn what_reassures_is_only_believed_where_it_is_trusted() {
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
        let servers = connect(&tools, Servers::builder().server(config)).await;
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
async fn somebody_is_asked_and_nothing_wrong_is_sent() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let operator = {
        let asked = asked.clone();
        move |question: Question| {
            asked.lock().unwrap().push(question.arguments);
            async { Decision::Run }
        }
    };
    let tools = Dispatcher::builder().confirm(confirm::from_fn(operator)).build().unwrap();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = sent.clone();
    let config = answering("s", json!([tool("add", "Add.")]), move |params| {
        seen.lock().unwrap().push(params["arguments"].clone());
        text("added")
    });
    let servers = connect(&tools, Servers::builder().server(config)).await;
    let wrong = tools.call(ToolCall::from_text("mcp_s_add", r#"{"n": "many", "m": 1}"#)).await;
    assert_eq!(kind(&wrong), Some(ErrorKind::InvalidArguments), "{wrong:?}");
    let mended = tools.call(ToolCall::from_text("mcp_s_add", r#"{"n": "3"}"#)).await;
    assert_eq!(mended.output, "added");
    assert_eq!(
        (sent.lock().unwrap().clone(), asked.lock().unwrap().clone()),
        (vec![json!({"n": 3})], vec![json!({"n": 3})])
    );
    servers.close().await;

    let alone = dispatcher();
    let servers =
        connect(&alone, Servers::builder().server(answering("s", json!([tool("add", "")]), |_| text("x")))).await;
    assert_eq!(kind(&call(&alone, "mcp_s_add").await), Some(ErrorKind::Refused), "nobody can be asked");
    servers.close().await;
}

#[tokio::test]
async fn names_that_clash_are_told_with_both() {
    let tools = Dispatcher::builder().tool(RuntimeTool::new("mcp_a_own", "", |(): ()| async {})).build().unwrap();
    let one = answering("a_b", json!([tool("c", "")]), |_| text("one")).trust();
    let two =
        answering("a", json!([tool("b_c", ""), tool("b/c", ""), tool("own", ""), tool("free", "")]), |_| text("two"))
            .trust();
    let builder = || Servers::builder().server(one.clone()).server(two.clone());
    let servers = connect(&tools, builder()).await;
    let problems = servers.problems().join("\n");
    for part in ["`mcp_a_b_c`", "`mcp_a_own` would be the name of two tools: one of this application", "`a_b`", "`a`"] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    assert_eq!(call(&tools, "mcp_a_free").await.output, "two");
    servers.close().await;
    assert_eq!(tools.registry().names().join(" "), "mcp_a_own", "what is not theirs stays");

    let strict = builder().strict().connect(&tools.registry()).await.unwrap_err();
    assert!(strict.to_string().contains("`mcp_a_own`"), "{strict}");
    let twice = Servers::builder().server(good()).server(good()).connect(&tools.registry()).await.unwrap_err();
    assert!(twice.to_string().contains("two servers are called `good` and `good`"), "{twice}");
    let vain = Servers::builder().server(good()).configure("god", |config| config.trust());
    assert!(vain.connect(&tools.registry()).await.unwrap_err().to_string().contains("`god`"));
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_answer() {
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
    let servers = connect(&tools, Servers::builder().server(reporting.trust())).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let progress = Progress::to(move |report: Value| listener.lock().unwrap().push(report));
    let result = tools.call(ToolCall::from_text("mcp_s_work", "{}")).with(progress).await;
    assert_eq!(result.output, "done");
    let heard = heard.lock().unwrap().clone();
    let steps: Vec<f64> = heard.iter().map(|report| report["progress"].as_f64().unwrap()).collect();
    assert_eq!(steps, (1..=50).map(f64::from).collect::<Vec<_>>());
    assert_eq!(heard[0], json!({"progress": 1.0, "total": 50.0, "message": "on"}));
    servers.close().await;
}

#[tokio::test]
async fn a_server_is_told_of_calls_that_nobody_waits_for() {
    let tools = dispatcher();
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = told.clone();
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
        connect(&tools, Servers::builder().server(slow.trust().call_timeout(Duration::from_millis(50)))).await;
    assert_eq!(kind(&call(&tools, "mcp_s_wait").await), Some(ErrorKind::TimedOut));
    until(|| told.lock().unwrap().len() == 2).await;
    let told = told.lock().unwrap().clone();
    assert_eq!((&told[0].0, &told[1].0), (&json!("tools/call"), &json!("notifications/cancelled")));
    assert_eq!(told[0].1, told[1].1);
    servers.close().await;
}

#[tokio::test]
async fn a_list_that_changes_is_listed_again() {
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

/// Calls in flight have a clear result, tools stay, and the next connection serves them.
#[tokio::test]
async fn a_connection_that_is_lost_is_made_again() {
    let tools = dispatcher();
    let dying = server("s", |mut peer: Peer| async move {
        let call = peer.call(&json!([tool("work", "")])).await;
        if let Some(call) = call.filter(|_| peer.connection > 0) {
            peer.answer(&call, text("alive")).await;
            while peer.next().await.is_some() {}
        }
    });
    let servers = beside_good(&tools, dying.trust()).await;
    let lost = call(&tools, "mcp_s_work").await;
    assert_eq!(kind(&lost), Some(ErrorKind::OutcomeUnknown), "{lost:?}");
    assert!(lost.output.contains("`s` was lost while `work` was running"), "{}", lost.output);
    good_answers(&tools).await;
    until(|| servers.status().iter().all(|server| server.state == ServerState::Connected)).await;
    assert_eq!(call(&tools, "mcp_s_work").await.output, "alive");
    servers.close().await;
    assert!(tools.registry().is_empty());
}

#[tokio::test]
async fn a_server_that_is_away_says_so_and_is_tried_again() {
    let tools = dispatcher();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gone = ServerConfig::http("gone", format!("http://127.0.0.1:{port}/mcp"));
    let missing = ServerConfig::command("missing", "/no/such/program");
    let builder = Servers::builder().server(gone).server(missing).server(good());
    let servers = connect(&tools, builder).await;
    let status = servers.status();
    assert!(matches!(&status[0].state, ServerState::Away(why) if why.contains("Connection refused")), "{status:?}");
    assert!(matches!(&status[2].state, ServerState::Away(why) if why.contains("/no/such/program cannot be started")));
    good_answers(&tools).await;
    servers.close().await;

    // One that is away after it was there keeps its tools.
    let once = server("once", |mut peer: Peer| async move {
        if peer.connection == 0 {
            peer.call(&json!([tool("work", "")])).await;
        }
    });
    let servers = beside_good(&tools, once.trust()).await;
    assert_eq!(kind(&call(&tools, "mcp_once_work").await), Some(ErrorKind::OutcomeUnknown));
    until(|| matches!(servers.status()[1].state, ServerState::Away(_))).await;
    let away = call(&tools, "mcp_once_work").await;
    assert_eq!(kind(&away), Some(ErrorKind::Retry), "{away:?}");
    assert!(away.output.contains("`once` is not connected") && away.output.contains("did not run"), "{}", away.output);
    servers.close().await;
}

/// In the newer generation changes are told to those who subscribe, and questions come as results.
#[tokio::test]
async fn the_newer_generation_is_spoken() {
    let tools = dispatcher();
    let newer = server("s", |mut peer: Peer| async move {
        let mut listed = json!([tool("one", "")]);
        let mut subscription = Value::Null;
        while let Some(message) = peer.next().await {
            let told = |method: &str, mut params: Value, id: &Value| {
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
                    peer.send(told("notifications/subscriptions/acknowledged", params, &subscription)).await;
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
                    peer.send(told("notifications/tools/list_changed", json!({}), &subscription)).await;
                }
                _ => {}
            }
        }
    });
    let servers = beside_good(&tools, newer.trust()).await;
    assert_eq!(servers.status()[1].protocol.as_deref(), Some("2026-07-28"), "{servers:?}");
    assert_eq!(call(&tools, "mcp_s_one").await.output, "decline", "nobody can be asked, and that is said politely");
    until(|| tools.registry().names().join(" ") == "mcp_good_say mcp_s_two").await;
    servers.close().await;
}

/// A server behind a URL that goes and comes back.
#[tokio::test]
async fn a_server_over_http_that_restarts_is_found_again() {
    let answer = |body: String| async move {
        let message: Value = serde_json::from_str(&body).unwrap_or_default();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [tool("work", "")]}),
            Some("tools/call") => text("done"),
            Some("server/discover") => {
                return (axum::http::StatusCode::BAD_REQUEST, [("content-type", "text/plain")], String::new());
            }
            _ => return (axum::http::StatusCode::ACCEPTED, [("content-type", "text/plain")], String::new()),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        (axum::http::StatusCode::OK, [("content-type", "application/json")], answer)
    };
    let serve = async |port: u16| {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // Connections are not kept: those of a server that has gone would outlive it here.
        let app = axum::Router::new().route("/mcp", axum::routing::post(answer)).layer(axum::middleware::map_response(
            |mut response: axum::response::Response| async move {
                response.headers_mut().insert("connection", axum::http::HeaderValue::from_static("close"));
                response
            },
        ));
        (port, tokio::spawn(async move { axum::serve(listener, app).await }))
    };
    let (port, running) = serve(0).await;
    let tools = dispatcher();
    let config = ServerConfig::http("h", format!("http://127.0.0.1:{port}/mcp")).trust();
    let servers = connect(&tools, Servers::builder().server(config)).await;
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done", "{servers:?}");
    running.abort();
    drop(running.await);
    let gone = call(&tools, "mcp_h_work").await;
    assert_eq!(kind(&gone), Some(ErrorKind::Retry), "{gone:?}");
    assert!(gone.output.contains("cannot be reached") && gone.output.contains("did not run"), "{}", gone.output);
    until(|| matches!(servers.status()[0].state, ServerState::Away(_))).await;
    let (_, running) = serve(port).await;
    servers.reload().await;
    assert_eq!(call(&tools, "mcp_h_work").await.output, "done");
    servers.close().await;
    running.abort();
}

/// What a server has started in its process group ends with it.
#[cfg(unix)]
#[tokio::test]
async fn a_program_is_ended_with_all_that_it_started() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (program, pid) = (folder.path().join("server"), folder.path().join("pid"));
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
    let servers = connect(&tools, Servers::builder().server(ServerConfig::command("sh", &program))).await;
    assert_eq!(servers.status()[0].state, ServerState::Connected, "{servers:?}");
    let started: u32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    // A zombie that its new parent has not buried yet has ended, too.
    let runs = || std::fs::read_to_string(format!("/proc/{started}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(runs(), "it was started");
    servers.close().await;
    until(|| !runs()).await;
}
