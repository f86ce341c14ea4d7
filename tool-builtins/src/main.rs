//! The program `tool-builtins`: one call per line, one result per line.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
