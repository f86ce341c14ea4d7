//! The binary `tool-gen`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
