//! A tool of a worker, as an entry of the caller's registry.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Subject};
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tool_runtime::{RuntimeTool, Scope, ToolDefinition, ToolResult};

use super::inbox::Inbox;
use super::{Deliver, Delivery, call, queued};
use crate::{Queue, Space};

/// What all remote tools of one discovery share.
pub(super) struct Caller {
    pub(super) client: Client,
    pub(super) space: Space,
    pub(super) inbox: Arc<Inbox>,
    pub(super) queue: Option<Queue>,
    /// How long it may take to say that a call is stopped.
    pub(super) stop_patience: Duration,
    /// Whether calls of idempotent tools that are lost are sent again.
    pub(super) repeat: bool,
    pub(super) deliver: Deliver,
    /// Told when a call finds nobody: workers may have gone.
    pub(super) nudge: Notify,
}

impl Caller {
    /// An id that no other call has.
    pub(super) fn new_id(&self) -> String {
        let inbox = self.client.new_inbox();
        inbox.rsplit('.').next().unwrap_or_default().to_owned()
    }
}

/// A tool of a worker.
pub(super) struct RemoteTool {
    pub(super) name: String,
    pub(super) subject: Subject,
    pub(super) sensitive: bool,
    /// Whether a second call does no harm.
    pub(super) repeatable: bool,
    definition: Arc<ToolDefinition>,
    pub(super) caller: Arc<Caller>,
}

impl RemoteTool {
    async fn call(&self, arguments: Map<String, Value>, scope: Scope) -> ToolResult {
        // Asked here, where a panic of the application's function is that of the call.
        let delivery = scope.given::<Delivery>().unwrap_or_else(|| (self.caller.deliver)(&self.name, &self.definition));
        match delivery {
            Delivery::Direct => call::direct(self, &arguments, &scope).await,
            Delivery::Queued | Delivery::Submitted => queued::call(self, &arguments, &scope, delivery).await,
        }
    }
}

/// An entry for the registry: what the worker says of its tool, and the way to it.
pub(super) fn entry(
    caller: &Arc<Caller>,
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
        .settles_within(caller.stop_patience * 3)
        .keys_of(definition);
    match &definition.returns {
        Some(returns) => tool.returns(&with_defs(returns, definition)),
        None => tool,
    }
}

/// A result's schema with the schemas that it refers to.
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
