use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;
use tool_mcp::McpServer;
use tool_mcp::rmcp::model::{CallToolResult, ClientRequest, ErrorCode, Request, RequestMetaObject, SubscriptionFilter};
use tool_mcp::rmcp::service::{PeerRequestOptions, ServiceError};
use tool_runtime::{Dispatcher, RuntimeTool, Scope, Selection, ToolResult};

use super::connected::{BOTH, Generation, User, call, connect};

/// Returns a dispatcher with only these tools.
fn only(tools: impl IntoIterator<Item = RuntimeTool>) -> Dispatcher {
    let built = Dispatcher::builder().allow_empty().build().unwrap();
    built.registry().clear();
    built.registry().apply(tools.into_iter().collect()).unwrap();
    built
}

fn tool(name: &str) -> RuntimeTool {
    RuntimeTool::new(name, "Does nothing.", |(): ()| async {})
}

fn echo() -> RuntimeTool {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let echo = |arguments, _: Scope| async move { Value::Object(arguments) };
    RuntimeTool::from_schema("echo", "Gives back what it is given.", &schema, echo).returns(&schema).read_only()
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("timed out")
}

#[tokio::test]
async fn sends_schemas_annotations_and_structured_results() {
    for generation in BOTH {
        let client = connect(McpServer::new(only([echo()])), User::with_action(None), generation).await;
        let tools = client.list_all_tools().await.unwrap();
        let listed = serde_json::to_value(&tools[0]).unwrap();
        assert_eq!(listed["name"], "echo");
        assert_eq!(listed["inputSchema"]["required"], json!(["n"]));
        assert_eq!(listed["outputSchema"]["properties"]["n"]["type"], "integer");
        assert_eq!(listed["annotations"]["readOnlyHint"], true);

        let result = client.call_tool(call("echo", json!({"n": 7}))).await.unwrap();
        assert_eq!((text(&result), &result.structured_content), ("{\"n\":7}", &Some(json!({"n": 7}))));
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_and_wrong_arguments_are_a_result() {
    for generation in BOTH {
        let client = connect(McpServer::new(only([echo()])), User::with_action(None), generation).await;
        match client.call_tool(call("ecko", json!({}))).await {
            Err(ServiceError::McpError(error)) => {
                assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
                assert_eq!(error.message, "There is no tool `ecko`. Did you mean `echo`?");
            }
            other => panic!("{other:?}"),
        }
        let result = client.call_tool(call("echo", json!({"n": "seven"}))).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).contains("`n`: got \"seven\", expected integer"), "{}", text(&result));
    }
}

#[tokio::test]
async fn neither_lists_nor_calls_tools_outside_the_selection() {
    let tools = only([tool("wiki.read"), tool("wiki.delete")]);
    let selected = tools.select(Selection::new().names(["wiki.read"])).unwrap();
    let client = connect(McpServer::new(selected), User::with_action(None), Generation::Of2025).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 1);
    assert!(client.call_tool(call("wiki.delete", json!({}))).await.is_err());
}

#[tokio::test]
async fn pages_cover_the_list() {
    let names: Vec<String> = (0..25).map(|number| format!("tool_{number:02}")).collect();
    for generation in BOTH {
        let tools = only(names.iter().map(|name| tool(name)));
        let client = connect(McpServer::new(tools).page_size(10), User::with_action(None), generation).await;
        let first = client.list_tools(None).await.unwrap();
        assert_eq!((first.tools.len(), first.next_cursor.is_some()), (10, true));
        let all = client.list_all_tools().await.unwrap();
        assert_eq!(all.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>(), names);
    }
}

#[tokio::test]
async fn sends_the_content_blocks_of_a_tool() {
    let picture = RuntimeTool::new("picture", "A picture.", |(): ()| async {
        let mut result = ToolResult::success("a picture".to_owned());
        result.metadata.insert("content", json!([{"type": "image", "data": "AAAA", "mimeType": "image/png"}]));
        result.metadata.insert("structured_content", json!({"width": 1}));
        result.metadata.insert("token", "for local interfaces");
        result
    });
    let client = connect(McpServer::new(only([picture])), User::with_action(None), Generation::Of2025).await;
    let result = client.call_tool(call("picture", json!({}))).await.unwrap();
    let sent = serde_json::to_value(&result).unwrap();
    assert_eq!(sent["content"], json!([{"type": "image", "data": "AAAA", "mimeType": "image/png"}]));
    assert_eq!(sent["structuredContent"], json!({"width": 1}));
    assert!(!sent.to_string().contains("local interfaces"), "{sent}");
}

