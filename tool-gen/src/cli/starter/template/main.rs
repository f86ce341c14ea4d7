//! Lists the tools, calls one, or serves them to MCP clients.
//!
//! ```sh
//! cargo run
//! cargo run -- notes.add '{"text": "buy milk"}'
//! cargo run -- mcp
//! ```
//!
//! The notes are in memory: each run starts without any, and an MCP client keeps them until it stops the program.

mod tools;

use std::error::Error;
use std::process::ExitCode;

use tool_runtime::ToolCall;

#[tokio::main]
async fn main() -> ExitCode {
    // Warnings of the dispatcher. Standard output is for results and MCP messages.
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let tools = tools::dispatcher()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            for (name, tool) in tools.definitions().iter() {
                println!("{name}: {}", tool.description);
            }
        }
        ["mcp"] => tool_mcp::serve_stdio(tools).await?,
        [name, arguments] => {
            let result = tools.call(ToolCall::from_text(name, arguments)).await;
            if !result.success {
                return Err(result.output.into());
            }
            println!("{}", result.output);
        }
        _ => return Err("expected no argument, `mcp`, or a tool and its arguments as JSON".into()),
    }
    Ok(())
}
