//! The binary `cargo-tool-gen`, which Cargo runs for `cargo tool-gen`.

fn main() -> std::process::ExitCode {
    tool_gen::cli::main()
}
