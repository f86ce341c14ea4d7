//! The program `tool-mcp`: serves the built-in tools to MCP clients.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
