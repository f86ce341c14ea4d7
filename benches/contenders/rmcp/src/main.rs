//! rmcp: its router called directly, and a client connected to the server through an in-memory pipe.

mod server;

use contest::{Contender, Entries};
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, JsonObject, NumberOrString};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{RoleClient, RoleServer, ServiceExt};
use server::RmcpServer;

/// A connected client and server.
async fn connect(server: RmcpServer) -> (RunningService<RoleServer, RmcpServer>, RunningService<RoleClient, ()>) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (server, client) = tokio::join!(server.serve(far), ().serve(near));
    (server.expect("a server"), client.expect("a client"))
}

fn request(tool: &str, arguments: &str) -> CallToolRequestParams {
    let arguments: JsonObject = serde_json::from_str(arguments).expect("an object");
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

fn text(result: CallToolResult) -> String {
    assert_ne!(result.is_error, Some(true));
    result
        .content
        .into_iter()
        .next()
        .and_then(|content| content.as_text().map(|text| text.text.clone()))
        .expect("a text")
}

/// The router without a transport. Its context needs a peer, which only a running service has.
struct RmcpRouter {
    server: RmcpServer,
    running: RunningService<RoleServer, RmcpServer>,
    _client: RunningService<RoleClient, ()>,
}

impl Contender for RmcpRouter {
    async fn start(fillers: usize) -> Self {
        let (running, _client) = connect(RmcpServer::new(0)).await;
        Self { server: RmcpServer::new(fillers), running, _client }
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        let context = RequestContext::new(NumberOrString::Number(1), self.running.peer().clone());
        let context = ToolCallContext::new(&self.server, request(tool, arguments), context);
        match self.server.tool_router.call(context).await {
            Ok(CallToolResponse::Complete(result)) => text(result),
            other => panic!("{other:?}"),
        }
    }

    fn list(&self) -> Option<String> {
        Some(serde_json::to_string(&self.server.tool_router.list_all()).expect("JSON"))
    }
}

/// A client of a server in the same process, as an application would use it.
struct RmcpTransport {
    client: RunningService<RoleClient, ()>,
    server: RunningService<RoleServer, RmcpServer>,
}

impl Contender for RmcpTransport {
    async fn start(fillers: usize) -> Self {
        let (server, client) = connect(RmcpServer::new(fillers)).await;
        Self { client, server }
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        text(self.client.call_tool(request(tool, arguments)).await.expect("succeeds"))
    }

    fn list(&self) -> Option<String> {
        Some(serde_json::to_string(&self.server.service().tool_router.list_all()).expect("JSON"))
    }
}

fn main() {
    Entries::new().enter::<RmcpRouter>("router").enter::<RmcpTransport>("transport").run();
}
