//! Registration of a remote tool.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Subject};
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tool_runtime::{RuntimeTool, Scope, ToolDefinition, ToolResult};

use super::inbox::ReplyInbox;
use super::{DeliveryFn, DeliveryMode, direct_call, queued_call};
use crate::{Space, WorkQueue};

/// The state that all remote tools of one discovery share.
pub(super) struct RemoteCaller {
    pub(super) client: Client,
    pub(super) space: Space,
    pub(super) inbox: Arc<ReplyInbox>,
    pub(super) queue: Option<WorkQueue>,
    /// The time in which a worker must confirm a cancellation.
    pub(super) cancel_timeout: Duration,
    /// Set if lost calls of idempotent tools are sent again.
    pub(super) repeat: bool,
    pub(super) deliver: DeliveryFn,
    /// Notified when a call finds no worker.
    pub(super) ping_soon: Notify,
}

impl RemoteCaller {
    /// Returns a unique call id.
    pub(super) fn new_id(&self) -> String {
        let inbox = self.client.new_inbox();
        inbox.rsplit('.').next().unwrap_or_default().to_owned()
    }
}

/// A remote tool.
pub(super) struct RemoteTool {
    pub(super) name: String,
    pub(super) subject: Subject,
    pub(super) sensitive: bool,
    /// Set if the tool is idempotent or read-only.
    pub(super) repeatable: bool,
    definition: Arc<ToolDefinition>,
    pub(super) caller: Arc<RemoteCaller>,
}

impl RemoteTool {
    async fn call(&self, arguments: Map<String, Value>, scope: Scope) -> ToolResult {
        // Called here, so that a panic in the application's function fails the call.
        let delivery =
            scope.given::<DeliveryMode>().unwrap_or_else(|| (self.caller.deliver)(&self.name, &self.definition));
        match delivery {
            DeliveryMode::Direct => direct_call::call(self, &arguments, &scope).await,
            DeliveryMode::Queued | DeliveryMode::Submitted => {
                queued_call::call(self, &arguments, &scope, delivery).await
            }
        }
    }
}

/// Creates the registry entry: the worker's definition, with a handler that sends the call.
pub(super) fn registration(
    caller: &Arc<RemoteCaller>,
    name: &str,
    definition: &Arc<ToolDefinition>,
    fingerprint: &str,
) -> RuntimeTool {
    let remote = Arc::new(RemoteTool {
        name: name.to_owned(),
        subject: caller.space.call(name, fingerprint).into(),
        sensitive: definition.sensitive,
        repeatable: definition.idempotent || definition.read_only,
        definition: definition.clone(),
        caller: caller.clone(),
    });
    let handler = move |arguments: Map<String, Value>, scope: Scope| {
        let remote = remote.clone();
        async move { remote.call(arguments, scope).await }
    };
    let tool = RuntimeTool::remote(name, &definition.description, &definition.parameters(), handler)
        .handler(caller.space.handler(name))
        .settles_within(caller.cancel_timeout * 3)
        .keys_of(definition);
    match &definition.returns {
        Some(returns) => tool.returns(&with_defs(returns, definition)),
        None => tool,
    }
}

/// Adds the referenced schemas to a result's schema.
fn with_defs(returns: &Value, definition: &ToolDefinition) -> Value {
    let mut schema = returns.clone();
    if let Value::Object(schema) = &mut schema
        && !definition.defs.is_empty()
    {
        let defs = definition.defs.iter().map(|(name, def)| (name.clone(), def.clone()));
        schema.insert("$defs".to_owned(), Value::Object(defs.collect()));
    }
    schema
}
