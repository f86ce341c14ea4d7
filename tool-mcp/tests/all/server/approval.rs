use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_mcp::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ElicitationAction, ErrorCode, InputRequiredResult,
    InputResponses,
};
use tool_mcp::rmcp::service::ServiceError;
use tool_mcp::{ClientError, McpClient, McpServer};
use tool_runtime::confirm::Decision;
use tool_runtime::{Dispatcher, Effect, tool, tool_class};

use super::connected::{BOTH, Connected, Generation, User, call, connect};

#[derive(Clone, Default)]
struct HostService {
    runs: Arc<AtomicUsize>,
}

#[tool_class(prefix = "host", manual)]
impl HostService {
    /// Restart a host.
    #[tool(sensitive, preview = "command", alias = "restart_host")]
    pub async fn reboot(&self, host: &str, #[arg(secret)] password: &str) -> String {
        self.runs.fetch_add(1, Ordering::SeqCst);
        format!("{host} restarts, with {} letters", password.len())
    }

    fn command(&self, host: &str, _password: &str) -> Effect {
        Effect::Command(format!("ssh {host} shutdown -r"))
    }

    /// Rename a host.
    #[tool(sensitive)]
    pub async fn rename(&self, host: &str, #[inject] client: &McpClient) -> Result<String, ClientError> {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        let name = client.ask("name", "To what?", schema).await?.content.unwrap_or_default();
        self.runs.fetch_add(1, Ordering::SeqCst);
        Ok(format!("{host} is {} now", name["name"].as_str().unwrap_or_default()))
    }
}

fn server() -> (McpServer, HostService) {
    let service = HostService::default();
    let tools = Dispatcher::builder().per_call::<McpClient>().service(service.clone());
    // Only the tools of this class.
    let tools = tools.build().unwrap().select(tool_runtime::Selection::new().name_glob("host.*")).unwrap();
    (McpServer::new(tools), service)
}

fn reboot(host: &str) -> CallToolRequestParams {
    call("host.reboot", json!({"host": host, "password": "hunter2"}))
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

impl HostService {
    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

/// The client would have declined. The control is every other test here.
#[tokio::test]
async fn ask_dispatcher_uses_the_dispatchers_confirmer() {
    for generation in BOTH {
        for (decision, runs) in [(Decision::Run, 1), (Decision::refuse("not today"), 0)] {
            let service = HostService::default();
            let operator = tool_runtime::confirm::from_fn(move |_| std::future::ready(decision.clone()));
            let tools = Dispatcher::builder().per_call::<McpClient>().service(service.clone()).confirm(operator);
            let tools = tools.build().unwrap().select(tool_runtime::Selection::new().name_glob("host.*")).unwrap();
            let user = User::with_action(ElicitationAction::Decline);
            let client = connect(McpServer::new(tools).ask_dispatcher(), user.clone(), generation).await;
            let result = client.call_tool(reboot("web-1")).await.unwrap();
            assert_eq!((service.runs(), user.seen().len()), (runs, 0), "{generation:?}: {result:?}");
            assert_eq!(text(&result).contains("not today"), runs == 0, "{result:?}");
        }
    }
}

#[tokio::test]
async fn runs_an_approved_call_as_it_was_shown() {
    for generation in BOTH {
        let (server, service) = server();
        let user = User::with_action(ElicitationAction::Accept);
        let client = connect(server, user.clone(), generation).await;
        let result = client.call_tool(reboot("web-1")).await.unwrap();
        assert_eq!((text(&result), result.is_error), ("web-1 restarts, with 7 letters", Some(false)));
        let seen = user.seen().join("\n");
        for shown in ["host.reboot", "\"host\": \"web-1\"", "ssh web-1 shutdown -r", "***"] {
            assert!(seen.contains(shown), "{generation:?}: {shown} in {seen}");
        }
        assert!(!seen.contains("hunter2"), "{generation:?}: {seen}");
        assert_eq!((user.seen().len(), service.runs()), (1, 1));
    }
}

#[tokio::test]
async fn asks_for_approval_if_a_sensitive_tool_is_called_by_its_alias() {
    for generation in BOTH {
        for (action, runs) in [(ElicitationAction::Accept, 1), (ElicitationAction::Decline, 0)] {
            let (server, service) = server();
            let user = User::with_action(action);
            let client = connect(server, user.clone(), generation).await;
            let restart = call("restart_host", json!({"host": "web-1", "password": "hunter2"}));
            let result = client.call_tool(restart).await.unwrap();
            assert_eq!((user.seen().len(), service.runs()), (1, runs), "{generation:?}: {result:?}");
            let seen = user.seen().join("\n");
            assert!(seen.contains("host.reboot") && !seen.contains("hunter2"), "{generation:?}: {seen}");
        }
    }
}

#[tokio::test]
async fn does_not_run_a_declined_call() {
    let reasons =
        [(ElicitationAction::Decline, "the user declined"), (ElicitationAction::Cancel, "the user did not respond")];
    for generation in BOTH {
        for (action, reason) in reasons.clone() {
            let (server, service) = server();
            let client = connect(server, User::with_action(action), generation).await;
            let result = client.call_tool(reboot("web-1")).await.unwrap();
            assert_eq!(result.is_error, Some(true));
            assert_eq!(text(&result), format!("`host.reboot` was refused: {reason}."), "{generation:?}");
            assert_eq!(service.runs(), 0);
        }
    }
}

#[tokio::test]
async fn refuses_a_call_if_the_client_cannot_ask() {
    for generation in BOTH {
        let (server, service) = server();
        let client = connect(server, User::with_action(None), generation).await;
        let result = client.call_tool(reboot("web-1")).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).contains("does not support elicitation"), "{}", text(&result));
        assert_eq!(service.runs(), 0);
    }
}