#[tokio::test]
async fn sends_every_progress_report_before_the_result() {
    let counts = RuntimeTool::scoped("count", "Counts.", |(): (), scope: Scope| async move {
        for number in 1..=20 {
            scope.progress().report(number);
        }
    });
    let tools = only([counts]);
    for generation in BOTH {
        let user = User::with_action(None);
        let client = connect(McpServer::new(tools.clone()), user.clone(), generation).await;
        // rmcp's helper requests progress with every call.
        client.call_tool(call("count", json!({}))).await.unwrap();
        let expected: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(*user.progress.lock().unwrap(), expected, "{generation:?}");
    }
}

/// Signals when it is dropped.
struct Dropped(Option<oneshot::Sender<()>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.take().map(|sender| sender.send(()));
    }
}

#[tokio::test]
async fn stops_a_call_that_the_client_cancels() {
    for generation in BOTH {
        let (started, wait_for_start) = oneshot::channel();
        let (stopped, wait_for_stop) = oneshot::channel();
        let ends = Arc::new(Mutex::new(Some((started, stopped))));
        let endless = RuntimeTool::new("endless", "Never ends.", move |(): ()| {
            let ends = ends.clone();
            async move {
                let (started, stopped) = ends.lock().unwrap().take().expect("the first call");
                let _dropped = Dropped(Some(stopped));
                started.send(()).unwrap();
                std::future::pending::<()>().await;
            }
        });
        let client = connect(McpServer::new(only([endless])), User::with_action(None), generation).await;
        let request = ClientRequest::CallToolRequest(Request::new(call("endless", json!({}))));
        let running = client.peer().send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
        soon(wait_for_start).await.unwrap();
        running.cancel(Some("enough".to_owned())).await.unwrap();
        soon(wait_for_stop).await.unwrap();
    }
}

/// Unread progress reports delay neither the call nor its timeout.
#[tokio::test]
async fn times_out_although_the_client_does_not_read() {
    let (stopped, wait_for_stop) = oneshot::channel();
    let end = Arc::new(Mutex::new(Some(stopped)));
    let reports = RuntimeTool::scoped("report", "Reports and never ends.", move |(): (), scope: Scope| {
        let end = end.clone();
        async move {
            let _dropped = Dropped(end.lock().unwrap().take());
            for _ in 0..4 {
                scope.progress().report("x".repeat(2_000));
            }
            std::future::pending::<()>().await;
        }
    });
    let server = McpServer::new(only([reports.timeout(Duration::from_millis(100))]));
    let (mut near, far) = tokio::io::duplex(1_000);
    tokio::spawn(async move { server.serve(tokio::io::split(far)).await });
    let client = json!({"name": "deaf", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let call = json!({"name": "report", "arguments": {}, "_meta": {"progressToken": 1}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
    ] {
        near.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    soon(wait_for_stop).await.unwrap();
}

#[tokio::test]
async fn notifies_2025_clients_of_visible_changes() {
    let tools = only([tool("a.one")]);
    let selected = tools.select(Selection::new().name_glob("a.*")).unwrap();
    let user = User::with_action(None);
    let client = connect(McpServer::new(selected), user.clone(), Generation::Of2025).await;
    client.list_all_tools().await.unwrap();
    tools.registry().register(tool("b.hidden")).unwrap();
    tools.registry().register(tool("a.two")).unwrap();
    soon(user.changed.notified()).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 2);
    // An invisible change sends nothing: the next notification is for the visible one.
    tools.registry().remove("b.hidden");
    tools.registry().remove("a.two");
    soon(user.changed.notified()).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 1);
}

fn context() -> RuntimeTool {
    RuntimeTool::scoped("context", "Where it comes from.", |(): (), scope: Scope| async move {
        let context = scope.context();
        json!({"conversation": context.conversation(), "call": context.call_id(), "trace": context.trace_parent()})
    })
}

#[tokio::test]
async fn calls_of_a_connection_share_a_conversation_and_keep_their_trace() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for generation in BOTH {
        let client = connect(McpServer::new(only([context()])), User::with_action(None), generation).await;
        let ask = async || {
            let mut request = call("context", json!({}));
            let mut meta = RequestMetaObject::default();
            meta.set_traceparent(parent);
            request.meta = Some(meta);
            let result = client.call_tool(request).await.unwrap();
            serde_json::from_str::<Value>(text(&result)).unwrap()
        };
        let (first, second) = (ask().await, ask().await);
        assert_eq!(first["trace"], parent);
        assert!(first["conversation"].is_string());
        assert_eq!(first["conversation"], second["conversation"]);
        assert_ne!(first["call"], second["call"]);
    }
}

#[tokio::test]
async fn notifies_2026_clients_of_subscribed_changes() {
    let tools = only([tool("a.one")]);
    let client = connect(McpServer::new(tools.clone()), User::with_action(None), Generation::Of2026).await;
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = client.peer().listen(filter).await.unwrap();
    tools.registry().register(tool("a.two")).unwrap();
    let notified = soon(subscription.next()).await;
    assert!(format!("{notified:?}").contains("ToolListChanged"), "{notified:?}");
}
