use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::sync::Notify;
use tool_mcp::McpServer;
use tool_mcp::rmcp::model::{CallToolResult, ClientRequest, ElicitationAction, Request};
use tool_mcp::rmcp::service::PeerRequestOptions;
use tool_runtime::confirm::PolicyVerdict;
use tool_runtime::output::Spill;
use tool_runtime::{Dispatcher, Policy, Selection, tool, tool_class};

use super::connected::{BOTH, User, call, connect};

/// Tools that do not use their client.
#[derive(Clone, Default)]
struct PlainService {
    runs: Arc<AtomicUsize>,
    started: Arc<Notify>,
    stopped: Arc<Notify>,
}

#[tool_class(prefix = "plain", manual)]
impl PlainService {
    /// Double a number.
    #[tool]
    pub fn double(&self, number: u32) -> u32 {
        self.runs.fetch_add(1, Ordering::SeqCst);
        number * 2
    }

    /// Return the numbers up to a limit.
    #[tool]
    pub fn count(&self, to: u32) -> Numbers {
        Numbers { numbers: (0..to).collect() }
    }

    /// Never end.
    #[tool]
    pub async fn endless(&self) {
        let _stopped = OnDrop(&self.stopped);
        self.started.notify_one();
        std::future::pending().await
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Numbers {
    numbers: Vec<u32>,
}

struct OnDrop<'a>(&'a Notify);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn server(policy: Policy) -> (McpServer, PlainService) {
    let service = PlainService::default();
    let tools = Dispatcher::builder().policy(policy).service(service.clone()).build().unwrap();
    (McpServer::new(tools.select(Selection::new().name_glob("plain.*")).unwrap()), service)
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

#[tokio::test]
async fn returns_results_and_argument_errors() {
    for generation in BOTH {
        let (server, service) = server(Policy::default());
        let user = User::with_action(ElicitationAction::Decline);
        let client = connect(server, user.clone(), generation).await;
        let result = client.call_tool(call("plain.double", json!({"number": 4}))).await.unwrap();
        assert_eq!((text(&result), result.is_error), ("8", Some(false)));
        let result = client.call_tool(call("plain.double", json!({"number": -4}))).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).contains("`number`: got -4"), "{}", text(&result));
        assert_eq!((service.runs.load(Ordering::SeqCst), user.seen().len()), (1, 0), "no approval was needed");
    }
}

/// Only the text for the model is shortened; the structured content matches the output schema.
#[tokio::test]
async fn does_not_shorten_structured_content() {
    for (policy, generation) in
        [Policy::Yolo, Policy::ConfirmAll].into_iter().flat_map(|p| BOTH.map(|g| (p.clone(), g)))
    {
        let builder = Dispatcher::builder().policy(policy).service(PlainService::default());
        let tools = builder.spill(Spill::over(1_000)).build().unwrap();
        let server = McpServer::new(tools.select(Selection::new().name_glob("plain.*")).unwrap());
        let client = connect(server, User::with_action(ElicitationAction::Accept), generation).await;
        let listed = client.list_all_tools().await.unwrap();
        assert!(listed.iter().any(|tool| tool.name == "plain.count" && tool.output_schema.is_some()));
        let result = client.call_tool(call("plain.count", json!({"to": 2_000}))).await.unwrap();
        assert!(text(&result).len() <= 1_000 && text(&result).contains("bytes left out"), "{}", text(&result));
        assert_eq!(result.structured_content.unwrap()["numbers"].as_array().unwrap().len(), 2_000);
    }
}

/// The control: the policy requires approval.
#[tokio::test]
async fn asks_for_approval_if_the_policy_requires_it() {
    let custom = || Policy::custom(|_, _, _| PolicyVerdict::Ask);
    for policy in [|| Policy::ConfirmAll, custom] {
        for generation in BOTH {
            for (action, answer, runs) in
                [(ElicitationAction::Decline, "declined", 0), (ElicitationAction::Accept, "8", 1)]
            {
                let (server, service) = server(policy());
                let user = User::with_action(action);
                let client = connect(server, user.clone(), generation).await;
                let result = client.call_tool(call("plain.double", json!({"number": 4}))).await.unwrap();
                assert!(text(&result).contains(answer), "{generation:?}: {}", text(&result));
                assert_eq!((service.runs.load(Ordering::SeqCst), user.seen().len()), (runs, 1));
            }
        }
    }
}

#[tokio::test]
async fn stops_a_call_that_the_client_cancels() {
    for generation in BOTH {
        let (server, service) = server(Policy::default());
        let client = connect(server, User::with_action(None), generation).await;
        let request = ClientRequest::CallToolRequest(Request::new(call("plain.endless", json!({}))));
        let running = client.peer().send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
        service.started.notified().await;
        running.cancel(Some("enough".to_owned())).await.unwrap();
        service.stopped.notified().await;
    }
}
