//! Writes the manifest of the tools in this package, which `src/tools.rs` embeds.

fn main() -> tool_gen::Result {
    tool_gen::scan("src/main.rs").write_to_out_dir()
}
