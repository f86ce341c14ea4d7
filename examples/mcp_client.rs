//! The tools of an MCP server become tools of a dispatcher. The server is the example `mcp_server`.
//!
//! ```sh
//! cargo build -p examples --example mcp_server
//! cargo run -p examples --example mcp_client
//! ```

use serde_json::json;
use tool_mcp::rmcp::model::{ElicitResult, ElicitationAction};
use tool_mcp::{RemoteServers, ServerConfig};
use tool_runtime::confirm::{self, Decision};
use tool_runtime::{Dispatcher, ToolCall};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let approve = confirm::from_fn(|question| async move {
        println!("we approve {}", question.tool);
        Decision::Run
    });
    // This program has no tools of its own.
    let tools = Dispatcher::builder().confirm(approve).allow_empty().build()?;

    // Cargo puts both examples into the same directory. For a server on the network: `ServerConfig::http(name, url)`.
    let program = std::env::current_exe()?.with_file_name("mcp_server");
    let servers = RemoteServers::builder()
        // A server may claim anything about its tools. Until it is trusted, each call needs approval.
        .server(ServerConfig::command("notes", program).trust_read_only_hints())
        // A server can ask the user as well, here before it deletes all notes.
        .on_elicitation(|asked| async move {
            println!("{} asks, and we accept", asked.server);
            ElicitResult::new(ElicitationAction::Accept)
        })
        // Fail if a server cannot be reached. By default its tools report that, and the connection is retried.
        .strict()
        .connect(&tools.registry())
        .await?;

    println!("{}", tools.catalogue());
    for (tool, arguments) in [
        ("mcp_notes_note_add", json!({"text": "buy milk"})),
        ("mcp_notes_note_list", json!({})),
        ("mcp_notes_note_clear", json!({})),
        ("mcp_notes_note_list", json!({})),
    ] {
        let result = tools.call(ToolCall::new(tool, arguments)).await;
        println!("{tool}: {}", result.output);
    }
    // Ends the process of the server.
    servers.close().await;
    Ok(())
}
