//! The binary `tool-gen`.

fn main() -> std::process::ExitCode {
    tool_gen::cli::main()
}
