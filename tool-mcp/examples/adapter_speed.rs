//! What the adapter adds to a call of a plain rmcp client, side by side in one run:
//!
//! ```sh
//! cargo run --release -p tool-mcp --example adapter_speed
//! ```
//!
//! Both call the same tool of the same rmcp server over the same kind of pipe, by turns; the medians of all rounds are
//! compared. The plain client is given its arguments ready; the adapter reads them from text, checks them, and takes the
//! whole way through the dispatcher.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig as ServerInfo, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use tool_mcp::{Generation, ServerConfig, Servers};
use tool_runtime::{Dispatcher, ToolCall};

const ROUNDS: usize = 300;
const CALLS: u32 = 100;

/// A server with one tool.
#[derive(Clone)]
struct Adder;

impl ServerHandler for Adder {
    fn get_info(&self) -> ServerInfo {
        ServerInfo::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let number = json!({"type": "integer"});
        let schema = json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
        let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
        Ok(ListToolsResult::with_all_items(vec![Tool::new("add", "Add two numbers.", Arc::new(schema))]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let number = |name: &str| arguments.get(name).and_then(Value::as_i64).unwrap_or_default();
        let sum = (number("a") + number("b")).to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(sum)]).into())
    }
}

/// Our end of a pipe with a server at the other.
fn served() -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    tokio::spawn(async move {
        if let Ok(running) = Adder.serve(theirs).await {
            drop(running.waiting().await);
        }
    });
    ours
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let plain = ().serve(served()).await?;
    let tools = Dispatcher::builder().build()?;
    let config = ServerConfig::streams("s", || async { Ok(tokio::io::split(served())) });
    let servers = Servers::builder()
        .server(config.generation(Generation::Initialize).trust())
        .strict()
        .connect(&tools.registry())
        .await?;

    let arguments = json!({"a": 40, "b": 2}).as_object().cloned().unwrap_or_default();
    let (mut by_hand, mut adapted) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            let params = CallToolRequestParams::new(Cow::Borrowed("add")).with_arguments(arguments.clone());
            let answer = plain.peer().call_tool(params).await?;
            assert_eq!(answer.content[0].as_text().map(|text| text.text.as_str()), Some("42"));
        }
        by_hand.push(start.elapsed() / CALLS);
        let start = Instant::now();
        for _ in 0..CALLS {
            let answer = tools.call(ToolCall::from_text("mcp_s_add", r#"{"a": 40, "b": 2}"#)).await;
            assert_eq!(answer.output, "42");
        }
        adapted.push(start.elapsed() / CALLS);
    }
    let (plain, adapted) = (median(by_hand), median(adapted));
    let added = adapted.as_secs_f64() / plain.as_secs_f64() * 100.0 - 100.0;
    println!("a call by a plain rmcp client: {plain:?}, by the adapter: {adapted:?}, which adds {added:.1} %");
    servers.close().await;
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
