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
    #[tool(sensitive, preview = "command")]
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
    // Of everything that is linked only this class.
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

/// The client would have declined, and is not asked. The control is every other test here.
#[tokio::test]
async fn the_dispatcher_can_be_asked_instead_of_the_client() {
    for generation in BOTH {
        for (decision, runs) in [(Decision::Run, 1), (Decision::refuse("not today"), 0)] {
            let service = HostService::default();
            let operator = tool_runtime::confirm::from_fn(move |_| std::future::ready(decision.clone()));
            let tools = Dispatcher::builder().per_call::<McpClient>().service(service.clone()).confirm(operator);
            let tools = tools.build().unwrap().select(tool_runtime::Selection::new().name_glob("host.*")).unwrap();
            let user = User::who(ElicitationAction::Decline);
            let client = connect(McpServer::new(tools).ask_dispatcher(), user.clone(), generation).await;
            let result = client.call_tool(reboot("web-1")).await.unwrap();
            assert_eq!((service.runs(), user.seen().len()), (runs, 0), "{generation:?}: {result:?}");
            assert_eq!(text(&result).contains("not today"), runs == 0, "{result:?}");
        }
    }
}

#[tokio::test]
async fn what_the_user_accepts_runs_as_it_was_shown() {
    for generation in BOTH {
        let (server, service) = server();
        let user = User::who(ElicitationAction::Accept);
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
async fn what_the_user_does_not_accept_does_not_run() {
    let reasons =
        [(ElicitationAction::Decline, "the user declined"), (ElicitationAction::Cancel, "the user did not answer")];
    for generation in BOTH {
        for (action, reason) in reasons.clone() {
            let (server, service) = server();
            let client = connect(server, User::who(action), generation).await;
            let result = client.call_tool(reboot("web-1")).await.unwrap();
            assert_eq!(result.is_error, Some(true));
            assert_eq!(text(&result), format!("`host.reboot` was refused: {reason}."), "{generation:?}");
            assert_eq!(service.runs(), 0);
        }
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_why_the_call_is_refused() {
    for generation in BOTH {
        let (server, service) = server();
        let client = connect(server, User::who(None), generation).await;
        let result = client.call_tool(reboot("web-1")).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).contains("this client cannot ask for it"), "{}", text(&result));
        assert_eq!(service.runs(), 0);
    }
}

#[tokio::test]
async fn a_handler_that_asks_as_well_does_not_have_the_user_asked_twice() {
    for generation in BOTH {
        let (server, service) = server();
        let mut user = User::who(ElicitationAction::Accept);
        user.content = json!({"name": "www"});
        let client = connect(server, user.clone(), generation).await;
        let result = client.call_tool(call("host.rename", json!({"host": "web-1"}))).await.unwrap();
        assert_eq!(text(&result), "web-1 is www now");
        let seen = user.seen();
        assert_eq!((seen.len(), service.runs()), (2, 1), "{generation:?}: {seen:?}");
        assert!(seen[0].contains("host.rename") && seen[1] == "To what?", "{seen:?}");
    }
}

/// The first round of a call.
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
async fn consent_is_good_once_and_for_the_call_it_was_given_to() {
    let (server, service) = server();
    let client = connect(server, User::who(ElicitationAction::Accept), Generation::Of2026).await;
    let required = first_round(&client).await;

    let wrong = |answer: Result<CallToolResponse, ServiceError>, what: &str| match answer {
        Err(ServiceError::McpError(error)) => assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{what}"),
        other => panic!("{what}: {other:?}"),
    };
    wrong(client.call_tool_once(accepted(&required, reboot("db-1"))).await, "other arguments");
    let other = call("host.rename", json!({"host": "web-1"}));
    wrong(client.call_tool_once(accepted(&required, other)).await, "another tool");
    let mut altered = required.clone();
    altered.request_state.as_mut().unwrap().push('x');
    wrong(client.call_tool_once(accepted(&altered, reboot("web-1"))).await, "an altered state");
    assert_eq!(service.runs(), 0);

    // The control: nothing of all that has used the consent up.
    let answer = client.call_tool_once(accepted(&required, reboot("web-1"))).await.unwrap();
    assert!(matches!(answer, CallToolResponse::Complete(result) if result.is_error == Some(false)));
    assert_eq!(service.runs(), 1);

    wrong(client.call_tool_once(accepted(&required, reboot("web-1"))).await, "the same consent again");
    assert_eq!(service.runs(), 1);
}

#[tokio::test]
async fn an_answer_that_is_missing_is_asked_for_again() {
    let (server, service) = server();
    let client = connect(server, User::who(ElicitationAction::Accept), Generation::Of2026).await;
    let required = first_round(&client).await;
    let silent = reboot("web-1").with_request_state(required.request_state.clone().unwrap());
    let CallToolResponse::InputRequired(again) = client.call_tool_once(silent).await.unwrap() else { panic!("it ran") };
    assert_eq!(again.input_requests, required.input_requests);
    assert_eq!(service.runs(), 0);
}
