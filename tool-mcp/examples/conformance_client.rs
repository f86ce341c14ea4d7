//! A client for MCP's published conformance suite:
//!
//! ```sh
//! cargo build -p tool-mcp --features auth --example conformance_client
//! npx @modelcontextprotocol/conformance client --requirements 2026-07-28 --command target/debug/examples/conformance_client
//! ```
//!
//! The suite starts a server for each scenario and runs this program with its URL. Calls go through a dispatcher, as usual.
//! Logins need no user: the suite's authorization server redirects at once.

use std::collections::BTreeMap;
use std::error::Error;

use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Value, json};
use tool_mcp::{ElicitationRequest, OAuth, ProtocolGeneration, RemoteServers, ServerConfig};
use tool_runtime::{Dispatcher, ToolCall};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url =
        std::env::args().next_back().filter(|url| url.starts_with("http")).ok_or("the last argument must be a URL")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Value::Null,
    };
    let generation = match std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").as_deref() {
        Ok("2026-07-28") => ProtocolGeneration::Discover,
        Ok(_) => ProtocolGeneration::Initialize,
        Err(_) => ProtocolGeneration::Newest,
    };

    let tools = Dispatcher::builder().allow_empty().build()?;
    let servers = RemoteServers::builder()
        .server(ServerConfig::http("suite", url).generation(generation).trust().oauth(oauth(&scenario, &context)))
        // Missing fields are filled in with the defaults of the form.
        .on_elicitation(|_: ElicitationRequest| async {
            ElicitResult::new(ElicitationAction::Accept).with_content(json!({}))
        })
        .connect(&tools.registry())
        .await?;
    println!("{scenario}: {:#?}", servers.status());

    let schemas: BTreeMap<String, Value> = servers
        .status()
        .into_iter()
        .flat_map(|server| server.tools)
        .map(|tool| (tool.remote_name, tool.input_schema))
        .collect();
    for call in calls(&tools, &context, &schemas) {
        println!("{call:?}");
        println!("{:?}", tools.call(call).await);
    }
    servers.close().await;
    Ok(())
}

/// Returns the login for a scenario.
fn oauth(scenario: &str, context: &Value) -> OAuth {
    let (id, secret) = (context["client_id"].as_str(), context["client_secret"].as_str());
    if let ("auth/client-credentials-basic", Some(id), Some(secret)) = (scenario, id, secret) {
        return OAuth::client_credentials(id, secret);
    }
    let mut oauth = OAuth::new("http://localhost:3000/callback", visit)
        .client_name("Conformance")
        .client_metadata_url("https://conformance-test.local/client-metadata.json");
    if let Some(id) = id {
        oauth = oauth.client_id(id);
    }
    if let Some(secret) = secret {
        oauth = oauth.client_secret(secret);
    }
    oauth
}

/// Logs in like a browser that is redirected at once.
async fn visit(url: String) -> Result<String, Box<dyn Error + Send + Sync>> {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let response = client.get(url).send().await?;
    let location = response.headers().get("location").ok_or_else(|| format!("no redirect: {}", response.status()))?;
    Ok(location.to_str()?.to_owned())
}

/// Returns the calls that the scenario names, or else one of every tool.
fn calls(tools: &Dispatcher, context: &Value, schemas: &BTreeMap<String, Value>) -> Vec<ToolCall<'static>> {
    if let Some(named) = context["toolCalls"].as_array() {
        let call = |call: &Value| {
            let name = format!("mcp_suite_{}", call["name"].as_str().unwrap_or_default());
            ToolCall::new(name, call["arguments"].clone())
        };
        return named.iter().map(call).collect();
    }
    // One scenario requires the schema of a tool as it was received.
    if let (Some(schema), true) = (schemas.get("json_schema_2020_12_tool"), schemas.contains_key("json_schema_echo")) {
        return vec![ToolCall::new("mcp_suite_json_schema_echo", json!({"schema": schema}))];
    }
    let definitions = tools.definitions();
    let call = |(name, definition): &(std::sync::Arc<str>, std::sync::Arc<tool_runtime::ToolDefinition>)| {
        let arguments = definition.arguments.iter().filter(|(_, argument)| argument.required);
        let arguments = arguments.map(|(name, argument)| (name.clone(), example(&argument.type_name)));
        ToolCall::new(name.to_string(), Value::Object(arguments.collect()))
    };
    definitions.iter().map(call).collect()
}

/// Returns an example value of a type.
fn example(type_name: &str) -> Value {
    match type_name {
        "integer" | "number" => json!(5),
        "boolean" => json!(true),
        "array" => json!([]),
        "object" => json!({}),
        _ => json!("text"),
    }
}