#[tokio::test]
async fn asks_for_approval_once_if_the_handler_asks_too() {
    for generation in BOTH {
        let (server, service) = server();
        let mut user = User::with_action(ElicitationAction::Accept);
        user.content = json!({"name": "www"});
        let client = connect(server, user.clone(), generation).await;
        let result = client.call_tool(call("host.rename", json!({"host": "web-1"}))).await.unwrap();
        assert_eq!(text(&result), "web-1 is www now");
        let seen = user.seen();
        assert_eq!((seen.len(), service.runs()), (2, 1), "{generation:?}: {seen:?}");
        assert!(seen[0].contains("host.rename") && seen[1] == "To what?", "{seen:?}");
    }
}

/// Makes the first round of a call.
async fn first_round(client: &Connected) -> InputRequiredResult {
    match client.call_tool_once(reboot("web-1")).await.unwrap() {
        CallToolResponse::InputRequired(required) => required,
        other => panic!("{other:?}"),
    }
}

fn accepted(required: &InputRequiredResult, call: CallToolRequestParams) -> CallToolRequestParams {
    let names = required.input_requests.iter().flat_map(|requests| requests.keys().cloned());
    let answers: InputResponses = names.map(|name| (name, json!({"action": "accept"}))).collect();
    call.with_input_responses(answers).with_request_state(required.request_state.clone().unwrap())
}

#[tokio::test]
async fn an_approval_is_valid_once_and_for_its_call_only() {
    let (server, service) = server();
    let client = connect(server, User::with_action(ElicitationAction::Accept), Generation::Of2026).await;
    let required = first_round(&client).await;

    let assert_rejected = |response: Result<CallToolResponse, ServiceError>, what: &str| match response {
        Err(ServiceError::McpError(error)) => assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{what}"),
        other => panic!("{what}: {other:?}"),
    };
    assert_rejected(client.call_tool_once(accepted(&required, reboot("db-1"))).await, "other arguments");
    let other = call("host.rename", json!({"host": "web-1"}));
    assert_rejected(client.call_tool_once(accepted(&required, other)).await, "another tool");
    let mut altered = required.clone();
    altered.request_state.as_mut().unwrap().push('x');
    assert_rejected(client.call_tool_once(accepted(&altered, reboot("web-1"))).await, "an altered state");
    assert_eq!(service.runs(), 0);

    // The control: none of these has consumed the approval.
    let response = client.call_tool_once(accepted(&required, reboot("web-1"))).await.unwrap();
    assert!(matches!(response, CallToolResponse::Complete(result) if result.is_error == Some(false)));
    assert_eq!(service.runs(), 1);

    assert_rejected(client.call_tool_once(accepted(&required, reboot("web-1"))).await, "the same approval again");
    assert_eq!(service.runs(), 1);
}

#[tokio::test]
async fn repeats_a_question_without_a_response() {
    let (server, service) = server();
    let client = connect(server, User::with_action(ElicitationAction::Accept), Generation::Of2026).await;
    let required = first_round(&client).await;
    let silent = reboot("web-1").with_request_state(required.request_state.clone().unwrap());
    let CallToolResponse::InputRequired(again) = client.call_tool_once(silent).await.unwrap() else {
        panic!("the call ran")
    };
    assert_eq!(again.input_requests, required.input_requests);
    assert_eq!(service.runs(), 0);
}
