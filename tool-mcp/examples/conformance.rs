//! A server for MCP's published conformance suite, with annotated functions as tools and an rmcp handler for prompts and
//! resources.
//!
//! `cargo run -p tool-mcp --example conformance -- --port 8080`, then
//! `conformance server --url http://localhost:8080/mcp --requirements 2026-07-28`.

#[path = "conformance/content.rs"]
mod content;
#[path = "conformance/extra.rs"]
mod extra;
#[path = "conformance/prompts.rs"]
mod prompts;
#[path = "conformance/questions.rs"]
mod questions;
#[path = "conformance/rounds.rs"]
mod rounds;
#[path = "conformance/running.rs"]
mod running;

use std::error::Error;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tool_mcp::rmcp::model::Tool;
use tool_mcp::{HttpConfig, McpClient, McpServer};
use tool_runtime::{Dispatcher, RuntimeTool};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let prompts = watch::Sender::new(0);
    let tools = Dispatcher::builder()
        .per_call::<McpClient>()
        .value("prompts", prompts.clone())
        .tool(json_schema_tool())
        .build()?;
    let listener = TcpListener::bind(("127.0.0.1", port()?)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let server = McpServer::new(tools).name("conformance").describe(describe).extra(extra::ExtraHandler::new(prompts));
    Ok(server.listen_on(listener, HttpConfig::new()).await?)
}

/// Parses `--port`. Defaults to any free port.
fn port() -> Result<u16, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(0),
        (Some("--port"), Some(port)) => Ok(port.parse()?),
        _ => Err("the only argument is `--port N`".into()),
    }
}

/// Adds schema keywords that no Rust type produces.
fn describe(tool: &mut Tool) {
    let schema = match &*tool.name {
        "json_schema_2020_12_tool" => json_schema(),
        "test_custom_headers" => {
            let properties = json!({"region": {"type": "string", "x-mcp-header": "Region"}});
            json!({"type": "object", "properties": properties, "required": ["region"], "additionalProperties": false})
        }
        _ => return,
    };
    if let Value::Object(schema) = schema {
        tool.input_schema = Arc::new(schema);
    }
}

fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// A tool with a hand-written schema.
fn json_schema_tool() -> RuntimeTool {
    let description = "A tool with keywords of JSON Schema 2020-12.";
    RuntimeTool::from_schema("json_schema_2020_12_tool", description, &json_schema(), |arguments, _| async move {
        Value::Object(arguments)
    })
}
