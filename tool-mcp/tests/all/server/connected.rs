use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tool_mcp::McpServer;
use tool_mcp::rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, Implementation, ProgressNotificationParam, ProtocolVersion,
};
use tool_mcp::rmcp::service::{NotificationContext, RequestContext, RunningService};
use tool_mcp::rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServerHandler};

/// The generation of the protocol.
pub const BOTH: [Generation; 2] = [Generation::Of2025, Generation::Of2026];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    Of2025,
    Of2026,
}

/// A client and its user.
#[derive(Clone)]
pub struct User {
    /// The action on a form; `None` for a client without elicitation.
    pub action: Option<ElicitationAction>,
    /// The content of the form.
    pub content: Value,
    /// The questions that were shown.
    pub seen: Arc<Mutex<Vec<String>>>,
    pub progress: Arc<Mutex<Vec<f64>>>,
    pub changed: Arc<Notify>,
}

impl User {
    pub fn with_action(action: impl Into<Option<ElicitationAction>>) -> Self {
        let (seen, progress, changed) = Default::default();
        Self { action: action.into(), content: json!({}), seen, progress, changed }
    }

    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.action.as_ref().map(|_| ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("a client", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else { panic!("no form") };
        self.seen.lock().unwrap().push(message);
        let action = self.action.clone().expect("a client without elicitation");
        let result = ElicitResult::new(action.clone());
        Ok(if action == ElicitationAction::Accept { result.with_content(self.content.clone()) } else { result })
    }

    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(report.progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// A connected client.
pub type Connected = RunningService<RoleClient, User>;

/// Connects a client to a server.
pub async fn connect<H: ServerHandler>(server: McpServer<H>, user: User, generation: Generation) -> Connected {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(tokio::io::split(far)).await.unwrap() });
    let lifecycle = match generation {
        Generation::Of2025 => ClientLifecycleMode::Initialize,
        Generation::Of2026 => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    };
    user.serve_with_lifecycle(tokio::io::split(near), lifecycle).await.unwrap()
}

pub fn call(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments must be an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}
