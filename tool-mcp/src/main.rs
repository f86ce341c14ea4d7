//! The program `tool-mcp`: the built-in tools for every MCP client.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
