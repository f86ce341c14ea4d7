mod children;
mod log;
mod nats_server;
mod operator;
mod proxy;
mod tools;

use std::time::Duration;

use tool_nats::{DiscoveryBuilder, NatsConnection, RemoteTools, discover};
use tool_runtime::{Dispatcher, ErrorKind, ToolCall, ToolResult};

pub use children::{Child, Task};
pub use log::Log;
pub use nats_server::{Server, certificates, connect};
pub use operator::{Operator, Permissions};
pub use proxy::{Proxy, Way};
pub use tools::{Effects, worker_tools};

/// Starts a server, or skips the test if there is none.
macro_rules! server {
    () => {
        match crate::support::Server::start() {
            Some(server) => server,
            None => return,
        }
    };
}
pub(crate) use server;

/// A dispatcher with the tools of all workers.
pub struct Caller {
    pub tools: Dispatcher,
    pub remote: RemoteTools,
}

impl Caller {
    pub async fn new(connection: impl Into<NatsConnection>) -> Self {
        Self::with(connection, |discover| discover).await
    }

    pub async fn with(
        connection: impl Into<NatsConnection>,
        more: impl FnOnce(DiscoveryBuilder) -> DiscoveryBuilder,
    ) -> Self {
        let tools = Dispatcher::builder().allow_empty().build().unwrap();
        Self::with_tools(tools, connection, more).await
    }

    pub async fn with_tools(
        tools: Dispatcher,
        connection: impl Into<NatsConnection>,
        more: impl FnOnce(DiscoveryBuilder) -> DiscoveryBuilder,
    ) -> Self {
        let discover = discover(connection, tools.registry()).heartbeat_timeout(Duration::from_secs(2));
        let remote = more(discover).await.unwrap();
        Self { tools, remote }
    }

    pub async fn call(&self, name: &str, arguments: serde_json::Value) -> ToolResult {
        self.tools.call(ToolCall::new(name, arguments)).await
    }
}

pub fn kind(result: &ToolResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

/// Waits until a condition holds.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..600 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("timed out waiting until {what}");
}
